"""A group of numeric columns with a full covariance, in a mixture over a table; entries may be missing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from latently.distributions import ColumnError, Distribution, Gaussian, NormalInverseWishart
from latently.distributions.components.base import FEW, Block, Ints, PerComponent, Slab, floored, inside
from latently.distributions.components.full_constraints import FullLimits, FullNormals, as_gaussians
from latently.distributions.components.gaussian.conditional import (
    IncompleteRows,
    coloured,
    describe_incomplete,
    expect_incomplete,
    incomplete_rows,
    joint_incomplete,
)
from latently.distributions.components.gaussian.params import Frame
from latently.distributions.components.numeric import LOG_2PI, SHY, normal_interval
from latently.distributions.inputs import Array

THIN = 1e-6
"""Share of the columns' own variance that no direction's variance falls below: thinner ones drown in rounding."""


@dataclass(frozen=True, eq=False)
class FullSums(PerComponent):
    """Weights (K,) of rows with something observed, and expected moments about a centre (K, d)."""

    weight: Array
    centre: Array
    first: Array
    second: Array

    def about(self, centre: Array) -> "FullSums":
        """The same moments about other points."""
        step = self.centre - centre
        first = self.first + self.weight[:, None] * step
        cross = self.first[:, :, None] * step[:, None] + step[:, :, None] * first[:, None]
        return FullSums(self.weight, centre, first, self.second + cross)

    def _combine(self, other: "FullSums", sign: int) -> "FullSums":
        theirs = other if other.centre is self.centre else other.about(self.centre)
        return FullSums(
            self.weight + sign * theirs.weight,
            self.centre,
            self.first + sign * theirs.first,
            self.second + sign * theirs.second,
        )


@dataclass(frozen=True, eq=False)
class FullPrior:
    """Location (d,) of the means with its weight, scatter (d, d) of the covariances with its rows."""

    location: Array
    pull: float
    scatter: Array
    rows: float


@dataclass(frozen=True, eq=False)
class FullBlock(Block):
    """Columns that are jointly Gaussian in a component."""

    prior: FullPrior | None = None
    unit: Array | None = None
    spread: Array | None = None  # (d,) standard deviations inside clusters
    limits: FullLimits | None = None

    is_squared: ClassVar[bool] = True

    # learning

    def first(self, X: Array, k: int) -> FullNormals:
        """All components at the mean of the rows, with the variances of the columns."""
        values = X[:, self.places]
        seen = ~np.isnan(values)
        counts = np.maximum(seen.sum(axis=0), 1)
        centre = np.where(seen, values, 0.0).sum(axis=0) / counts
        variance = (np.where(seen, values - centre, 0.0) ** 2).sum(axis=0) / counts
        unit = np.diag(floored(variance, centre))
        return FullNormals(np.tile(centre, (k, 1)), np.tile(unit, (k, 1, 1)))

    def log_density(self, theta: FullNormals, slab: Slab, out: Array) -> None:
        """Add log densities of the observed part."""
        out += joint_incomplete(as_gaussians(theta), self._rows(slab)).T

    def expect(self, theta: FullNormals, slab: Slab, R: Array) -> FullSums:
        """Moments about the means, missing entries at their conditional expectation."""
        rows = self._rows(slab)
        if rows.counts[-1] == 0:  # of a row with nothing observed there is nothing to learn
            R = R * (~rows.absent.all(axis=1))[np.argsort(rows.order)]
        _, weight, centre, first, second = expect_incomplete(as_gaussians(theta), rows, R)
        return FullSums(weight, centre, first, second)

    def _rows(self, slab: Slab) -> IncompleteRows:
        d = len(self.columns)
        unit = Frame(np.zeros(d), np.ones(d))  # each component is centred at its own mean anyway
        return slab.kept(("holed", *self.columns), lambda: incomplete_rows(slab.take(self.places), unit))

    def update(self, theta: FullNormals, stats: FullSums) -> FullNormals:
        """Means and covariances of the moments, drawn to the prior."""
        d = theta.means.shape[1]
        p = self.prior or FullPrior(np.zeros(d), 0.0, np.zeros((d, d)), 0.0)
        mass = stats.weight + p.pull
        step = stats.first + p.pull * (p.location - stats.centre)
        alive = (mass > FEW)[:, None]
        step = np.divide(step, mass[:, None], out=theta.means - stats.centre, where=alive)
        means = stats.centre + step
        if self.limits is not None:  # the best means at the current covariances, then the best covariances about those
            means = self.limits.means(theta, means, np.maximum(mass, 0.0))
        about, off = stats.about(means), means - p.location
        scatter = about.second + p.scatter + p.pull * off[:, :, None] * off[:, None]
        rows = (stats.weight + p.rows)[:, None, None]
        covariances = self._raised(np.divide(scatter, rows, out=theta.covariances.copy(), where=rows > FEW))
        if self.limits is not None:
            covariances = self.limits.covariances(covariances, np.maximum(rows, 0.0))
        return FullNormals(means, covariances)

    def _raised(self, covariances: Array) -> Array:
        """Lift directions whose variance has come down to nothing, in units of the columns' own spread."""
        even = (covariances + np.swapaxes(covariances, 1, 2)) / 2
        if self.unit is None:
            return even
        sd = np.sqrt(self.unit)
        values, vectors = np.linalg.eigh(even / sd[:, None] / sd)
        low = values[:, 0] < THIN
        if low.any():
            lifted = (vectors * np.maximum(values, THIN)[:, None]) @ np.swapaxes(vectors, 1, 2)
            even = np.where(low[:, None, None], lifted * sd[:, None] * sd, even)
        return even

    def constrained(self, theta: FullNormals) -> FullNormals:
        """Means and covariances that keep to the limits."""
        return theta if self.limits is None else self.limits.constrained(theta)

    def log_prior(self, theta: FullNormals) -> float:
        """Normal and inverse Wishart."""
        p = self.prior
        if p is None:
            return 0.0
        off = theta.means - p.location
        inverse = np.linalg.inv(theta.covariances)
        spread = np.einsum("kij,ji->k", inverse, p.scatter) + p.pull * np.einsum("ki,kij,kj->k", off, inverse, off)
        return float(-0.5 * np.sum(p.rows * np.linalg.slogdet(theta.covariances)[1] + spread))

    def with_prior(self, pooled: FullSums, priors: Sequence[Any]) -> Self:
        """Prior of the group; a strength is worth a hundredth of it, in rows with the variances inside clusters."""
        offset = (pooled.first / pooled.weight[:, None])[0]
        mean = pooled.centre[0] + offset
        variance = np.diagonal(pooled.second[0]) / pooled.weight[0] - offset**2
        unit, given = inside(floored(variance, mean), self.spread), priors[0]
        if isinstance(given, NormalInverseWishart):
            d = len(mean)
            if given.kind != "full" or given.n_dimensions != d:
                raise ColumnError(self.names[0], f"is in a group of {d} columns: its prior must be full, of as many")
            prior = FullPrior(given.location, float(given.kappa), given.scatter, float(given.dof) + d + 2)
        elif isinstance(given, int | float):
            prior = FullPrior(mean, 0.0, SHY * given * np.diag(unit), SHY * given)
        else:
            kind = type(given).__name__
            raise ColumnError(self.names[0], f"needs a NormalInverseWishart prior or a strength, not {kind}")
        return replace(self, prior=prior, unit=unit)

    def with_spread(self, spread: Array | None) -> Self:
        """Default priors about these standard deviations."""
        return replace(self, spread=spread)

    @property
    def is_limited(self) -> bool:
        """Whether anything is fixed, bounded or shared."""
        return self.limits is not None

    def with_fixed(self, n_components: int, k: int, columns: Sequence[int], given: Any) -> Self:
        """Fix mean, covariance or both of the whole group in component k."""
        if isinstance(given, Gaussian):
            given = {"mean": given.mean, "covariance": given.covariance_matrix}
        return self._limited(n_components, columns, "fixed", given, k)

    def with_bounds(self, n_components: int, columns: Sequence[int], given: Any) -> Self:
        """Bounds of the means, and of the variances along the main axes."""
        return self._limited(n_components, columns, "bounds", given)

    def with_tied(self, n_components: int, columns: Sequence[int], given: Any) -> Self:
        """Means or covariances that groups of components share."""
        return self._limited(n_components, columns, "tied", given)

    def _limited(self, n_components: int, columns: Sequence[int], verb: str, given: Any, *component: int) -> Self:
        if tuple(columns) != self.columns:
            raise ColumnError(self.names[0], f"is in the group {self.names}: {verb} speaks of all of it")
        limits = self.limits or FullLimits.anything(n_components, len(columns))
        try:
            return replace(self, limits=getattr(limits, verb)(given, self.names[0], *component))
        except ColumnError:
            raise
        except ValueError as problem:
            raise ColumnError(self.names[0], f"is in a group that cannot be {verb} so: {problem}") from None

    def without_constraints(self) -> Self:
        """The same block without limits."""
        return replace(self, limits=None)

    def n_parameters(self, theta: FullNormals) -> int:
        """Means and the upper triangles of covariances."""
        K, d = theta.means.shape
        return (self.limits or FullLimits.anything(K, d)).n_free()

    def observed(self, stats: FullSums) -> Array:
        """Weight of rows with something observed, for each column alike."""
        return np.full(len(self.columns), stats.weight.sum())

    def squares(self, stats: FullSums) -> tuple[Array, Array, Array]:
        """Squares about the centres and about the means."""
        alive = np.where(stats.weight > FEW, stats.weight, 0.0)[:, None] * np.ones(len(self.columns))
        offset = np.divide(stats.first, alive, out=np.zeros_like(stats.first), where=alive > 0)
        second = np.diagonal(stats.second, axis1=1, axis2=2)
        prior = 0.0 if self.prior is None else np.diagonal(self.prior.scatter)
        return second, second - offset * stats.first + prior, alive

    def cross(self, theta: FullNormals, stats: FullSums) -> Array:
        """Expected log densities."""
        rows = []
        for mean, covariance in zip(theta.means, theta.covariances, strict=True):
            moved = stats.about(np.broadcast_to(mean, stats.centre.shape))
            level = np.linalg.slogdet(covariance)[1] + len(mean) * LOG_2PI
            spread = np.einsum("ij,kji->k", np.linalg.inv(covariance), moved.second)
            rows.append(-0.5 * (stats.weight * level + spread))
        return np.array(rows)

    # talking to distributions

    def distributions(self, theta: FullNormals, k: int) -> list[tuple[Distribution, tuple[int, ...]]]:
        """One Gaussian."""
        return [(Gaussian(theta.means[k], theta.covariances[k]), self.columns)]

    def from_distributions(self, given: Sequence[Distribution]) -> FullNormals:
        """Means and covariances of Gaussians."""
        parts = [d.marginal(self.columns) for d in given]
        if not all(isinstance(part, Gaussian) for part in parts):
            raise ColumnError(self.names[0], f"is in the group {self.names}, which needs a Gaussian")
        return FullNormals(np.array([p.mean for p in parts]), np.array([p.covariance_matrix for p in parts]))

    # answers

    def sample(self, theta: FullNormals, labels: Ints, rng: np.random.Generator) -> Array:
        """Draw rows."""
        noise = rng.standard_normal((len(labels), len(self.columns)))
        roots = np.linalg.cholesky(theta.covariances)
        return theta.means[labels] + np.einsum("nij,nj->ni", roots[labels], noise)

    def _conditional(self, theta: FullNormals, slab: Slab) -> tuple[Array, Array]:
        """Means and variances (K, n, d) of every entry given the observed ones of its row."""
        rows = self._rows(slab)
        back = np.argsort(rows.order)
        _, completed, spread = describe_incomplete(as_gaussians(theta), rows)
        return completed[:, back], spread[:, back]

    def fill(self, theta: FullNormals, slab: Slab, R: Array) -> Array:
        """Conditional means, averaged over the components."""
        return np.einsum("kn,knd->nd", R, self._conditional(theta, slab)[0])

    def interval(self, theta: FullNormals, slab: Slab, R: Array, level: float) -> tuple[Array, Array]:
        """Quantiles of mixtures of conditional Gaussians."""
        return normal_interval(*self._conditional(theta, slab), slab.X[:, self.places], R, level)

    def draw(self, theta: FullNormals, slab: Slab, labels: Ints, rng: np.random.Generator) -> Array:
        """Draw missing entries given the observed ones."""
        rows, params = self._rows(slab), as_gaussians(theta)
        own = labels[rows.order]
        noise = coloured(params, rows, own, rng.standard_normal(rows.Z.shape))
        out = np.empty_like(noise)
        out[rows.order] = describe_incomplete(params, rows)[1][own, np.arange(len(own))] + noise
        return out
