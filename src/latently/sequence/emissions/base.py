"""What a hidden Markov model needs to know about its emissions: the interface."""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np

from latently import compiled
from latently.distributions import Distribution
from latently.distributions.statistics import Additive
from latently.sequence.inference.chain import Array, Chain, Ints
from latently.sequence.inference.diagonal import DiagonalPlan

Theta = TypeVar("Theta")

FEW = 1e-8
"""Share of the rows below which a state is as good as empty: it keeps its parameters in an update."""


class Emission(ABC, Generic[Theta]):
    """The emissions of all K states: configuration and priors, without the parameters, which are passed in."""

    @abstractmethod
    def log_density(self, theta: Theta, X: Array) -> Array:
        """Log density (n, K) of each row in each state; missing entries are marginalised out."""

    def fill(self, theta: Theta, X: Array, width: tuple[int, ...], b: Array, top: Array) -> None:
        """Fill b (n, K) with densities over exp(top), and top (n,)."""
        b[:] = self.log_density(theta, X)
        compiled.sequence.forward_backward.exponentiate(b, width, top, np.empty(2048))

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

    def collapsed(self, theta: Theta) -> list[int]:
        """States that have shrunk onto a single value, as far as they are let."""
        return []

    @abstractmethod
    def reseed(self, theta: Theta, state: int, X: Array) -> Theta:
        """Give a state new parameters, around these rows."""
