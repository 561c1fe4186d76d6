"""Starts on long tables: K-means of growing samples, so that few passes over all rows are left."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from latently.data.sources.chunks import ArraySource
from latently.distributions.inputs import Array
from latently.learn.engine.em import Fit
from latently.learn.engine.reduce import mapping, threads
from latently.learn.engine.restarts import first_best
from latently.learn.engine.start import rows_at
from latently.learn.kmeans.model import LloydModel, LloydParams, LloydStatistics
from latently.learn.kmeans.rows import Frame, Table, distances_to, most_rows
from latently.learn.kmeans.run import climb, labelled
from latently.learn.kmeans.start import spread_start
from latently.learn.kmeans.stored import START_BYTES

# Rows that tell a good start from a bad one, at least; each sample has so many times the rows of the one before.
SAMPLE_ROWS, SAMPLE_PER_CLUSTER, GROWTH = 1024, 64, 4
# Standard errors by which the cost of other rows may be above what a sample has told, and rows that each centre is
# worth: where clusters overlap, centres follow the sample they are of.
_ERRORS, _PARAMETERS = 3.0, 8.0
# Iterations that tell which start is best, and a tolerance at which little is left to do with more rows.
_TRIAL, _TOL = 10, 1e-5


@dataclass(frozen=True)
class Settings:
    """What a run asks of an estimator, at the defaults of K-means."""

    tol: float = 1e-4
    max_iter: int = 300
    verbose: int = 0
    empty: str = "split"
    is_start: bool = True
    """A start that is stopped is made again: it need not be stored in a checkpoint."""


def sample_sizes(n: int, d: int, k: int) -> list[int]:
    """Rows of each sample, the smallest first; none for a table that is not long.

    Examples
    --------
    >>> sample_sizes(100_000, 5, 3), sample_sizes(4_000, 5, 3)
    ([1562, 6250, 25000], [])
    """
    sizes, least = [min(n // GROWTH, START_BYTES // (8 * d))], max(SAMPLE_ROWS, SAMPLE_PER_CLUSTER * k)
    while sizes[-1] >= least:
        sizes.append(sizes[-1] // GROWTH)
    return sizes[-2::-1]


def coarse_start(table: Table, frame: Frame, k: int, starts: Sequence[np.random.RandomState]) -> Array | None:
    """(k, d) centres about the origin, at which K-means of a large sample of the rows stands still.

    Every generator draws a greedy k-means++ start from the smallest sample; the best after some iterations goes on
    with larger ones. None for a table that is not long, and where a sample has missed what matters: other rows then
    cost more than it has told.
    """
    samples = _samples(table, frame, k, starts[0])
    if not samples:
        return None
    few = samples[0]

    def tried_from(rng: np.random.RandomState) -> Fit[LloydParams, LloydStatistics]:
        with threads(1):
            return _climb(few, few.spread(k, rng), max_iter=_TRIAL)[1]

    with mapping(starts) as over_starts:
        tried = list(over_starts(tried_from))
    centres, told = first_best(tried, lambda fit: fit.trace[-1]).params.centres, np.inf
    for sample in samples:
        begun, fit = _climb(sample, centres)
        if begun > told:
            return None
        centres = fit.params.centres
        told = _margin(few, len(sample.table.X), centres) * fit.stats.cost / fit.stats.rows
    model = LloydModel(frame, centres, once=True)
    whole = labelled(model, centres, table, keep_memos=False, told=False, summed=False).stats
    return centres if whole.cost <= told * whole.rows else None


@dataclass(frozen=True, eq=False)
class _Sample:
    """Some rows, and the frame of all."""

    table: Table
    frame: Frame

    def spread(self, k: int, rng: np.random.RandomState) -> Array:
        return spread_start(self.table.X, self.table.source, self.frame, k, rng)


def _climb(
    sample: _Sample, start: Array, max_iter: int = Settings.max_iter
) -> tuple[float, Fit[LloydParams, LloydStatistics]]:
    """The cost of a row at the start, and where K-means of the sample ends."""
    model, fit = climb(Settings(tol=_TOL, max_iter=max_iter), sample.table, sample.frame, start)
    return -fit.trace[0] / fit.stats.rows - model.per_row, fit


def _samples(table: Table, frame: Frame, k: int, rng: np.random.RandomState) -> list[_Sample]:
    """Samples of growing size, each out of the next, so that one pass over the table is enough.

    None at all where fewer rows than clusters have weight.
    """
    n, d = table.X.shape
    *smaller, largest = sample_sizes(n, d, k) or [0]
    drawn = [rows_at(table.source, _places(n, largest, rng))] if largest else []
    for size in reversed(smaller):
        rows, weights = drawn[-1]
        places = _places(len(rows), size, rng)
        drawn.append((rows[places], weights[places]))
    if not drawn or np.count_nonzero(drawn[-1][1]) < k:
        return []
    return [_Sample(_table(rows, weights, k), replace(frame, rows=len(rows))) for rows, weights in reversed(drawn)]


def _places(n: int, size: int, rng: np.random.RandomState) -> npt.NDArray[np.int64]:
    """One place out of every one of so many stretches of equal length."""
    return ((np.arange(size) + rng.uniform(size=size)) * (n / size)).astype(np.int64)


def _table(rows: Array, weights: Array, k: int) -> Table:
    counted = None if (weights == 1).all() else weights
    return Table(rows, ArraySource(rows, counted, most_rows(k * rows.shape[1])))


def _margin(few: _Sample, rows: int, centres: Array) -> float:
    """By how much the cost of another row may be above what so many rows have told, as a factor.

    The costs of a few rows tell the standard error; a sample's own centres are nearer to it than to others.
    """
    costs = distances_to(centres + few.frame.origin, few.table).min(axis=1) ** 2
    spread = costs.std() / costs.mean() if costs.any() else 0.0
    return float(1 + _ERRORS * spread / np.sqrt(rows) + _PARAMETERS * len(centres) / rows)
