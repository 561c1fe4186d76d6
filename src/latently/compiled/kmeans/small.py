"""K-means of a small table of complete rows, from the draws of each start to labels, in one call.

Rows come columns first and about an origin: T (d, n). Every pass compares every row with every centre, so the cost is
a sum of squares that has lost no digits.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def cluster(T, weights, origin, draws, tol, centres, labels, sums, costs, steps, work):
    """Run every start; false if one needs a closer look: a cluster without weight, equal rows, or an infinite cost.

    weights
        (n,) of the rows.
    draws
        (S, 1 + (k - 1) * tries) numbers from 0 to 1 that say which rows are the candidates of each start.
    centres, labels, sums
        (S, k, d), (S, n) and (S, k, d + 1) where each start ended; sums of the weighted rows, and of the weights.
    costs
        (S, most + 2) cost at the start of each iteration, then the last squared movement and the cost at the end.
    steps
        (S,) number of iterations.
    work
        (3, n) of any numbers.
    """
    most = costs.shape[1] - 2
    for s in range(len(draws)):
        C, own, total = centres[s], labels[s], sums[s]
        if not spread(T, weights, draws[s], C, work):
            return False
        for step in range(most):
            costs[s, step] = assign(T, weights, C, own, total, work)
            if not costs[s, step] < np.inf or not move(C, total, costs[s, most:]):
                return False
            steps[s] = step + 1
            if costs[s, most] <= tol:
                break
        for k in range(len(C)):
            for j in range(len(T)):
                C[k, j] = (C[k, j] + origin[j]) - origin[j]  # rounded as in the data's own units
        costs[s, most + 1] = assign(T, weights, C, own, total, work)
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def spread(T, weights, draws, C, work):
    """Greedy k-means++: each next centre is the candidate that lowers the cost most; false if no cost is left."""
    near, mass, gap = work
    tries = (len(draws) - 1) // max(1, len(C) - 1)
    for i in range(len(near)):
        near[i] = np.inf
    for done in range(len(C)):
        total, best, least = 0.0, 0, np.inf
        for i in range(len(near)):
            total += weights[i] * (near[i] if done > 0 else 1.0)
            mass[i] = total
        if not 0.0 < total < np.inf:
            return False
        for t in range(tries if done > 0 else 1):
            row = first_above(mass, draws[1 + (done - 1) * tries + t if done > 0 else 0] * total)
            copy_row(T, row, C[done])
            squares(T, C[done], gap)
            left = 0.0
            for i in range(len(gap)):
                left += weights[i] * min(gap[i], near[i])
            if left < least:
                best, least = row, left
        copy_row(T, best, C[done])
        squares(T, C[done], gap)
        for i in range(len(gap)):
            near[i] = min(gap[i], near[i])
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def copy_row(T, i, out):
    """Put a row into `out`: to assign a slice would take two seconds to compile."""
    for j in range(len(T)):
        out[j] = T[j, i]


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def first_above(mass, level):
    """The first row whose cumulative cost is above a level, or the last that has a cost."""
    low, high = 0, len(mass) - 1
    while low < high:
        middle = (low + high) // 2
        if mass[middle] > level:
            high = middle
        else:
            low = middle + 1
    while low > 0 and mass[low] == mass[low - 1]:
        low -= 1  # rounding may point behind the last row that has a cost
    return low


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def squares(T, centre, out):
    """Squared distance of each row to a centre."""
    out[:] = 0.0
    for j in range(len(T)):
        c, column = centre[j], T[j]
        for i in range(len(out)):
            out[i] += (column[i] - c) * (column[i] - c)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def assign(T, weights, C, labels, sums, work):
    """Labels and sums of the nearest centres, the first of equals; returns the cost."""
    near, _, gap = work
    d, cost = len(T), 0.0
    squares(T, C[0], near)
    labels[:] = 0
    for k in range(1, len(C)):
        squares(T, C[k], gap)
        for i in range(len(gap)):
            labels[i] = k if gap[i] < near[i] else labels[i]
            near[i] = min(gap[i], near[i])
    sums[:] = 0.0
    for i in range(len(near)):
        w, own = weights[i], sums[labels[i]]
        cost += w * near[i]
        own[d] += w
        for j in range(d):
            own[j] += w * T[j, i]
    return cost


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def move(C, sums, shift):
    """Put centres at the means of their rows; shift[0] is their squared movement. False if one has no weight."""
    d, shift[0] = C.shape[1], 0.0
    for k in range(len(C)):
        if not sums[k, d] > 0.0:
            return False
        for j in range(d):
            mean = sums[k, j] / sums[k, d]
            shift[0] += (mean - C[k, j]) ** 2
            C[k, j] = mean
    return True
