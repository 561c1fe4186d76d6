"""The M-step of a Gaussian mixture: expected moments, prior and constraints to parameters."""

import numpy as np

from latently.distributions.components.gaussian.bounded import Limits
from latently.distributions.components.gaussian.collapse import refuse_collapsed
from latently.distributions.components.gaussian.moments import GaussianMoments, products
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.prior import FramePrior
from latently.distributions.inputs import Array


def updated(params: GaussianParams, stats: GaussianMoments, prior: FramePrior, limits: Limits | None) -> GaussianParams:
    """Weights, means and covariances that are best for these moments.

    Without limits all three are exact. With them, each is the best given the others: the weights, then the means
    at the current covariances, then the covariances about those means, so that the objective cannot fall.
    """
    counts = stats.weight + prior.excess
    weights = counts / counts.sum() if limits is None else limits.weights(counts)
    means = _means(params, stats, prior, limits)
    # without a prior or limits on the means they are those of the rows
    covariances, mass = _covariances(params, stats, prior, means, moved=prior.pulls or limits is not None)
    if limits is not None:
        covariances = limits.covariances(covariances, mass)
    found = GaussianParams(params.kind, params.frame, weights, means, covariances)
    return found if prior.shapes else refuse_collapsed(found)


def _known(stats: GaussianMoments) -> Array:
    """(k,) whether a component has rows to learn from."""
    return stats.weight > 10 * np.finfo(float).eps


def _means(params: GaussianParams, stats: GaussianMoments, prior: FramePrior, limits: Limits | None) -> Array:
    known = _known(stats)
    means = np.where(known[:, None], stats.centre + stats.offsets(), params.means)
    mass = np.where(known, stats.weight, 0.0)[:, None]
    if prior.pulls:
        mass = mass + prior.kappa
        means = means + prior.kappa / mass * (prior.location - means)
    return means if limits is None else limits.means(params, means, mass)


def _covariances(
    params: GaussianParams, stats: GaussianMoments, prior: FramePrior, means: Array, *, moved: bool
) -> tuple[Array, Array]:
    """Covariances about the means, and the weight behind each."""
    kind, known = params.kind, _known(stats)
    sums = stats.scatter() + prior.scatter
    if moved:
        gaps = np.where(known[:, None], stats.centre + stats.offsets() - means, 0.0)
        sums = sums + products(kind, stats.weight[:, None] * gaps, gaps) + prior.pull(kind, means)
    mass = stats.mass() + prior.power
    if kind == "tied":
        return symmetric(sums / mass), mass
    # with neither rows nor a prior there is nothing to learn from: keep what was
    constrained = np.broadcast_to(known.reshape((-1,) + (1,) * (mass.ndim - 1)) | prior.shapes, mass.shape)
    fitted = np.where(constrained, sums / np.where(constrained, mass, 1.0), params.covariances)
    return (symmetric(fitted) if kind == "full" else fitted), np.where(constrained, mass, 0.0)


def symmetric(matrices: Array) -> Array:
    """The symmetric part of each matrix."""
    return np.asarray((matrices + np.swapaxes(matrices, -1, -2)) / 2)
