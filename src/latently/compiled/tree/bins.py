"""Values to codes of bins."""

import math

import numpy as np
from numba import njit

BLOCK = 512  # rows that are coded column by column, while they are in the cache


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def cell_of(x, low, scale, n_cells):
    """Cell of an even grid that a value is in; never a lower one for a greater value."""
    t = (x - low) * scale
    if not t > 0:
        return 0
    return int(t) if t < n_cells else n_cells - 1


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
def encode(X, edges, offsets, n_bins, is_cat, upto, lows, scales, out):
    """Code of each value: how many of the edges of its column are below it; n_bins for a missing one.

    Column f has n_bins[f] - 1 edges from offsets[f] on. A category is its own code. An edge in a lower cell of a grid
    than a value is below it, and one in a higher cell is not, so those in the same cell alone are compared with it.
    `upto` (d, cells + 1), zeros, and `lows` and `scales` (d,) are space for the grids.
    """
    (n, d), n_cells = X.shape, upto.shape[1] - 1
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
