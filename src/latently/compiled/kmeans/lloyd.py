"""K-means: nearest centres, their sums, and k-means++.

Rows are taken about an origin, y = x - origin, and centres are given about the same origin. Labels are those of
double precision, the lowest index among equals. Rows are read in transposed blocks, and compared with every centre.

A block is T (D + 1, B): coordinate j of row i in T[j, i], with zeros up to an even number D of coordinates, and in
T[D, i] the weight of row i, zero beyond the last row. Centres come in even numbers, each with D coordinates: the last
of them may stand where nothing is. `missing` (`share` in `direct`) is None if no value is missing: what missing values
need is then not even compiled.

Functions that only others here call have no wrapper for Python: it would take a fifth of the time to compile.
"""

import math

import numpy as np
from numba import njit

MASKED = 16  # up to so many centres, sums are products with masks: that vectorises


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def fill_block(X, start, weights, origin, T):
    """Put the rows from `start` on, and their weights, into a block."""
    w = T[len(T) - 1]
    size = min(len(w), len(X) - start)
    for i in range(len(w)):
        w[i] = 0.0
    for i in range(size):
        w[i] = 1.0 if len(weights) == 0 else weights[start + i]
        x = X[start + i]
        for j in range(len(x)):
            T[j, i] = x[j] - origin[j]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def square(gap, missing):
    """Square of a difference; zero if it is missing."""
    if missing is None:
        return gap * gap
    return gap * gap if gap == gap else 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def sum_squares(T, centre, missing, total):
    """total[i] = squared distance to a centre, over the observed coordinates, two at a time."""
    for i in range(len(total)):
        total[i] = 0.0
    for j in range(0, len(centre), 2):
        p, q, a, b = T[j], T[j + 1], centre[j], centre[j + 1]
        for i in range(len(total)):
            total[i] = (total[i] + square(p[i] - a, missing)) + square(q[i] - b, missing)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def find_nearest(T, centres, missing, one, two, nearest, owner):
    """The squared distance to the nearest centre and which it is, the first of equals; two centres at one go."""
    last = centres.shape[1] - 2
    for i in range(len(nearest)):
        nearest[i] = np.inf
        owner[i] = 0
        one[i] = two[i] = 0.0
    for k in range(0, len(centres), 2):
        x, y = centres[k], centres[k + 1]
        for j in range(0, last, 2):
            p, q, a, b, c, d = T[j], T[j + 1], x[j], x[j + 1], y[j], y[j + 1]
            for i in range(len(nearest)):
                near = 0.0 if j == 0 else one[i]
                far = 0.0 if j == 0 else two[i]
                one[i] = (near + square(p[i] - a, missing)) + square(q[i] - b, missing)
                two[i] = (far + square(p[i] - c, missing)) + square(q[i] - d, missing)
        p, q, a, b, c, d = T[last], T[last + 1], x[last], x[last + 1], y[last], y[last + 1]
        for i in range(len(nearest)):
            least = (one[i] + square(p[i] - a, missing)) + square(q[i] - b, missing)
            other = (two[i] + square(p[i] - c, missing)) + square(q[i] - d, missing)
            who = k + 1 if other < least else k
            least = other if other < least else least
            owner[i] = who if least < nearest[i] else owner[i]
            nearest[i] = least if least < nearest[i] else nearest[i]


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def distances(X, origin, centres, scratch, missing, out):
    """out[i, k] = distance of row i to centre k, over the observed coordinates; returns the sum of all.

    Centres come in fours, each with D coordinates; those that `out` has no column for may be anything.

    scratch
        A block T (D + 1, B), and four (4, B).
    """
    T, four = scratch
    K, total = out.shape[1], 0.0
    for start in range(0, len(X), four.shape[1]):
        n = min(four.shape[1], len(X) - start)
        fill_block(X, start, four[0, :0], origin, T)
        for k in range(0, K, 4):
            sum_four_squares(T, centres, k, missing, four)
            for a in range(min(4, K - k)):
                for i in range(n):
                    four[a, i] = math.sqrt(four[a, i])
                    total += four[a, i]
            for i in range(n):
                for a in range(min(4, K - k)):
                    out[start + i, k + a] = four[a, i]
    return total


