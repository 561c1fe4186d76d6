"""Parameters as a flat vector without bounds, and back: logits, logarithms, Cholesky factors."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from latently.distributions import Categorical, Distribution, Gaussian, Multinomial, Product
from latently.distributions.components.gaussian.unscaled import Gaussians
from latently.distributions.families.bernoulli import Bernoulli
from latently.distributions.families.mixture import BaseMixture
from latently.sequence.emissions.discrete import CategoricalEmission, PoissonEmission
from latently.sequence.emissions.gaussian import Mixtures
from latently.sequence.inference.chain import Array


class Reader:
    """Takes pieces off the front of a vector."""

    def __init__(self, vector: Array) -> None:
        self._vector, self._at = vector, 0

    def take(self, shape: tuple[int, ...]) -> Array:
        """The next numbers, in this shape."""
        size = int(np.prod(shape))
        piece = self._vector[self._at : self._at + size]
        self._at += size
        return piece.reshape(shape)


def logits(p: Array, free: Any) -> Array:
    """Logarithms of the probabilities that are free and positive."""
    return np.asarray(np.log(p[free & (p > 0)]))


def from_logits(reader: Reader, p: Array, free: Any) -> Array:
    """Probabilities like p, whose free and positive entries share what they had in p."""
    rows = np.array(p, dtype=np.float64, ndmin=2)
    used = np.broadcast_to(free & (p > 0), np.shape(p)).reshape(rows.shape)
    z = np.full(rows.shape, -np.inf)
    z[used] = reader.take((int(used.sum()),))
    for r in range(len(rows)):
        if used[r].any():
            rows[r, used[r]] = special.softmax(z[r, used[r]]) * rows[r, used[r]].sum()
    return rows.reshape(np.shape(p))


def pack_emission(emission: Any, theta: Any) -> Array:
    """Parameters of emissions as a vector."""
    if isinstance(emission, CategoricalEmission):
        return logits(theta, emission.possible)
    if isinstance(emission, PoissonEmission):
        return np.log(theta).ravel()
    return pack(theta)


def unpack_emission(reader: Reader, emission: Any, like: Any) -> Any:
    """Parameters of emissions, of the same kind as `like`, from a vector."""
    if isinstance(emission, CategoricalEmission):
        return from_logits(reader, like, emission.possible)
    if isinstance(emission, PoissonEmission):
        return np.exp(reader.take(like.shape))
    return unpack(reader, like)


def pack(theta: Any) -> Array:
    """Parameters of several, or of a single distribution, as a vector."""
    if isinstance(theta, tuple):
        return np.concatenate([pack(part) for part in theta])
    if isinstance(theta, Gaussians):
        return np.concatenate([theta.means.ravel(), _pack_covars(theta)])
    if isinstance(theta, Mixtures):
        return np.concatenate([logits(theta.weights, True), pack(theta.parts)])
    if isinstance(theta, Product):
        return np.concatenate([pack(part) for part, _ in theta.parts])
    if isinstance(theta, BaseMixture):
        return np.concatenate([logits(theta.weights, True), pack(tuple(theta.components))])
    return _pack_distribution(theta)


def _pack_distribution(theta: Distribution) -> Array:
    if isinstance(theta, Gaussian):
        spread = cholesky_row(theta.covariance) if theta.kind == "full" else np.log(np.atleast_1d(theta.covariance))
        return np.concatenate([theta.mean, spread])
    if isinstance(theta, Categorical | Multinomial):
        return logits(theta.probabilities, True)
    first = np.concatenate([np.atleast_1d(getattr(theta, name)) for name in theta.PARAMETERS])
    return np.asarray(special.logit(first) if isinstance(theta, Bernoulli) else np.log(first))


def unpack(reader: Reader, like: Any) -> Any:
    """Parameters of the same kind as `like` from a vector."""
    if isinstance(like, tuple):
        return tuple(unpack(reader, part) for part in like)
    if isinstance(like, Gaussians):
        return _unpack_covars(reader, replace(like, means=reader.take(like.means.shape)))
    if isinstance(like, Mixtures):
        return Mixtures(from_logits(reader, like.weights, True), unpack(reader, like.parts))
    if isinstance(like, Product):
        return Product([(unpack(reader, part), columns) for part, columns in like.parts])
    if isinstance(like, BaseMixture):
        weights = from_logits(reader, like.weights, True)
        return like._made_of(weights, [unpack(reader, part) for part in like.components])
    return _unpack_distribution(reader, like)


def _unpack_distribution(reader: Reader, like: Any) -> Any:
    if isinstance(like, Gaussian):
        mean = reader.take(like.mean.shape)
        if like.kind == "full":
            return replace(like, mean=mean, covariance=from_cholesky_row(reader, len(mean)))
        return replace(like, mean=mean, covariance=np.exp(reader.take(like.covariance.shape)))
    if isinstance(like, Categorical | Multinomial):
        return replace(like, probabilities=from_logits(reader, like.probabilities, True))
    back = special.expit if isinstance(like, Bernoulli) else np.exp
    return replace(like, **{name: back(reader.take(np.shape(getattr(like, name)))) for name in like.PARAMETERS})


def cholesky_row(matrix: Array) -> Array:
    """Lower triangle of the Cholesky factor, its diagonal as logarithms."""
    lower = np.linalg.cholesky(matrix)
    lower[np.diag_indices(len(lower))] = np.log(np.diagonal(lower))
    return np.asarray(lower[np.tril_indices(len(lower))])


def from_cholesky_row(reader: Reader, d: int) -> Array:
    """The matrix whose row this is."""
    lower = np.zeros((d, d))
    lower[np.tril_indices(d)] = reader.take((d * (d + 1) // 2,))
    lower[np.diag_indices(d)] = np.exp(np.diagonal(lower))
    return np.asarray(lower @ lower.T)


def _pack_covars(theta: Gaussians) -> Array:
    if theta.is_matrix:
        return np.concatenate([cholesky_row(matrix) for matrix in theta.covars])
    return np.log(theta.covars[:, 0] if theta.kind == "spherical" else theta.covars.ravel())


def _unpack_covars(reader: Reader, theta: Gaussians) -> Gaussians:
    J, d = theta.means.shape
    if theta.is_matrix:
        return replace(theta, covars=np.array([from_cholesky_row(reader, d) for _ in theta.covars]))
    if theta.kind == "spherical":
        return replace(theta, covars=np.repeat(np.exp(reader.take((J, 1))), d, axis=1))
    return replace(theta, covars=np.exp(reader.take((J, d))))
