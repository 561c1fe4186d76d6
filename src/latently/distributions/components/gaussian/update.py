"""The M-step of Gaussian components: expected moments, prior and constraints to parameters."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from latently.distributions.components.gaussian.collapse import refuse_collapsed
from latently.distributions.components.gaussian.moments import GaussianMoments
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.prior import GaussianPrior
from latently.distributions.inputs import Array
from latently.distributions.statistics import Moments, products


class MomentLimits(Protocol):
    """What means and covariances may be."""

    def means(self, params: GaussianParams, best: Array, mass: Array) -> Array:
        """The best means at the current covariances, `best` and `mass` (k, 1 or d) being those without limits."""

    def covariances(self, best: Array, mass: Array) -> Array:
        """The best covariances, `best` and the weight behind each being those without limits."""


class AllLimits(MomentLimits, Protocol):
    """What weights may be, too."""

    def weights(self, counts: Array) -> Array:
        """The weights that are best for these counts."""


def updated(
    params: GaussianParams, stats: GaussianMoments, prior: GaussianPrior, limits: AllLimits | None
) -> GaussianParams:
    """Weights, means and covariances that are best for these moments.

    Without limits all three are exact. With them, each is the best given the others: the weights, then the means
    at the current covariances, then the covariances about those means, so that the objective cannot fall.
    """
    counts = stats.weight + prior.excess
    weights = counts / counts.sum() if limits is None else limits.weights(counts)
    found = GaussianParams(params.kind, params.frame, weights, *best(params, stats, prior, limits))
    return found if prior.shapes else refuse_collapsed(found)


def best(
    params: GaussianParams,
    stats: Moments,
    prior: GaussianPrior,
    limits: MomentLimits | None = None,
    *,
    learn: str = "mc",
    few: float = 10 * np.finfo(float).eps,
    raised: Callable[[Array], Array] | None = None,
) -> tuple[Array, Array]:
    """Means ("m" in `learn`) and covariances ("c") that are best for these moments.

    Components with a weight of no more than `few` stay as they are, and `raised` lifts covariances that are too small.
    """
    known = _by_component(stats) > few
    means = _means(params, stats, prior, known, limits) if "m" in learn else params.means
    if "c" not in learn:
        return means, params.covariances
    # without a prior or limits on the means they are those of the rows
    moved = prior.pulls or limits is not None or "m" not in learn
    covariances, mass = _covariances(params, stats, prior, means, known, moved=moved)
    if raised is not None:
        covariances = raised(covariances)
    return means, covariances if limits is None else limits.covariances(covariances, mass)


def _by_component(stats: Moments) -> Array:
    """(k,) the weight of each component, that of the column most often observed."""
    return np.asarray(stats.weight if stats.weight.ndim == 1 else stats.weight.max(axis=1))


def _means(
    params: GaussianParams, stats: Moments, prior: GaussianPrior, known: NDArray[np.bool_], limits: MomentLimits | None
) -> Array:
    means = np.where(known[:, None], stats.mean(), params.means)
    mass = np.where(known[:, None], stats.by_column(), 0.0)
    if prior.pulls:
        mass = mass + prior.kappa
        pull = np.divide(prior.kappa, mass, out=np.zeros(np.broadcast(prior.kappa, mass).shape), where=mass > 0)
        means = means + pull * (prior.location - means)
    return means if limits is None else limits.means(params, means, mass)


def _covariances(
    params: GaussianParams, stats: Moments, prior: GaussianPrior, means: Array, known: NDArray[np.bool_], *, moved: bool
) -> tuple[Array, Array]:
    """Covariances about the means, and the weight behind each."""
    kind = params.kind
    scatter = stats.scatter()
    sums = (scatter if params.is_matrix else np.maximum(scatter, 0.0)) + prior.scatter
    if moved:
        gaps = np.where(known[:, None], stats.mean() - means, 0.0)
        sums = sums + products(kind, stats.by_column() * gaps, gaps) + prior.pull(kind, means)
    mass = stats.mass() + prior.power
    if kind == "tied":
        return np.asarray(sums / mass) if mass > 0 else params.covariances, mass
    # with neither rows nor a prior there is nothing to learn from: keep what was
    learnt = (known.reshape((-1,) + (1,) * (mass.ndim - 1)) | prior.shapes) & (mass > 0)
    return np.where(learnt, sums / np.where(learnt, mass, 1.0), params.covariances), np.where(learnt, mass, 0.0)
