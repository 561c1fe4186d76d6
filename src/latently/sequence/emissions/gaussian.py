"""Gaussian emissions, and mixtures of Gaussians."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from latently.distributions import Distribution
from latently.distributions.floor import Floor
from latently.distributions.components.gaussian import unscaled as gaussians
from latently.distributions.components.gaussian.unscaled import Gaussians, MomentSums, Prior
from latently.distributions.statistics import Additive
from latently.sequence.emissions.base import FEW, Emission
from latently.sequence.emissions.mixture_of import MixtureOf
from latently.sequence.inference.chain import Array, Chain, Ints
from latently.sequence.inference.diagonal import DiagonalPlan


@dataclass(frozen=True, eq=False)
class GaussianEmission(Emission[Gaussians]):
    """One Gaussian for each state."""

    prior: Prior
    learn: str
    floor: Floor | None
    complete: bool = False
    """Whether the rows are known to have no missing entries."""

    def log_density(self, theta: Gaussians, X: Array) -> Array:
        """Log density (n, K)."""
        return gaussians.log_density(theta, X)

    def fill(self, theta: Gaussians, X: Array, width: tuple[int, ...], b: Array, top: Array) -> None:
        """Densities (n, K) over exp(top)."""
        if theta.is_matrix or not (self.complete or gaussians.is_complete(X)):
            super().fill(theta, X, width, b, top)
        else:
            gaussians.fill(theta, X, width, b, top)

    def diagonal(self, theta: Gaussians, chain: Chain, X: Array) -> DiagonalPlan | None:
        """All of it in one go, for diagonal covariances and complete rows."""
        possible = DiagonalPlan.applies(chain, theta) and (self.complete or gaussians.is_complete(X))
        return DiagonalPlan(chain, theta, X) if possible else None

    def expect(self, theta: Gaussians, X: Array, g: Array) -> MomentSums:
        """Moments about the current means."""
        return gaussians.moments(theta, X, g, self.complete)

    def update(self, theta: Gaussians, stats: MomentSums) -> Gaussians:
        """Posterior mode."""
        few = FEW * float(stats.weight.max())
        assert self.floor is not None  # made without rows, it is not for learning
        return gaussians.update(theta, stats, self.prior, self.learn, self.floor, few)

    def collapsed(self, theta: Gaussians) -> list[int]:
        """States that stand on the floor."""
        if self.floor is None or "c" not in self.learn:
            return []
        return np.flatnonzero(gaussians.on_floor(theta, self.floor)).tolist()

    def log_prior(self, theta: Gaussians) -> float:
        """Log density of the prior, of what is learnt."""
        return gaussians.log_prior(theta, self.prior)

    def sample(self, theta: Gaussians, states: Ints, rng: np.random.RandomState) -> Array:
        """Draw a row for each state."""
        return gaussians.sample(theta, states, rng)

    def n_parameters(self, theta: Gaussians) -> int:
        """Means and covariances, as far as they are learnt."""
        return gaussians.n_parameters(theta, self.learn)

    def means(self, theta: Gaussians) -> Array:
        """Means (K, d)."""
        return theta.means

    def variances(self, theta: Gaussians) -> Array:
        """Variances (K, d)."""
        return np.diagonal(theta.matrices, axis1=1, axis2=2)

    def distributions(self, theta: Gaussians) -> list[Distribution]:
        """Give the Gaussian of each state."""
        return [theta.single(k) for k in range(len(theta.means))]

    def reseed(self, theta: Gaussians, state: int, X: Array) -> Gaussians:
        """Move the mean of a state to the mean of these rows, with the spread that the states have together."""
        means = theta.means.copy()
        centre = _column_means(X)
        means[state] = np.where(np.isnan(centre), means[state], centre)
        if theta.kind == "tied":
            return replace(theta, means=means)
        covars = theta.covars.copy()
        covars[state] = theta.covars.mean(axis=0)
        return replace(theta, means=means, covars=covars)


def _column_means(X: Array) -> Array:
    seen = ~np.isnan(X)
    counts = seen.sum(axis=0)
    return np.where(counts > 0, np.where(seen, X, 0.0).sum(axis=0) / np.maximum(counts, 1), np.nan)


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Weights (K, M) and the K * M components, those of a state next to each other."""

    weights: Array
    parts: Gaussians


@dataclass(frozen=True, eq=False)
class MixtureStats(Additive):
    """Expected counts (K, M) and moments of the components."""

    counts: Array
    moments: MomentSums


