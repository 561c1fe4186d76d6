"""What a hidden Markov model needs to know about its emissions: the interface."""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np

from tacit import compiled
from tacit.distributions import Distribution
from tacit.distributions.statistics import Additive
from tacit.sequence.chain import Array, Ints

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
    if np.isnan(X.sum()):
        seen = np.maximum((~np.isnan(X)).sum(axis=0), 1)
        mean = np.nansum(X, axis=0) / seen
        variance = np.nansum((X - mean) ** 2, axis=0) / seen
    else:
        # products with ones are several times faster than sums over the long axis
        mean = np.full(len(X), 1 / len(X)) @ X
        variance = np.zeros(X.shape[1])
        for start in range(0, len(X), TOGETHER):
            gap = X[start : start + TOGETHER] - mean
            variance += np.full(len(gap), 1 / len(X)) @ np.square(gap, out=gap)
    size = np.where(np.abs(mean) > 0, np.abs(mean), 1.0)
    return np.asarray(np.where(variance > (1e-14 * size) ** 2, 1e-10 * variance, (1e-6 * size) ** 2))
