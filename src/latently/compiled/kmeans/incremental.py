"""Lloyd's passes that look again only at rows whose nearest centre may have changed.

A row keeps a lower bound of how much farther its second nearest centre is than its nearest (Hamerly). It shrinks by how
far the centres move; while it is positive the row keeps its centre, and is not even read. Rows that change take their
part of the sums along with them, so a pass costs what changes, not what is there.

Rows are taken about an origin, y = x - origin, and are complete. Centres C (K, D) are about the same origin, with a
zero for the coordinate that rows do not have, and an even number of them: the last may stand where nothing is.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def advance(X, weights, origin, unit, C, shift, scratch, labels, slack, sums, counts):
    """Bring labels, bounds and sums up to date with the centres; returns the sum of w |y|^2 of rows that are new.

    unit
        What distances are multiplied by before they are put in single precision.
    shift
        (K,) by how much the bounds of a centre's rows shrink, times `unit`, in single precision.
    scratch
        A block, T (D, B), one, two, first, second and owner (B,); who and flags (B,).
    labels
        (n,) centre of each row, -1 for a row that is new.
    slack
        (n,) lower bounds, times `unit`, in single precision; not above zero for rows to be looked at.
    sums
        (K, D + 1) of the weighted rows about the origin, and of the weights; exactly zero without rows.
    counts
        (K,) number of rows.
    """
    block, who, flags = scratch
    B, m, total = len(who), 0, 0.0
    for start in range(0, len(X), B):
        size = min(B, len(X) - start)
        for i in range(size):
            left = slack[start + i] * np.float32(0.9999998) - shift[labels[start + i]]
            slack[start + i] = left
            flags[i] = left <= np.float32(0.0)
        for i in range(size):
            if flags[i]:
                who[m] = start + i
                m += 1
                if m == B:
                    total += look(X, weights, origin, unit, C, block, who[:m], labels, slack, sums, counts)
                    m = 0
    if m > 0:
        total += look(X, weights, origin, unit, C, block, who[:m], labels, slack, sums, counts)
    for k in range(len(counts)):
        if counts[k] == 0:
            for j in range(sums.shape[1]):
                sums[k, j] = 0.0
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def look(X, weights, origin, unit, C, block, who, labels, slack, sums, counts):
    """Compare some rows with every centre; those that change take their part of the sums along."""
    T, one, two, first, second, owner = block
    d, last, total = X.shape[1], sums.shape[1] - 1, 0.0
    for q in range(len(who)):
        x = X[who[q]]
        for j in range(d):
            T[j, q] = x[j] - origin[j]
    nearest_two(T, C, one, two, first, second, owner)
    for q in range(len(first)):
        one[q] = min((math.sqrt(second[q]) * 0.999999999999 - math.sqrt(first[q])) * unit * 0.9999998, 1e30)
    for q in range(len(who)):
        i = who[q]
        slack[i] = np.float32(one[q])
        new, old = owner[q], labels[i]
        if new == old:
            continue
        w = 1.0 if len(weights) == 0 else weights[i]
        labels[i] = new
        counts[new] += 1
        here = sums[new]
        here[last] += w
        for j in range(d):
            here[j] += w * T[j, q]
        if old >= 0:
            counts[old] -= 1
            there = sums[old]
            there[last] -= w
            for j in range(d):
                there[j] -= w * T[j, q]
        else:
            for j in range(d):
                total += w * T[j, q] * T[j, q]
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def nearest_two(T, C, one, two, first, second, owner):
    """Squared distances to the nearest and the second nearest centre, and which the nearest is, the first of equals."""
    last = len(T) - 2
    for i in range(len(first)):
        first[i] = second[i] = np.inf
        owner[i] = 0
        one[i] = two[i] = 0.0
    for k in range(0, len(C), 2):
        for j in range(0, last, 2):
            p, q, a, b, c, d = T[j], T[j + 1], C[k, j], C[k, j + 1], C[k + 1, j], C[k + 1, j + 1]
            for i in range(len(first)):
                one[i] = (0.0 if j == 0 else one[i]) + (p[i] - a) * (p[i] - a) + (q[i] - b) * (q[i] - b)
                two[i] = (0.0 if j == 0 else two[i]) + (p[i] - c) * (p[i] - c) + (q[i] - d) * (q[i] - d)
        p, q, a, b, c, d = T[last], T[last + 1], C[k, last], C[k, last + 1], C[k + 1, last], C[k + 1, last + 1]
        for i in range(len(first)):
            least = one[i] + (p[i] - a) * (p[i] - a) + (q[i] - b) * (q[i] - b)
            other = two[i] + (p[i] - c) * (p[i] - c) + (q[i] - d) * (q[i] - d)
            nearer = least if other >= least else other
            farther = other if other >= least else least
            mark = k + 1 if other < least else k
            middle = first[i] if first[i] > nearer else nearer
            rest = second[i] if second[i] < farther else farther
            owner[i] = mark if nearer < first[i] else owner[i]
            first[i] = nearer if nearer < first[i] else first[i]
            second[i] = middle if middle < rest else rest


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def climb(X, weights, origin, unit, C, shift, moved, scratch, labels, slack, sums, counts, tol, least, costs):
    """Passes and means until the squared movement of the centres is at most `tol`, or for as many as there are costs.

    shift, moved
        (K,) of zeros in single and in double precision, to work in.
    least
        Share of the sum of squares that the cost has to be, for it to be told from sums without loss of digits.
    costs
        (most + 1,) cost at the start of each iteration; last of all, the squared movement of the last one.

    Returns
    -------
    int
        How many iterations; negative if the last of them came to a cost that is too small to be told, or to a cluster
        without rows, and is to be done again in another way.
    """
    total, most = 0.0, len(costs) - 1
    for step in range(most):
        total += advance(X, weights, origin, unit, C, shift, scratch, labels, slack, sums, counts)
        cost = cost_of(total, C, sums)
        costs[step] = cost
        if cost < least * total or not cost < np.inf:
            return -step - 1
        for k in range(len(counts)):
            if counts[k] == 0 or not sums[k, sums.shape[1] - 1] > 0.0:
                return -step - 1
        costs[most] = move(C, sums, unit, shift, moved)
        if costs[most] <= tol:
            return step + 1
    return most


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def cost_of(total, C, sums):
    """Sum of weighted squared distances of rows to their centres, from sums about the origin."""
    K, D = len(sums), sums.shape[1] - 1
    cost = total
    for k in range(K):
        inner, square = 0.0, 0.0
        for j in range(D):
            inner += C[k, j] * sums[k, j]
            square += C[k, j] * C[k, j]
        cost += square * sums[k, D] - 2.0 * inner
    return cost


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def move(C, sums, unit, shift, moved):
    """Put centres at the means of their rows; gives the squared movement of all, and how bounds shrink by it."""
    K, D, total = len(sums), sums.shape[1] - 1, 0.0
    for k in range(K):
        moved[k] = 0.0
        for j in range(D):
            mean = sums[k, j] / sums[k, D]
            moved[k] += (mean - C[k, j]) ** 2
            C[k, j] = mean
        total += moved[k]
    shrink(moved, unit, shift)
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def shrink(moved, unit, shift):
    """shift[k] = how far centre k and the farthest moving of the others have moved, rounded up; squares are given."""
    far, next_far, which = 0.0, 0.0, -1
    for k in range(len(moved)):
        if moved[k] > far or which < 0:
            far, next_far, which = moved[k], far, k
        elif moved[k] > next_far:
            next_far = moved[k]
    for k in range(len(moved)):
        others = next_far if k == which else far
        shift[k] = np.float32((math.sqrt(moved[k]) + math.sqrt(others)) * unit * 1.0000003 + 1e-37)


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def follow(X, weights, origin, unit, C, moved, shift, total, scratch, labels, slack, sums, counts):
    """One pass after centres have moved by the root of `moved` (K,): the sum of w |y|^2 of all rows, and the cost."""
    shrink(moved, unit, shift)
    total += advance(X, weights, origin, unit, C, shift, scratch, labels, slack, sums, counts)
    return total, cost_of(total, C, sums)
