"""Gradients of expected log densities in the coordinates of `coordinates`, from the statistics of an E-step.

By Fisher's identity these are gradients of the log-likelihood itself, with missing entries and hidden states taken into
account by the expectations in the statistics.
"""

from typing import Any

import numpy as np

from latently.distributions import Bernoulli, Categorical, Exponential, Gaussian, Poisson, Product
from latently.distributions.components.gaussian.unscaled import Gaussians, MomentSums
from latently.sequence.emissions.discrete import CategoricalEmission, PoissonEmission
from latently.sequence.emissions.family import FamilyEmission
from latently.sequence.emissions.gaussian import GaussianEmission, GaussianMixtureEmission
from latently.sequence.emissions.mixture_of import MixtureOf
from latently.sequence.inference.chain import Array


def logit_gradient(counts: Array, p: Array, free: Any) -> Array:
    """Gradient of sum counts log p in the logits of those p that are free and positive, row by row."""
    used = np.broadcast_to(free & (p > 0), np.shape(p))
    counted, shares = np.where(used, counts, 0.0), np.where(used, p, 0.0)
    mass = shares.sum(axis=-1, keepdims=True)
    gradient = counted - shares / np.where(mass > 0, mass, 1.0) * counted.sum(axis=-1, keepdims=True)
    return np.asarray(gradient[used])


def emission_gradient(emission: Any, theta: Any, stats: Any) -> Array | None:
    """Slope (P,) in the coordinates of the emissions; None if there is no formula for them."""
    if isinstance(emission, CategoricalEmission):
        return logit_gradient(stats.counts, theta, emission.possible)
    if isinstance(emission, PoissonEmission):
        return np.asarray(stats.total - stats.weight * theta).ravel()
    if isinstance(emission, GaussianEmission):
        return gaussians_gradient(theta, stats)
    if isinstance(emission, GaussianMixtureEmission):
        weights = logit_gradient(stats.counts, theta.weights, True)
        return np.concatenate([weights, gaussians_gradient(theta.parts, stats.moments)])
    if isinstance(emission, FamilyEmission):
        return _joined([family_gradient(part, own) for part, own in zip(theta, stats.parts.parts, strict=True)])
    return None


def _joined(pieces: list[Array | None]) -> Array | None:
    return None if any(piece is None for piece in pieces) else np.concatenate(pieces)  # type: ignore[arg-type]


def gaussians_gradient(theta: Gaussians, stats: MomentSums) -> Array:
    """Gradient in the means, and in log variances or Cholesky factors."""
    if not theta.is_matrix:
        means = stats.first / theta.covars
        spread = 0.5 * (stats.second / theta.covars - stats.weight)
        spread = spread.sum(axis=1) if theta.kind == "spherical" else spread.ravel()
        return np.concatenate([means.ravel(), spread])
    inverses = np.linalg.inv(theta.covars)
    means = np.einsum("jik,jk->ji", inverses[theta.group], stats.first)
    spread = []
    for c, matrix in enumerate(theta.covars):
        members = theta.group == c
        spread.append(cholesky_gradient(matrix, stats.second[members].sum(axis=0), stats.weight[members, 0].sum()))
    return np.concatenate([means.ravel(), *spread])


def cholesky_gradient(matrix: Array, second: Array, weight: float) -> Array:
    """Gradient of a Gaussian's log density in its Cholesky factor (logarithms in the diagonal), as `cholesky_row`."""
    lower, inverse = np.linalg.cholesky(matrix), np.linalg.inv(matrix)
    gradient = (inverse @ second @ inverse - weight * inverse) @ lower
    gradient[np.diag_indices(len(lower))] *= np.diagonal(lower)
    return np.asarray(gradient[np.tril_indices(len(lower))])


def family_gradient(part: Any, stats: Any) -> Array | None:
    """Gradient in the coordinates of a distribution; None if there is no formula for its family."""
    if isinstance(part, Product):
        return _joined([family_gradient(p, own) for (p, _), own in zip(part.parts, stats.parts, strict=True)])
    if isinstance(part, Gaussian):
        return _gaussian_gradient(part, stats.about(part.mean))
    if isinstance(part, Categorical):
        return logit_gradient(stats.total, part.probabilities, True)
    if isinstance(part, Poisson | Exponential | Bernoulli):
        first, second = np.split(stats.total, 2)
        if isinstance(part, Bernoulli):  # ones and zeros
            return np.asarray(first - (first + second) * part.probabilities)
        return np.asarray(first - second * part.rate)  # sums and weights of a Poisson, weights and sums of the other
    if isinstance(part, MixtureOf):
        own = zip(part.parts, stats.parts[1:], strict=True)
        shares = logit_gradient(stats.parts[0].total, part.weights, True)
        return _joined([shares, *(family_gradient(p, inner) for p, inner in own)])
    return None


def _gaussian_gradient(part: Gaussian, stats: Any) -> Array:
    if part.kind == "full":
        mean = np.linalg.solve(part.covariance, stats.first)
        return np.concatenate([mean, cholesky_gradient(part.covariance, stats.second, float(stats.weight))])
    spread = 0.5 * (stats.second / part.covariance - stats.weight)
    return np.concatenate([stats.first / part.covariance, spread if part.kind == "diag" else [spread.sum()]])
