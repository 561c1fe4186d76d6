"""Log densities and weighted statistics of simple emissions, for all states at once.

Means and the like come as (K, d). Rows are worked on in tiles, with rows as the fast axis, so that everything
vectorises. `width` as in `hmm`, and unsigned indices as well.
"""

import numpy as np
from numba import njit

TILE = 128


@njit(nogil=True, cache=True)
def turn(rows, first, n, Z):
    """Z[j, i] = x_(first + i)j for n rows of flat numbers."""
    d = Z.shape[0]
    for j in range(d):
        at = np.uintp(first * d + j)
        for i in range(n):
            Z[j, i] = rows[at]
            at += np.uintp(d)


@njit(nogil=True, cache=True)
def turn_back(T, first, n, K, rows):
    """Write the first n columns of T (K, TILE) as rows of flat numbers."""
    at = np.uintp(first * K)
    for i in range(n):
        for k in range(K):
            rows[at] = T[k, i]
            at += np.uintp(1)


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def tile_densities(rows, first, n, means, roots, constants, K, Z, T):
    """T[k, i] = constants[k] - sum_j ((x_ij - means[k, j]) roots[k, j])^2 for a tile of rows; Z is scratch."""
    d = Z.shape[0]
    turn(rows, first, n, Z)
    for k in range(K):
        c, m, r = constants[k], means[k, 0], roots[k, 0]
        for i in range(TILE):
            z = (Z[0, i] - m) * r
            T[k, i] = c - z * z
        for j in range(1, d):
            m, r = means[k, j], roots[k, j]
            for i in range(TILE):
                z = (Z[j, i] - m) * r
                T[k, i] -= z * z


@njit(nogil=True, cache=True)
def diagonal_densities(X, means, roots, constants, width, L):
    """L[t, k] = constants[k] - sum_j ((x_tj - means[k, j]) roots[k, j])^2."""
    K = len(width) if len(width) > 0 else L.shape[1]
    Z, T, rows, out = np.zeros((X.shape[1], TILE)), np.empty((K, TILE)), X.reshape(X.size), L.reshape(L.size)
    for first in range(0, X.shape[0], TILE):
        n = min(TILE, X.shape[0] - first)
        tile_densities(rows, first, n, means, roots, constants, K, Z, T)
        turn_back(T, first, n, K, out)


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def tile_exponentials(K, T, peak, scratch):
    """T[k, i] becomes exp(T[k, i] - peak[i]), peak the largest of all k; 3e-308 stands for less."""
    bits = scratch.view(np.int64)
    for i in range(TILE):
        peak[i] = T[0, i]
    for k in range(1, K):
        for i in range(TILE):
            peak[i] = T[k, i] if T[k, i] > peak[i] else peak[i]
    for k in range(K):
        for i in range(TILE):
            # exp by 2^whole times a polynomial in the rest, which vectorises where math.exp does not; adding
            # 1.5 * 2^52 rounds to a whole number and leaves it in the lowest bits
            x = T[k, i] - peak[i]
            x = x if x > -708.0 else -708.0
            shifted = x * 1.4426950408889634 + 6755399441055744.0
            scratch[i] = shifted
            whole = shifted - 6755399441055744.0
            r = (x - whole * 0.693145751953125) - whole * 1.4286068203094172e-06
            p = 1.0 / 479001600
            p = p * r + 1.0 / 39916800
            p = p * r + 1.0 / 3628800
            p = p * r + 1.0 / 362880
            p = p * r + 1.0 / 40320
            p = p * r + 1.0 / 5040
            p = p * r + 1.0 / 720
            p = p * r + 1.0 / 120
            p = p * r + 1.0 / 24
            p = p * r + 1.0 / 6
            p = p * r + 0.5
            p = p * r + 1.0
            T[k, i] = p * r + 1.0
        for i in range(TILE):
            bits[i] = (bits[i] + 1023) << 52
        for i in range(TILE):
            T[k, i] *= scratch[i]


@njit(nogil=True, cache=True)
def diagonal_fill(X, means, roots, constants, width, b, top):
    """Fill b with densities over exp(top), and top (n,) with the largest log density of each row."""
    K = len(width) if len(width) > 0 else b.shape[1]
    Z, T = np.zeros((X.shape[1], TILE)), np.empty((K, TILE))
    peak, scratch, rows, out = np.empty(TILE), np.empty(TILE), X.reshape(X.size), b.reshape(b.size)
    for first in range(0, X.shape[0], TILE):
        n = min(TILE, X.shape[0] - first)
        tile_densities(rows, first, n, means, roots, constants, K, Z, T)
        tile_exponentials(K, T, peak, scratch)
        for i in range(n):
            top[first + i] = peak[i]
        turn_back(T, first, n, K, out)


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def diagonal_moments(X, g, means, width, weight, first, second):
    """Add weights (K,), first and second moments (K, d) about the means, weighted by g (n, K)."""
    d = X.shape[1]
    K = len(width) if len(width) > 0 else g.shape[1]
    Z, R, rows, shares = np.zeros((d, TILE)), np.empty((K, TILE)), X.reshape(X.size), g.reshape(g.size)
    for start in range(0, X.shape[0], TILE):
        n = min(TILE, X.shape[0] - start)
        turn(rows, start, n, Z)
        at = np.uintp(start * K)
        for i in range(n):
            for k in range(K):
                R[k, i] = shares[at]
                at += np.uintp(1)
        for i in range(n, TILE):
            for k in range(K):
                R[k, i] = 0.0
        for k in range(K):
            s = 0.0
            for i in range(TILE):
                s += R[k, i]
            weight[k] += s
            for j in range(d):
                m, s1, s2 = means[k, j], 0.0, 0.0
                for i in range(TILE):
                    z = Z[j, i] - m
                    r = R[k, i] * z
                    s1 += r
                    s2 += r * z
                first[k, j] += s1
                second[k, j] += s2


@njit(nogil=True, cache=True)
def gather(codes, table, top, b):
    """b[t] = table[code of t]; a missing code (-1) is a row of ones."""
    for t in range(len(codes)):
        c = codes[t]
        top[t] = 0.0
        for k in range(b.shape[1]):
            b[t, k] = table[c, k] if c >= 0 else 1.0


@njit(nogil=True, cache=True)
def tally(codes, g, counts):
    """Add posteriors g (n, K) to counts (C, K) by code; missing codes add nothing."""
    for t in range(len(codes)):
        c = codes[t]
        if c >= 0:
            for k in range(g.shape[1]):
                counts[c, k] += g[t, k]
