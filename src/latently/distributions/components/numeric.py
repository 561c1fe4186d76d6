"""Numeric columns of a mixture over a table: in a component, each is Gaussian by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import special

from latently import compiled
from latently.distributions import ColumnError, Distribution, Gaussian, NormalInverseWishart
from latently.distributions.components.base import (
    FEW,
    FLOOR,
    Ints,
    PerComponent,
    Slab,
    floored,
    inside,
    mixture_quantile,
)
from latently.distributions.components.constraints import LimitedBlock
from latently.distributions.inputs import Array

LOG_2PI = float(np.log(2 * np.pi))

SHY = 0.01
"""Weight of the default prior of a variance, in rows per row of strength: the spread inside clusters is measured before
they are known, and may be wider than that of a component."""


@dataclass(frozen=True, eq=False)
class Normals(PerComponent):
    """Means and variances, (K, m)."""

    means: Array
    variances: Array


@dataclass(frozen=True, eq=False)
class NormalSums(PerComponent):
    """Observed weight, and moments about a centre, of each component and column: (K, m)."""

    weight: Array
    centre: Array
    first: Array
    second: Array

    def about(self, centre: Array) -> "NormalSums":
        """The same moments about other points."""
        step = self.centre - centre
        first = self.first + self.weight * step
        return NormalSums(self.weight, centre, first, self.second + step * (self.first + first))

    def _combine(self, other: "NormalSums", sign: int) -> "NormalSums":
        theirs = other if other.centre is self.centre else other.about(self.centre)
        return NormalSums(
            self.weight + sign * theirs.weight,
            self.centre,
            self.first + sign * theirs.first,
            self.second + sign * theirs.second,
        )


@dataclass(frozen=True, eq=False)
class NormalPrior:
    """Per column (m,): where the mean is expected, with what weight; scatter and rows of the variance.

    The log density is -(rows log v + (scatter + pull (mean - location)^2) / v) / 2.
    """

    location: Array
    pull: Array
    scatter: Array
    rows: Array


@dataclass(frozen=True, eq=False)
class NumericBlock(LimitedBlock):
    """Gaussian columns, independent in a component."""

    prior: NormalPrior | None = None
    least: Array | None = None
    spread: Array | None = None  # (m,) standard deviations inside clusters

    is_squared: ClassVar[bool] = True
    FREE: ClassVar[bool] = True
    ROOM: ClassVar[Mapping[str, tuple[float, float]]] = {
        "mean": (-np.inf, np.inf),
        "variance": (np.finfo(float).tiny, np.inf),
    }

    # learning

    def first(self, X: Array, k: int) -> Normals:
        """All components at the mean of the rows."""
        seen = ~np.isnan(X[:, self.places])
        values = np.where(seen, X[:, self.places], 0.0)
        centre = values.sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
        return Normals(np.tile(centre, (k, 1)), np.ones((k, len(self.columns))))

    def log_density(self, theta: Normals, slab: Slab, out: Array) -> None:
        """Add the log densities."""
        peaks = -0.5 * (LOG_2PI + np.log(theta.variances))
        roots = 1 / np.sqrt(theta.variances)
        compiled.components.columns.numeric_density(slab.X, self.places, theta.means, roots, peaks, out)

    def expect(self, theta: Normals, slab: Slab, R: Array) -> NormalSums:
        """Moments about the means."""
        weight, first, second = (np.zeros(theta.means.shape) for _ in range(3))
        compiled.components.columns.numeric_moments(slab.X, self.places, theta.means, R, weight, first, second)
        return NormalSums(weight, theta.means, first, second)

    def update(self, theta: Normals, stats: NormalSums) -> Normals:
        """Means and variances of the moments, drawn to the prior."""
        p = self._prior(theta.means.shape[1])
        mass = stats.weight + p.pull
        step = stats.first + p.pull * (p.location - stats.centre)
        step = np.divide(step, mass, out=theta.means - stats.centre, where=mass > FEW)
        means = stats.centre + step
        if self.limits is not None:  # the best means at the current variances, then the best variances about those
            means = self.limits["mean"].keep(means, np.maximum(mass, 0.0) / theta.variances)
            step = means - stats.centre
        scatter = stats.second - step * (2 * stats.first - step * stats.weight)
        scatter = np.maximum(scatter, 0.0) + p.scatter + p.pull * (means - p.location) ** 2
        rows = stats.weight + p.rows
        variances = np.divide(scatter, rows, out=theta.variances.copy(), where=rows > FEW)
        variances = np.maximum(variances, self._least(means.shape[1]))
        if self.limits is not None:
            variances = self.limits["variance"].keep(variances, np.maximum(rows, 0.0))
        return Normals(means, variances)

    def _prior(self, m: int) -> NormalPrior:
        return self.prior or NormalPrior(*np.zeros((4, m)))

    def _least(self, m: int) -> Array:
        return np.full(m, np.finfo(float).tiny) if self.least is None else self.least

    def constrained(self, theta: Normals) -> Normals:
        """Means and variances that keep to the limits."""
        if self.limits is None:
            return theta
        even = np.ones_like(theta.means)
        return Normals(self.limits["mean"].keep(theta.means, even), self.limits["variance"].keep(theta.variances, even))

    def log_prior(self, theta: Normals) -> float:
        """Normal and inverse Gamma."""
        p = self._prior(theta.means.shape[1])
        spread = (p.scatter + p.pull * (theta.means - p.location) ** 2) / theta.variances
        return float(-0.5 * np.sum(p.rows * np.log(theta.variances) + spread))

    def with_prior(self, pooled: NormalSums, priors: Sequence[Any]) -> Self:
        """Prior per column; a strength is worth a hundredth of it, in rows with the variance inside clusters."""
        mean = (pooled.centre + pooled.first / pooled.weight)[0]
        variance = np.maximum(pooled.second / pooled.weight - (pooled.first / pooled.weight) ** 2, 0.0)[0]
        unit = inside(floored(variance, mean), self.spread)
        pairs = zip(self.names, mean, unit, priors, strict=True)
        parts = np.array([_column_prior(name, m, v, given) for name, m, v, given in pairs])
        return replace(self, prior=NormalPrior(*parts.T), least=FLOOR * unit)

    def with_spread(self, spread: Array | None) -> Self:
        """Default priors about these standard deviations."""
        return replace(self, spread=spread)

    def _parameters(self, given: Distribution, columns: Sequence[int]) -> dict[str, Array]:
        return {"mean": given.mean, "variance": given.variance}

    def n_parameters(self, theta: Normals) -> int:
        """A mean and a variance per component and column."""
        return sum(allowed.n_free() for allowed in self._limits(len(theta.means)).values())

    def observed(self, stats: NormalSums) -> Array:
        """Weight of the observed entries."""
        return stats.weight.sum(axis=0)

    def squares(self, stats: NormalSums) -> tuple[Array, Array, Array]:
        """Squares about the centres and about the means."""
        alive = np.where(stats.weight > FEW, stats.weight, 0.0)
        offset = np.divide(stats.first, alive, out=np.zeros_like(stats.first), where=alive > 0)
        prior = self._prior(len(self.columns)).scatter
        return stats.second, stats.second - offset * stats.first + prior, alive

    def cross(self, theta: Normals, stats: NormalSums) -> Array:
        """Expected log densities."""
        rows = []
        for mean, variance in zip(theta.means, theta.variances, strict=True):
            moved = stats.about(np.broadcast_to(mean, stats.centre.shape))
            terms = stats.weight * (LOG_2PI + np.log(variance)) + moved.second / variance
            rows.append(-0.5 * terms.sum(axis=1))
        return np.array(rows)

    # free numbers

    def to_free(self, theta: Normals) -> Array:
        """Means, and logarithms of variances, as one vector."""
        return np.concatenate([theta.means.ravel(), np.log(theta.variances).ravel()])

    def from_free(self, theta: Normals, free: Array) -> Normals:
        """Parameters from such a vector, in the shape of these."""
        means, logs = free.reshape(2, *theta.means.shape)
        # a trial step of the search may lie anywhere
        return self.constrained(Normals(means, np.exp(np.clip(logs, -600.0, 600.0))))

    def gradient(self, theta: Normals, stats: NormalSums) -> Array:
        """Gradient of log-likelihood and log prior along the free numbers; statistics are about the means."""
        p, v = self._prior(theta.means.shape[1]), theta.variances
        pull = p.pull * (theta.means - p.location)
        by_mean = (stats.first - pull) / v
        spread = (stats.second + p.scatter + pull * (theta.means - p.location)) / v
        by_log = 0.5 * (spread - stats.weight - p.rows)
        if self.limits is not None:
            by_mean, by_log = by_mean * ~self.limits["mean"].fixed, by_log * ~self.limits["variance"].fixed
        return np.concatenate([by_mean.ravel(), by_log.ravel()])

    def information(self, theta: Normals, stats: NormalSums) -> Array:
        """Curvature along each free number."""
        # a mean moves by its component's own spread, so that the unit of the column does not matter
        rows = np.maximum(stats.weight, 1.0)
        return np.concatenate([(rows / theta.variances).ravel(), (rows / 2).ravel()])

    # talking to distributions

    def distributions(self, theta: Normals, k: int) -> list[tuple[Distribution, tuple[int, ...]]]:
        """One diagonal Gaussian."""
        return [(Gaussian(theta.means[k], theta.variances[k], "diag"), self.columns)]

    def from_distributions(self, given: Sequence[Distribution]) -> Normals:
        """Means and variances of any distributions."""
        parts = [d.marginal(self.columns) for d in given]
        return Normals(np.array([p.mean for p in parts]), np.array([p.variance for p in parts]))

    # answers

    def sample(self, theta: Normals, labels: Ints, rng: np.random.Generator) -> Array:
        """Draw rows."""
        noise = rng.standard_normal((len(labels), len(self.columns)))
        return theta.means[labels] + noise * np.sqrt(theta.variances[labels])

    def fill(self, theta: Normals, slab: Slab, R: Array) -> Array:
        """Means, averaged over the components."""
        return R.T @ theta.means

    def interval(self, theta: Normals, slab: Slab, R: Array, level: float) -> tuple[Array, Array]:
        """Quantiles of mixtures of Gaussians."""
        shape = (len(theta.means), len(slab.X), len(self.columns))
        means = np.broadcast_to(theta.means[:, None], shape)
        return normal_interval(
            means, np.broadcast_to(theta.variances[:, None], shape), slab.X[:, self.places], R, level
        )


def _column_prior(name: str, mean: float, variance: float, given: Any) -> tuple[float, float, float, float]:
    if isinstance(given, NormalInverseWishart):
        if given.n_dimensions != 1:
            raise ColumnError(name, f"has a prior of {given.n_dimensions} dimensions, but is one column")
        values = (given.location, given.kappa, given.scatter, given.dof + 3)
        location, kappa, scatter, rows = (float(np.ravel(v)[0]) for v in values)
        return location, kappa, scatter, rows
    if isinstance(given, int | float):
        return mean, 0.0, SHY * given * variance, SHY * given
    raise ColumnError(name, f"needs a NormalInverseWishart prior or a strength, not {type(given).__name__}")


def normal_interval(means: Array, variances: Array, X: Array, R: Array, level: float) -> tuple[Array, Array]:
    """Ends (n, m) of intervals of mixtures of Gaussians (K, n, m) with weights R (K, n), where X is missing."""
    low, high = np.zeros(X.shape), np.zeros(X.shape)
    rows, columns = np.nonzero(np.isnan(X))
    mean, sd, share = means[:, rows, columns], np.sqrt(variances[:, rows, columns]), R[:, rows]

    def cdf(x: Array) -> Array:
        return np.einsum("kn,kn->n", share, special.ndtr((x - mean) / sd))

    for out, q in ((low, (1 - level) / 2), (high, (1 + level) / 2)):
        ends = mean + sd * special.ndtri(q)
        out[rows, columns] = mixture_quantile(cdf, ends.min(axis=0), ends.max(axis=0), q, False)
    return low, high
