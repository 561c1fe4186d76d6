"""Gaussian components side by side: densities, moments and updates for the four kinds of covariance."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from latently import compiled
from latently.distributions import Gaussian
from latently.distributions.components.floor import TOUCHING, Floor
from latently.distributions.inputs import Array
from latently.distributions.statistics import Additive

SMALL = 12
"""Up to this many components, kernels are compiled for their exact number."""

Ints = NDArray[np.int64]
Kind = Literal["spherical", "diag", "full", "tied"]
KINDS = ("spherical", "diag", "full", "tied")
LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Gaussians:
    """Parameters of J components.

    Parameters
    ----------
    means : (J, d)
    covars : (J, d) variances for "diag" and "spherical", (G, d, d) for "full" and "tied"
    kind : of covariance
    group : (J,) which of the G covariances a component has
    """

    means: Array
    covars: Array
    kind: Kind
    group: Ints

    @property
    def is_matrix(self) -> bool:
        """Whether covariances are matrices."""
        return self.kind in ("full", "tied")

    @property
    def matrices(self) -> Array:
        """Covariances (J, d, d) of all components."""
        if self.is_matrix:
            return self.covars[self.group]
        return np.asarray(self.covars[:, :, None] * np.eye(self.means.shape[1]))

    def log_dets(self) -> Array:
        """Log determinants, one for each component."""
        if self.is_matrix:
            return np.asarray(np.linalg.slogdet(self.covars)[1][self.group])
        return np.asarray(np.log(self.covars).sum(axis=1))

    @cached_property
    def diagonal(self) -> tuple[Array, Array, Array]:
        """Means and roots (J, d) and constants (J,) by which kernels compute densities of diagonal Gaussians."""
        constants = -0.5 * (np.log(self.covars).sum(axis=1) + self.means.shape[1] * LOG_2PI)
        return np.ascontiguousarray(self.means), np.ascontiguousarray(np.sqrt(0.5 / self.covars)), constants

    def single(self, j: int) -> Gaussian:
        """Give one component as a distribution."""
        if self.is_matrix:
            return Gaussian(self.means[j], self.covars[self.group[j]])
        return Gaussian(self.means[j], self.covars[j], kind="diag")


@dataclass(frozen=True, eq=False)
class Prior:
    """Conjugate prior: a location with a strength, a scatter matrix, and extra weight of the scatter.

    Parameters
    ----------
    location : (J, d)
    strength : (J,)
    scatter : like the covariances
    extra : like the covariances without their columns
    """

    location: Array
    strength: Array
    scatter: Array
    extra: Array


@dataclass(frozen=True, eq=False)
class MomentSums(Additive):
    """Weights (J, d), first (J, d) and second moments (J, d) or (J, d, d) about the current means."""

    weight: Array
    first: Array
    second: Array


def is_complete(X: Array) -> bool:
    """Whether nothing is missing."""
    return not np.isnan(X.sum())


def log_density(theta: Gaussians, X: Array) -> Array:
    """Log densities (n, J); missing entries are marginalised out."""
    if not is_complete(X):
        return np.column_stack([theta.single(j).log_prob(X) for j in range(len(theta.means))])
    L = np.empty((len(X), len(theta.means)))
    if theta.is_matrix:
        return _matrix_density(theta, X, L)
    compiled.sequence.emissions.diagonal_densities(X, *theta.diagonal, _width(len(theta.means)), L)
    return L


def fill(theta: Gaussians, X: Array, width: tuple[int, ...], b: Array, top: Array) -> None:
    """Densities (n, J) over exp(top), for diagonal covariances and complete rows, in one go."""
    compiled.sequence.emissions.diagonal_fill(X, *theta.diagonal, width, b, top)


def _width(J: int) -> tuple[int, ...]:
    return (0,) * J if J <= SMALL else ()


def _matrix_density(theta: Gaussians, X: Array, L: Array) -> Array:
    lowers = [linalg.cholesky(c, lower=True) for c in theta.covars]
    for j, (mean, g) in enumerate(zip(theta.means, theta.group, strict=True)):
        z = linalg.solve_triangular(lowers[g], (X - mean).T, lower=True, check_finite=False)
        log_det = 2 * np.log(np.diagonal(lowers[g])).sum()
        L[:, j] = -0.5 * (np.einsum("ij,ij->j", z, z) + log_det + X.shape[1] * LOG_2PI)
    return L


def moments(theta: Gaussians, X: Array, g: Array, complete: bool = False) -> MomentSums:
    """Moments about the current means, weighted by g (n, J); missing entries at their expectation."""
    if not (complete or is_complete(X)):
        return _incomplete_moments(theta, X, g)
    J, d = theta.means.shape
    weight = np.zeros(J)
    if theta.is_matrix:
        second = np.empty((J, d, d))
        first = np.empty((J, d))
        for j, mean in enumerate(theta.means):
            centred = X - mean
            weighted = centred * g[:, j : j + 1]
            first[j], second[j], weight[j] = weighted.sum(axis=0), weighted.T @ centred, g[:, j].sum()
        return MomentSums(np.repeat(weight[:, None], d, axis=1), first, second)
    sums, squares = np.zeros((J, d)), np.zeros((J, d))
    compiled.sequence.emissions.diagonal_moments(X, g, theta.diagonal[0], _width(J), weight, sums, squares)
    return MomentSums(np.repeat(weight[:, None], d, axis=1), sums, squares)


def _incomplete_moments(theta: Gaussians, X: Array, g: Array) -> MomentSums:
    J, d = theta.means.shape
    found = [theta.single(j).expected_statistics(X, g[:, j]) for j in range(J)]
    about = [m.about(theta.means[j]) for j, m in enumerate(found)]  # type: ignore[attr-defined]
    weight = np.array([np.broadcast_to(m.weight, (d,)) for m in about])
    return MomentSums(weight, np.array([m.first for m in about]), np.array([m.second for m in about]))


def update(theta: Gaussians, stats: MomentSums, prior: Prior, learn: str, floor: Floor, few: float) -> Gaussians:
    """Posterior mode of means ("m" in learn) and covariances ("c"); components with no weight stay."""
    alive = stats.weight.max(axis=1) > few
    shift = np.zeros_like(theta.means)
    strength = prior.strength[:, None]
    if "m" in learn:
        total = stats.weight + strength
        pull = stats.first + strength * (prior.location - theta.means)
        shift = np.where(alive[:, None] & (total > 0), pull / np.where(total > 0, total, 1.0), 0.0)
    means = theta.means + shift
    if "c" not in learn:
        return replace(theta, means=means)
    gap = means - prior.location
    if theta.is_matrix:
        covars = _matrix_update(theta, stats, prior, shift, gap, floor, few)
    else:
        covars = _diagonal_update(theta, stats, prior, shift, gap, floor, alive)
    return replace(theta, means=means, covars=covars)


def _diagonal_update(
    theta: Gaussians, stats: MomentSums, prior: Prior, shift: Array, gap: Array, floor: Floor, alive: Array
) -> Array:
    scatter = stats.second - 2 * shift * stats.first + stats.weight * shift**2
    total = np.maximum(scatter, 0.0) + prior.scatter + prior.strength[:, None] * gap**2
    weight = stats.weight + prior.extra
    if theta.kind == "spherical":
        total, weight = total.sum(axis=1, keepdims=True), weight.sum(axis=1, keepdims=True)
    variance = total / np.maximum(weight, 1e-300)
    variance = floor.raised(variance) if theta.kind == "diag" else floor.raised_together(variance)
    return np.where(alive[:, None], np.broadcast_to(variance, theta.covars.shape), theta.covars)


def _matrix_update(
    theta: Gaussians, stats: MomentSums, prior: Prior, shift: Array, gap: Array, floor: Floor, few: float
) -> Array:
    cross = stats.first[:, :, None] * shift[:, None, :]
    spread = stats.weight[:, :1, None] * (shift[:, :, None] * shift[:, None, :])
    pull = prior.strength[:, None, None] * (gap[:, :, None] * gap[:, None, :])
    parts = stats.second - cross - cross.transpose(0, 2, 1) + spread + pull
    covars = theta.covars.copy()
    for c in range(len(covars)):
        members = theta.group == c
        weight = stats.weight[members, 0].sum()
        if weight > few:
            matrix = (parts[members].sum(axis=0) + prior.scatter[c]) / (weight + prior.extra[c])
            covars[c] = floor.constrained(matrix)
    return covars


def on_floor(theta: Gaussians, floor: Floor) -> NDArray[np.bool_]:
    """Components (J,) that have shrunk onto the floor, where the table itself has not."""
    if theta.is_matrix:
        return np.array([not floor.is_clear(c) and floor.n_touching(c) > floor.n_flat for c in theta.covars])[
            theta.group
        ]
    if (theta.covars > TOUCHING * floor.most).all():
        return np.zeros(len(theta.covars), dtype=bool)
    least = floor.least if theta.kind == "diag" else floor.least.min()
    return np.asarray((floor.varies & (theta.covars <= TOUCHING * least)).any(axis=1))


def log_prior(theta: Gaussians, prior: Prior) -> float:
    """Log density of the prior at the parameters, up to a constant."""
    gap = theta.means - prior.location
    if not theta.is_matrix:
        pull = prior.scatter + prior.strength[:, None] * gap**2
        return float(-0.5 * (prior.extra * np.log(theta.covars) + pull / theta.covars).sum())
    inverse = np.linalg.inv(theta.covars)
    scatter = np.einsum("gij,gji->", inverse, prior.scatter)
    pull = np.einsum("j,ji,jik,jk->", prior.strength, gap, inverse[theta.group], gap)
    log_det = np.linalg.slogdet(theta.covars)[1]
    return float(-0.5 * (prior.extra @ log_det + scatter + pull))


def n_parameters(theta: Gaussians, learn: str = "mc") -> int:
    """Number of free parameters."""
    J, d = theta.means.shape
    covars = {"spherical": J, "diag": J * d}.get(theta.kind, len(theta.covars) * d * (d + 1) // 2)
    return ("m" in learn) * J * d + ("c" in learn) * covars


def sample(theta: Gaussians, chosen: Ints, rng: np.random.RandomState) -> Array:
    """Draw a row (n, d) from each of the chosen components."""
    z = rng.standard_normal((len(chosen), theta.means.shape[1]))
    if not theta.is_matrix:
        return np.asarray(theta.means[chosen] + z * np.sqrt(theta.covars[chosen]))
    lowers = np.linalg.cholesky(theta.covars)
    return np.asarray(theta.means[chosen] + np.einsum("nij,nj->ni", lowers[theta.group[chosen]], z))
