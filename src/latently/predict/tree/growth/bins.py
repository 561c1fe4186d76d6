"""Columns as codes of bins: one for each distinct value, or quantiles of the values."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently import compiled
from latently.data.sources.chunks import Chunk
from latently.predict.rows import row_by_row

Array = NDArray[np.float64]
EXACT_ROWS: Final = 10_000
"""Up to so many rows every distinct value is a bin of its own, unless `max_bins` says otherwise."""
MOST_BINS: Final = 255  # of a tree in a forest
TREE_BINS: Final = 4095  # of a tree alone, for which no other makes up
_MOST_CELLS: Final = 4096  # of the grid that codes are looked up by
_SAMPLE: Final = 20_000  # rows that quantiles are taken from


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins of the columns of a table.

    A column of categories has a bin for each category. Bins of column f are numbers `offsets[f]` on of `lows` and
    `highs`, the least and the greatest value that a threshold has to keep apart from its neighbours.

    Examples
    --------
    >>> bins = make_bins(np.array([[1.0], [3.0], [3.0], [np.nan]]), np.zeros(1, dtype=int), None)
    >>> bins.encode(np.array([[0.0], [2.5], [np.nan]]))[:, 0].tolist()
    [0, 1, 2]
    """

    n_bins: NDArray[np.int64]  # (d,)
    offsets: NDArray[np.int64]  # (d,)
    lows: Array
    highs: Array
    edges: Array  # (sum n_bins,): the last one of each column is not used
    is_cat: NDArray[np.int8]  # (d,)

    def encode(self, X: Array) -> NDArray[Any]:
        """Give the codes of a table, (n, d)."""
        rows = np.ascontiguousarray(X, dtype=np.float64)
        return row_by_row(rows, partial(_encode_chunk, self))

    def encoded(self, X: NDArray[np.floating[Any]]) -> NDArray[Any]:
        """Give the codes of a chunk, (n, d), in this thread."""
        out = np.empty(X.shape, dtype=self.dtype)
        rows = np.ascontiguousarray(X, dtype=np.float64)
        n, d = X.shape
        n_cells = max(1, min(_MOST_CELLS, n // 4, 4 * int(self.n_bins.max(initial=1))))
        space = np.zeros((d, n_cells + 1), np.int32), np.zeros(d), np.zeros(d)
        compiled.tree.bins.encode(rows, self.edges, self.offsets, self.n_bins, self.is_cat, *space, out)
        return out

    @property
    def dtype(self) -> type[np.integer[Any]]:
        """Type of the codes."""
        return np.uint16 if self.n_bins.max(initial=0) < 1 << 16 else np.int32


def _encode_chunk(bins: Bins, chunk: Chunk) -> NDArray[Any]:
    return bins.encoded(chunk.X)


def make_bins(
    X: Array,
    n_categories: NDArray[np.int64],
    max_bins: int | None,
    *,
    n_rows: int | None = None,
    most_bins: int = MOST_BINS,
) -> Bins:
    """Choose the bins of a table, or of a larger one that X is a sample of.

    Parameters
    ----------
    X
        Rows; codes in columns of categories.
    n_categories
        (d,) number of categories, 0 for a numeric column.
    max_bins
        Most bins of a numeric column; None for all values of a table of up to `EXACT_ROWS` rows, else `most_bins`.
    n_rows
        Rows of the whole table.
    most_bins
        Of a large table.
    """
    n = len(X) if n_rows is None else n_rows
    most = (n if n <= EXACT_ROWS else most_bins) if max_bins is None else max_bins
    if len(X) > _SAMPLE and most < len(X):
        X = X[np.sort(np.random.default_rng(0).choice(len(X), _SAMPLE, replace=False))]
    parts = [_categories(int(k)) if k else _column(x, most) for x, k in zip(X.T, n_categories, strict=True)]
    sizes = np.array([len(low) for low, _, _ in parts], dtype=np.int64)
    lows, highs, edges = (np.concatenate([*(part[i] for part in parts), [0.0]]) for i in range(3))
    return Bins(sizes, np.cumsum(sizes) - sizes, lows, highs, edges, (n_categories > 0).astype(np.int8))


def _categories(k: int) -> tuple[Array, Array, Array]:
    return np.arange(k, dtype=np.float64), np.arange(k, dtype=np.float64), np.zeros(k)


def _column(x: Array, most: int) -> tuple[Array, Array, Array]:
    """Lows, highs and edges (with one that is not used) of a numeric column."""
    ordered = np.sort(x)
    ordered = ordered[: len(ordered) - np.count_nonzero(np.isnan(ordered))]
    if len(ordered) == 0:
        return np.empty(0), np.empty(0), np.empty(0)
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    values = ordered[first]
    between = _middle(values[:-1], values[1:])
    if len(values) <= most:
        return values, values, np.append(between, np.inf)
    # a cut after the value at each quantile, unless that is the greatest
    at = np.cumsum(first)[np.arange(1, most) * len(ordered) // most - 1] - 1
    edges = between[np.unique(at[at < len(between)])]
    return np.append(-np.inf, edges), np.append(edges, np.inf), np.append(edges, np.inf)


def _middle(a: Array, b: Array) -> Array:
    middle = a / 2 + b / 2
    return np.where(middle < b, middle, a)
