"""Best paths of a chain whose states have durations, as runs: a state, for how long, then another.

L (n, K) are log densities. stay (K, M) are log probabilities that a run is of 1 to M steps, after which another state
follows; last (K, M) that it is of so many steps or more: the run in which the sequence ends. log_A (K, K) is that of
the next state; its diagonal is not read.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def put(value, code, values, codes):
    """Put a value at its place in values (B,), which fall; equal ones stay in the order in which they came."""
    r = len(values) - 1
    if not value > values[r]:
        return False
    while r > 0 and value > values[r - 1]:
        values[r], codes[r] = values[r - 1], codes[r - 1]
        r -= 1
    values[r], codes[r] = value, code
    return True


@njit(nogil=True, cache=True)
def end_runs(L, t, k, log_run, enter, values, codes):
    """The best paths to row t of which a run of state k, of any length, is the end; code = length * B + rank."""
    M, B, rows = log_run.shape[1], enter.shape[2], 0.0
    for n in range(1, min(t + 1, M) + 1):
        rows += L[t - n + 1, k]
        if rows == -math.inf:
            break
        for r in range(B):
            if not put(rows + log_run[k, n - 1] + enter[t - n + 1, k, r], n * B + r, values, codes):
                break


@njit(nogil=True, cache=True)
def n_best(L, log_start, log_A, stay, last, enter, entered, ended, paths, logs):
    """Fill logs (B,) and paths (B, n) with the best paths, best first; no two are the same, -inf where there are fewer.

    enter (n, K, B) is scratch: log probabilities of the best paths up to row t, if a run of k begins there. entered and
    ended (n, K, B) are where they come from: state * B + rank, and length * B + rank.
    """
    (n, K), B = L.shape, len(logs)
    ends, final, codes = np.empty((K, B)), np.empty(B), np.empty((K, B), np.int64)
    enter[:], logs[:] = -math.inf, -math.inf
    states, lengths = np.zeros(B, np.int64), np.zeros(B, np.int64)
    enter[0, :, 0] = log_start
    for t in range(n - 1):
        ends[:] = -math.inf
        for k in range(K):
            end_runs(L, t, k, stay, enter, ends[k], ended[t, k])
        for j in range(K):
            for i in range(K):
                for r in range(B):
                    if i == j or not put(ends[i, r] + log_A[i, j], i * B + r, enter[t + 1, j], entered[t + 1, j]):
                        break
    for k in range(K):
        final[:] = -math.inf
        end_runs(L, n - 1, k, last, enter, final, codes[k])
        for r in range(B):
            if not put(final[r], k * B + r, logs, states):
                break
    for b in range(B):
        if logs[b] > -math.inf:
            lengths[b] = codes[states[b] // B, states[b] % B]
            back(states[b] // B, lengths[b], entered, ended, paths[b])


@njit(nogil=True, cache=True)
def back(k, code, entered, ended, path):
    """Fill a path from its end: a run of state k, whose code says how long it is and which way led to it."""
    B, t = entered.shape[2], len(path)
    while True:
        length, r = code // B, code % B
        path[t - length : t] = k
        t -= length
        if t == 0:
            break
        before = entered[t, k, r]
        k, r = before // B, before % B
        code = ended[t - 1, k, r]
