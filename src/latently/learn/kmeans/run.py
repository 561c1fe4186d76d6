"""One run of K-means, from a start to labels."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from latently.data.sources.chunks import Chunk, KeptSource
from latently.learn.checkpoint.checkpoint import is_checkpointing
from latently.learn.engine.em import Fit, Hook, Step, em
from latently.learn.engine.progress import both, progress
from latently.learn.engine.reduce import mapping, reducing, single_threaded_blas
from latently.learn.kmeans.incremental import IncrementalModel, climbed
from latently.learn.kmeans.model import LloydModel, LloydParams, LloydStatistics, is_worth_bounds
from latently.learn.kmeans.result import Run
from latently.learn.kmeans.rows import Frame, Table, Unread

Array = npt.NDArray[np.float64]


def run(settings: Any, table: Table, frame: Frame, start: Array, on_iteration: Hook | None) -> Run:
    """Iterate from the start until the centres stand still; `settings` are the estimator's."""
    model, fit = climb(settings, table, frame, start, on_iteration)
    done = labelled(model, fit.params.centres, table)
    return replace(done, trace=fit.trace, n_iter=fit.n_iter, converged=fit.converged, reason=fit.reason)


def climb(
    settings: Any, table: Table, frame: Frame, start: Array, on_iteration: Hook | None = None
) -> tuple[LloydModel, Fit[LloydParams, LloydStatistics]]:
    """The iterations of a run, without its labels."""
    tol = settings.tol * frame.variance
    if is_plain(settings, on_iteration) and (chunk := _one_chunk(table, frame, start)) is not None:
        plain = LloydModel(frame, start)
        with single_threaded_blas():
            whole = climbed(plain, start, chunk, tol, settings.max_iter)
        if whole is not None:
            return plain, whole
    with reducing(table.source) as reduce, progress("k-means", settings.max_iter, settings.verbose) as bar:
        kept = _is_kept(table, frame, start) and not is_checkpointing()
        kind = IncrementalModel if kept else LloydModel
        model = kind(frame, start, reduce if settings.empty == "split" else None)
        lines = _lines(tol) if settings.verbose and bar is None else None
        fit = em(
            model,
            model.params(start),
            reduce,
            max_iter=settings.max_iter,
            stop=lambda step: _shift(step) <= tol,
            on_iteration=both(bar, lines, on_iteration),
        )
    return model, fit


def is_plain(settings: Any, on_iteration: Hook | None) -> bool:
    """Whether nobody looks at single iterations."""
    stored = is_checkpointing() and not getattr(settings, "is_start", False)
    return not stored and not settings.verbose and on_iteration is None


def _is_kept(table: Table, frame: Frame, start: Array) -> bool:
    """Whether passes may go by what is known from those before: of complete rows in memory."""
    plain = not frame.missing and not is_worth_bounds(start, frame.rows)
    return plain and isinstance(table.source, KeptSource)


def _one_chunk(table: Table, frame: Frame, start: Array) -> Chunk | None:
    """All rows, if they are one chunk in memory."""
    if not _is_kept(table, frame, start) or len(table.source) > 1:  # type: ignore[arg-type]
        return None
    return next(iter(table.source))


def labelled(
    model: LloydModel,
    centres: Array,
    table: Table,
    *,
    keep_memos: bool = True,
    told: bool | None = None,
    summed: bool = True,
) -> Run:
    """Label the rows by centres about the origin, as exactly as the table's own precision can say them.

    Without memos, nothing that grows with the table is held but the labels; those of a table that is not in
    memory are not held unless they are to be told. Without sums, only labels and cost are to be used.
    """
    kept = not isinstance(table.X, Unread) if told is None else told
    origin = model.frame.origin
    rounded = (centres + origin).astype(table.X.dtype).astype(np.float64) - origin
    params = model.params(rounded)
    everywhere = np.empty(table.X.shape[0] if kept else 0, np.int32)

    def one(chunk: Chunk) -> LloydStatistics:
        labels, stats = model.label(params, chunk if keep_memos else chunk.fresh(), told=kept, summed=summed)
        if kept:
            everywhere[chunk.start : chunk.stop] = labels
        return stats

    with mapping(table.source) as over_chunks:
        stats = list(over_chunks(one))
    return Run(rounded, everywhere, sum(stats[1:], start=stats[0]))


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
