"""Starts on long tables: K-means of growing samples, so that few passes over all rows are left."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from latently.data.sources.chunks import ArraySource
from latently.distributions.inputs import Array
from latently.learn.kmeans.model import LloydModel
from latently.learn.kmeans.rows import Frame, Table, distances_to, most_rows
from latently.learn.kmeans.run import climb, labelled
from latently.learn.kmeans.start import spread_start

# Rows that tell a good start from a bad one, at least; each sample has so many times the rows of the one before.
SAMPLE_ROWS, SAMPLE_PER_CLUSTER, GROWTH = 1024, 64, 4
# Standard errors by which the cost of all rows may be above what the largest sample has told.
_ERRORS = 3.0


@dataclass(frozen=True)
class Settings:
    """What a run asks of an estimator, at the defaults of K-means."""

    tol: float = 1e-4
    max_iter: int = 300
    verbose: int = 0
    empty: str = "split"
    is_start: bool = True
    """A start that is stopped is made again: it need not be stored in a checkpoint."""


_TRIAL = Settings(max_iter=10)


def sample_sizes(n: int, k: int) -> list[int]:
    """Rows of each sample, the smallest first; none for a table that is not long.

    Examples
    --------
    >>> sample_sizes(100_000, 3), sample_sizes(4_000, 3)
    ([1562, 6250, 25000], [])
    """
    sizes, least = [n // GROWTH], max(SAMPLE_ROWS, SAMPLE_PER_CLUSTER * k)
    while sizes[-1] >= least:
        sizes.append(sizes[-1] // GROWTH)
    return sizes[-2::-1]


def coarse_start(table: Table, frame: Frame, k: int, starts: Sequence[np.random.RandomState]) -> Array | None:
    """(k, d) centres about the origin, at which K-means of a large sample of the rows stands still.

    Every generator draws a greedy k-means++ start from the smallest sample; the best after some iterations goes on
    with larger ones. None for a table that is not long, and where the samples have missed what matters: all rows
    then cost more than they have told, or clusters are without rows.
    """
    n = table.X.shape[0]
    samples = [_sample(table, size, k, starts[0]) for size in sample_sizes(n, k)]
    if not samples:
        return None
    few, part = samples[0], _part(frame, samples[0])
    drawn = [spread_start(few.X, few.source, part, k, rng) for rng in starts]
    fits = [climb(_TRIAL, few, part, start)[1] for start in drawn]
    fit = max(fits, key=lambda fit: fit.trace[-1])
    for sample in samples:
        fit = climb(Settings(), sample, _part(frame, sample), fit.params.centres)[1]
    centres = fit.params.centres
    if not fit.stats.weight.all():
        return None
    told, error = fit.stats.cost / fit.stats.rows, _relative_error(centres + frame.origin, few, fit.stats.rows)
    model = LloydModel(frame, centres)
    whole = labelled(model, centres, table, keep_memos=False, told=False, summed=False).stats
    # a sample's own centres are nearer to it than to other rows
    return centres if whole.cost <= whole.rows * told * (1 + _ERRORS * error + 2 * k / fit.stats.rows) else None


def _sample(table: Table, size: int, k: int, rng: np.random.RandomState) -> Table:
    """One row out of each of so many stretches of equal length."""
    picked = ((np.arange(size) + rng.uniform(size=size)) * (table.X.shape[0] / size)).astype(np.int64)
    weights = [chunk.weights for chunk in table.source]
    kept = None if weights[0] is None else np.concatenate(weights)[picked]
    rows = table.X[picked]
    return Table(rows, ArraySource(rows, kept, most_rows(k * rows.shape[1])))


def _part(frame: Frame, sample: Table) -> Frame:
    return replace(frame, rows=len(sample.X))


def _relative_error(centres: Array, sample: Table, rows: float) -> float:
    """Standard error of the cost of so many rows, as a share of it."""
    costs = distances_to(centres, sample).min(axis=1) ** 2
    return float(costs.std() / (costs.mean() * np.sqrt(rows))) if costs.any() else 0.0
