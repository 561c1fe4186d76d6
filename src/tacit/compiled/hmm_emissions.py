"""Log densities and weighted statistics of simple emissions, for all states at once.

State is the fast axis: means and the like come as (d, K). `width` as in `hmm`.
"""

from numba import njit


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def diagonal_densities(X, means, roots, constants, width, L):
    """L[t, k] = constants[k] - sum_j ((x_tj - means[j, k]) roots[j, k])^2."""
    n, d = X.shape
    K = len(width) if len(width) > 0 else L.shape[1]
    for t in range(n):
        for k in range(K):
            L[t, k] = constants[k]
        for j in range(d):
            x = X[t, j]
            for k in range(K):
                z = (x - means[j, k]) * roots[j, k]
                L[t, k] -= z * z


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def diagonal_moments(X, g, means, width, weight, first, second):
    """Add weights (K,), first and second moments (d, K) about the means, weighted by g (n, K)."""
    n, d = X.shape
    K = len(width) if len(width) > 0 else g.shape[1]
    for t in range(n):
        for k in range(K):
            weight[k] += g[t, k]
        for j in range(d):
            x = X[t, j]
            for k in range(K):
                z = x - means[j, k]
                r = g[t, k] * z
                first[j, k] += r
                second[j, k] += r * z


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
