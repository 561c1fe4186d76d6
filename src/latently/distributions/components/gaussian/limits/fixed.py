"""Gaussian components of which some means or covariances are known."""

from dataclasses import dataclass, replace

import numpy as np

from latently.distributions.components.gaussian.block import GaussianBlock
from latently.distributions.components.gaussian.frame import unit_frame
from latently.distributions.components.gaussian.limits.bounded import Limits
from latently.distributions.components.gaussian.limits.constraints import Constraints
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.slab import Mask
from latently.distributions.inputs import Array
from latently.distributions.unconstrained import Directions


@dataclass(frozen=True, eq=False)
class FixedGaussianBlock(GaussianBlock):
    """Columns that are Gaussian in a component, with constraints in the data's own units."""

    constraints: Constraints | None = None

    def _limits_of_moments(self) -> Limits | None:
        return None if self.constraints is None else self.constraints.in_frame(unit_frame(len(self.columns)))

    def constrained(self, theta: GaussianParams) -> GaussianParams:
        """Means and covariances that keep to the constraints."""
        limits = self._limits_of_moments()
        return theta if limits is None else replace(limits.project(theta), weights=theta.weights)

    def reseed(self, theta: GaussianParams, k: int, X: Array) -> GaussianParams:
        """Move a component to these rows, as far as it is free."""
        return self.constrained(super().reseed(theta, k, X))

    def n_parameters(self, theta: GaussianParams) -> int:
        """What is learnt and not fixed."""
        return super().n_parameters(theta) - int((self._fixed(theta) & ~super().directions(theta).at_bound).sum())

    def directions(self, theta: GaussianParams) -> Directions:
        """Where the vector is free to move."""
        return super().directions(theta).without(self._fixed(theta))

    def _fixed(self, theta: GaussianParams) -> Mask:
        """Which numbers of the vector are fixed."""
        limits = self._limits_of_moments()
        if limits is None:
            return np.zeros(len(super().directions(theta).unit), dtype=bool)
        known, d = ~np.isnan(limits.known), len(self.columns)
        if theta.is_matrix:  # as a whole: every number of its Cholesky factor
            known = np.repeat(known.reshape(-1, d, d)[:, 0, 0], d * (d + 1) // 2)
        return np.concatenate([limits.mean_box.fixed.ravel(), known.ravel()])
