"""Hidden Markov chains whose transitions depend on inputs, by multinomial logistic regression; all sequences at once.

The transition from state i to j at a step with inputs u has probability softmax_j(W[i, j] . u). It is computed when
it is needed: nothing of size T x K x K is stored. Rows are kept as logs, and worked on in linear space wherever that
keeps all digits, so that no outlier underflows.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def transitions(U, t, W, A, log_A):
    """Fill A (K, K) with the probabilities at step t, whose inputs are U[t], and log_A with their logs."""
    K, p = W.shape[0], U.shape[1]
    for i in range(K):
        m = -math.inf
        for j in range(K):
            z = 0.0
            for q in range(p):
                z += W[i, j, q] * U[t, q]
            log_A[i, j] = z
            m = max(m, z)
        s = 0.0
        for j in range(K):
            A[i, j] = math.exp(log_A[i, j] - m)
            s += A[i, j]
        m += math.log(s)
        for j in range(K):
            A[i, j] /= s
            log_A[i, j] -= m


@njit(nogil=True, cache=True)
def log_total(x):
    """Log of the sum of exp(x)."""
    m = x.max()
    return m + math.log(np.exp(x - m).sum()) if m > -math.inf else -math.inf


@njit(nogil=True, cache=True)
def normalise(row):
    """Scale exp(row) to sum to one; returns the log of the scale, -inf if nothing is possible."""
    K, m, s = len(row), row.max(), 0.0
    if m == -math.inf:
        return m
    for k in range(K):
        s += math.exp(row[k] - m)
    m += math.log(s)
    for k in range(K):
        row[k] -= m
    return m


@njit(nogil=True, cache=True)
def step_ahead(row, A, log_A, out):
    """out = log(exp(row) A), for a row with the largest entry near zero."""
    K = len(row)
    for j in range(K):
        out[j] = 0.0
    for i in range(K):
        p = math.exp(row[i])
        for j in range(K):
            out[j] += p * A[i, j]
    for j in range(K):
        out[j] = math.log(out[j]) if out[j] > 1e-200 else log_total(row + log_A[:, j])


@njit(nogil=True, cache=True)
def step_back(row, e, A, log_A, out):
    """out = log(A e), where e = exp(row) has its largest entry near one."""
    K = len(row)
    for i in range(K):
        total = 0.0
        for j in range(K):
            total += A[i, j] * e[j]
        out[i] = math.log(total) if total > 1e-200 else log_total(row + log_A[i])


@njit(nogil=True, cache=True)
def forward(L, U, lengths, log_start, W, la, logs):
    """Logs la (n, K) of the filtered rows of all sequences, and log-likelihoods (S,).

    Returns the number of the first impossible sequence and the step at which it becomes so, or -1 and -1.
    """
    K, t = L.shape[1], 0
    A, log_A = np.empty((K, K)), np.empty((K, K))
    for q in range(len(lengths)):
        logs[q] = 0.0
        for step in range(lengths[q]):
            if step == 0:
                la[t] = log_start
            else:
                transitions(U, t, W, A, log_A)
                step_ahead(la[t - 1], A, log_A, la[t])
            for k in range(K):
                la[t, k] += L[t, k]
            scale = normalise(la[t])
            if scale == -math.inf:
                return q, step
            logs[q] += scale
            t += 1
    return -1, -1


@njit(nogil=True, cache=True)
def pairs(before, A, log_A, after, e, xi):
    """Fill xi (K, K) with exp(before_i) A_ij e_j, where e = exp(after), scaled to sum to one."""
    K, total = len(before), 0.0
    for i in range(K):
        p = math.exp(before[i])
        for j in range(K):
            xi[i, j] = p * A[i, j] * e[j]
            total += xi[i, j]
    if total < 1e-200:
        for i in range(K):
            xi[i] = before[i] + log_A[i] + after
        xi[:] = np.exp(xi - xi.max())
        total = xi.sum()
    for i in range(K):
        for j in range(K):
            xi[i, j] /= total


@njit(nogil=True, cache=True)
def smooth(L, U, lengths, weights, W, la, g, gradient, curvature):
    """Posteriors g, given logs la of filtered rows, and what the regressions need; weights (S,) are those of sequences.

    Adds the sum of (xi_t(i, j) - gamma_t(i) A_t(i, j)) u_t to slope[i, j], and to curvature[i] (K p, K p) that of
    gamma_t(i) (diag(A_t(i)) - A_t(i) A_t(i)') times u_t u_t': first and (minus) second derivatives in W[i].
    """
    K, last = L.shape[1], 0
    A, log_A, xi = np.empty((K, K)), np.empty((K, K)), np.empty((K, K))
    back, after, e = np.empty(K), np.empty(K), np.empty(K)
    for s in range(len(lengths)):
        last += lengths[s]
        back[:] = 0.0
        g[last - 1] = np.exp(la[last - 1])
        for t in range(last - 1, last - lengths[s], -1):
            transitions(U, t, W, A, log_A)
            for k in range(K):
                after[k] = L[t, k] + back[k]
            normalise(after)
            for k in range(K):
                e[k] = math.exp(after[k])
            pairs(la[t - 1], A, log_A, after, e, xi)
            for i in range(K):
                g[t - 1, i] = 0.0
                for j in range(K):
                    g[t - 1, i] += xi[i, j]
            add_derivatives(xi, A, U, t, weights[s], gradient, curvature)
            step_back(after, e, A, log_A, back)


@njit(nogil=True, cache=True)
def add_derivatives(xi, A, U, t, weight, gradient, curvature):
    """What one step adds to slope and curvature (see `smooth`)."""
    K, p = A.shape[0], U.shape[1]
    for i in range(K):
        here = 0.0
        for j in range(K):
            here += xi[i, j]
        for j in range(K):
            r = weight * (xi[i, j] - here * A[i, j])
            for q in range(p):
                gradient[i, j, q] += r * U[t, q]
            for k in range(K):
                c = weight * here * A[i, j] * ((1.0 if j == k else 0.0) - A[i, k])
                for q in range(p):
                    for h in range(p):
                        curvature[i, j * p + q, k * p + h] += c * U[t, q] * U[t, h]
