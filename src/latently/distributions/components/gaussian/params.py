"""Parameters of a Gaussian mixture, in a frame where the data are centred and of unit scale."""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from latently.distributions.components.gaussian.frame import Frame, Kind, unit_frame
from latently.distributions.inputs import Array

KINDS: tuple[Kind, ...] = ("full", "tied", "diag", "spherical")
LOG_2PI = float(np.log(2 * np.pi))

# The peer's wording, which its users' code may match.
ILL_DEFINED = (
    "Fitting the mixture model failed because some components have ill-defined empirical covariance (for instance "
    "caused by singleton or collapsed samples). Try to decrease the number of components, increase reg_covar, or "
    "scale the input data."
)
# Squared distance of a mean from the origin, in its own standard deviations, up to which features are exact enough.
_FAR = 1e6
# Log density of a component that is none: its responsibilities vanish.
_LEAST = -1e300
# Components that get less than exp(-SLACK) of a row are left out of its sums where that saves time.
SLACK = 56.0
# Precision, in the frame, up to which a quadratic form may be multiplied out: terms of that size cancel.
STEEP = 3e6
# From these widths on whitened rows are faster than features: in any case, and where components are apart.
_WIDE, _RATHER_WIDE = 96, 24


def powers_of_two(rows: int) -> tuple[Array, Array]:
    """Scratch of the compiled exponential: integers, and the same memory as floats."""
    scales = np.empty(rows)
    return scales.view(np.int64), scales


