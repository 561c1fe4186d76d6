"""Emissions that are symbols, and emissions that are counts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from latently import compiled
from latently.distributions import Categorical, Distribution, Poisson
from latently.distributions.statistics import Additive
from latently.sequence.emissions.base import FEW, Emission
from latently.sequence.inference.chain import Array, Ints


@dataclass(frozen=True, eq=False)
class Counts(Additive):
    """Expected counts (K, C) of each symbol in each state."""

    counts: Array


@dataclass(frozen=True, eq=False)
class CategoricalEmission(Emission[Array]):
    """One column of codes; the parameters are probabilities (K, C), zero where `possible` says so."""

    prior: Array
    learn: bool
    possible: NDArray[np.bool_]

    def log_density(self, theta: Array, X: Array) -> Array:
        """Log probability (n, K); a missing code has probability one."""
        with np.errstate(divide="ignore"):
            table = np.vstack([np.log(theta.T), np.zeros(len(theta))])
        return np.asarray(table[codes_of(X)])

    def fill(self, theta: Array, X: Array, width: tuple[int, ...], b: Array, top: Array) -> None:
        """Probabilities themselves: no logarithm, no exponential."""
        compiled.sequence.emissions.gather(codes_of(X), np.ascontiguousarray(theta.T), top, b)

    def expect(self, theta: Array, X: Array, g: Array) -> Counts:
        """Expected counts."""
        counts = np.zeros((theta.shape[1], theta.shape[0]))
        compiled.sequence.emissions.tally(codes_of(X), g, counts)
        return Counts(counts.T)

    def update(self, theta: Array, stats: Counts) -> Array:
        """Posterior mode; a symbol that a state cannot emit stays impossible, an empty state stays as it is."""
        if not self.learn:
            return theta
        counts = np.where(self.possible, np.maximum(stats.counts + self.prior - 1, 0.0), 0.0)
        total = counts.sum(axis=1, keepdims=True)
        kept = total > FEW * total.max()
        return np.where(kept, counts / np.where(kept, total, 1.0), theta)

    def log_prior(self, theta: Array) -> float:
        """Log density of the Dirichlet priors, up to a constant."""
        terms = special.xlogy(self.prior - 1, np.where(theta > 0, theta, 1.0))
        return float(np.sum(terms)) if self.learn else 0.0

    def sample(self, theta: Array, states: Ints, rng: np.random.RandomState) -> Array:
        """Draw a code for each state."""
        cdf = np.cumsum(theta, axis=1)
        u = rng.uniform(size=(len(states), 1)) * cdf[states, -1:]
        return (cdf[states] <= u).sum(axis=1, keepdims=True).astype(np.float64)

    def n_parameters(self, theta: Array) -> int:
        """One less than the possible symbols of each state."""
        return int(np.maximum(self.possible.sum(axis=1) - 1, 0).sum()) if self.learn else 0

    def means(self, theta: Array) -> Array:
        """Mean codes (K, 1)."""
        return np.asarray(theta @ np.arange(theta.shape[1])[:, None])

    def variances(self, theta: Array) -> Array:
        """Variances (K, 1) of the codes."""
        return np.asarray(theta @ np.arange(theta.shape[1])[:, None] ** 2 - self.means(theta) ** 2)

    def distributions(self, theta: Array) -> list[Distribution]:
        """Give the distribution of each state's symbols."""
        return [Categorical(row) for row in theta]

    def reseed(self, theta: Array, state: int, X: Array) -> Array:
        """Shares of the symbols in these rows, mixed with those in all states."""
        fresh = theta.copy()
        codes = codes_of(X)
        counts = np.bincount(codes[codes >= 0], minlength=theta.shape[1]) + theta.mean(axis=0)
        fresh[state] = counts / counts.sum()
        return fresh


def codes_of(X: Array) -> Ints:
    """Codes (n,) of a column; -1 for missing."""
    column = X[:, 0]
    if np.isnan(column.sum()):
        column = np.where(np.isnan(column), -1.0, column)
    return np.asarray(column.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Totals(Additive):
    """Weights (K, d) of the observed entries and weighted sums (K, d)."""

    weight: Array
    total: Array


@dataclass(frozen=True, eq=False)
class PoissonEmission(Emission[Array]):
    """Independent columns of counts; the parameters are rates (K, d).

    The prior of a rate is proportional to rate^events * exp(-exposure * rate).
    """

    events: Array
    exposure: Array
    learn: bool

    def log_density(self, theta: Array, X: Array) -> Array:
        """Log probability (n, K)."""
        values = np.nan_to_num(X)
        with np.errstate(divide="ignore"):
            logs = np.log(theta)
        if np.isneginf(logs).any():
            gradients = special.xlogy(values[:, None, :], theta).sum(axis=2)
        else:
            gradients = values @ logs.T
        seen = 1.0 - np.isnan(X)
        base = (special.gammaln(values + 1) * seen).sum(axis=1)
        return np.asarray(gradients - seen @ theta.T - base[:, None])

    def expect(self, theta: Array, X: Array, g: Array) -> Totals:
        """Weights and sums."""
        return Totals(g.T @ (1.0 - np.isnan(X)), g.T @ np.nan_to_num(X))

    def update(self, theta: Array, stats: Totals) -> Array:
        """Posterior mode; a state without weight keeps its rates."""
        if not self.learn:
            return theta
        weight = stats.weight + self.exposure
        kept = stats.weight > FEW * stats.weight.max()
        return np.where(kept, (stats.total + self.events) / np.where(kept, weight, 1.0), theta)

    def log_prior(self, theta: Array) -> float:
        """Log density of the Gamma priors, up to a constant."""
        return float((special.xlogy(self.events, theta) - self.exposure * theta).sum())

    def sample(self, theta: Array, states: Ints, rng: np.random.RandomState) -> Array:
        """Draw counts for each state."""
        return rng.poisson(theta[states]).astype(np.float64)

    def n_parameters(self, theta: Array) -> int:
        """One rate for each state and column."""
        return int(theta.size) if self.learn else 0

    def means(self, theta: Array) -> Array:
        """Rates (K, d)."""
        return theta

    def variances(self, theta: Array) -> Array:
        """Rates (K, d)."""
        return theta

    def distributions(self, theta: Array) -> list[Distribution]:
        """Give the distribution of each state's counts."""
        return [Poisson(row) for row in theta]

    def reseed(self, theta: Array, state: int, X: Array) -> Array:
        """Rates of these rows, and a little of those in all states."""
        fresh = theta.copy()
        seen = (~np.isnan(X)).sum(axis=0)
        fresh[state] = (np.nansum(X, axis=0) + theta.mean(axis=0)) / (seen + 1)
        return fresh
