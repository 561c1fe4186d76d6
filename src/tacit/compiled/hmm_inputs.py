"""Hidden Markov chains whose transitions depend on inputs, by multinomial logistic regression.

The transition from state i to j at a step with inputs u has probability softmax_j(W[i, j] . u). It is computed when
it is needed: nothing of size T x K x K is stored. Rows are rescaled by the largest term of what is predicted times
what is observed, so that no outlier underflows.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def transitions(u, W, A):
    """Fill A (K, K) with the probabilities at a step with inputs u (p,)."""
    K, p = W.shape[0], len(u)
    for i in range(K):
        m = -math.inf
        for j in range(K):
            z = 0.0
            for q in range(p):
                z += W[i, j, q] * u[q]
            A[i, j] = z
            m = max(m, z)
        s = 0.0
        for j in range(K):
            A[i, j] = math.exp(A[i, j] - m)
            s += A[i, j]
        for j in range(K):
            A[i, j] /= s


@njit(nogil=True, cache=True)
def absorb(p, L, out):
    """out = p exp(L), scaled to sum to one; returns the log of the scale, -inf if nothing is possible."""
    K = len(p)
    m = -math.inf
    for k in range(K):
        if p[k] > 0.0:
            m = max(m, math.log(p[k]) + L[k])
    if m == -math.inf:
        return m
    s = 0.0
    for k in range(K):
        out[k] = math.exp(math.log(p[k]) + L[k] - m) if p[k] > 0.0 else 0.0
        s += out[k]
    for k in range(K):
        out[k] /= s
    return m + math.log(s)


@njit(nogil=True, cache=True)
def forward(L, U, start, W, a):
    """Filtered rows a (n, K) of one sequence; returns the log-likelihood and the first impossible row, or -1."""
    n, K = L.shape
    A, total = np.empty((K, K)), 0.0
    for t in range(n):
        if t > 0:
            transitions(U[t], W, A)
            pred = np.dot(a[t - 1], A)
        else:
            pred = start
        step = absorb(pred, L[t], a[t])
        if step == -math.inf:
            return step, t
        total += step
    return total, -1


@njit(nogil=True, cache=True)
def smooth(L, U, start, W, weight, a, g, slope, scatter):
    """Posteriors g of one sequence, and what the regressions need: slope (K, K, p) and scatter (K, p, p).

    slope[i, j] is the sum of (xi_t(i, j) - gamma_t(i) A_t(i, j)) u_t, scatter[i] that of gamma_t(i) u_t u_t'.
    """
    n, K = L.shape
    p = U.shape[1]
    total, bad = forward(L, U, start, W, a)
    if bad >= 0:
        return total, bad
    A, back, w, xi = np.empty((K, K)), np.ones(K), np.empty(K), np.empty((K, K))
    g[n - 1] = a[n - 1]
    for t in range(n - 1, 0, -1):
        transitions(U[t], W, A)
        absorb(back, L[t], w)
        s = 0.0
        for i in range(K):
            for j in range(K):
                xi[i, j] = a[t - 1, i] * A[i, j] * w[j]
                s += xi[i, j]
        for i in range(K):
            here = 0.0
            for j in range(K):
                xi[i, j] /= s
                here += xi[i, j]
            g[t - 1, i] = here
            for j in range(K):
                r = weight * (xi[i, j] - here * A[i, j])
                for q in range(p):
                    slope[i, j, q] += r * U[t, q]
            for q in range(p):
                for r_ in range(p):
                    scatter[i, q, r_] += weight * here * U[t, q] * U[t, r_]
        back = np.dot(A, w)
        back /= back.max()
    return total, -1


@njit(nogil=True, cache=True)
def viterbi(L, U, log_start, W, path):
    """Best path of one sequence; returns its log joint probability."""
    n, K = L.shape
    A, score, new = np.empty((K, K)), log_start + L[0], np.empty(K)
    pointers = np.zeros((n, K), np.uint16)
    for t in range(1, n):
        transitions(U[t], W, A)
        for j in range(K):
            best, arg = -math.inf, 0
            for i in range(K):
                v = score[i] + math.log(A[i, j]) if A[i, j] > 0.0 else -math.inf
                if v > best:
                    best, arg = v, i
            new[j] = best + L[t, j]
            pointers[t, j] = arg
        score[:] = new
    state = np.argmax(score)
    best = score[state]
    for t in range(n - 1, 0, -1):
        path[t] = state
        state = pointers[t, state]
    path[0] = state
    return best