@dataclass(frozen=True, eq=False)
class GaussianMixtureEmission(Emission[Mixtures]):
    """A mixture of Gaussians for each state."""

    weights_prior: Array
    prior: Prior
    learn: str
    floor: Floor | None

    def _joint(self, theta: Mixtures, X: Array) -> Array:
        """Log joint density (n, K, M) of a row and a component."""
        with np.errstate(divide="ignore"):
            log_weights = np.log(theta.weights)
        return np.asarray(gaussians.log_density(theta.parts, X).reshape(len(X), *theta.weights.shape) + log_weights)

    def log_density(self, theta: Mixtures, X: Array) -> Array:
        """Log density (n, K)."""
        return np.asarray(special.logsumexp(self._joint(theta, X), axis=2))

    def responsibilities(self, theta: Mixtures, X: Array) -> Array:
        """Probability (n, K, M) of each component, given the state."""
        return np.asarray(special.softmax(self._joint(theta, X), axis=2))

    def expect(self, theta: Mixtures, X: Array, g: Array) -> MixtureStats:
        """Counts and moments of all components."""
        r = self.responsibilities(theta, X) * g[:, :, None]
        flat = np.ascontiguousarray(r.reshape(len(X), -1))
        return MixtureStats(r.sum(axis=0), gaussians.moments(theta.parts, X, flat))

    def update(self, theta: Mixtures, stats: MixtureStats) -> Mixtures:
        """Posterior mode of weights and components."""
        assert self.floor is not None  # made without rows, it is not for learning
        few = FEW * float(stats.counts.sum(axis=1).max())
        parts = gaussians.update(theta.parts, stats.moments, self.prior, self.learn, self.floor, few)
        counts = np.maximum(stats.counts + self.weights_prior - 1, 0.0)
        total = counts.sum(axis=1, keepdims=True)
        learnt = (total > few) & ("w" in self.learn)
        return Mixtures(np.where(learnt, counts / np.where(total > 0, total, 1.0), theta.weights), parts)

    def collapsed(self, theta: Mixtures) -> list[int]:
        """States with a component that stands on the floor."""
        if self.floor is None or "c" not in self.learn:
            return []
        found = gaussians.on_floor(theta.parts, self.floor).reshape(theta.weights.shape)
        return np.flatnonzero(found.any(axis=1)).tolist()

    def log_prior(self, theta: Mixtures) -> float:
        """Log density of the priors of weights and components."""
        dirichlet = special.xlogy(self.weights_prior - 1, theta.weights)
        return gaussians.log_prior(theta.parts, self.prior) + float(
            np.where(self.weights_prior == 1, 0, dirichlet).sum()
        )

    def sample(self, theta: Mixtures, states: Ints, rng: np.random.RandomState) -> Array:
        """Draw a component for each state, and a row from it."""
        cdf = np.cumsum(theta.weights, axis=1)
        u = rng.uniform(size=(len(states), 1)) * cdf[states, -1:]
        part = (cdf[states] <= u).sum(axis=1)
        return gaussians.sample(theta.parts, states * theta.weights.shape[1] + part, rng)

    def n_parameters(self, theta: Mixtures) -> int:
        """Weights, means and covariances, as far as they are learnt."""
        K, M = theta.weights.shape
        return ("w" in self.learn) * K * (M - 1) + gaussians.n_parameters(theta.parts, self.learn)

    def means(self, theta: Mixtures) -> Array:
        """Means (K, d)."""
        return np.array([mixture.mean for mixture in self.distributions(theta)])

    def variances(self, theta: Mixtures) -> Array:
        """Variances (K, d)."""
        return np.array([mixture.variance for mixture in self.distributions(theta)])

    def distributions(self, theta: Mixtures) -> list[Distribution]:
        """Give the mixture of each state."""
        K, M = theta.weights.shape
        return [MixtureOf(tuple(theta.parts.single(k * M + m) for m in range(M)), theta.weights[k]) for k in range(K)]

    def reseed(self, theta: Mixtures, state: int, X: Array) -> Mixtures:
        """Spread the components of a state over these rows."""
        M = theta.weights.shape[1]
        weights, means = theta.weights.copy(), theta.parts.means.copy()
        weights[state] = 1 / M
        for m, rows in enumerate(np.array_split(X, M)):
            if len(rows):
                centre = _column_means(rows)
                where = state * M + m
                means[where] = np.where(np.isnan(centre), means[where], centre)
        return Mixtures(weights, replace(theta.parts, means=means))
