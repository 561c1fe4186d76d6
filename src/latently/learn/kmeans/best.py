"""Several runs of K-means, and the best of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from latently.data.sources.chunks import KeptSource
from latently.learn.engine.em import Hook
from latently.learn.engine.restarts import best_of, first_best
from latently.learn.estimator.table import seeds
from latently.learn.kmeans.coarse import coarse_start
from latently.learn.kmeans.result import Run
from latently.learn.kmeans.rows import CHUNK_ROWS, Frame, Table
from latently.learn.kmeans.run import is_plain, run
from latently.learn.kmeans.small import SMALL_WORK, is_small, small_runs
from latently.learn.kmeans.start import start_centres
from latently.learn.kmeans.stored import start_table

# How many starts are tried on a sample of a long table.
N_TRIED = 3


def best_run(
    settings: Any,
    init: Any,
    table: Table,
    frame: Frame,
    k: int,
    starts: Sequence[np.random.RandomState],
    on_iteration: Hook | None = None,
) -> Run:
    """The best of several runs, one for each generator; those over small tables are run side by side."""
    plain, drawn = is_plain(settings, on_iteration), isinstance(init, str) and init == "k-means++"
    if plain and drawn and is_small(table, frame, k):
        runs = small_runs(settings, table, frame, k, starts)
        if runs is not None:
            return first_best(runs, _score)

    def one(rng: np.random.RandomState) -> Run:
        own = table if len(starts) == 1 else replace(table, source=table.source.fresh())
        start = coarse_start(own, frame, k, seeds(rng, N_TRIED)) if drawn and _is_complete(own, frame) else None
        if start is None:
            start = start_centres(init, start_table(init, own, rng), frame, k, rng)
        return run(settings, own, frame, start, on_iteration)

    n, d = table.X.shape
    small = n <= CHUNK_ROWS and not settings.verbose and on_iteration is None
    # a run that takes less time than it takes to wake a thread is better done here
    return best_of(one, starts, _score, side_by_side=small and n * k * d > SMALL_WORK)


def _is_complete(table: Table, frame: Frame) -> bool:
    """Whether rows are in memory, without missing values, and count the same: samples then stand for all of them."""
    if not isinstance(table.X, np.ndarray) or not isinstance(table.source, KeptSource) or frame.missing:
        return False
    return next(iter(table.source)).weights is None


def _score(done: Run) -> float:
    return -done.stats.cost
