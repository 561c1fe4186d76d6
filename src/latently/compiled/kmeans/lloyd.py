"""K-means: nearest centres, their sums, and k-means++.

Rows are taken about an origin, y = x - origin, and centres are given about the same origin. Labels are those of
double precision, the lowest index among equals. Rows are read in transposed blocks, and compared with every centre.

A block is T (D + 1, B): coordinate j of row i in T[j, i], with zeros up to an even number D of coordinates, and in
T[D, i] the weight of row i, zero beyond the last row. `absent` (`share` in `direct`) is None if no value is missing:
what missing values need is then not even compiled. The same goes for `plane` and `centres`, one of which is None.

Functions that only others here call have no wrapper for Python: it would take a fifth of the time to compile.
"""

import math

import numpy as np
from numba import njit


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
def square(gap, absent):
    """Square of a difference; zero if it is missing."""
    if absent is None:
        return gap * gap
    return gap * gap if gap == gap else 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def sum_squares(T, centre, absent, total):
    """total[i] = squared distance to a centre, over the observed coordinates, two at a time."""
    for i in range(len(total)):
        total[i] = 0.0
    for j in range(0, len(centre), 2):
        p, q, a, b = T[j], T[j + 1], centre[j], centre[j + 1]
        for i in range(len(total)):
            total[i] = (total[i] + square(p[i] - a, absent)) + square(q[i] - b, absent)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def nearest_in_plane(p, q, centres, absent, nearest, owner):
    """The nearest centre of rows of two coordinates, p and q; two centres at one go."""
    last = len(centres) - 1
    for k in range(0, last + 1, 2):
        h = min(k + 1, last)
        a, b, c, d = centres[k, 0], centres[k, 1], centres[h, 0], centres[h, 1]
        for i in range(len(nearest)):
            least = square(p[i] - a, absent) + square(q[i] - b, absent)
            other = square(p[i] - c, absent) + square(q[i] - d, absent)
            who = h if other < least else k
            least = other if other < least else least
            owner[i] = who if least < nearest[i] else owner[i]
            nearest[i] = least if least < nearest[i] else nearest[i]


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def distances(X, origin, centres, scratch, absent, out):
    """out[i, k] = distance of row i to centre k, over the observed coordinates; centres as in `direct`."""
    T, total = scratch
    for start in range(0, len(X), len(total)):
        fill_block(X, start, total[:0], origin, T)
        for k in range(len(centres)):
            sum_squares(T, centres[k], absent, total)
            for i in range(min(len(total), len(X) - start)):
                out[start + i, k] = math.sqrt(total[i])


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def direct(X, weights, origin, plane, centres, scratch, labels, sums, share):
    """Label every row by its nearest centre, add up rows and weights, and return the cost.

    plane, centres
        (K, D), with a zero for the coordinate that rows do not have: as `plane` if D is two, else as `centres`.
    scratch
        T (D + 1, B) of zeros; total, nearest and owner (B,).
    labels
        (n,), or empty if nobody wants them.
    sums
        (K, D + 1) of the weighted rows about the origin, and of the weights.
    share
        (K, D) what each coordinate's mean is divided by; None without missing values, when that is the weight.
    """
    T, total, nearest, owner = scratch
    B, cost = len(total), 0.0
    for start in range(0, len(X), B):
        fill_block(X, start, weights, origin, T)
        for i in range(B):
            nearest[i] = np.inf
            owner[i] = 0
        if plane is not None:
            nearest_in_plane(T[0], T[1], plane, share, nearest, owner)
        if centres is not None:
            for k in range(len(centres)):
                sum_squares(T, centres[k], share, total)
                for i in range(B):
                    owner[i] = k if total[i] < nearest[i] else owner[i]
                    nearest[i] = total[i] if total[i] < nearest[i] else nearest[i]
        for i in range(min(B, len(labels) - start)):
            labels[start + i] = owner[i]
        if share is not None:
            weigh_missing(T, X.shape[1], nearest, owner, share)
        cost += add_block(T, nearest, owner, sums)
    return cost


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def weigh_missing(T, d, nearest, owner, share):
    """Scale up the cost of incomplete rows to all coordinates, and the rows with it, so that means make it least."""
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
def add_block(T, nearest, owner, sums):
    """Add weighted rows to their clusters; returns their cost. For few clusters, one by one: that vectorises."""
    last = len(T) - 1
    w, cost = T[last], 0.0
    for i in range(len(w)):
        cost += w[i] * nearest[i]
    if len(sums) > 12:
        for i in range(len(w)):
            s = sums[owner[i]]
            s[last] += w[i]
            for j in range(last):
                s[j] += w[i] * T[j, i]
        return cost
    for j in range(0, last, 2):
        p, q = T[j], T[j + 1]
        for k in range(len(sums)):
            one, two, weight = 0.0, 0.0, 0.0
            for i in range(len(w)):
                here = w[i] if owner[i] == k else 0.0
                one += here * p[i]
                two += here * q[i]
                weight += here
            sums[k, j] += one
            sums[k, j + 1] += two
            sums[k, last] += weight if j == 0 else 0.0
    return cost


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True, fastmath={"reassoc", "contract", "nsz"})
def join(X, weights, origin, points, reach, index, nearest, owner, falls, absent):
    """k-means++: falls[t] += how much the cost falls if point t (T, d) becomes a centre.

    index
        If not negative, rows that are nearer to a point than to their centre join it, as the centre of this index.
    reach
        (T, K) a quarter of the squared distances between points and centres: a row that is not farther than that
        from its centre cannot be nearer to the point.
    """
    n, d = X.shape
    for i in range(n):
        for t in range(len(points)):
            if reach[t, owner[i]] < nearest[i]:
                cost, observed = 0.0, 0.0
                for j in range(d):
                    gap = (X[i, j] - origin[j]) - points[t, j]
                    cost += square(gap, absent)
                    if absent is not None:
                        observed += 1.0 if gap == gap else 0.0
                if absent is not None:
                    cost = cost * d / observed if observed > 0.0 else 0.0
                if cost < nearest[i]:
                    falls[t] += (nearest[i] - cost) * (1.0 if len(weights) == 0 else weights[i])
                    if index >= 0:
                        nearest[i], owner[i] = cost, index
