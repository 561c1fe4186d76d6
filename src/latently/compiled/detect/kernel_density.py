"""Sums of kernels over points that lie in boxes: boxes that cannot add anything more are left out.

Coordinates are in units of the bandwidth. Kinds: 0 Gaussian, 1 top hat, 2 Epanechnikov, 3 exponential, 4 linear,
5 cosine.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def gaussian_row(row, bits, scales):
    """Replace squared distances by exp(-half of them): 2^n times a polynomial in the rest, which vectorises."""
    for i in range(row.shape[0]):
        x = -0.5 * row[i]
        x = x if x > -700.0 else -700.0
        scales[i] = x * 1.4426950408889634 + 6755399441055744.0  # so far out, n is in the last bits
        whole = scales[i] - 6755399441055744.0
        r = (x - whole * 0.693145751953125) - whole * 1.4286068203094172e-06
        q = r * r
        high = (2.755724082809897e-06 * r + 2.480148536466595e-05) + (2.511007e-08 * r + 2.763268316e-07) * q
        middle = (0.00833333333331957 * r + 0.0416666666664877) + (0.000198412698901 * r + 0.00138888889524) * q
        low = (r + 1.0) + (0.1666666666666668 * r + 0.5000000000000019) * q
        row[i] = (high * (q * q) + middle) * (q * q) + low
    for i in range(row.shape[0]):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(row.shape[0]):
        row[i] *= scales[i]


@njit(nogil=True, cache=True, error_model="numpy")
def profile(kind, square):
    """Value of a kernel at a squared distance."""
    if kind == 0:
        return math.exp(-0.5 * square)
    r = math.sqrt(square)
    if kind == 3:
        return math.exp(-r)
    if r >= 1.0:
        return 0.0
    if kind == 1:
        return 1.0
    if kind == 2:
        return 1.0 - square
    if kind == 4:
        return 1.0 - r
    return math.cos(0.5 * math.pi * r)


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def squares(columns, first, last, x, row):
    """row[i] = squared distance of x from the points first to last - 1."""
    for i in range(row.shape[0]):
        row[i] = 0.0
    for c in range(columns.shape[0]):
        z = x[c]
        column = columns[c, first:last]
        for i in range(row.shape[0]):
            gap = column[i] - z
            row[i] += gap * gap


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def add_box(columns, weights, first, last, queries, start, stop, kind, row, bits, scales, out):
    """Add the kernels of the points of a box to the sums of some queries."""
    m = last - first
    some = row[:m]
    for q in range(start, stop):
        squares(columns, first, last, queries[q], some)
        total = 0.0
        if kind == 0:
            gaussian_row(some, bits, scales)
        else:
            for i in range(m):
                some[i] = profile(kind, some[i])
        if weights.shape[0]:
            for i in range(m):
                total += weights[first + i] * some[i]
        else:
            for i in range(m):
                total += some[i]
        out[q] += total


@njit(nogil=True, cache=True, error_model="numpy")
def sums(
    columns, weights, edges, low, high, mass, queries, starts, kind, rtol, atol, first, last, row, bits, scales, out
):
    """Fill out for the query groups first to last - 1, each against boxes from the nearest on.

    Points edges[b] to edges[b + 1] - 1 are in box b, between its corners low[b] and high[b], with weight mass[b]
    together. What is left cannot be more than its mass at the nearest corners: a group is done when that is within the
    tolerance of all its sums.
    """
    boxes, d = low.shape
    nearest, left, order = np.empty(boxes), np.empty(boxes), np.empty(boxes, dtype=np.int64)
    corner_low, corner_high = np.empty(d), np.empty(d)
    for g in range(first, last):
        start, stop = starts[g], starts[g + 1]
        for c in range(d):
            corner_low[c] = corner_high[c] = queries[start, c]
            for q in range(start, stop):
                corner_low[c] = min(corner_low[c], queries[q, c])
                corner_high[c] = max(corner_high[c], queries[q, c])
        for b in range(boxes):
            square = 0.0
            for c in range(d):
                gap = max(0.0, max(low[b, c] - corner_high[c], corner_low[c] - high[b, c]))
                square += gap * gap
            nearest[b] = square
        order[:] = np.argsort(nearest)
        rest = 0.0
        for k in range(boxes - 1, -1, -1):  # from the smallest on, so that rounding does not drown them
            b = order[k]
            rest += mass[b] * profile(kind, nearest[b])
            left[k] = rest
        for k in range(boxes):
            b = order[k]
            if left[k] == 0.0:
                break
            least = np.inf
            for q in range(start, stop):
                least = min(least, out[q])
            if left[k] <= rtol * least + atol and rtol + atol > 0.0:
                break
            add_box(columns, weights, edges[b], edges[b + 1], queries, start, stop, kind, row, bits, scales, out)
