"""Hidden Markov chains whose transitions depend on inputs, by multinomial logistic regression; all sequences at once.

The transition from state i to j at a step with inputs u has probability softmax_j(W[i, j] . u). It is computed when
it is needed: nothing of size T x K x K is stored. Rows are rescaled by the largest term of what is predicted times
what is observed, so that no outlier underflows.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def transitions(U, t, W, A):
    """Fill A (K, K) with the probabilities at step t, whose inputs are U[t]."""
    K, p = W.shape[0], U.shape[1]
    for i in range(K):
        m = -math.inf
        for j in range(K):
            z = 0.0
            for q in range(p):
                z += W[i, j, q] * U[t, q]
            A[i, j] = z
            m = max(m, z)
        s = 0.0
        for j in range(K):
            A[i, j] = math.exp(A[i, j] - m)
            s += A[i, j]
        for j in range(K):
            A[i, j] /= s


@njit(nogil=True, cache=True)
def absorb(p, L, t, out):
    """out = p exp(L[t]), scaled to sum to one; returns the log of the scale, -inf if nothing is possible."""
    K = len(p)
    m = -math.inf
    for k in range(K):
        if p[k] > 0.0:
            m = max(m, math.log(p[k]) + L[t, k])
    if m == -math.inf:
        return m
    s = 0.0
    for k in range(K):
        out[k] = math.exp(math.log(p[k]) + L[t, k] - m) if p[k] > 0.0 else 0.0
        s += out[k]
    for k in range(K):
        out[k] /= s
    return m + math.log(s)


@njit(nogil=True, cache=True)
def forward(L, U, lengths, start, W, a, logs):
    """Filtered rows a (n, K) of all sequences, and log-likelihoods (S,).

    Returns the number of the first impossible sequence and the step at which it becomes so, or -1 and -1.
    """
    K = L.shape[1]
    A, now, pred, t = np.empty((K, K)), np.empty(K), np.empty(K), 0
    for q in range(len(lengths)):
        logs[q] = 0.0
        for k in range(K):
            pred[k] = start[k]
        for step in range(lengths[q]):
            if step > 0:
                transitions(U, t, W, A)
                for j in range(K):
                    pred[j] = 0.0
                    for i in range(K):
                        pred[j] += now[i] * A[i, j]
            scale = absorb(pred, L, t, now)
            if scale == -math.inf:
                return q, step
            logs[q] += scale
            for k in range(K):
                a[t, k] = now[k]
            t += 1
    return -1, -1


@njit(nogil=True, cache=True)
def smooth(L, U, lengths, weights, W, a, g, slope, curvature):
    """Posteriors g, given filtered rows a, and what the regressions need; weights (S,) are those of sequences.

    Adds the sum of (xi_t(i, j) - gamma_t(i) A_t(i, j)) u_t to slope[i, j], and to curvature[i] (K p, K p) that of
    gamma_t(i) (diag(A_t(i)) - A_t(i) A_t(i)') times u_t u_t': first and (minus) second derivatives in W[i].
    """
    K = L.shape[1]
    A, back, w, xi = np.empty((K, K)), np.empty(K), np.empty(K), np.empty((K, K))
    last = 0
    for s in range(len(lengths)):
        last += lengths[s]
        back[:] = 1.0
        g[last - 1] = a[last - 1]
        for t in range(last - 1, last - lengths[s], -1):
            transitions(U, t, W, A)
            absorb(back, L, t, w)
            total = 0.0
            for i in range(K):
                for j in range(K):
                    xi[i, j] = a[t - 1, i] * A[i, j] * w[j]
                    total += xi[i, j]
            for i in range(K):
                g[t - 1, i] = 0.0
                for j in range(K):
                    xi[i, j] /= total
                    g[t - 1, i] += xi[i, j]
            add_derivatives(xi, A, U, t, weights[s], slope, curvature)
            m = 0.0
            for i in range(K):
                back[i] = 0.0
                for j in range(K):
                    back[i] += A[i, j] * w[j]
                m = max(m, back[i])
            for i in range(K):
                back[i] /= m


@njit(nogil=True, cache=True)
def add_derivatives(xi, A, U, t, weight, slope, curvature):
    """What one step adds to slope and curvature (see `smooth`)."""
    K, p = A.shape[0], U.shape[1]
    for i in range(K):
        here = 0.0
        for j in range(K):
            here += xi[i, j]
        for j in range(K):
            r = weight * (xi[i, j] - here * A[i, j])
            for q in range(p):
                slope[i, j, q] += r * U[t, q]
            for k in range(K):
                c = weight * here * A[i, j] * ((1.0 if j == k else 0.0) - A[i, k])
                for q in range(p):
                    for h in range(p):
                        curvature[i, j * p + q, k * p + h] += c * U[t, q] * U[t, h]


@njit(nogil=True, cache=True)
def viterbi(L, U, lengths, log_start, W, path, logs):
    """Best path of every sequence; logs (S,) gets the log joint probabilities."""
    K, first = L.shape[1], 0
    A, score, new = np.empty((K, K)), np.empty(K), np.empty(K)
    pointers = np.zeros((lengths.max(), K), np.uint16)
    for q in range(len(lengths)):
        last = first + lengths[q]
        for k in range(K):
            score[k] = log_start[k] + L[first, k]
        for t in range(first + 1, last):
            transitions(U, t, W, A)
            for j in range(K):
                best, arg = -math.inf, 0
                for i in range(K):
                    v = score[i] + math.log(A[i, j]) if A[i, j] > 0.0 else -math.inf
                    if v > best:
                        best, arg = v, i
                new[j] = best + L[t, j]
                pointers[t - first, j] = arg
            score[:] = new
        state = np.argmax(score)
        logs[q] = score[state]
        for t in range(last - 1, first, -1):
            path[t] = state
            state = pointers[t - first, state]
        path[first] = state
        first = last
