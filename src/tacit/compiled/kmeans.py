"""K-means: nearest centres, their sums, and k-means++.

Rows are taken about an origin, y = x - origin, and centres are given about the same origin. Labels are those of
double precision, the lowest index among equals. Rows are read in transposed blocks, and compared with every centre.

Functions that only others here call have no wrapper for Python: it would take a fifth of the time to compile.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def moments(X, count, mean, square):
    """Per column: how many values are observed, their mean, and the sum of squares about it."""
    n, d = X.shape
    for i in range(n):
        for j in range(d):
            seen = X[i, j] == X[i, j]
            count[j] += 1.0 if seen else 0.0
            mean[j] += X[i, j] if seen else 0.0
    for j in range(d):
        mean[j] /= count[j] if count[j] > 0.0 else 1.0
    for i in range(n):
        for j in range(d):
            t = X[i, j] - mean[j]
            square[j] += t * t if t == t else 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def fill_block(X, start, size, origin, missing, T, scale):
    """T[j, i] = row start + i about the origin; scale[i] = columns / observed columns (0 if none), left if all are."""
    d = X.shape[1]
    tiles = size - size % 8 if d > 4 else 0
    for tile in range(0, tiles, 8):  # eight rows at a time, which the cache likes
        for j in range(d):
            for i in range(tile, tile + 8):
                T[j, i] = X[start + i, j] - origin[j]
    for j in range(d):
        for i in range(tiles, size):
            T[j, i] = X[start + i, j] - origin[j]
    if missing:
        for i in range(size):
            observed = 0.0
            for j in range(d):
                observed += 1.0 if T[j, i] == T[j, i] else 0.0
            scale[i] = d / observed if observed > 0.0 else 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def pair_distances(T, missing, one, two, out, other):
    """out[i], other[i] = squared distances of each row of a block to two centres, over the coordinates it has."""
    for i in range(len(out)):
        out[i] = other[i] = 0.0
    for j in range(len(one)):
        a, b = one[j], two[j]
        if missing:
            for i in range(len(out)):
                s, t = T[j, i] - a, T[j, i] - b
                out[i] += s * s if s == s else 0.0
                other[i] += t * t if t == t else 0.0
        else:
            for i in range(len(out)):
                s, t = T[j, i] - a, T[j, i] - b
                out[i] += s * s
                other[i] += t * t


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def keep_nearer(k, h, gap, other, nearest, owner):
    """Note where centre k or h is nearer than those before; the first of equals."""
    for i in range(len(gap)):
        who = h if other[i] < gap[i] else k
        least = other[i] if other[i] < gap[i] else gap[i]
        owner[i] = who if least < nearest[i] else owner[i]
        nearest[i] = least if least < nearest[i] else nearest[i]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def keep_nearer_in_plane(k, h, centres, p, q, nearest, owner):
    """The same for rows of two coordinates, p and q, at one go."""
    a, b, c, d = centres[k, 0], centres[k, 1], centres[h, 0], centres[h, 1]
    for i in range(len(nearest)):
        least = (p[i] - a) * (p[i] - a) + (q[i] - b) * (q[i] - b)
        other = (p[i] - c) * (p[i] - c) + (q[i] - d) * (q[i] - d)
        who = h if other < least else k
        least = other if other < least else least
        owner[i] = who if least < nearest[i] else owner[i]
        nearest[i] = least if least < nearest[i] else nearest[i]


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def distances(X, origin, missing, centres, scratch, out):
    """out[i, k] = distance of row i to centre k, over the observed coordinates and scaled up to all of them."""
    T, scale, gap, other = scratch
    n, B = len(X), len(gap)
    for start in range(0, n, B):
        size = min(B, n - start)
        fill_block(X, start, size, origin, missing, T, scale)
        for k in range(0, len(centres), 2):
            h = min(k + 1, len(centres) - 1)
            pair_distances(T, missing, centres[k], centres[h], gap, other)
            for i in range(size):
                out[start + i, k] = math.sqrt(gap[i] * scale[i])
                out[start + i, h] = math.sqrt(other[i] * scale[i])


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def direct(X, weights, origin, missing, centres, scratch, labels, weight, first, share):
    """Label every row by its nearest centre, add up weights and rows about the origin, and return the cost.

    scratch
        T (d, B), scale (B,) of ones, gap, other, nearest and owner (B,).
    labels
        (n,), or empty if nobody wants them.
    share
        (K, d) what each coordinate's mean is divided by; empty without missing values, when that is the weight.
    """
    n, d = X.shape
    T, scale, gap, other, nearest, owner = scratch
    B, K = len(gap), len(centres)
    plain = not missing and len(weights) == 0
    total = 0.0
    for start in range(0, n, B):
        size = min(B, n - start)
        fill_block(X, start, size, origin, missing, T, scale)
        for i in range(B):
            nearest[i], owner[i] = np.inf, 0
        for k in range(0, K, 2):
            h = min(k + 1, K - 1)
            if d == 2 and not missing:
                keep_nearer_in_plane(k, h, centres, T[0], T[1], nearest, owner)
            else:
                pair_distances(T, missing, centres[k], centres[h], gap, other)
                keep_nearer(k, h, gap, other, nearest, owner)
        total += block_cost(nearest, scale, weights[start : start + size], size)
        for i in range(min(size, len(labels))):
            labels[start + i] = owner[i]
        if plain and K <= 12:
            add_to_few(T, size, owner, weight, first)
        else:
            if not plain:
                weigh_block(T, start, size, weights, scale, owner, share)
            for i in range(size):
                w = 1.0 if len(weights) == 0 else weights[start + i]
                weight[owner[i]] += w if scale[i] > 0.0 else 0.0
            for j in range(d):
                for i in range(size):
                    first[owner[i], j] += T[j, i]
    return total


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def block_cost(nearest, scale, weights, size):
    """Sum of weighted, scaled squared distances."""
    total = 0.0
    for i in range(size):
        total += nearest[i] * scale[i] if len(weights) == 0 else weights[i] * nearest[i] * scale[i]
    return total


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def add_to_few(T, size, owner, weight, first):
    """Add rows to their clusters, cluster by cluster: for a few of them that vectorises, and is faster."""
    d = first.shape[1]
    for k in range(len(weight)):
        for j in range(0, d, 2):  # two coordinates a time
            p, q = T[j], T[min(j + 1, d - 1)]
            rows, one, two = 0.0, 0.0, 0.0
            for i in range(size):
                here = 1.0 if owner[i] == k else 0.0
                rows += here
                one += here * p[i]
                two += here * q[i]
            first[k, j] += one
            if j + 1 < d:
                first[k, j + 1] += two
            if j == 0:
                weight[k] += rows


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def weigh_block(T, start, size, weights, scale, owner, share):
    """Multiply rows by weight and scale, zero where missing: the scaled cost is least if a row counts by its scale."""
    for i in range(size):
        w = scale[i] if len(weights) == 0 else weights[start + i] * scale[i]
        for j in range(T.shape[0]):
            seen = T[j, i] == T[j, i]
            T[j, i] = w * T[j, i] if seen else 0.0
            if seen and len(share) > 0:
                share[owner[i], j] += w


@njit(
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath={"reassoc", "contract", "nsz"},
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)
def row_square(x, origin, missing, centre):
    """Squared distance of a row to a centre, over the observed coordinates and scaled up to all of them."""
    total, observed = 0.0, 0.0
    if not missing:
        for j in range(len(centre)):
            t = (x[j] - origin[j]) - centre[j]
            total += t * t
        return total
    for j in range(len(centre)):
        t = (x[j] - origin[j]) - centre[j]
        if t == t:
            total += t * t
            observed += 1.0
    return total * len(centre) / observed if observed > 0.0 else 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def join(X, weights, origin, missing, points, reach, index, nearest, owner, falls):
    """k-means++: falls[t] += how much the cost falls if point t (T, d) becomes a centre.

    index
        If not negative, rows that are nearer to a point than to their centre join it, as the centre of this index.
    reach
        (T, K) a quarter of the squared distances between points and centres: a row that is not farther than that
        from its centre cannot be nearer to the point.
    """
    for i in range(len(X)):
        w = 1.0 if len(weights) == 0 else weights[i]
        for t in range(len(points)):
            if reach[t, owner[i]] < nearest[i]:
                square = row_square(X[i], origin, missing, points[t])
                if square < nearest[i]:
                    falls[t] += w * (nearest[i] - square)
                    if index >= 0:
                        nearest[i], owner[i] = square, index
