"""Values to codes of bins."""

import math

from numba import njit


@njit(nogil=True, cache=True)
def encode(X, edges, offsets, n_bins, is_cat, out):
    """Code of each value: how many of the edges of its column are below it; n_bins for a missing one.

    Column f has n_bins[f] - 1 edges from offsets[f] on. A category is its own code.
    """
    for i in range(X.shape[0]):
        for f in range(X.shape[1]):
            x, n = X[i, f], n_bins[f]
            if math.isnan(x):
                out[i, f] = n
            elif is_cat[f]:
                out[i, f] = int(x) if 0 <= x < n else n
            else:
                low, length = offsets[f], n - 1
                while length > 0:
                    half = (length + 1) >> 1
                    low += half if edges[low + half - 1] < x else 0
                    length -= half
                out[i, f] = low - offsets[f]
