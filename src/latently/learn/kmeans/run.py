"""One run of K-means, from a start to labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from latently.data.sources.chunks import Chunk
from latently.learn.engine.em import Hook, Step, em
from latently.learn.engine.progress import both, progress
from latently.learn.engine.reduce import mapping, reducing
from latently.learn.engine.restarts import best_of
from latently.learn.kmeans.model import Labels, LloydModel, LloydParams, LloydStatistics
from latently.learn.kmeans.rows import CHUNK_ROWS, Frame, Table, Unread
from latently.learn.kmeans.start import start_centres
from latently.learn.kmeans.stored import start_table

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Run:
    """Where a run ended: centres about the origin, labels and statistics at these centres, and the way there."""

    centres: Array
    labels: Labels
    stats: LloydStatistics
    trace: tuple[float, ...] = ()
    n_iter: int = 0
    converged: bool = False
    reason: str = "partial_fit"


def run(settings: Any, table: Table, frame: Frame, start: Array, on_iteration: Hook | None) -> Run:
    """Iterate from the start until the centres stand still; `settings` are the estimator's."""
    tol = settings.tol * frame.variance
    with reducing(table.source) as reduce, progress("k-means", settings.max_iter, settings.verbose) as bar:
        model = LloydModel(frame, start, reduce if settings.empty == "split" else None)
        lines = _lines(tol) if settings.verbose and bar is None else None
        fit = em(
            model,
            model.params(start),
            reduce,
            max_iter=settings.max_iter,
            stop=lambda step: _shift(step) <= tol,
            on_iteration=both(bar, lines, on_iteration),
        )
    done = labelled(model, fit.params.centres, table)
    return replace(done, trace=fit.trace, n_iter=fit.n_iter, converged=fit.converged, reason=fit.reason)


def best_run(
    settings: Any,
    init: Any,
    table: Table,
    frame: Frame,
    k: int,
    starts: Sequence[np.random.RandomState],
    on_iteration: Hook | None = None,
) -> Run:
    """The best of several runs, one for each generator; small tables are run side by side."""

    def one(rng: np.random.RandomState) -> Run:
        own = replace(table, source=table.source.fresh())
        start = start_centres(init, start_table(init, own, rng), frame, k, rng)
        return run(settings, own, frame, start, on_iteration)

    small = table.X.shape[0] <= CHUNK_ROWS and not settings.verbose and on_iteration is None
    return best_of(one, starts, lambda done: -done.stats.cost, side_by_side=small)


def labelled(
    model: LloydModel, centres: Array, table: Table, *, keep_memos: bool = True, told: bool | None = None
) -> Run:
    """Label the rows by centres about the origin, as exactly as the table's own precision can say them.

    Without memos, nothing that grows with the table is held but the labels; those of a table that is not in
    memory are not held unless they are to be told.
    """
    keeps_labels = not isinstance(table.X, Unread) if told is None else told
    origin = model.frame.origin
    rounded = (centres + origin).astype(table.X.dtype).astype(np.float64) - origin
    params = model.params(rounded)

    def one(chunk: Chunk) -> tuple[Labels, LloydStatistics]:
        labels, stats = model.label(params, chunk if keep_memos else chunk.fresh())
        return (labels if keeps_labels else labels[:0]).copy(), stats

    with mapping(table.source) as over_chunks:
        labels, stats = zip(*over_chunks(one), strict=True)
    return Run(rounded, np.concatenate(labels), sum(stats[1:], start=stats[0]))


def _shift(step: Step[LloydParams, LloydStatistics]) -> float:
    # Sums about a fixed origin are the same bit for bit if no row changes its cluster: the shift is then zero.
    return float(((step.after.centres - step.before.centres) ** 2).sum())


def _lines(tol: float) -> Hook:
    print("Initialization complete")

    def tell(step: Step[LloydParams, LloydStatistics]) -> None:
        shift, i = _shift(step), step.iteration - 1
        print(f"Iteration {i}, inertia {step.stats.cost}.")
        if shift == 0:
            print(f"Converged at iteration {i}: strict convergence.")
        elif shift <= tol:
            print(f"Converged at iteration {i}: center shift {shift} within tolerance {tol}.")

    return tell
