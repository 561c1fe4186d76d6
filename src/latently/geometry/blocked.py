"""Exact nearest neighbours from blocks of distances: matrix products find candidates, differences decide."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from latently import compiled
from latently.geometry.distances import Array
from latently.learn.engine.blocks import for_blocks

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[Any]
Scores = Callable[[slice, slice], Floats]  # values of some rows at some columns

_ROWS, _COLUMNS = 128, 1024  # a tile stays in the cache of a core
_SPARE = 16  # candidates beyond k, so that rounding rarely leaves a doubt


@dataclass(frozen=True)
class Candidates:
    """Of a block of rows: the smallest scores, where they are, how many; whatever was dropped is not below `limits`."""

    values: Floats
    places: Ints
    counts: Ints
    limits: Floats


def smallest(scores: Scores, rows: slice, n_columns: int, keep: int, own: Ints, dtype: Any) -> Candidates:
    """The `keep` smallest scores of a block of rows, tile by tile; row r leaves out the column own[r]."""
    kernel = compiled.geometry.neighbours
    m = rows.stop - rows.start
    values = np.empty((m, 2 * keep + 32), dtype)
    places = np.empty(values.shape, np.int64)
    counts, limits = np.zeros(m, np.int64), np.full(m, np.inf, dtype)
    for start in range(0, n_columns, _COLUMNS):
        tile = scores(rows, slice(start, min(start + _COLUMNS, n_columns)))
        kernel.keep_smallest(tile, start, own, keep, values, places, counts, limits)
    kernel.finish(values, places, counts, keep, limits)
    return Candidates(values, places, counts, limits)


def by_scores(scores: Scores, shape: tuple[int, int], k: int, without_self: bool) -> tuple[Array, Ints]:
    """The k smallest of each row of a matrix of distances (m, n) that comes in tiles, with their columns."""
    m, n = shape
    near, who = np.empty((m, k)), np.empty((m, k), np.int64)

    def fill(start: int, stop: int) -> None:
        own = np.arange(start, stop) if without_self else np.full(stop - start, -1)
        found = smallest(scores, slice(start, stop), n, k, own, np.float64)
        kernel = compiled.geometry.neighbours
        kernel.sort_nearest(found.values, found.places, found.counts, k, False, near[start:stop], who[start:stop])

    for_blocks(m, fill, rows=_ROWS)
    return near, who


def by_products(X: Array, Y: Array | None, k: int) -> tuple[Array, Ints]:
    """The k rows of X nearest to each row of Y (of X without itself if None) by Euclidean distance.

    Products in single precision find k and some more candidates; their distances are computed from differences in
    double precision. A bound on the rounding says whether a row that was dropped could be nearer: rows in doubt are
    searched again by products in double precision, and those still in doubt by differences alone.
    """
    X = np.ascontiguousarray(X, dtype=float)
    rows = X if Y is None else np.ascontiguousarray(Y, dtype=float)
    own = np.arange(len(rows)) if Y is None else np.full(len(rows), -1)
    near, who = np.empty((len(rows), k)), np.empty((len(rows), k), np.int64)
    todo = np.arange(len(rows))
    for dtype in (np.float32, np.float64):
        if len(todo):
            todo = _Search(X, rows[todo], own[todo], k, dtype).run(near, who, todo)
    if len(todo):
        _by_differences(X, rows, own, k, todo, near, who)
    return near, who


class _Search:
    """Products of one precision: [x, 1] times [-y, |y|^2 / 2] is half the squared distance, less |x|^2 / 2."""

    def __init__(self, X: Array, rows: Array, own: Ints, k: int, dtype: Any) -> None:
        self.X, self.rows, self.own, self.k = X, rows, own, k
        centre = X.mean(axis=0)
        moved, asked = X - centre, rows - centre
        squares, self.lengths = (moved**2).sum(axis=1), (asked**2).sum(axis=1)
        self.size = float(np.sqrt(max(squares.max(), self.lengths.max(), np.finfo(float).tiny)))
        self.left = np.concatenate([asked / self.size, np.ones((len(asked), 1))], axis=1).astype(dtype)
        half = squares[:, None] / (2 * self.size**2)
        self.right = np.concatenate([moved / -self.size, half], axis=1).astype(dtype)
        # every length is at most 1: what a product of d + 1 terms, each rounded, can be off
        self.doubt = 2 * (X.shape[1] + 8) * float(np.finfo(dtype).eps)

    def run(self, near: Array, who: Ints, where: Ints) -> Ints:
        """Fill the answers of the rows `where`; those in doubt are returned."""
        certain = np.zeros(len(where), bool)
        for_blocks(len(where), partial(self._block, near, who, where, certain), rows=_ROWS)
        return where[~certain]

    def _block(self, near: Array, who: Ints, where: Ints, certain: npt.NDArray[Any], start: int, stop: int) -> None:
        kernel = compiled.geometry.neighbours
        space = np.empty((stop - start) * _COLUMNS, self.left.dtype)

        def scores(rows: slice, columns: slice) -> Floats:
            width = columns.stop - columns.start
            out = space[: (stop - start) * width].reshape(stop - start, width)
            return np.matmul(self.left[rows], self.right[columns].T, out=out)

        keep = min(self.k + _SPARE, len(self.X))
        found = smallest(scores, slice(start, stop), len(self.X), keep, self.own[start:stop], self.left.dtype)
        exact = np.empty((stop - start, keep))
        kernel.squared_gaps(self.X, self.rows[start:stop], found.places, found.counts, exact)
        nearest, places = np.empty((stop - start, self.k)), np.empty((stop - start, self.k), np.int64)
        kernel.sort_nearest(exact, found.places, found.counts, self.k, True, nearest, places)
        near[where[start:stop]], who[where[start:stop]] = nearest, places
        least = (found.limits.astype(float) - self.doubt) * 2 * self.size**2 + self.lengths[start:stop]
        certain[start:stop] = nearest[:, -1] ** 2 <= least


def _by_differences(X: Array, rows: Array, own: Ints, k: int, todo: Ints, near: Array, who: Ints) -> None:
    kernel = compiled.geometry.neighbours

    def scores(of: slice, columns: slice) -> Floats:
        out = np.empty((of.stop - of.start, columns.stop - columns.start))
        kernel.all_squared_gaps(X[columns], rows[todo[of]], out)
        return out

    def fill(start: int, stop: int) -> None:
        found = smallest(scores, slice(start, stop), len(X), k, own[todo[start:stop]], np.float64)
        nearest, places = np.empty((stop - start, k)), np.empty((stop - start, k), np.int64)
        kernel.sort_nearest(found.values, found.places, found.counts, k, True, nearest, places)
        near[todo[start:stop]], who[todo[start:stop]] = nearest, places

    for_blocks(len(todo), fill, rows=_ROWS)
