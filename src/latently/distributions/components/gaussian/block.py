"""Gaussian components of some columns of a table: of any kind of covariance, with missing entries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from latently.distributions import ColumnError, Distribution, Gaussian
from latently.distributions.components.base import Block
from latently.distributions.components.gaussian import gradient, rows
from latently.distributions.components.gaussian.collapse import lost_nats
from latently.distributions.components.gaussian.frame import Kind
from latently.distributions.components.gaussian.params import LOG_2PI, GaussianParams
from latently.distributions.components.gaussian.prior import GaussianPrior
from latently.distributions.components.gaussian.update import MomentLimits, best
from latently.distributions.components.slab import FEW, Ints, Slab, floored
from latently.distributions.floor import TOUCHING, Floor
from latently.distributions.inputs import Array
from latently.distributions.statistics import Moments
from latently.distributions.unconstrained import Directions, Reader

_NO_PRIOR = GaussianPrior()


@dataclass(frozen=True, eq=False)
class GaussianBlock(Block):
    """Columns that are Gaussian in a component.

    Parameters
    ----------
    kind
        Of covariance.
    prior
        Of means and covariances, in the data's own units.
    spread
        (m,) standard deviations inside clusters, which default priors are about.
    floor
        What covariances stay above; None for no floor.
    learn
        "m" for the means, "c" for the covariances.
    """

    kind: Kind = "diag"
    prior: GaussianPrior | None = None
    spread: Array | None = None
    floor: Floor | None = None
    learn: str = "mc"

    is_squared: ClassVar[bool] = True
    FAMILIES: ClassVar[tuple[str, ...]] = ("Gaussian",)

    # learning

    def first(self, X: Array, k: int) -> GaussianParams:
        """All components at the mean of the rows, with the variances of the columns."""
        values = X[:, self.places]
        seen = ~np.isnan(values)
        counts = np.maximum(seen.sum(axis=0), 1)
        centre = np.where(seen, values, 0.0).sum(axis=0) / counts
        variance = floored((np.where(seen, values - centre, 0.0) ** 2).sum(axis=0) / counts, centre)
        unit = {
            "full": np.tile(np.diag(variance), (k, 1, 1)),
            "tied": np.diag(variance),
            "diag": np.tile(variance, (k, 1)),
        }
        covariances = unit.get(self.kind, np.full(k, variance.mean()))
        return GaussianParams.in_own_units(self.kind, np.tile(centre, (k, 1)), covariances)

    def log_density(self, theta: GaussianParams, slab: Slab, out: Array) -> None:
        """Add log densities of the observed part."""
        rows.add_log_densities(theta, slab, self.places, out)

    def expect(self, theta: GaussianParams, slab: Slab, R: Array) -> Moments:
        """Moments about the means."""
        return rows.moments(theta, slab, self.places, R)

    def update(self, theta: GaussianParams, stats: Moments) -> GaussianParams:
        """Means and covariances of the moments, drawn to the prior."""
        return self.update_within(theta, stats, self._limits_of_moments())

    def update_within(self, theta: GaussianParams, stats: Moments, limits: MomentLimits | None) -> GaussianParams:
        """The same inside limits of the means and covariances."""
        few = FEW * float(stats.weight.max())
        found = best(theta, stats, self._prior(), limits, learn=self.learn, few=few, raised=self._raised)
        return replace(theta, means=found[0], covariances=found[1])

    def _prior(self) -> GaussianPrior:
        return self.prior or _NO_PRIOR

    def _limits_of_moments(self) -> MomentLimits | None:
        """What means and covariances may be; None for anything."""
        return None

    def _raised(self, covariances: Array) -> Array:
        """Covariances that are not below the floor."""
        if self.floor is None:
            return covariances
        if self.kind in ("full", "tied"):
            even = (covariances + np.swapaxes(covariances, -1, -2)) / 2
            if self.floor.is_clear(even):
                return np.asarray(even)
            found = [self.floor.constrained(c) for c in even.reshape(-1, *even.shape[-2:])]
            return np.array(found).reshape(covariances.shape)
        return self.floor.raised(covariances) if self.kind == "diag" else self.floor.raised_together(covariances)

    def collapsed(self, theta: GaussianParams) -> list[int]:
        """Components that stand on the floor, where the table itself does not."""
        floor = self.floor
        if floor is None or "c" not in self.learn:
            return []
        if theta.is_matrix:
            matrices = theta.covariances.reshape(-1, *theta.covariances.shape[-2:])
            low = [not floor.is_clear(c) and floor.n_touching(c) > floor.n_flat for c in matrices]
            return np.flatnonzero(np.broadcast_to(low, len(theta.means))).tolist()
        if (theta.variances > TOUCHING * floor.most).all():
            return []
        least = floor.least if self.kind == "diag" else floor.least.min()
        return np.flatnonzero((floor.varies & (theta.variances <= TOUCHING * least)).any(axis=1)).tolist()

    def reseed(self, theta: GaussianParams, k: int, X: Array) -> GaussianParams:
        """Move the mean of a component to that of these rows, with the spread that the components have together."""
        values = X[:, self.places]
        counts = (~np.isnan(values)).sum(axis=0)
        means = theta.means.copy()
        means[k] = np.where(counts > 0, np.nansum(values, axis=0) / np.maximum(counts, 1), means[k])
        if theta.kind == "tied":
            return replace(theta, means=means)
        covariances = theta.covariances.copy()
        covariances[k] = theta.covariances.mean(axis=0)
        return replace(theta, means=means, covariances=covariances)

    def without_prior(self) -> Self:
        """The same block under a flat prior."""
        return replace(self, prior=None)

    def log_prior(self, theta: GaussianParams) -> float:
        """Normal and inverse Wishart, or inverse Gamma."""
        return self._prior().log_density(theta)

    def with_spread(self, spread: Array | None) -> Self:
        """Default priors about these standard deviations."""
        return replace(self, spread=spread)

    def rounding(self, theta: GaussianParams) -> float:
        """Nats per row that rounding of the moments may cost; at a floor, which is no maximum, in the first order."""
        lost = lost_nats(theta)
        return lost if self.floor is None else float(np.sqrt(lost))

    def n_parameters(self, theta: GaussianParams) -> int:
        """Means, and variances or triangles of covariances, as far as they are learnt."""
        d = theta.means.shape[1]
        each = d * (d + 1) // 2 if theta.is_matrix else 1
        entries = theta.covariances.size // d**2 if theta.is_matrix else theta.covariances.size
        return ("m" in self.learn) * theta.means.size + ("c" in self.learn) * entries * each

    def observed(self, stats: Moments) -> Array:
        """Weight of the observed entries; that of rows with something observed, where columns stand together."""
        return np.broadcast_to(stats.by_column().sum(axis=0), (len(self.columns),))

    def squares(self, stats: Moments) -> tuple[Array, Array, Array]:
        """Squares about the centres and about the means."""
        alive = np.where(stats.by_column() > FEW, stats.by_column(), 0.0) * np.ones(len(self.columns))
        before, left = stats.second, stats.scatter() + self._prior().scatter
        if stats.shape_of_second() == "full":
            before, left = (np.diagonal(part, axis1=-2, axis2=-1) for part in (before, left))
        return before, left, alive

    def cross(self, theta: GaussianParams, stats: Moments) -> Array:
        """Expected log densities."""
        out = []
        for mean, matrix, variance in zip(theta.means, theta.matrices, theta.variances, strict=True):
            moved = stats.about(np.broadcast_to(mean, stats.centre.shape))
            if theta.is_matrix:
                level = np.linalg.slogdet(matrix)[1] + len(mean) * LOG_2PI
                spread = np.einsum("ij,kji->k", np.linalg.inv(matrix), moved.second)
                out.append(-0.5 * (stats.weight * level + spread))
            else:
                terms = stats.by_column() * (LOG_2PI + np.log(variance)) + moved.second / variance
                out.append(-0.5 * terms.sum(axis=1))
        return np.array(out)

    # parameters without constraints

    def pack(self, theta: GaussianParams) -> Array:
        """Means, and logarithms of variances or Cholesky factors, as one vector."""
        return gradient.pack(theta)

    def unpack(self, theta: GaussianParams, reader: Reader) -> GaussianParams:
        """Parameters from such a vector, in the shape of these."""
        found: GaussianParams = self.constrained(gradient.unpack(theta, reader))
        return found

    def gradient(self, theta: GaussianParams, stats: Moments) -> Array:
        """Gradient of log-likelihood and log prior in the vector."""
        return gradient.packed_gradient(theta, stats, self._prior())

    def scores(self, theta: GaussianParams, slab: Slab, R: Array) -> Array:
        """Gradients (n, P) of the log density of each row in the vector."""
        return gradient.packed_scores(theta, slab.take(self.places), R)

    def directions(self, theta: GaussianParams) -> Directions:
        """Where the vector is free to move."""
        return gradient.directions(theta, self.learn)

    # talking to distributions

    def distributions(self, theta: GaussianParams, k: int) -> list[tuple[Distribution, tuple[int, ...]]]:
        """One Gaussian."""
        if theta.is_matrix:
            return [(Gaussian(theta.means[k], theta.matrices[k]), self.columns)]
        return [(Gaussian(theta.means[k], theta.variances[k], "diag"), self.columns)]

    def from_distributions(self, given: Sequence[Distribution]) -> GaussianParams:
        """Means and variances of any distributions; covariances of Gaussians."""
        parts: list[Any] = [d.marginal(self.columns) if d.n_columns != len(self.columns) else d for d in given]
        means = np.array([p.mean for p in parts])
        if self.kind == "diag":
            return GaussianParams.in_own_units("diag", means, np.array([p.variance for p in parts]))
        if not all(isinstance(part, Gaussian) for part in parts):
            raise ColumnError(self.names[0], f"is in the group {self.names}, which needs a Gaussian")
        return GaussianParams.in_own_units("full", means, np.array([p.covariance_matrix for p in parts]))

    # answers

    def sample(self, theta: GaussianParams, labels: Ints, rng: Any) -> Array:
        """Draw rows."""
        return rows.sample(theta, labels, rng)

    def fill(self, theta: GaussianParams, slab: Slab, R: Array) -> Array:
        """Conditional means, averaged over the components."""
        if not theta.is_matrix:
            return np.asarray(R.T @ theta.means)
        return np.asarray(np.einsum("kn,knd->nd", R, rows.conditional(theta, slab, self.places)[0]))

    def interval(self, theta: GaussianParams, slab: Slab, R: Array, level: float) -> tuple[Array, Array]:
        """Quantiles of mixtures of conditional Gaussians."""
        return rows.normal_interval(*rows.conditional(theta, slab, self.places), slab.take(self.places), R, level)

    def draw(self, theta: GaussianParams, slab: Slab, labels: Ints, rng: Any) -> Array:
        """Draw missing entries given the observed ones."""
        return rows.draw(theta, slab, self.places, labels, rng)
