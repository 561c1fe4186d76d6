"""The best split of one node by C4.5's rules: rows have weights, and values may be missing.

Statistics are weights by class, or weight, sum and sum of squares of a number. `gain` of a split is what it takes from
the impurity, in bits or squares per unit of weight, times the share of the rows whose value is known.
"""

import math

import numpy as np
from numba import njit

SMALL = 1e-6
NEAR = 1e-5  # values that are no further apart are not told apart


@njit(nogil=True, cache=True)
def disorder(stats, is_class):
    """Weight times impurity: entropy in bits, or variance."""
    if not is_class:
        return stats[2] - stats[1] * stats[1] / stats[0] if stats[0] > 0 else 0.0
    total, out = 0.0, 0.0
    for k in range(len(stats)):
        if stats[k] > 0:
            total += stats[k]
            out -= stats[k] * math.log2(stats[k])
    return out + total * math.log2(total) if total > 0 else 0.0


@njit(nogil=True, cache=True)
def weight_of(stats, is_class):
    """Weight of the rows behind statistics."""
    return stats.sum() if is_class else stats[0]


@njit(nogil=True, cache=True)
def split_bits(weights, unknown, total):
    """Bits that tell the branches apart, the missing ones being a branch of their own; times the total weight."""
    out = total * math.log2(total)
    for b in range(len(weights)):
        if weights[b] > 0:
            out -= weights[b] * math.log2(weights[b])
    if unknown > 0:
        out -= unknown * math.log2(unknown)
    return out


@njit(nogil=True, cache=True)
def nominal(codes, T, w, n_values, least, is_class, out):
    """Split by all values; out gets gain and gain ratio. Gives whether two branches have the least weight."""
    sums, known, total = np.zeros((n_values, T.shape[1])), np.zeros(T.shape[1]), w.sum()
    for i in range(len(codes)):
        if not math.isnan(codes[i]) and codes[i] < n_values:
            for s in range(T.shape[1]):
                sums[int(codes[i]), s] += w[i] * T[i, s]
                known[s] += w[i] * T[i, s]
    weights, large, rest = np.empty(n_values), 0, 0.0
    for v in range(n_values):
        weights[v] = weight_of(sums[v], is_class)
        large += weights[v] > least - SMALL
        rest += disorder(sums[v], is_class)
    if large < 2:
        return False
    there = weight_of(known, is_class)
    gain = (disorder(known, is_class) - rest) * (there / total)
    gain = 0.0 if abs(gain) < SMALL else gain / there
    bits = split_bits(weights, total - there, total)
    out[0], out[1] = gain, 0.0 if abs(bits) < SMALL else gain * total / bits
    return True


@njit(nogil=True, cache=True)
def numeric(x, order, T, w, least, least_known, corrects, is_class, out):
    """Split by a threshold; out gets gain, gain ratio and the threshold. Gives whether there is one.

    `order` sorts x, the missing ones last. The gain is less by log2(candidates) / weight if it `corrects`.
    """
    total, known, right = w.sum(), 0, np.zeros(T.shape[1])
    for i in range(len(x)):
        if math.isnan(x[order[i]]):
            break
        known += 1
        for s in range(T.shape[1]):
            right[s] += w[order[i]] * T[order[i], s]
    if known < least_known - SMALL or known < 2:
        return False
    before, there = disorder(right, is_class), weight_of(right, is_class)
    left, tried, best, at, weights = np.zeros(T.shape[1]), 0, 0.0, -1, np.empty(2)
    for i in range(known - 1):
        r = order[i]
        for s in range(T.shape[1]):
            left[s] += w[r] * T[r, s]
            right[s] -= w[r] * T[r, s]
        if not x[r] + NEAR < x[order[i + 1]] and not (x[r] < x[order[i + 1]] and not corrects):
            continue
        wl, wr = weight_of(left, is_class), weight_of(right, is_class)
        if wl < least - SMALL or wr < least - SMALL:
            continue
        tried += 1
        gain = (before - disorder(left, is_class) - disorder(right, is_class)) * (there / total)
        gain = 0.0 if abs(gain) < SMALL else gain / there
        if gain > best + SMALL:
            best, at, weights[0], weights[1] = gain, i, wl, wr
    if at < 0:
        return False
    best -= math.log2(tried) / total if corrects else 0.0
    if best < SMALL:
        return False
    bits = split_bits(weights, total - there, total)
    low, high = x[order[at]], x[order[at + 1]]
    middle = (low + high) / 2
    out[0], out[1], out[2] = best, 0.0 if abs(bits) < SMALL else best * total / bits, middle if middle < high else low
    return True
