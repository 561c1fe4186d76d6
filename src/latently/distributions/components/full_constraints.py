"""What the means and covariances of a group of columns may be: fixed, bounded, or shared by several components."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from latently.distributions.components.constraints import Allowed, check_names
from latently.distributions.components.gaussian.frame import unit_frame
from latently.distributions.components.gaussian.limits.bounded import Box, Groups, Limits
from latently.distributions.components.gaussian.limits.constraints import (
    check_matrix,
    read_bounds,
    read_groups,
    shared_known,
)
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.slab import Ints
from latently.distributions.inputs import Array


@dataclass(frozen=True, eq=False)
class FullLimits:
    """Bounds of the means; covariances that are known (K, d, d), NaN where learnt; the groups that share one.

    `axes` is the room for the variances (K, 1) along the main axes of each covariance.
    """

    of_means: Allowed
    known: Array
    groups: Ints
    axes: Allowed

    @classmethod
    def anything(cls, k: int, d: int) -> Self:
        """No limits."""
        wide = Allowed.anything(k, d, -np.inf, np.inf)
        return cls(wide, np.full((k, d, d), np.nan), np.arange(k), Allowed.anything(k, 1, 0.0, np.inf))

    # what a user says

    def fixed(self, given: Any, column: str, component: int) -> Self:
        """A mean or a covariance of one component that stays."""
        numbers = check_names(given, ("mean", "covariance"), column, "fixed")
        out, d = self, self.known.shape[1]
        if "mean" in numbers:
            box = read_bounds((numbers["mean"], numbers["mean"]), "the mean", (1, d), (-np.inf, np.inf))
            out = replace(out, of_means=self.of_means.narrowed([component], np.arange(d), *box))
        if "covariance" in numbers:
            known = self.known.copy()
            known[component] = np.broadcast_to(np.asarray(numbers["covariance"], dtype=float), (d, d))
            out = replace(out, known=known)
        return out.checked()

    def bounds(self, given: Any, column: str) -> Self:
        """Bounds of all means and of variances along the main axes."""
        pairs = check_names(given, ("mean", "variance"), column, "bounds")
        k, d = self.known.shape[:2]
        means = read_bounds(pairs.get("mean"), "the mean", (k, d), (-np.inf, np.inf))
        axes = (edge[:, None] for edge in read_bounds(pairs.get("variance"), "the variance", (k,), (0.0, np.inf)))
        return replace(
            self,
            of_means=self.of_means.narrowed(range(k), np.arange(d), *means),
            axes=self.axes.narrowed(range(k), np.array([0]), *axes),
        ).checked()

    def tied(self, given: Any, column: str) -> Self:
        """Groups of components with one mean or one covariance."""
        said: Mapping[str, Any] = check_names(given, ("mean", "covariance"), column, "tied")
        k, d = self.known.shape[:2]
        means = self.of_means.tied(np.arange(d), read_groups(said.get("mean"), "the mean", k))
        return replace(self, of_means=means, groups=read_groups(said.get("covariance"), "the covariance", k)).checked()

    def checked(self) -> Self:
        """The same, with what is known of one component known of all that share it; an error if it cannot be."""
        for k, matrix in enumerate(self.known):
            if not np.isnan(matrix).all():
                check_matrix(
                    matrix, f"the covariance of component {k}", np.array([self.axes.low[k], self.axes.high[k]])
                )
        return replace(self, known=shared_known(self.known, self.groups))

    # what follows from it

    def means(self, params: GaussianParams, best: Array, mass: Array) -> Array:
        """The best means at the current covariances."""
        return self._limits().means(params, best, np.maximum(mass, 0.0))

    def covariances(self, best: Array, mass: Array) -> Array:
        """The best covariances about the means."""
        return self._limits().covariances(best, np.maximum(mass, 0.0))

    def constrained(self, theta: GaussianParams) -> GaussianParams:
        """Means and covariances inside, near those given."""
        even = np.ones((len(theta.means), 1, 1))
        means = self.of_means.keep(theta.means, np.ones_like(theta.means))
        return replace(theta, means=means, covariances=self._limits().covariances(theta.covariances, even))

    def n_free(self) -> int:
        """How many different numbers are learnt."""
        d = self.known.shape[1]
        open_ = np.isnan(self.known[np.unique(self.groups)]).all(axis=(1, 2))
        return int(self.of_means.n_free() + open_.sum() * d * (d + 1) // 2)

    def _limits(self) -> Limits:
        k, d = self.known.shape[:2]
        frame, weights = unit_frame(d), Box(np.zeros(k), np.ones(k))
        groups = Groups(np.arange(k), self.of_means.groups[:, 0], self.groups)
        means, axes = Box(self.of_means.low, self.of_means.high), Box(self.axes.low[:, 0], self.axes.high[:, 0])
        return Limits("full", frame, groups, weights, means, axes, self.known)
