"""Paths through a hidden Markov chain: the best one, the n best, draws from the posterior, and a look a few rows ahead.

L (n, K) are log densities; `width` is a tuple of K zeros for small K, and () otherwise (see `hmm`). Transitions W are
log probabilities (K, K), or coefficients (K, K, p) of inputs U (n, p) (see `log_moves`).
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def log_moves(t, W, U, out):
    """Log transition probabilities (K, K) into row t.

    W (K, K) is what is asked for, at every row. With coefficients W (K, K, p) it is the log of
    softmax_j(W[i, j] . U[t]), for which `out` has room. The number of axes is known when this is compiled: no kernel
    has both ways in it.
    """
    if W.ndim == 2:
        return W
    K, p = W.shape[0], W.shape[2]
    for i in range(K):
        m = -math.inf
        for j in range(K):
            z = 0.0
            for q in range(p):
                z += W[i, j, q] * U[t, q]
            out[i, j] = z
            m = max(m, z)
        total = 0.0
        for j in range(K):
            total += math.exp(out[i, j] - m)
        m += math.log(total)
        for j in range(K):
            out[i, j] -= m
    return out


@njit(nogil=True, cache=True, error_model="numpy")
def viterbi(L, lengths, log_start, log_A, log_At, width, path, logs):
    """Best path of every sequence of few states; logs (S,) gets the log joint probabilities.

    L becomes the score of the best path to each state. The way back asks anew which state was best before: that is K
    sums for a step, where to remember it would cost K x K comparisons.
    """
    K, new, first = len(width), np.empty(len(width)), 0
    for q in range(len(lengths)):
        last = first + lengths[q]
        for k in range(K):
            L[first, k] += log_start[k]
        for t in range(first + 1, last):
            s = L[t - 1, 0]
            for j in range(K):
                new[j] = s + log_A[0, j]
            for i in range(1, K):
                s = L[t - 1, i]
                for j in range(K):
                    v = s + log_A[i, j]
                    new[j] = v if v > new[j] else new[j]
            for j in range(K):
                L[t, j] += new[j]
        state = 0
        for k in range(1, K):
            state = k if L[last - 1, k] > L[last - 1, state] else state
        logs[q] = L[last - 1, state]
        path[last - 1] = state
        for t in range(last - 2, first - 1, -1):
            best, before = L[t, 0] + log_At[state, 0], 0
            for i in range(1, K):
                v = L[t, i] + log_At[state, i]
                before = i if v > best else before
                best = v if v > best else best
            state = before
            path[t] = state
        first = last


@njit(nogil=True, cache=True)
def viterbi_of_many(L, lengths, log_start, W, pointers, path, logs, U=None):
    """Best path of every sequence of many states, or with inputs.

    pointers (longest, K) is scratch, logs as in `viterbi`.
    """
    K, work = L.shape[1], np.empty((L.shape[1], L.shape[1]))
    score, best, arg, first = np.empty(K), np.empty(K), np.empty(K, np.int64), 0
    for q in range(len(lengths)):
        last = first + lengths[q]
        for k in range(K):
            score[k] = log_start[k] + L[first, k]
        for t in range(first + 1, last):
            log_A = log_moves(t, W, U, work)
            s = score[0]
            for j in range(K):
                best[j] = s + log_A[0, j]
                arg[j] = 0
            for i in range(1, K):
                s = score[i]
                for j in range(K):
                    v = s + log_A[i, j]
                    arg[j] = i if v > best[j] else arg[j]
                    best[j] = v if v > best[j] else best[j]
            for j in range(K):
                pointers[t - first, j] = arg[j]
                score[j] = best[j] + L[t, j]
        state = np.argmax(score)
        logs[q] = score[state]
        for t in range(last - 1, first, -1):
            path[t] = state
            state = pointers[t - first, state]
        path[first] = state
        first = last


@njit(nogil=True, cache=True)
def n_best(L, log_start, W, scores, pointers, paths, logs, U=None):
    """The best paths of one sequence, best first; scores (2, K, B) and pointers (n, K, B) are scratch.

    A pointer holds state * B + rank. Missing paths (fewer exist) have log probability -inf.
    """
    n, K = L.shape
    B, work = scores.shape[2], np.empty((K, K))
    scores[:] = -math.inf
    for k in range(K):
        scores[0, k, 0] = log_start[k] + L[0, k]
    for t in range(1, n):
        old, new, log_A = scores[(t - 1) % 2], scores[t % 2], log_moves(t, W, U, work)
        for j in range(K):
            used = np.zeros(K, np.int64)
            for r in range(B):
                top, state = -math.inf, 0
                for i in range(K):
                    if used[i] < B and old[i, used[i]] + log_A[i, j] > top:
                        top, state = old[i, used[i]] + log_A[i, j], i
                new[j, r] = top + L[t, j]
                pointers[t, j, r] = state * B + min(used[state], B - 1)
                used[state] += 1
    final = scores[(n - 1) % 2].reshape(K * B)
    order = np.argsort(-final, kind="mergesort")
    for r in range(B):
        logs[r] = final[order[r]] if r < K * B else -math.inf
        here = order[r] if r < K * B else 0
        for t in range(n - 1, -1, -1):
            paths[r, t] = here // B
            if t > 0:
                here = pointers[t, here // B, here % B]


@njit(nogil=True, cache=True)
def pick(logs, u):
    """Index drawn in proportion to exp(logs) by the uniform number u."""
    m = logs.max()
    total = 0.0
    for k in range(len(logs)):
        total += math.exp(logs[k] - m)
    left, chosen = u * total, 0
    for k in range(len(logs)):
        p = math.exp(logs[k] - m)
        if p > 0.0:
            chosen = k
            if left < p:
                break
            left -= p
    return chosen


@njit(nogil=True, cache=True)
def sample_back(la, W, uniform, paths, U=None):
    """Draw paths (R, n) from the posterior, given log forward rows la (n, K) and uniform numbers (R, n)."""
    (R, n), K = paths.shape, la.shape[1]
    work = np.empty((K, K))
    for r in range(R):
        paths[r, n - 1] = pick(la[n - 1], uniform[r, n - 1])
    for t in range(n - 2, -1, -1):
        log_A = log_moves(t + 1, W, U, work)
        for r in range(R):
            paths[r, t] = pick(la[t] + log_A[:, paths[r, t + 1]], uniform[r, t])


@njit(nogil=True, cache=True)
def log_product(At, log_A, row, out):
    """out = log(A exp(row)) less its largest entry, given A transposed; linear where that keeps all digits."""
    K, m, top = len(row), row.max(), -math.inf
    for i in range(K):
        out[i] = 0.0
    for j in range(K):
        e = math.exp(row[j] - m)
        for i in range(K):
            out[i] += At[j, i] * e
    for i in range(K):
        if out[i] > 1e-200:
            out[i] = math.log(out[i])
        else:
            best = (log_A[i] + row).max()
            out[i] = best - m + math.log(np.exp(log_A[i] + row - best).sum()) if best > -math.inf else -math.inf
        top = max(top, out[i])
    for i in range(K):
        out[i] -= top


@njit(nogil=True, cache=True)
def look_ahead(L, lengths, W, lag, ahead, U=None):
    """Log probability (n, K) of the next `lag` rows given the state of each row, up to a constant for each row.

    A further step for all rows is done in place, from the first row to the last: what is read is of the step before.
    """
    K = L.shape[1]
    At, work, row, fresh = np.empty((K, K)), np.empty((K, K)), np.empty(K), True
    ahead[:] = 0.0
    for _ in range(min(lag, lengths.max() - 1)):
        first = 0
        for q in range(len(lengths)):
            last = first + lengths[q]
            for t in range(first, last - 1):
                log_A = log_moves(t + 1, W, U, work)
                if W.ndim == 3 or fresh:
                    At[:] = np.exp(log_A.T)
                    fresh = False
                for k in range(K):
                    row[k] = L[t + 1, k] + ahead[t + 1, k]
                log_product(At, log_A, row, ahead[t])
            first = last


@njit(nogil=True, cache=True)
def walk(start_cdf, transition_cdf, uniform, path):
    """A path drawn from the chain itself."""
    state = min(np.searchsorted(start_cdf, uniform[0], side="right"), len(start_cdf) - 1)
    path[0] = state
    for t in range(1, len(path)):
        row = transition_cdf[state]
        state = min(np.searchsorted(row, uniform[t], side="right"), len(row) - 1)
        path[t] = state
