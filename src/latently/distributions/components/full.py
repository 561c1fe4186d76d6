"""A group of numeric columns with a full covariance, in a mixture over a table; entries may be missing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from latently.distributions import ColumnError, Gaussian, NormalInverseWishart
from latently.distributions.components.full_constraints import FullLimits
from latently.distributions.components.gaussian.block import GaussianBlock
from latently.distributions.components.gaussian.frame import Kind
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.prior import GaussianPrior
from latently.distributions.components.slab import floored, inside
from latently.distributions.inputs import Array
from latently.distributions.priors.base import PER_STRENGTH
from latently.distributions.statistics import Moments

THIN = 1e-6
"""Share of the columns' own variance that no direction's variance falls below: thinner ones drown in rounding."""


@dataclass(frozen=True, eq=False)
class FullBlock(GaussianBlock):
    """Columns that are jointly Gaussian in a component."""

    kind: Kind = "full"
    unit: Array | None = None
    limits: FullLimits | None = None

    is_together: ClassVar[bool] = True

    def _limits_of_moments(self) -> FullLimits | None:
        return self.limits

    def _raised(self, covariances: Array) -> Array:
        """Lift directions whose variance has come down to nothing, in units of the columns' own spread."""
        if self.unit is None:
            return covariances
        sd = np.sqrt(self.unit)
        values, vectors = np.linalg.eigh(covariances / sd[:, None] / sd)
        low = values[:, 0] < THIN
        if not low.any():
            return covariances
        lifted = (vectors * np.maximum(values, THIN)[:, None]) @ np.swapaxes(vectors, 1, 2)
        return np.where(low[:, None, None], lifted * sd[:, None] * sd, covariances)

    def constrained(self, theta: GaussianParams) -> GaussianParams:
        """Means and covariances that keep to the limits."""
        return theta if self.limits is None else self.limits.constrained(theta)

    def with_prior(self, pooled: Moments, priors: Sequence[Any]) -> Self:
        """Prior of the group; a strength is worth a hundredth of it, in rows with the variances inside clusters."""
        mean, d, given = pooled.mean()[0], len(self.columns), priors[0]
        unit = inside(floored(np.diagonal(pooled.scatter()[0]) / pooled.weight[0], mean), self.spread)
        if isinstance(given, NormalInverseWishart):
            if given.kind != "full" or given.n_dimensions != d:
                raise ColumnError(self.names[0], f"is in a group of {d} columns: its prior must be full, of as many")
            known = (given.location, given.kappa, given.scatter, np.asarray(given.dof + d + 2.0))
        elif isinstance(given, int | float):
            rows = np.asarray(PER_STRENGTH * given)
            known = (mean, np.zeros(()), rows * np.diag(unit), rows)
        else:
            kind = type(given).__name__
            raise ColumnError(self.names[0], f"needs a NormalInverseWishart prior or a strength, not {kind}")
        return replace(self, prior=GaussianPrior(np.zeros(()), *known), unit=unit)

    @property
    def is_limited(self) -> bool:
        """Whether anything is fixed, bounded or shared."""
        return self.limits is not None

    @property
    def only_fixed(self) -> bool:
        """Whether nothing is bounded or shared; what is fixed of a matrix does not count."""
        return self.limits is None

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
            raise ColumnError(self.names[0], f"is in the group {self.names}: {verb} applies to the whole group")
        limits = self.limits or FullLimits.anything(n_components, len(columns))
        try:
            return replace(self, limits=getattr(limits, verb)(given, self.names[0], *component))
        except ColumnError:
            raise
        except ValueError as problem:
            raise ColumnError(self.names[0], f"cannot be {verb} within its group: {problem}") from None

    def without_constraints(self) -> Self:
        """The same block without limits."""
        return replace(self, limits=None)

    def n_parameters(self, theta: GaussianParams) -> int:
        """Means and the upper triangles of covariances."""
        return super().n_parameters(theta) if self.limits is None else self.limits.n_free()
