"""Inference in forests: the best labels, marginals, and the best labels for every number of errors.

U (N, K) are scores of the labels of the nodes; parent[t] < t is the parent of node t, or -1 for a root; P[kind[t]]
(K, K) are scores of the label of the parent and that of the node. All trees are done in one call.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def max_product(U, parent, kind, P, V, pointers, labels):
    """Fill the best labels (N,); V and pointers (N, K) are scratch. Of equal labels it is the first."""
    N, K = U.shape
    V[:] = U
    for t in range(N - 1, -1, -1):
        if parent[t] < 0:
            continue
        for j in range(K):
            top, arg = -math.inf, 0
            for k in range(K):
                v = P[kind[t], j, k] + V[t, k]
                if v > top:
                    top, arg = v, k
            V[parent[t], j] += top
            pointers[t, j] = arg
    for t in range(N):
        labels[t] = np.argmax(V[t]) if parent[t] < 0 else pointers[t, labels[parent[t]]]


@njit(nogil=True, cache=True)
def log_sum(row):
    """Logarithm of the sum of exponentials; -inf if there are none."""
    top = row.max()
    if top == -math.inf:
        return top
    total = 0.0
    for v in row:
        total += math.exp(v - top)
    return top + math.log(total)


@njit(nogil=True, cache=True)
def sum_product(U, parent, kind, P, weight, V, up, marginals, edges, logs):
    """Fill log partition functions (N,) at the roots, marginals (N, K), and expected pairs (E, K, K), weighted.

    V and up (N, K) are scratch: scores with everything below summed out, and messages to the parent. The expected pairs
    of a tree count as often as the weight of its nodes says.
    """
    N, K = U.shape
    row = np.empty(K)
    V[:] = U
    for t in range(N - 1, -1, -1):
        if parent[t] < 0:
            continue
        for j in range(K):
            for k in range(K):
                row[k] = P[kind[t], j, k] + V[t, k]
            up[t, j] = log_sum(row)
            V[parent[t], j] += up[t, j]
    for t in range(N):
        above = parent[t]
        if above < 0:
            logs[t] = log_sum(V[t])
            for k in range(K):
                marginals[t, k] = math.exp(V[t, k] - logs[t])
            continue
        logs[t] = logs[above]
        for k in range(K):
            marginals[t, k] = 0.0
        for j in range(K):
            if marginals[above, j] == 0.0:
                continue
            for k in range(K):
                p = marginals[above, j] * math.exp(P[kind[t], j, k] + V[t, k] - up[t, j])
                marginals[t, k] += p
                edges[kind[t], j, k] += weight[t] * p


@njit(nogil=True, cache=True)
def best_by_errors(U, lengths, parent, kind, P, truth, counted, floor, labels):
    """Fill the labels (N,) of each tree with the largest errors * (1 + score - floor), floor (n,) the true score.

    Errors are nodes that are counted and have another label than the true one. V[t, k, c] is the best score below node
    t with label k and c errors.
    """
    K, first, m = U.shape[1], 0, lengths.max()
    V, split, arg = np.empty((m, K, m + 1)), np.empty((m, K, m + 1), np.int32), np.empty((m, K, m + 1), np.int32)
    size, merged, message = np.empty(m, np.int64), np.empty(m + 1), np.empty(m + 1)
    errors = np.empty(m, np.int64)
    for q in range(len(lengths)):
        n = lengths[q]
        for t in range(n):
            size[t] = 1
            for k in range(K):
                V[t, k, :2] = -math.inf
                wrong = 1 if counted[first + t] and k != truth[first + t] else 0
                V[t, k, wrong] = U[first + t, k]
        for t in range(n - 1, -1, -1):
            above = parent[first + t] - first
            if parent[first + t] < 0:
                continue
            edge = kind[first + t]
            for j in range(K):
                for c in range(size[t] + 1):
                    top, who = -math.inf, 0
                    for k in range(K):
                        v = P[edge, j, k] + V[t, k, c]
                        if v > top:
                            top, who = v, k
                    message[c] = top
                    arg[t, j, c] = who
                for c in range(size[above] + size[t] + 1):
                    top, who = -math.inf, 0
                    for d in range(max(0, c - size[above]), min(c, size[t]) + 1):
                        v = V[above, j, c - d] + message[d]
                        if v > top:
                            top, who = v, d
                    merged[c] = top
                    split[t, j, c] = who
                for c in range(size[above] + size[t] + 1):
                    V[above, j, c] = merged[c]
            size[above] += size[t]
        label_of_root, best, value = 0, 0, 0.0
        for c in range(1, size[0] + 1):
            for k in range(K):
                v = c * (1.0 + V[0, k, c] - floor[q])
                if v > value:
                    label_of_root, best, value = k, c, v
        if value > 0.0:
            labels[first] = label_of_root
            errors[0] = best
            for t in range(1, n):  # the child that was merged last is the first of its parent's children
                above = parent[first + t] - first
                d = split[t, labels[first + above], errors[above]]
                labels[first + t] = arg[t, labels[first + above], d]
                errors[above] -= d
                errors[t] = d
        else:
            for t in range(n):
                labels[first + t] = truth[first + t]
        first += n
