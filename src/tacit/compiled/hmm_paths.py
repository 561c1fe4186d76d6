"""Paths through a hidden Markov chain: the best one, the n best, and draws from the posterior.

L (n, K) are log densities; `width` is a tuple of K zeros for small K, and () otherwise (see `hmm`).
"""

import math

import numpy as np
from numba import njit


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
def viterbi_of_many(L, lengths, log_start, log_A, pointers, path, logs):
    """Best path of every sequence of many states; pointers (longest, K) is scratch, logs as in `viterbi`."""
    K = L.shape[1]
    score, best, arg, first = np.empty(K), np.empty(K), np.empty(K, np.int64), 0
    for q in range(len(lengths)):
        last = first + lengths[q]
        for k in range(K):
            score[k] = log_start[k] + L[first, k]
        for t in range(first + 1, last):
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
def n_best(L, log_start, log_A, scores, pointers, paths, logs):
    """The best paths of one sequence, best first; scores (2, K, B) and pointers (n, K, B) are scratch.

    A pointer holds state * B + rank. Missing paths (fewer exist) have log probability -inf.
    """
    n, K = L.shape
    B = scores.shape[2]
    scores[:] = -math.inf
    for k in range(K):
        scores[0, k, 0] = log_start[k] + L[0, k]
    for t in range(1, n):
        old, new = scores[(t - 1) % 2], scores[t % 2]
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
def sample_back(la, log_A, uniform, paths):
    """Draw paths (R, n) from the posterior, given log forward rows la (n, K) and uniform numbers (R, n)."""
    n = la.shape[0]
    for r in range(paths.shape[0]):
        state = pick(la[n - 1], uniform[r, n - 1])
        paths[r, n - 1] = state
        for t in range(n - 2, -1, -1):
            state = pick(la[t] + log_A[:, state], uniform[r, t])
            paths[r, t] = state


@njit(nogil=True, cache=True)
def walk(start_cdf, transition_cdf, uniform, path):
    """A path drawn from the chain itself."""
    state = min(np.searchsorted(start_cdf, uniform[0], side="right"), len(start_cdf) - 1)
    path[0] = state
    for t in range(1, len(path)):
        row = transition_cdf[state]
        state = min(np.searchsorted(row, uniform[t], side="right"), len(row) - 1)
        path[t] = state