@njit(
    nogil=True, cache=True, error_model="numpy", fastmath={"contract"}, no_cpython_wrapper=True, no_cfunc_wrapper=True
)
def sum_four_squares(T, centres, k, missing, four):
    """Squared distances to four centres, over the observed coordinates, two at a time."""
    r, s, t, u = four[0], four[1], four[2], four[3]
    for j in range(0, centres.shape[1], 2):
        p, q = T[j], T[j + 1]
        a, b, c, d = centres[k, j], centres[k + 1, j], centres[k + 2, j], centres[k + 3, j]
        e, f, g, h = centres[k, j + 1], centres[k + 1, j + 1], centres[k + 2, j + 1], centres[k + 3, j + 1]
        for i in range(len(p)):
            x, y, first = p[i], q[i], j == 0
            r[i] = (0.0 if first else r[i]) + square(x - a, missing) + square(y - e, missing)
            s[i] = (0.0 if first else s[i]) + square(x - b, missing) + square(y - f, missing)
            t[i] = (0.0 if first else t[i]) + square(x - c, missing) + square(y - g, missing)
            u[i] = (0.0 if first else u[i]) + square(x - d, missing) + square(y - h, missing)


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def direct(X, weights, origin, centres, scratch, labels, sums, share):
    """Label every row by its nearest centre, add up rows and weights, and return the cost.

    scratch
        T (D + 1, B) of zeros; one, two, nearest and owner (B,); masks (K, B), or empty for many centres.
    labels
        (n,), or empty if nobody wants them.
    sums
        (K, D + 1) of the weighted rows about the origin, and of the weights; empty if nobody wants them.
    share
        (K, d) what each coordinate's mean is divided by; None without missing values, when that is the weight.
    """
    T, one, two, nearest, owner, masks = scratch
    B, cost = len(one), 0.0
    for start in range(0, len(X), B):
        fill_block(X, start, weights, origin, T)
        find_nearest(T, centres, share, one, two, nearest, owner)
        for i in range(min(B, len(labels) - start)):
            labels[start + i] = owner[i]
        if share is not None:
            weigh_missing(T, X.shape[1], nearest, owner, share)
        cost += cost_of_block(T, nearest)
        if len(sums) > 0:
            if len(masks) > 0:
                add_masked(T, owner, masks, sums)
            else:
                add_rows(T, owner, sums)
    return cost


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def weigh_missing(T, d, nearest, owner, share):
    """Scale up the cost of rows with missing values to all coordinates, and the rows with it.

    Means then make the cost least.
    """
    last = len(T) - 1
    for i in range(T.shape[1]):
        observed = 0.0
        for j in range(d):
            observed += 1.0 if T[j, i] == T[j, i] else 0.0
        scale = d / observed if observed > 0.0 else 0.0
        nearest[i] *= scale
        T[last, i] = T[last, i] if observed > 0.0 else 0.0
        for j in range(d):
            seen = T[j, i] == T[j, i]
            share[owner[i], j] += T[last, i] * scale if seen else 0.0
            T[j, i] = T[j, i] * scale if seen else 0.0


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def cost_of_block(T, nearest):
    """Weighted sum of the squared distances."""
    w, cost = T[len(T) - 1], 0.0
    for i in range(len(w)):
        cost += w[i] * nearest[i]
    return cost


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def add_rows(T, owner, sums):
    """Add weighted rows to their clusters, one by one."""
    last = len(T) - 1
    w = T[last]
    for i in range(len(w)):
        s = sums[owner[i]]
        s[last] += w[i]
        for j in range(last):
            s[j] += w[i] * T[j, i]


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def add_masked(T, owner, masks, sums):
    """Add weighted rows to their clusters: the product of masks, weights where a row is the cluster's, with rows."""
    last = len(T) - 1
    w = T[last]
    for k in range(len(masks)):
        mask, total = masks[k], 0.0
        for i in range(len(w)):
            mask[i] = w[i] if owner[i] == k else 0.0
            total += mask[i]
        sums[k, last] += total
    for j in range(0, last, 2):
        p, q = T[j], T[j + 1]
        for k in range(0, len(masks), 2):
            x, y, a, b, c, d = masks[k], masks[k + 1], 0.0, 0.0, 0.0, 0.0
            for i in range(len(w)):
                a += x[i] * p[i]
                b += x[i] * q[i]
                c += y[i] * p[i]
                d += y[i] * q[i]
            sums[k, j] += a
            sums[k, j + 1] += b
            sums[k + 1, j] += c
            sums[k + 1, j + 1] += d


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def join(X, weights, origin, points, scratch, nearest, falls, joins, missing):
    """Do what `compare` does, for Python."""
    compare(X, weights, origin, points, scratch, nearest, falls, joins, missing)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def compare(X, weights, origin, points, scratch, nearest, falls, joins, missing):
    """k-means++: falls[t] += how much the cost falls if point t (T, D) becomes a centre.

    nearest
        (n,) squared distance of each row to its centre so far, infinite before the first.
    joins
        Whether rows that are nearer to a point than to their centre join it; nearest is then brought up to date.
    """
    T, total = scratch
    for start in range(0, len(X), len(total)):
        fill_block(X, start, weights, origin, T)
        here = nearest[start : start + len(total)]
        for t in range(len(points)):
            sum_squares(T, points[t], missing, total)
            if missing is not None:
                scale_up(T, X.shape[1], total)
            falls[t] += fall(total, here, T[len(T) - 1])
            if joins:
                for i in range(len(here)):
                    here[i] = total[i] if total[i] < here[i] else here[i]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def scale_up(T, d, total):
    """Squared distances over the observed coordinates, scaled up to all of them; zero where nothing is observed."""
    for i in range(len(total)):
        observed = 0.0
        for j in range(d):
            observed += 1.0 if T[j, i] == T[j, i] else 0.0
        total[i] = total[i] * d / observed if observed > 0.0 else 0.0


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def fall(total, nearest, w):
    """Weighted sum of what rows come nearer."""
    gain = 0.0
    for i in range(len(nearest)):
        gain += w[i] * (nearest[i] - total[i]) if total[i] < nearest[i] else 0.0
    return gain


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def spread(X, weights, origin, draws, centres, scratch, nearest, mass, candidates, falls):
    """k-means++ of complete rows: fills the centres (k, D) after the first; false if no cost is left to draw from.

    draws
        (k - 1, tries) numbers from 0 to 1 that say which rows are the candidates.
    nearest, mass, candidates, falls
        (n,), (n,), (tries, D) of zeros and (tries,) to work in.
    """
    tries, d = draws.shape[1], X.shape[1]
    joins = len(X) > 0  # not a literal, for which `compare` would be compiled twice
    for i in range(len(X)):
        nearest[i] = np.inf
    for done in range(1, len(centres)):
        compare(X, weights, origin, centres[done - 1 : done], scratch, nearest, falls[:1], joins, None)
        total = 0.0
        for i in range(len(X)):
            total += nearest[i] * (1.0 if len(weights) == 0 else weights[i])
            mass[i] = total
        if not total > 0.0:
            return False
        for t in range(tries):
            i = first_above(mass, draws[done - 1, t] * total)
            for j in range(d):
                candidates[t, j] = X[i, j] - origin[j]
            falls[t] = 0.0
        compare(X, weights, origin, candidates, scratch, nearest, falls, not joins, None)
        best = 0
        for t in range(1, tries):
            best = t if falls[t] > falls[best] else best
        for j in range(centres.shape[1]):
            centres[done, j] = candidates[best, j]
    return True


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
