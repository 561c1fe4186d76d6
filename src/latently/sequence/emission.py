"""What a hidden Markov model needs to know about its emissions: the interface."""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np

from latently import compiled
from latently.distributions import Distribution
from latently.distributions.statistics import Additive
from latently.sequence.chain import Array, Chain, Ints
from latently.sequence.diagonal import DiagonalPlan

Theta = TypeVar("Theta")

FEW = 1e-8
"""Share of the rows below which a state is as good as empty: it keeps its parameters in an update."""

TOGETHER = 8192
"""Rows that are looked at together, to stay in cache."""


class Emission(ABC, Generic[Theta]):
    """The emissions of all K states: configuration and priors, without the parameters, which are passed in."""

    @abstractmethod
    def log_density(self, theta: Theta, X: Array) -> Array:
        """Log density (n, K) of each row in each state; missing entries are marginalised out."""

    def fill(self, theta: Theta, X: Array, width: tuple[int, ...], b: Array, top: Array) -> None:
        """Fill b (n, K) with densities over exp(top), and top (n,)."""
        b[:] = self.log_density(theta, X)
        compiled.hmm.exponentiate(b, width, top, np.empty(2048))

    def diagonal(self, theta: Theta, chain: Chain, X: Array) -> DiagonalPlan | None:
        """Give the rows to `diagonal`, if that can do a long sequence of these emissions."""
        return None

    @abstractmethod
    def expect(self, theta: Theta, X: Array, g: Array) -> Additive:
        """Statistics of the rows, weighted for each state by g (n, K)."""

    @abstractmethod
    def update(self, theta: Theta, stats: Any) -> Theta:
        """Parameters that are best for these statistics, under the prior."""

    def log_prior(self, theta: Theta) -> float:
        """Log prior density of the parameters, up to a constant."""
        return 0.0

    @abstractmethod
    def sample(self, theta: Theta, states: Ints, rng: np.random.RandomState) -> Array:
        """Draw a row (n, d) for each of the given states."""

    @abstractmethod
    def n_parameters(self, theta: Theta) -> int:
        """Number of free parameters."""

    @abstractmethod
    def means(self, theta: Theta) -> Array:
        """Means (K, d) of the states."""

    @abstractmethod
    def variances(self, theta: Theta) -> Array:
        """Variances (K, d) of the states' columns."""

    @abstractmethod
    def distributions(self, theta: Theta) -> list[Distribution]:
        """Give the distribution of each state."""

    @abstractmethod
    def reseed(self, theta: Theta, state: int, X: Array) -> Theta:
        """Give a state new parameters, around these rows."""


def spread(X: Array) -> Array:
    """Smallest variance (d,) that a state may have: tiny beside the column's own, per column."""
    mean, variance = _mean_and_variance(X)
    if np.isnan(mean).any():
        seen = np.maximum((~np.isnan(X)).sum(axis=0), 1)
        mean = np.nansum(X, axis=0) / seen
        variance = np.nansum((X - mean) ** 2, axis=0) / seen
    size = np.where(np.abs(mean) > 0, np.abs(mean), 1.0)
    return np.asarray(np.where(variance > (1e-14 * size) ** 2, 1e-10 * variance, (1e-6 * size) ** 2))


def _mean_and_variance(X: Array) -> tuple[Array, Array]:
    """Mean and variance (d,) of the columns.

    Products with ones, and sums of long flat arrays, are several times faster than what goes along short rows.
    """
    n, d = X.shape
    blocks = [X[start : start + TOGETHER] for start in range(0, n, TOGETHER)]
    ones, mean, variance = np.full(min(n, TOGETHER), 1 / n), np.zeros(d), np.zeros(d)
    for block in blocks:
        mean += ones[: len(block)] @ block
    middle = np.tile(mean, len(ones))
    for block in blocks:
        gap = block.reshape(-1) - middle[: block.size]
        gap *= gap
        variance += ones[: len(block)] @ gap.reshape(-1, d)
    return mean, variance
