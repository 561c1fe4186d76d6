"""Several runs of K-means, and the best of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from latently.learn.engine.em import Hook
from latently.learn.engine.restarts import best_of, first_best
from latently.learn.estimator.table import seeds
from latently.learn.kmeans.coarse import coarse_start, sample_sizes
from latently.learn.kmeans.result import Run
from latently.learn.kmeans.rows import CHUNK_ROWS, Frame, Table
from latently.learn.kmeans.run import is_plain, run
from latently.learn.kmeans.small import Replayed, is_small, small_draws, small_runs
from latently.learn.kmeans.start import start_centres
from latently.learn.kmeans.stored import start_table

# Rows times centres times columns up to which a run takes less time than it takes to wake a thread.
BRIEF_WORK = 1 << 15
# From so many rows on a single run starts from samples: they take longer than the run on fewer.
LONG = 1 << 14
# How many starts are tried on a sample of a long table.
N_TRIED = 4


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
        draws = small_draws(k, starts)
        runs = small_runs(settings, table, frame, k, draws)
        if runs is not None:
            return first_best(runs, _score)
        starts = [Replayed(drawn, rng) for drawn, rng in zip(draws, starts, strict=True)]

    n, d = table.X.shape

    def one(rng: np.random.RandomState) -> Run:
        own = table if len(starts) == 1 else replace(table, source=table.source.fresh())
        sampled = drawn and not frame.missing and n >= LONG and sample_sizes(n, d, k)
        start = coarse_start(own, frame, k, seeds(rng, N_TRIED)) if sampled else None
        if start is None:
            start = start_centres(init, start_table(init, own, rng), frame, k, rng)
        return run(settings, own, frame, start, on_iteration)

    small = n <= CHUNK_ROWS and not settings.verbose and on_iteration is None
    return best_of(one, starts, _score, side_by_side=small and n * k * d > BRIEF_WORK)


def _score(done: Run) -> float:
    return -done.stats.cost
