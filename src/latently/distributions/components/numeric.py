"""Numeric columns of a mixture over a table: in a component, each is Gaussian by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from latently.distributions import ColumnError, Distribution, NormalInverseWishart
from latently.distributions.components.constraints import Allowed, LimitedBlock
from latently.distributions.components.gaussian.block import GaussianBlock
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.prior import GaussianPrior
from latently.distributions.components.slab import FLOOR, Slab, floored, inside
from latently.distributions.inputs import Array
from latently.distributions.priors.base import PER_STRENGTH
from latently.distributions.statistics import Moments


@dataclass(frozen=True, eq=False)
class ColumnLimits:
    """What the means and variances of columns that are independent may be."""

    mean: Allowed
    variance: Allowed

    def means(self, params: GaussianParams, best: Array, mass: Array) -> Array:
        """The best means at the current variances."""
        return self.mean.keep(best, np.maximum(mass, 0.0) / params.covariances)

    def covariances(self, best: Array, mass: Array) -> Array:
        """The best variances about the means."""
        return self.variance.keep(best, np.broadcast_to(np.maximum(mass, 0.0), best.shape))


@dataclass(frozen=True, eq=False)
class NumericBlock(GaussianBlock, LimitedBlock):
    """Gaussian columns, independent in a component."""

    least: Array | None = None

    RANGES: ClassVar[Mapping[str, tuple[float, float]]] = {
        "mean": (-np.inf, np.inf),
        "variance": (np.finfo(float).tiny, np.inf),
    }

    def _limits_of_moments(self) -> ColumnLimits | None:
        return None if self.limits is None else ColumnLimits(**self.limits)

    def _raised(self, covariances: Array) -> Array:
        return np.maximum(covariances, np.finfo(float).tiny if self.least is None else self.least)

    def constrained(self, theta: GaussianParams) -> GaussianParams:
        """Means and variances that keep to the limits."""
        limits = self._limits_of_moments()
        if limits is None:
            return theta
        even = np.ones_like(theta.means)
        variances = limits.variance.keep(theta.covariances, even)
        return replace(theta, means=limits.mean.keep(theta.means, even), covariances=variances)

    def with_prior(self, pooled: Moments, priors: Sequence[Any]) -> Self:
        """Prior per column; a strength is worth a hundredth of it, in rows with the variance inside clusters."""
        mean, variance = pooled.mean()[0], (np.maximum(pooled.scatter(), 0.0) / pooled.by_column())[0]
        unit = inside(floored(variance, mean), self.spread)
        pairs = zip(self.names, mean, unit, priors, strict=True)
        parts = np.array([_column_prior(name, m, v, given) for name, m, v, given in pairs])
        location, kappa, scatter, power = parts.T
        prior = GaussianPrior(location=location, kappa=kappa, scatter=scatter, power=power)
        return replace(self, prior=prior, least=FLOOR * unit)

    def _parameters(self, given: Distribution, columns: Sequence[int]) -> dict[str, Array]:
        return {"mean": given.mean, "variance": given.variance}

    def n_parameters(self, theta: GaussianParams) -> int:
        """A mean and a variance per component and column."""
        return sum(allowed.n_free() for allowed in self._limits(len(theta.means)).values())

    def gradient(self, theta: GaussianParams, stats: Moments) -> Array:
        """Gradient of log-likelihood and log prior; none along what is fixed."""
        return np.asarray(super().gradient(theta, stats) * self._free())

    def scores(self, theta: GaussianParams, slab: Slab, R: Array) -> Array:
        """Gradients (n, P) of the log density of each row; none along what is fixed."""
        return np.asarray(super().scores(theta, slab, R) * self._free())

    def _free(self) -> Any:
        """(P,) which numbers of the vector are not fixed."""
        if self.limits is None:
            return True
        return np.concatenate([~self.limits[name].fixed.ravel() for name in ("mean", "variance")])


def _column_prior(name: str, mean: float, variance: float, given: Any) -> tuple[float, float, float, float]:
    if isinstance(given, NormalInverseWishart):
        if given.n_dimensions != 1:
            raise ColumnError(name, f"has a prior of {given.n_dimensions} dimensions, but is one column")
        values = (given.location, given.kappa, given.scatter, given.dof + 3)
        location, kappa, scatter, rows = (float(np.ravel(v)[0]) for v in values)
        return location, kappa, scatter, rows
    if isinstance(given, int | float):
        return mean, 0.0, PER_STRENGTH * given * variance, PER_STRENGTH * given
    raise ColumnError(name, f"needs a NormalInverseWishart prior or a strength, not {type(given).__name__}")