@cache
def upper_triangle(d: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the upper triangle; looking them up costs as much as an iteration on a small table."""
    return np.triu_indices(d)


@cache
def _once(d: int) -> Array:
    """What entries of the upper triangle are multiplied by where the sum over all of them is minus one half."""
    rows, columns = upper_triangle(d)
    return -np.where(rows == columns, 0.5, 1.0)


@cache
def _full_pairs(d: int) -> tuple[NDArray[Any], ...]:
    rows, columns = upper_triangle(d)
    return rows + 1, columns + 1, d + 1 + np.arange(len(rows)), np.ones(len(rows))


def _first_coordinates(d: int) -> int:
    """How many whitened coordinates are used to rule out components of a row."""
    return min((d + 1) // 2, max(16, d // 4))


@dataclass(frozen=True, eq=False)
class GaussianParams:
    """Weights (k,), means (k, d) and covariances: (k, d, d) full, (d, d) tied, (k, d) diag, (k,) spherical."""

    kind: Kind
    frame: Frame
    weights: Array
    means: Array
    covariances: Array

    @classmethod
    def in_own_units(cls, kind: Kind, means: Array, covariances: Array) -> "GaussianParams":
        """Components side by side, in the data's own units and without weights."""
        return cls(kind, unit_frame(means.shape[1]), np.ones(len(means)), means, covariances)

    @property
    def is_matrix(self) -> bool:
        """Whether covariances are matrices."""
        return self.kind in ("full", "tied")

    @cached_property
    def variances(self) -> Array:
        """(k, d) variances of the columns."""
        if self.kind == "diag":
            return np.ascontiguousarray(self.covariances)
        if self.kind == "spherical":
            return self.covariances[:, None] * np.ones_like(self.means)
        own = np.diagonal(self.covariances, axis1=-2, axis2=-1)
        return np.array(np.broadcast_to(own, self.means.shape))

    @cached_property
    def diagonal(self) -> tuple[Array, Array, Array]:
        """Means and roots (k, d) and constants (k,) by which kernels compute densities of independent columns."""
        constants = -0.5 * (np.log(self.variances).sum(axis=1) + self.means.shape[1] * LOG_2PI)
        return np.ascontiguousarray(self.means), np.ascontiguousarray(np.sqrt(0.5 / self.variances)), constants

    def unweighted(self) -> "GaussianParams":
        """The components with a covariance each and no weights, as kernels with given responsibilities take them."""
        return GaussianParams("full", self.frame, np.ones(len(self.means)), self.means, self.matrices)

    def replaced(self, other: "GaussianParams", k: int) -> "GaussianParams":
        """The same with component k of another one; a covariance of all components stays."""
        means, covariances = self.means.copy(), self.covariances.copy()
        means[k] = other.means[k]
        if self.kind != "tied":
            covariances[k] = other.covariances[k]
        return replace(self, means=means, covariances=covariances)

    @cached_property
    def roots(self) -> Array:
        """Upper triangular U with U U' = precision: (k, d, d), (1, d, d) tied, (k, 1, d) diag and spherical."""
        if self._elementwise:
            d = self.means.shape[1]
            if (self.covariances <= 0).any():
                raise ValueError(ILL_DEFINED)
            return np.asarray(1 / np.sqrt(self.covariances.reshape(len(self.means), 1, -1))) * np.ones(d)
        covariances = self.covariances.reshape(-1, *self.covariances.shape[-2:])
        return np.ascontiguousarray(np.linalg.inv(_cholesky(covariances)).transpose(0, 2, 1))

    @cached_property
    def whitening(self) -> tuple[Array, tuple[Array, Array], tuple[Array, Array]]:
        """Centres, and roots and whitened means of the first coordinates and of the others, as their kernel takes them.

        One centre, the origin, where all components are near it; else each component's own.
        """
        k, d = self.means.shape
        half = _first_coordinates(d)
        padded = -(-half // 4) * 4
        centres, offsets = np.zeros_like(self.means[:1]), self.whitened_means
        if not self.is_near:
            centres, offsets = self.means, np.zeros_like(self.means)
        roots, means = np.zeros((len(self.roots), padded, padded)), np.zeros((k, padded))
        roots[:, :half, :half] = self.roots[:, :half, :half].transpose(0, 2, 1)
        means[:, :half] = offsets[:, :half]
        others = np.ascontiguousarray(self.roots[:, :, half:]), np.ascontiguousarray(offsets[:, half:])
        return centres, (roots, means), others

    @cached_property
    def quadratic(self) -> tuple[NDArray[Any], ...]:
        """How the quadratic features are made: pairs of coordinates, counted from one, their target and factor."""
        d = self.means.shape[1]
        if self._elementwise:
            first = second = np.arange(1, d + 1)
            target = d + first if self.kind == "diag" else np.full(d, d + 1)
            return first, second, target, np.ones(d)
        if self.kind == "full":
            return _full_pairs(d)
        rows, columns = upper_triangle(d)
        factor = _once(d) * self.precision[0][rows, columns]
        return rows + 1, columns + 1, np.full(len(rows), d + 1), factor

    @cached_property
    def matrices(self) -> Array:
        """(k, d, d) covariances, whatever the kind."""
        k, d = self.means.shape
        if self._elementwise:
            return np.asarray(self.covariances.reshape(k, -1)[:, :, None] * np.eye(d))
        return np.ascontiguousarray(np.broadcast_to(self.covariances, (k, d, d)))

    @cached_property
    def log_roots(self) -> Array:
        """(k,) half the log determinant of each precision."""
        diagonals = self.roots[:, 0] if self._elementwise else np.diagonal(self.roots, axis1=1, axis2=2)
        return np.broadcast_to(np.log(diagonals).sum(axis=1), self.weights.shape)

    @cached_property
    def constants(self) -> Array:
        """(k,) log weight plus log density at the mean, in the data's own units."""
        d = self.means.shape[1]
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights)
        return np.asarray(log_weights + self.log_roots - d / 2 * np.log(2 * np.pi) - self.frame.log_volume)

    @cached_property
    def whitened_means(self) -> Array:
        """(k, d) each mean in its own standard deviations."""
        if self._elementwise:
            return np.asarray(self.means * self.roots[:, 0])
        return np.asarray(np.matmul(self.means[:, None, :], self.roots)[:, 0])

    @cached_property
    def is_near(self) -> bool:
        """Whether every mean is near enough to the origin for moments about it to lose nothing."""
        return bool((self.whitened_means**2).sum(axis=1).max() < _FAR)

    @cached_property
    def suits_features(self) -> bool:
        """Whether the expansion about the frame's origin is both exact and fast."""
        d = self.means.shape[1]
        if not self.is_near or self.steepest > STEEP:
            return False
        return self.kind != "full" or d < _RATHER_WIDE or (d < _WIDE and not self.are_apart)

    @cached_property
    def steepest(self) -> float:
        """The largest entry of the full and tied kinds' precisions; the others have no terms that cancel."""
        return 0.0 if self._elementwise else float(np.diagonal(self.precision, axis1=1, axis2=2).max())

    @cached_property
    def are_apart(self) -> bool:
        """Whether the rows of a component, as a rule, have no part in more than a quarter of them all."""
        k, d = self.means.shape
        pulls = np.matmul(self.precision, self.means[:, :, None])[:, :, 0]
        squares = self.covariances + self.means[:, :, None] * self.means[:, None, :]
        spread = self.precision.reshape(k, -1) @ squares.reshape(k, -1).T - 2 * pulls @ self.means.T
        with np.errstate(invalid="ignore"):
            level = self.constants[None, :] - self.constants[:, None]
            lead = level + (spread + (self.means * pulls).sum(axis=1)[:, None] - d) / 2
        return bool((lead < 2 * SLACK).sum(axis=0) @ self.weights <= max(k / 4, 1.25))

    @cached_property
    def precision(self) -> Array:
        """(k or 1, d, d) inverse covariances of the full and tied kinds."""
        return np.asarray(self.roots @ self.roots.transpose(0, 2, 1))

    @cached_property
    def dense_precision(self) -> Array:
        """(k or 1, d, d) inverse covariances, whatever the kind."""
        return self.roots**2 * np.eye(self.means.shape[1]) if self._elementwise else self.precision

    @cached_property
    def coefficients(self) -> Array:
        """(k, P) so that coefficients @ features(z) = log p(x, k), up to an even k and a P that four divides."""
        exact = self._exact_coefficients()
        k, P = exact.shape
        padded = np.zeros((k + k % 2, -(-P // 4) * 4))
        padded[k:, 0] = _LEAST
        padded[:k, :P] = exact
        return padded

    def only(self, component: int) -> "GaussianParams":
        """One component, with its weight, as a mixture by itself."""
        return self.permuted(np.array([component]))

    def permuted(self, order: NDArray[np.intp]) -> "GaussianParams":
        """The same mixture with its components in another order."""
        covariances = self.covariances if self.kind == "tied" else self.covariances[order]
        return GaussianParams(self.kind, self.frame, self.weights[order], self.means[order], covariances)

    @property
    def shape_of_roots(self) -> Literal["elementwise", "triangular"]:
        """What the roots look like."""
        return "elementwise" if self._elementwise else "triangular"

    @property
    def _elementwise(self) -> bool:
        return self.kind in ("diag", "spherical")

    def _exact_coefficients(self) -> Array:
        pull = self.whitened_means
        constant = (self.constants - (pull**2).sum(axis=1) / 2)[:, None]
        if self._elementwise:
            linear = pull * self.roots[:, 0]
            quadratic = -(self.roots[:, 0] ** 2) / 2
            return np.hstack([constant, linear, quadratic if self.kind == "diag" else quadratic[:, :1]])
        linear = np.matmul(self.roots, pull[:, :, None])[:, :, 0]
        if self.kind == "tied":
            return np.hstack([constant, linear, np.ones_like(constant)])
        rows, columns = upper_triangle(self.means.shape[1])
        return np.hstack([constant, linear, _once(self.means.shape[1]) * self.precision[:, rows, columns]])


def _cholesky(covariances: Array) -> Array:
    try:
        return np.asarray(np.linalg.cholesky(covariances))
    except np.linalg.LinAlgError:
        guilty = [k for k, c in enumerate(covariances) if np.linalg.eigvalsh(c)[0] <= 0]
        raise ValueError(ILL_DEFINED + f" (components {guilty})") from None
