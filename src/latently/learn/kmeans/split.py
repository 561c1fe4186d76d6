"""Clusters without rows are given the rows that lie farthest from their own centres."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from latently.data.sources.chunks import Chunk

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Farthest:
    """The rows that cost most, dearest first; those of two chunks add up to the dearest of both.

    Attributes
    ----------
    most
        How many are kept.
    cost
        (m,) squared distance to the row's centre, before its weight.
    rows
        (m, d) about the origin.
    weights, labels
        (m,) of these rows.
    """

    most: int
    cost: Array
    rows: Array
    weights: Array
    labels: npt.NDArray[np.int32]

    def __add__(self, other: "Farthest") -> "Farthest":
        pairs = zip(self._columns(), other._columns(), strict=True)
        return Farthest(self.most, *(np.concatenate(pair) for pair in pairs)).top()

    def top(self) -> "Farthest":
        """Keep the dearest; of equals, the first."""
        order = np.argsort(-self.cost, kind="stable")[: self.most]
        return Farthest(self.most, *(column[order] for column in self._columns()))

    def _columns(self) -> tuple[Any, ...]:
        return self.cost, self.rows, self.weights, self.labels


def farthest_rows(chunk: Chunk, origin: Array, centres: Array, labels: npt.NDArray[np.int32], most: int) -> Farthest:
    """The dearest rows of a chunk that have weight and do not lie on their centre."""
    rows = np.asarray(chunk.X, dtype=np.float64) - origin
    seen = np.maximum((~np.isnan(rows)).sum(axis=1), 1)
    cost = np.nansum((rows - centres[labels]) ** 2, axis=1) * rows.shape[1] / seen
    weights = np.ones(len(rows)) if chunk.weights is None else chunk.weights
    able = np.flatnonzero((weights > 0) & (cost > 0))
    return Farthest(most, cost[able], rows[able], weights[able], labels[able]).top()


def refilled(stats: Any, empty: npt.NDArray[np.intp], far: Farthest) -> Any:
    """Statistics after each empty cluster has taken one of the farthest rows out of the cluster that had it.

    The cost does not rise: the row moves to a centre of its own, and the rest of its cluster to their mean.
    """
    weight, first = stats.weight.copy(), stats.first.copy()
    share = np.broadcast_to(stats.share, first.shape).copy()
    for k, row, w, old in zip(empty, far.rows, far.weights, far.labels, strict=False):
        part = np.where(np.isnan(row), 0.0, w * len(row) / max((~np.isnan(row)).sum(), 1))
        last = weight[old] == w
        for values, moved in ((weight, w), (share, part), (first, np.nan_to_num(part * row))):
            values[old] = 0.0 if last else values[old] - moved
            values[k] = moved
    return replace(stats, weight=weight, share=share, first=first)
