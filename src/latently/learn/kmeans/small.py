"""K-means of a small table in memory: all starts, from draws to labels, in one compiled call."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from latently import compiled
from latently.data.sources.chunks import KeptSource
from latently.learn.kmeans.model import LloydModel
from latently.learn.kmeans.result import Run
from latently.learn.kmeans.rows import Frame, Table

# Rows times centres times columns up to which everything around a run takes longer than the run.
SMALL_WORK = 1 << 13


def is_small(table: Table, frame: Frame, k: int) -> bool:
    """Whether the rows are complete, few, and one chunk in memory."""
    if frame.missing or frame.rows * k * len(frame.origin) > SMALL_WORK:
        return False
    source = table.source
    return isinstance(source, KeptSource) and len(source) == 1 and table.X.dtype == np.float64


class Replayed(np.random.RandomState):
    """A generator that first gives the uniform numbers again that were drawn from it."""

    def __init__(self, drawn: npt.NDArray[np.float64], rng: np.random.RandomState) -> None:
        super().__init__(rng._bit_generator)
        self._drawn = drawn

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Numbers from 0 to 1 that were drawn before, as long as there are as many."""
        n = int(np.prod(size))
        if n > len(self._drawn):
            return super().uniform(low, high, size)
        given, self._drawn = self._drawn[:n], self._drawn[n:]
        return given.reshape(size)


def small_draws(k: int, starts: Sequence[np.random.RandomState]) -> npt.NDArray[np.float64]:
    """(S, 1 + (k - 1) tries) numbers from 0 to 1, as many as a k-means++ start of each generator takes."""
    tries = 2 + int(np.log(k))
    return np.array([rng.uniform(size=1 + (k - 1) * tries) for rng in starts])


def small_runs(settings: Any, table: Table, frame: Frame, k: int, draws: npt.NDArray[np.float64]) -> list[Run] | None:
    """A run from a k-means++ start for each row of draws; None if they need to be taken step by step.

    That is so where a cluster has no rows, or rows that are the same leave nothing to draw from.
    """
    S, n, d = len(draws), frame.rows, len(frame.origin)
    chunk = next(iter(table.source))
    T = np.ascontiguousarray(chunk.X.T) - frame.origin[:, None]
    weights = np.ones(n) if chunk.weights is None else np.array(chunk.weights, dtype=np.float64)
    centres, labels, sums = np.empty((S, k, d)), np.empty((S, n), np.int32), np.empty((S, k, d + 1))
    costs, steps = np.empty((S, settings.max_iter + 2)), np.zeros(S, np.int64)
    tol = float(settings.tol * frame.variance)
    found = (centres, labels, sums, costs, steps)
    if compiled.kmeans.small.cluster(T, weights, frame.origin, draws, tol, *found, np.empty((3, n))):
        model = LloydModel(frame, centres[0])
        return [_run(model, chunk.total_weight, tol, *(each[s] for each in found)) for s in range(S)]
    return None


def _run(
    model: LloydModel,
    rows: float,
    tol: float,
    centres: npt.NDArray[np.float64],
    labels: npt.NDArray[np.int32],
    sums: npt.NDArray[np.float64],
    costs: npt.NDArray[np.float64],
    n_iter: int,
) -> Run:
    weight, converged = sums[:, -1].copy(), bool(costs[-2] <= tol)
    stats = model.statistics(rows, float(costs[-1]), weight, weight[:, None], sums[:, :-1])
    trace = tuple((-costs[:n_iter] - rows * model.per_row).tolist())
    return Run(centres, labels, stats, trace, int(n_iter), converged, "converged" if converged else "max_iter")
