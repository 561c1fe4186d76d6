"""Values to codes of bins."""

import math

import numpy as np
from numba import njit

BLOCK = 512  # rows that are coded column by column, while they are in the cache
MOST_CELLS = 4096


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def cell_of(x, low, scale, n_cells):
    """Cell of an even grid that a value is in; never a lower one for a greater value."""
    t = (x - low) * scale
    return min(int(t), n_cells - 1) if 0 < t < MOST_CELLS else (n_cells - 1 if t >= MOST_CELLS else 0)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def fill_cells(edges, n_cells, upto):
    """Count the edges in the cells below each cell of a grid, (n_cells + 1,); give where it begins, and its scale."""
    width = edges[len(edges) - 1] - edges[0]
    scale = n_cells / width if 0 < width < np.inf else 0.0
    upto[: n_cells + 1] = 0
    for edge in edges:
        upto[cell_of(edge, edges[0], scale, n_cells) + 1] += 1
    for c in range(n_cells):
        upto[c + 1] += upto[c]
    return edges[0], scale


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def encode(X, edges, offsets, n_bins, is_cat, out):
    """Code of each value: how many of the edges of its column are below it; n_bins for a missing one.

    Column f has n_bins[f] - 1 edges from offsets[f] on. A category is its own code. An edge in a lower cell of a grid
    than a value is below it, and one in a higher cell is not, so those in the same cell alone are compared with it.
    """
    (n, d), most = X.shape, 1
    for size in n_bins:
        most = max(most, size)
    n_cells = max(1, min(MOST_CELLS, n // 4, 4 * most))
    upto, lows, scales = np.zeros((d, n_cells + 1), np.int32), np.zeros(d), np.zeros(d)
    for f in range(d):
        if n_bins[f] > 1 and not is_cat[f]:
            own = edges[offsets[f] : offsets[f] + n_bins[f] - 1]
            lows[f], scales[f] = fill_cells(own, n_cells, upto[f])
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        for f in range(d):
            last, own = n_bins[f], edges[offsets[f] :]
            for i in range(start, stop):
                x = X[i, f]
                if math.isnan(x):
                    out[i, f] = last
                elif is_cat[f]:
                    out[i, f] = int(x) if 0 <= x < last else last
                else:
                    c = cell_of(x, lows[f], scales[f], n_cells)
                    low, length = np.int64(upto[f, c]), np.int64(upto[f, c + 1] - upto[f, c])
                    while length > 0:
                        half = (length + 1) >> 1
                        low += half if own[low + half - 1] < x else 0
                        length -= half
                    out[i, f] = low
