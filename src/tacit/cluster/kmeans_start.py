"""Where K-means starts: rows far apart (greedy k-means++), random rows, given centres, or a function's."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit import compiled
from tacit.cluster.kmeans_rows import Frame, ready
from tacit.data.chunks import Chunk, ChunkSource
from tacit.learn.reduce import mapping
from tacit.learn.start import random_rows

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

_STRETCH = 1024  # rows whose share of the distance is summed together, to find a drawn row fast
_NONE = np.empty(0)


def rows_at(source: ChunkSource, picked: Indices) -> Array:
    """(len(picked), d) rows of a source, in the order they are asked for."""
    found = np.empty((len(picked), source.n_columns))
    for chunk in source:
        here = (picked >= chunk.start) & (picked < chunk.stop)
        if here.any():
            found[here] = chunk.X[picked[here] - chunk.start]
    return found


def random_start(source: ChunkSource, frame: Frame, k: int, rng: np.random.RandomState) -> Array:
    """(k, d) different rows about the origin, drawn in proportion to their weights."""
    weights = np.concatenate([_weights(chunk) for chunk in source])
    return _filled(rows_at(source, random_rows(weights[:, None], weights, k, rng)), frame)


def spread_start(source: ChunkSource, frame: Frame, k: int, rng: np.random.RandomState) -> Array:
    """(k, d) rows about the origin: each next one is drawn in proportion to its cost under those before.

    Of several candidates per draw the one that lowers the total cost most is kept.
    """
    weights = np.concatenate([_weights(chunk) for chunk in source])
    tries = 2 + int(np.log(k))
    centres = np.empty((k, len(frame.origin)))
    with _Spreading.over(source, frame, weights) as spread:
        first = rng.choice(len(weights), p=weights / weights.sum())
        centres[0] = spread.rows([first])[0]
        for done in range(1, k):
            mass = spread.join(centres[:done])
            candidates = spread.rows(spread.draw(mass, tries, rng))
            gain = spread.gains(centres[:done], candidates) if mass[-1] > 0 else np.zeros(tries)
            centres[done] = candidates[np.argmax(gain)]
    return centres


def _weights(chunk: Chunk) -> Array:
    return np.ones(chunk.n_rows) if chunk.weights is None else chunk.weights


def _filled(rows: Array, frame: Frame) -> Array:
    # A missing coordinate of a starting row is taken to be the column's mean: the origin.
    return np.nan_to_num(rows - frame.origin, nan=0.0)


@dataclass
class _Spreading:
    """k-means++ under way: each row's cost and centre so far, chunk by chunk."""

    source: ChunkSource
    frame: Frame
    weights: Array
    over_chunks: Callable[[Callable[[Chunk], Any]], Iterator[Any]]
    nearest: Array
    owner: npt.NDArray[np.int32]

    @classmethod
    def over(cls, source: ChunkSource, frame: Frame, weights: Array) -> Any:
        from contextlib import contextmanager

        @contextmanager
        def opened() -> Iterator["_Spreading"]:
            n = len(weights)
            with mapping(source) as over_chunks:
                yield cls(source, frame, weights, over_chunks, np.full(n, np.inf), np.zeros(n, np.int32))

        return opened()

    def rows(self, picked: Any) -> Array:
        """Rows about the origin."""
        return _filled(rows_at(self.source, np.asarray(picked)), self.frame)

    def join(self, centres: Array) -> Array:
        """Take in the last of the centres; the running sum of what is left of the cost, in stretches of rows."""
        reach = self._reach(centres, centres[-1:])[:, 0]
        last = len(centres) - 1

        def one(chunk: Chunk) -> Array:
            mass = np.empty(-(-chunk.n_rows // _STRETCH))
            at = slice(chunk.start, chunk.stop)
            compiled.kmeans.join(*self._table(chunk), centres[-1], last, reach, self.nearest[at], self.owner[at], mass)
            return mass

        return np.cumsum(np.concatenate(list(self.over_chunks(one))))

    def draw(self, mass: Array, tries: int, rng: np.random.RandomState) -> Indices:
        """Draw rows in proportion to their cost; in proportion to their weight when no cost is left."""
        if not mass[-1] > 0:
            return np.asarray(rng.choice(len(self.weights), size=tries, p=self.weights / self.weights.sum()))
        edges = self._edges()
        drawn = rng.uniform(size=tries) * mass[-1]
        stretch = np.searchsorted(mass, drawn, side="right").clip(max=len(mass) - 1)
        rest = drawn - np.where(stretch > 0, mass[stretch - 1], 0.0)
        return np.array([self._inside(*edges[b], r) for b, r in zip(stretch, rest, strict=True)])

    def gains(self, centres: Array, candidates: Array) -> Array:
        """How much each candidate would lower the total cost."""
        reach = self._reach(centres, candidates)

        def one(chunk: Chunk) -> Array:
            gain = np.zeros(len(candidates))
            at = slice(chunk.start, chunk.stop)
            compiled.kmeans.gains(*self._table(chunk), candidates, reach, self.nearest[at], self.owner[at], gain)
            return gain

        return np.sum(list(self.over_chunks(one)), axis=0)

    def _table(self, chunk: Chunk) -> tuple[Any, ...]:
        weights = _NONE if chunk.weights is None else ready(chunk.weights)
        return ready(chunk.X), weights, self.frame.origin, self.frame.missing

    def _reach(self, centres: Array, points: Array) -> Array:
        """(K, T) quarter of the squared distances; with missing values nothing can be ruled out."""
        if self.frame.missing:
            return np.full((len(centres), len(points)), -1.0)
        # The last centre owns no row yet: it is not in the way of any.
        return np.stack([((centres - point) ** 2).sum(axis=1) / 4 for point in points], axis=1)

    def _edges(self) -> list[tuple[int, int]]:
        edges = []
        for chunk in self.source:
            size = -(-chunk.n_rows // -(-chunk.n_rows // _STRETCH))
            edges += [(a, min(a + size, chunk.stop)) for a in range(chunk.start, chunk.stop, size)]
        return edges

    def _inside(self, start: int, stop: int, rest: float) -> int:
        cost = self.weights[start:stop] * self.nearest[start:stop]
        found = int(np.searchsorted(np.cumsum(cost), rest, side="right"))
        # Rounding may point behind the last row that has a cost.
        return start + min(found, int(np.flatnonzero(cost)[-1]))
