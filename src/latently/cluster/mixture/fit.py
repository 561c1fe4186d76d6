"""Fitting a mixture over a table: starts, passes, dead components, and the best of several."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from latently.cluster.mixture.gradient import UnconstrainedMixture
from latently.cluster.mixture.model import MixtureModel, MixtureParams, MixtureSums
from latently.cluster.mixture.start import coordinates, params_from
from latently.data.sources.chunks import Chunk, ChunkSource
from latently.data.tables.matrix import refuse_tiny
from latently.distributions import Parts
from latently.distributions.components.slab import Mask, Slab
from latently.distributions.components.spread import SAMPLE_ROWS
from latently.learn.engine.em import Fit, Hook, em
from latently.learn.engine.gradient import ascend
from latently.learn.engine.protocol import Array, Reduce
from latently.learn.engine.reduce import reducing
from latently.learn.engine.restarts import best_of
from latently.learn.engine.start import sample_rows, squared_distances, worst_rows

# A component with less than this, in rows, explains nothing.
_DEAD = 1e-2
# Worst-explained rows that a dead component is given.
_SEED_ROWS = 20
# Passes of EM that bring a search by gradient near an optimum.
_APPROACH = 10

MixtureFit = Fit[MixtureParams, MixtureSums]


def pooled_sums(model: MixtureModel, source: ChunkSource) -> Parts:
    """Statistics of every block over all rows, as of a single component."""
    start = np.asarray(next(iter(source)).X, dtype=np.float64)
    first = MixtureParams(np.ones(1), tuple(block.first(start, 1) for block in model.blocks))

    def expect(chunk: Chunk) -> Parts:
        weights = np.ones(len(chunk.X)) if chunk.weights is None else chunk.weights
        slab = Slab(np.asarray(chunk.X, dtype=np.float64), chunk.memo)
        return model.sums(first, slab, np.ascontiguousarray(weights[None]), 0.0, 0.0).parts

    with reducing(source) as reduce:
        pooled: Parts = reduce(expect)
    return pooled


def with_spread(model: MixtureModel, source: ChunkSource) -> MixtureModel:
    """The model with default priors relative to how wide the rows are inside clusters."""
    # a seed of its own: the same priors for every start
    rows, weights = sample_rows(source, SAMPLE_ROWS, np.random.RandomState(0))
    for block in model.blocks:
        if block.is_squared:
            refuse_tiny(rows[:, block.places], weights, block.names)
    k = len(model.pseudo)
    spreads = (block.inside_clusters(rows[:, block.places], weights, k) for block in model.blocks)
    blocks = tuple(block.with_spread(spread) for block, spread in zip(model.blocks, spreads, strict=True))
    return replace(model, blocks=blocks)


def fit_one(
    model: MixtureModel,
    start: MixtureParams,
    source: ChunkSource,
    *,
    method: str,
    tol: float,
    max_iter: int,
    on_iteration: Hook | None,
) -> tuple[MixtureFit, int]:
    """Fit from one start; components that die are put where the data are worst explained, if that is better."""
    with reducing(source) as reduce:
        if method == "gradient":
            near = em(model, start, reduce, tol=tol, max_iter=min(_APPROACH, max_iter), on_iteration=on_iteration)
            return (near if max_iter <= _APPROACH else _climbed(model, near, reduce, tol, max_iter, on_iteration)), 0
        fit = em(model, start, reduce, tol=tol, max_iter=max_iter, on_iteration=on_iteration)
        reseeds = 0
        while reseeds < len(fit.params.weights) and max_iter and not fit.halted:
            other = reseeded(model, fit, source, reduce)
            if other is None:
                break
            again = em(model, other, reduce, tol=tol, max_iter=max_iter, on_iteration=on_iteration)
            if again.trace[-1] <= fit.trace[-1]:
                break
            fit, reseeds = again, reseeds + 1
        return fit, reseeds


def _climbed(
    model: MixtureModel, near: MixtureFit, reduce: Reduce, tol: float, max_iter: int, on_iteration: Hook | None
) -> MixtureFit:
    """Go on from where EM has come to by gradient; the trace goes on, too."""
    free = UnconstrainedMixture(model, near.params, near.stats)
    options: dict[str, Any] = {"tol": min(tol, 1e-9), "max_iter": max_iter - near.n_iter, "on_iteration": on_iteration}
    fit = ascend(free, near.params, reduce, **options)
    trace = (*near.trace, *(value for value in fit.trace if value > near.trace[-1]))
    return replace(fit, trace=trace, n_iter=len(trace))


def reseeded(model: MixtureModel, fit: MixtureFit, source: ChunkSource, reduce: Reduce) -> MixtureParams | None:
    """Parameters with the lightest component moved to the rows of lowest density; None if none is dead."""
    dead = int(np.argmin(fit.stats.weight))
    if model.limits is not None or fit.stats.weight[dead] >= min(_DEAD, fit.rows / len(fit.params.weights)):
        return None
    rows = worst_rows(model, fit.params, source, 10 * _SEED_ROWS)
    k = len(fit.params.weights)
    # the other rows only say what is usual, so that nothing starts as impossible
    R = np.eye(k)[np.where(_near_the_worst(model, rows), dead, (dead + 1) % k)].T
    fresh = params_from(model, rows, R)
    share = min(_SEED_ROWS / fit.rows, 1 / k)
    weights = fit.params.weights * (1 - share)
    weights[dead] = share
    parts = tuple(old.replaced(new, dead) for old, new in zip(fit.params.parts, fresh.parts, strict=True))
    constrained = tuple(block.constrained(theta) for block, theta in zip(model.blocks, parts, strict=True))
    return MixtureParams(weights / weights.sum(), constrained)


def _near_the_worst(model: MixtureModel, rows: Array) -> Mask:
    """Mark rows like the first, of rows in rising order of density: bad explanations have many reasons."""
    Z = coordinates(rows, model.blocks)
    rank = np.argsort(np.argsort(squared_distances(Z, Z[0]), kind="stable"), kind="stable")
    return rank < _SEED_ROWS


def best_fit(
    run: Callable[[np.random.RandomState], tuple[MixtureFit, int]], starts: list[np.random.RandomState], n_rows: int
) -> tuple[MixtureFit, int]:
    """Run every start and keep the best."""
    return best_of(run, starts, lambda pair: pair[0].trace[-1], side_by_side=n_rows <= 2 * 16384)
