"""Hidden Markov chains in log space: for sequences where linear space (`hmm`) would underflow.

Still linear row by row, with the largest entry taken out, wherever that keeps all digits. Letters as in `hmm`.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def log_times(row, M, log_M, out):
    """out = log(exp(row) M); linear where that keeps all digits, a sum of K exponentials where it does not."""
    K = len(row)
    m = row.max()
    if m == -math.inf:
        out[:] = -math.inf
        return
    out[:] = 0.0
    for i in range(K):
        if row[i] > m - 600.0:
            p = math.exp(row[i] - m)
            for j in range(K):
                out[j] += p * M[i, j]
    for j in range(K):
        if out[j] > 1e-200:
            out[j] = m + math.log(out[j])
            continue
        best = -math.inf
        for i in range(K):
            best = max(best, row[i] + log_M[i, j])
        total = 0.0
        for i in range(K):
            if best > -math.inf:
                total += math.exp(row[i] + log_M[i, j] - best)
        out[j] = best + math.log(total) if best > -math.inf else -math.inf


@njit(nogil=True, cache=True)
def log_forward(L, log_start, A, log_A, la):
    """Log forward rows la (n, K) of one sequence; returns the first impossible row, or -1."""
    for k in range(L.shape[1]):
        la[0, k] = log_start[k] + L[0, k]
    for t in range(L.shape[0]):
        if t > 0:
            log_times(la[t - 1], A, log_A, la[t])
            la[t] += L[t]
        if la[t].max() == -math.inf:
            return t
    return -1


@njit(nogil=True, cache=True)
def log_smooth(L, log_start, A, log_A, weight, la, g, S):
    """Posteriors g and weighted expected transitions (added to S) of one sequence in log space.

    Returns the log-likelihood and -1, or -inf and the first impossible row.
    """
    n, K = L.shape
    bad = log_forward(L, log_start, A, log_A, la)
    if bad >= 0:
        return -math.inf, bad
    At, log_At = np.ascontiguousarray(A.T), np.ascontiguousarray(log_A.T)
    m = la[n - 1].max()
    total = m + math.log(np.exp(la[n - 1] - m).sum())
    back, w = np.zeros(K), np.empty(K)
    for t in range(n - 1, -1, -1):
        if t < n - 1:
            for j in range(K):
                w[j] = L[t + 1, j] + back[j]
            for i in range(K):
                for j in range(K):
                    x = la[t, i] + log_A[i, j] + w[j] - total
                    if x > -745.0:
                        S[i, j] += weight * math.exp(x)
            log_times(w, At, log_At, back)
        s = 0.0
        for k in range(K):
            g[t, k] = math.exp(la[t, k] + back[k] - total)
            s += g[t, k]
        for k in range(K):
            g[t, k] /= s
    return total, -1
