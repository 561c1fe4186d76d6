"""Where K-means starts: rows far apart (greedy k-means++), random rows, given centres, or a function's."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from latently import compiled
from latently.data.sources.chunks import Chunk, ChunkSource, KeptSource
from latently.data.tables.matrix import as_matrix
from latently.learn.engine.reduce import mapping, single_threaded_blas
from latently.learn.engine.start import random_rows
from latently.learn.kmeans.rows import CHUNK_ROWS, Frame, Table, evenly, is_worth_products, ready, transposed_block

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

_STRETCH = 1024  # rows whose share of the distance is summed together, to find a drawn row fast
_NONE = np.empty(0)


def given_start(init: Any, table: Table, k: int) -> Array | None:
    """(k, d) centres that are given as an array, checked; None if they are yet to be found."""
    return None if isinstance(init, str) or callable(init) else _checked(init, table, k)


def start_centres(init: Any, table: Table, frame: Frame, k: int, rng: np.random.RandomState) -> Array:
    """(k, d) centres about the origin, by the name, the function or the array that says where to start."""
    if isinstance(init, str):
        start = spread_start if init == "k-means++" else random_start
        return start(table.X, table.source, frame, k, rng)
    return _checked(init(table.X, k, random_state=rng) if callable(init) else init, table, k) - frame.origin


def _checked(init: Any, table: Table, k: int) -> Array:
    centres = as_matrix(init.toarray() if hasattr(init, "toarray") else init, name="init")
    if len(centres) != k:
        raise ValueError(f"The shape of the initial centers {centres.shape} does not match the number of clusters {k}.")
    if centres.shape[1] != table.X.shape[1]:
        raise ValueError(
            f"The shape of the initial centers {centres.shape} does not match the number of features of the "
            f"data {table.X.shape[1]}."
        )
    return centres.astype(table.X.dtype).astype(np.float64)


def rows_at(X: Any, picked: Indices, frame: Frame) -> Array:
    """(len(picked), d) rows about the origin; a missing coordinate is taken to be the column's mean."""
    rows = X[picked]
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.asarray(np.nan_to_num(rows.astype(np.float64) - frame.origin, nan=0.0))


def random_start(X: Any, source: ChunkSource, frame: Frame, k: int, rng: np.random.RandomState) -> Array:
    """(k, d) different rows about the origin, drawn in proportion to their weights."""
    weights = _weights(source)
    return rows_at(X, random_rows(weights[:, None], weights, k, rng), frame)


def spread_start(X: Any, source: ChunkSource, frame: Frame, k: int, rng: np.random.RandomState) -> Array:
    """(k, d) rows about the origin: each next one is drawn in proportion to its cost under those before.

    Of several candidates per draw the one that lowers the total cost most is kept.
    """
    tries, weights = 2 + int(np.log(k)), _weights(source)
    first = rows_at(X, _drawn(weights, rng.uniform(size=1)), frame)
    if isinstance(source, KeptSource) and (len(source) == 1 or len(X) <= CHUNK_ROWS) and not frame.missing:
        chunk = next(iter(source)) if len(source) == 1 else Chunk(X, weights)
        whole = _spread_at_once(chunk, frame, first, rng.uniform(size=(k - 1, tries)))
        if whole is not None:
            return whole
    centres = np.empty((k, len(frame.origin)))
    centres[:1] = first
    with mapping(source) as over_chunks:
        spread = _Spreading(frame, weights, over_chunks, np.full(len(weights), np.inf))
        for done in range(1, k):
            mass = spread.join(centres[done - 1 : done])
            candidates = rows_at(X, spread.draw(mass, tries, rng), frame)
            centres[done] = candidates[np.argmax(spread.gains(candidates))]
    return centres


def _spread_at_once(chunk: Chunk, frame: Frame, first: Array, draws: Array) -> Array | None:
    """All centres after the first in one compiled call; None if rows that are the same leave nothing to draw from."""
    d, tries = len(frame.origin), draws.shape[1]
    if is_worth_products(tries * len(draws), d):
        return _spread_by_products(chunk, frame, first, draws)
    centres = np.zeros((len(draws) + 1, d + d % 2))
    centres[:1, :d] = first
    work = (
        transposed_block(chunk.n_rows, d),
        *np.empty((2, chunk.n_rows)),
        np.zeros((tries, d + d % 2)),
        np.zeros(tries),
    )
    found = compiled.kmeans.lloyd.spread(*_table(chunk, frame), draws, centres, *work)
    return centres[:, :d].copy() if found else None


