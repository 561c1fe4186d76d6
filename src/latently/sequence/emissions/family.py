"""Emissions of any family of distributions, one distribution for each state or shared by several."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from latently.distributions import ColumnError, Distribution, Family, Gaussian, Parts, family_named
from latently.distributions.floor import Floor
from latently.distributions.conjugate import log_prior
from latently.distributions.statistics import Additive
from latently.sequence.emissions.above_floor import fit_above, on_floor
from latently.sequence.emissions.base import FEW, Emission
from latently.sequence.inference.chain import Array, Ints

Theta = tuple[Family, ...]


@dataclass(frozen=True, eq=False)
class FamilyStats(Additive):
    """Weights (E,) and statistics of each distribution."""

    weight: Array
    parts: Parts


@dataclass(frozen=True, eq=False)
class FamilyEmission(Emission[Theta]):
    """States emit from distributions of ours.

    Parameters
    ----------
    owner : (K,) which distribution a state has
    prior : of each distribution's parameters, or None
    learn : whether they are learnt
    floor : how narrow they may become where there is no prior; None for no limit
    """

    owner: Ints
    prior: Any
    learn: bool
    floor: Floor | None = None

    def log_density(self, theta: Theta, X: Array) -> Array:
        """Log density (n, K)."""
        each = np.column_stack([part.log_prob(X) for part in theta])
        return np.ascontiguousarray(each[:, self.owner])

    def expect(self, theta: Theta, X: Array, g: Array) -> FamilyStats:
        """Statistics with missing entries at their expectation."""
        shared = np.zeros((len(X), len(theta)))
        np.add.at(shared.T, self.owner, g.T)
        parts = [part.expected_statistics(X, w) for part, w in zip(theta, shared.T, strict=True)]
        return FamilyStats(shared.sum(axis=0), Parts(tuple(parts)))

    def update(self, theta: Theta, stats: FamilyStats) -> Theta:
        """Fit each distribution, above the floor; one that has no weight stays as it is."""
        if not self.learn:
            return theta
        few = FEW * float(stats.weight.max())
        triples = zip(theta, stats.parts.parts, stats.weight, strict=True)
        return tuple(self._fit(old, part) if weight > few else old for old, part, weight in triples)

    def _fit(self, old: Family, stats: Additive) -> Family:
        try:
            return fit_above(old, stats, self.prior, self.floor)  # type: ignore[no-any-return]
        except ColumnError:
            return old

    def log_prior(self, theta: Theta) -> float:
        """Log density of the priors."""
        return sum(log_prior(part, self.prior) for part in theta) if self.learn else 0.0

    def sample(self, theta: Theta, states: Ints, rng: np.random.RandomState) -> Array:
        """Draw a row for each state."""
        rows = np.empty((len(states), theta[0].n_columns))
        owners = self.owner[states]
        for e, part in enumerate(theta):
            rows[owners == e] = part.sample(int((owners == e).sum()), rng)
        return rows

    def n_parameters(self, theta: Theta) -> int:
        """Those of all distributions."""
        return sum(part.n_parameters for part in theta) if self.learn else 0

    def reseed(self, theta: Theta, state: int, X: Array) -> Theta:
        """Fit the distribution of a state to these rows; leave it if they are too few for that."""
        e = int(self.owner[state])
        try:
            fresh = theta[e].fit(X, prior=self.prior)
        except ValueError:
            return theta
        return (*theta[:e], fresh, *theta[e + 1 :])

    def collapsed(self, theta: Theta) -> list[int]:
        """States whose distribution stands on the floor."""
        if self.floor is None or not self.learn:
            return []
        return [k for k, e in enumerate(self.owner) if on_floor(theta[e], self.floor)]

    def means(self, theta: Theta) -> Array:
        """Means (K, d) of the states."""
        return np.array([part.mean for part in theta])[self.owner]

    def variances(self, theta: Theta) -> Array:
        """Variances (K, d) of the states' columns."""
        return np.array([part.variance for part in theta])[self.owner]

    def distributions(self, theta: Theta) -> list[Distribution]:
        """Give the distribution of each state."""
        return [theta[e] for e in self.owner]


def start_families(
    template: Any, X: Array, weights: Array, n_states: int, owner: Ints, prior: Any, floor: Floor | None = None
) -> Theta:
    """Fit distributions to rows with given weights (n, K); templates that are fitted already stay."""
    given = list(template) if isinstance(template, list | tuple) else [template] * n_states
    if len(given) != n_states:
        raise ValueError(f"emission lists {len(given)} distributions for {n_states} states")
    found: list[Family] = []
    for e in range(int(owner.max()) + 1):
        part = given[int(np.flatnonzero(owner == e)[0])]
        part = family_named(part) if isinstance(part, str) else part
        if not isinstance(part, Family):
            raise TypeError(f"emission must be a distribution that learns from data, not {type(part).__name__}")
        # fitted to all rows first, so that every state knows every category
        whole = part if part.is_fitted else _whole(part, X, prior, floor)
        is_own = isinstance(template, list | tuple) and part.is_fitted
        found.append(part if is_own else _fit_or(whole, X, weights[:, owner == e].sum(axis=1), prior, floor))
    return tuple(found)


def _whole(part: Family, X: Array, prior: Any, floor: Floor | None) -> Family:
    """Fit to all rows; columns that follow from others are taken one by one for a start."""
    try:
        return part.fit(X, prior=prior)
    except ColumnError:
        if floor is None or prior is not None or not isinstance(part, Gaussian):
            raise
        columns = Gaussian(kind="diag")
        alone = fit_above(columns, columns.statistics(X), None, floor)
        if part.kind == "spherical":
            return replace(part, mean=alone.mean, covariance=alone.variance.mean())
        return replace(
            part, mean=alone.mean, covariance=alone.covariance_matrix if part.kind == "full" else alone.variance
        )


def _fit_or(whole: Family, X: Array, weights: Array, prior: Any, floor: Floor | None) -> Family:
    try:
        return fit_above(whole, whole.expected_statistics(X, weights), prior, floor)  # type: ignore[no-any-return]
    except ColumnError:
        return whole
