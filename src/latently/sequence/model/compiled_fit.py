"""Whole fits of states whose columns are independent Gaussians, to short sequences, in one compiled call."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from latently import compiled
from latently.data.sources.sequences import Sequences
from latently.distributions.components.gaussian.block import GaussianBlock
from latently.distributions.components.gaussian.prior import GaussianPrior
from latently.learn.engine.em import ROUNDING, Fit
from latently.sequence.emissions.fast import GaussianEmission
from latently.sequence.inference.chain import Array, Chain, first_rows
from latently.sequence.inference.diagonal import DiagonalPlan, diagonal_moments
from latently.sequence.model.hmm import HmmModel, HmmStatistics, Params
from latently.sequence.model.transitions import ChainRule

MOST_ROWS = 8192
"""Up to this many rows, what goes on around a step of `em` takes longer than the step."""


def climbed(
    model: HmmModel, start: Params, data: Sequences, weights: ArrayLike | None, *, tol: float, n_iter: int
) -> Fit[Params, HmmStatistics] | None:
    """What `em` comes to from a start, by the same steps; None if one of them takes `em` itself.

    Parameters
    ----------
    model
        A hidden Markov model.
    start
        Parameters.
    data, weights
        Sequences in memory, and the weight of each.
    tol, n_iter
        Converged when the objective rises by less; steps at most.
    """
    rule, emission = model.rule, model.emission
    if not (_is_free(model) and len(data.values) <= MOST_ROWS and DiagonalPlan.applies(start.chain, start.theta)):
        return None
    assert isinstance(rule, ChainRule)
    assert isinstance(emission.block, GaussianBlock)
    (chunk,), block, (K, d) = data.chunked(weights, len(data.values)), emission.block, start.theta.means.shape
    first, A, means = (np.array(part) for part in (start.chain.start, start.chain.transition, start.theta.means))
    variances, centre, sums = start.theta.variances.copy(), np.empty((K, d)), np.empty((2 + K + 2 * d, K))
    trace = np.empty((n_iter, 2))
    n_steps = compiled.sequence.diagonal.climb(
        chunk.X,
        data.lengths,
        np.ones(len(data.lengths)) if chunk.weights is None else chunk.weights[first_rows(data.lengths)],
        (first, A),
        rule.excess,
        (means, variances),
        _by_column(block.prior or GaussianPrior(), block.kind, (K, d)),
        _least(block),
        np.array([*(c in rule.learn for c in "st"), *(c in block.learn for c in "mc"), block.kind == "spherical"]),
        tol,
        (0.0,) * K,
        centre,
        sums,
        trace,
    )
    bounds, objectives = trace[:n_steps].T
    if n_steps < 0 or (np.diff(objectives) < -ROUNDING * (np.abs(objectives[1:]) + chunk.total_weight)).any():
        return None
    before = replace(start.theta, means=centre)
    moments = diagonal_moments(before, sums[0], sums[2 + K : 2 + K + d].T, sums[2 + K + d :].T)
    stats = HmmStatistics(chunk.total_weight, float(bounds[-1]), sums[1], sums[2 : 2 + K].T, sums[0], moments)
    theta = replace(start.theta, means=means, covariances=variances if block.kind == "diag" else variances[:, 0])
    converged = n_steps > 1 and objectives[-1] - objectives[-2] < tol
    reason = "converged" if converged else "max_iter"
    return Fit(Params(Chain(first, A), theta), stats, tuple(objectives.tolist()), n_steps, converged, reason)


def _is_free(model: HmmModel) -> bool:
    """Whether rows are complete, and nothing is known of states, of the chain or of the emissions beforehand."""
    rule, emission = model.rule, model.emission
    return (
        isinstance(emission, GaussianEmission)
        and emission.complete
        and type(emission.block) is GaussianBlock
        and isinstance(rule, ChainRule)
        and rule.is_free
        and model.labels is None
        and not model.low_memory
    )


def _by_column(prior: GaussianPrior, kind: str, shape: tuple[int, int]) -> tuple[Array, ...]:
    """Location, kappa, scatter and power, each (K, d); what is said of a variance of all columns is shared out."""
    scatter, power = prior.scatter, prior.power
    if kind == "spherical" and scatter.ndim:
        scatter, power = scatter[:, None] / shape[1], power[:, None] / shape[1]
    each = (prior.location, prior.kappa, scatter, power)
    return tuple(np.array(np.broadcast_to(part, shape)) for part in each)


def _least(block: GaussianBlock) -> Array:
    """Variances (d,) that are above the floor for sure."""
    if block.floor is None:
        return np.zeros(len(block.columns))
    most = block.floor.most
    return most if block.kind == "diag" else np.full_like(most, most.min())
