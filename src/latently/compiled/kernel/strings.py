"""String kernels: n-gram counts through lists of who has them, aligned n-grams, gappy subsequences."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def shared_counts(indptr, grams, counts, starts, owners, owner_counts, first, last, same, out):
    """out[i, j] = sum over n-grams of count_i count_j, for rows first to last - 1.

    The n-grams of row i are grams[indptr[i]:indptr[i + 1]]; who has n-gram g, and how often, is listed from starts[g]
    on, in order. If `same`, both sides are one collection and only j >= i is filled.
    """
    for i in range(first, last):
        row = out[i]
        for at in range(indptr[i], indptr[i + 1]):
            g, c = grams[at], counts[at]
            low = starts[g]
            high = starts[g + 1]
            if same:  # skip owners before i
                left, right = low, high
                while left < right:
                    middle = (left + right) // 2
                    if owners[middle] < i:
                        left = middle + 1
                    else:
                        right = middle
                low = left
            for k in range(low, high):
                row[owners[k]] += c * owner_counts[k]


@njit(nogil=True, cache=True)
def aligned(left, left_starts, right, right_starts, first, last, same, out):
    """out[i, j] = how many positions have equal codes in both, for rows first to last - 1."""
    for i in range(first, last):
        for j in range(i if same else 0, right_starts.shape[0] - 1):
            a, b = left_starts[i], right_starts[j]
            n = min(left_starts[i + 1] - a, right_starts[j + 1] - b)
            total = 0
            for k in range(n):
                total += left[a + k] == right[b + k]
            out[i, j] = total


@njit(nogil=True, cache=True)
def subsequences(s, t, decay, n, now, before, totals):
    """totals[l] = kernel of common subsequences of length l + 1, for l below n; a span of m costs decay^m.

    `now` and `before` are (n, len(t) + 1): K'_l of the prefix of s that ends here, and of the one before it.
    """
    totals[:] = 0.0
    before[:] = 0.0
    now[:] = 0.0
    m = t.shape[0]
    for b in range(m + 1):
        before[0, b] = 1.0
        now[0, b] = 1.0
    square = decay * decay
    for a in range(s.shape[0]):
        for length in range(n):
            running = 0.0
            total = 0.0
            for b in range(m):
                hit = before[length, b] if s[a] == t[b] else 0.0
                total += square * hit
                if length + 1 < n:
                    running = decay * running + square * hit
                    now[length + 1, b + 1] = decay * before[length + 1, b + 1] + running
            totals[length] += total
        now, before = before, now


@njit(nogil=True, cache=True)
def subsequence_block(left, left_starts, right, right_starts, decay, n, shortest, first, last, same, out):
    """out[i, j] = sum of the kernels of lengths shortest to n, for rows first to last - 1."""
    longest = 0
    for j in range(right_starts.shape[0] - 1):
        longest = max(longest, right_starts[j + 1] - right_starts[j])
    now, before, totals = np.empty((n, longest + 1)), np.empty((n, longest + 1)), np.empty(n)
    for i in range(first, last):
        s = left[left_starts[i] : left_starts[i + 1]]
        for j in range(i if same else 0, right_starts.shape[0] - 1):
            t = right[right_starts[j] : right_starts[j + 1]]
            m = t.shape[0] + 1
            subsequences(s, t, decay, n, now[:, :m], before[:, :m], totals)
            total = 0.0
            for length in range(shortest - 1, n):
                total += totals[length]
            out[i, j] = total


@njit(nogil=True, cache=True)
def own_subsequences(codes, starts, decay, n, shortest, first, last, out):
    """Fill the diagonal: out[i] is the kernel of string i with itself."""
    longest = 0
    for j in range(starts.shape[0] - 1):
        longest = max(longest, starts[j + 1] - starts[j])
    now, before, totals = np.empty((n, longest + 1)), np.empty((n, longest + 1)), np.empty(n)
    for i in range(first, last):
        s = codes[starts[i] : starts[i + 1]]
        m = s.shape[0] + 1
        subsequences(s, s, decay, n, now[:, :m], before[:, :m], totals)
        out[i] = totals[shortest - 1 :].sum()
