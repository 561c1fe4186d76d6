"""Sums of the bits of values, as whole numbers modulo the prime 2^31 - 1: they add and subtract without rounding."""

import numpy as np
from numba import njit

PRIME = np.uint64(0x7FFFFFFF)
NAN = np.uint64(0xFFE0000000000000)  # bits of infinity without the sign; above it is NaN
ZERO, ONE, S31, S62 = np.uint64(0), np.uint64(1), np.uint64(31), np.uint64(62)


@njit(nogil=True, cache=True)
def bit_sums(bits, weights, weight, first, second):
    """Add w, w b and w b^2 of every column to its sums, where b are the bits of a value; a NaN has no weight.

    All are correct modulo 2^31 - 1. An empty `weights` means that every row counts once.
    """
    for i in range(bits.shape[0]):
        share = weights[i] if weights.shape[0] else ONE
        row = bits[i]
        for j in range(bits.shape[1]):
            b = row[j] if row[j] << ONE != ZERO else ZERO  # -0.0 is 0.0
            w = share if b << ONE <= NAN else ZERO
            b = (b & PRIME) + ((b >> S31) & PRIME) + (b >> S62)  # 2^31 is 1
            b = (b & PRIME) + (b >> S31)
            once = w * b
            once = (once & PRIME) + (once >> S31)
            twice = once * b
            weight[j] += w
            first[j] += once
            second[j] += (twice & PRIME) + (twice >> S31)