def _spread_by_products(chunk: Chunk, frame: Frame, first: Array, draws: Array) -> Array | None:
    (n, d), tries = chunk.X.shape, draws.shape[1]
    centres = np.concatenate([first, np.empty((len(draws), d))])
    tilt, table = np.empty((tries, d + 1), np.float32), np.empty(tries * min(n, _STRETCH), np.float32)
    of_rows, picked = (np.ones((n, d + 1), np.float32), *np.empty((3, n))), np.empty(tries, np.int64)
    with single_threaded_blas():
        found = compiled.kmeans.spread_wide.spread(
            *_table(chunk, frame), frame.unit, draws, centres, *of_rows, tilt, table, picked, np.empty(tries)
        )
    return centres if found else None


def _weights(source: ChunkSource) -> Array:
    return np.concatenate([np.ones(c.n_rows) if c.weights is None else c.weights for c in source])


def _drawn(weights: Array, uniform: Array) -> Indices:
    """Rows drawn in proportion to their weights, by numbers from 0 to 1."""
    mass = np.cumsum(weights)
    places = np.searchsorted(mass, uniform * mass[-1], side="right")
    return np.asarray(places.clip(max=int(np.flatnonzero(weights)[-1])))


def _table(chunk: Chunk, frame: Frame) -> tuple[Any, ...]:
    weights = _NONE if chunk.weights is None else ready(chunk.weights)
    return ready(chunk.X), weights, frame.origin


@dataclass
class _Spreading:
    """k-means++ under way: each row's cost under the centres so far."""

    frame: Frame
    weights: Array
    over_chunks: Callable[[Callable[[Chunk], Any]], Iterator[Any]]
    nearest: Array

    def __post_init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []

    def join(self, centre: Array) -> Array:
        """Take in a centre; the running sum of what is left of the cost, in stretches of rows."""
        joined = self._joining(centre, joins=True)

        def one(chunk: Chunk) -> tuple[Array, list[tuple[int, int]]]:
            joined(chunk)
            cost = self.weights[chunk.start : chunk.stop] * self.nearest[chunk.start : chunk.stop]
            size = -(-chunk.n_rows // -(-chunk.n_rows // _STRETCH))
            ranges = [(a, min(a + size, chunk.stop)) for a in range(chunk.start, chunk.stop, size)]
            return np.add.reduceat(cost, np.arange(0, chunk.n_rows, size)), ranges

        left, ranges = zip(*self.over_chunks(one), strict=True)
        self.ranges = [span for some in ranges for span in some]
        return np.cumsum(np.concatenate(left))

    def draw(self, mass: Array, tries: int, rng: np.random.RandomState) -> Indices:
        """Draw rows in proportion to their cost; in proportion to their weight when no cost is left."""
        if not mass[-1] > 0:
            return _drawn(self.weights, rng.uniform(size=tries))
        drawn = rng.uniform(size=tries) * mass[-1]
        which = np.searchsorted(mass, drawn, side="right").clip(max=len(mass) - 1)
        rest = drawn - np.where(which > 0, mass[which - 1], 0.0)
        return np.array([self._inside(self.ranges[b], r) for b, r in zip(which, rest, strict=True)])

    def _inside(self, span: tuple[int, int], rest: float) -> int:
        start, stop = span
        cost = self.weights[start:stop] * self.nearest[start:stop]
        found = int(np.searchsorted(np.cumsum(cost), rest, side="right"))
        # Rounding may point behind the last row that has a cost.
        return start + min(found, int(np.flatnonzero(cost)[-1]))

    def gains(self, candidates: Array) -> Array:
        """How much each candidate would lower the total cost, beside the centres so far."""
        return np.asarray(sum(self.over_chunks(self._joining(candidates, joins=False))))

    def _joining(self, points: Array, *, joins: bool) -> Callable[[Chunk], Array]:
        """How much each point would lower a chunk's cost; the chunk's rows may join it."""
        places, missing = evenly(points), self.frame.missing or None

        def one(chunk: Chunk) -> Array:
            falls, near = np.zeros(len(points)), self.nearest[chunk.start : chunk.stop]
            work = transposed_block(chunk.n_rows, points.shape[1])
            compiled.kmeans.lloyd.join(*_table(chunk, self.frame), places, work, near, falls, joins, missing)
            return falls

        return one
