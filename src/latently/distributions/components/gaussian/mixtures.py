"""Components that are mixtures of Gaussians themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import special

from latently.distributions import Additive, Distribution, MixtureDistribution
from latently.distributions.components.base import Block
from latently.distributions.components.gaussian import gradient
from latently.distributions.components.gaussian.block import GaussianBlock
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.slab import FEW, Ints, Mask, PerComponent, Slab, safe_log
from latently.distributions.inputs import Array
from latently.distributions.probabilities import best_rows, filled_rows, n_free
from latently.distributions.statistics import Moments
from latently.distributions.unconstrained import (
    Directions,
    Reader,
    cholesky_gradient,
    from_logits,
    logit_gradient,
    logits,
)


@dataclass(frozen=True, eq=False)
class Mixtures(PerComponent):
    """Weights (K, M) and the K * M Gaussians, those of a component next to each other."""

    weights: Array
    parts: GaussianParams


@dataclass(frozen=True, eq=False)
class MixtureMoments(Additive):
    """Expected counts (K, M), and moments of the Gaussians."""

    counts: Array
    moments: Moments

    @property
    def weight(self) -> Array:
        """(K,) that of the components."""
        return np.asarray(self.counts.sum(axis=1))


@dataclass(frozen=True, eq=False)
class WithinLimits:
    """One covariance for the M Gaussians of a component, above a floor; what is fixed stays."""

    block: GaussianBlock
    M: int

    def means(self, params: GaussianParams, best: Array, mass: Array) -> Array:
        """Any means that are not fixed."""
        fixed = self.block._limits_of_moments()
        return best if fixed is None else fixed.means(params, best, mass)

    def covariances(self, best: Array, mass: Array) -> Array:
        """Averages of those without limits."""
        fixed, d = self.block._limits_of_moments(), best.shape[-1]
        shares, each = mass.reshape(-1, self.M, 1, 1), best.reshape(-1, self.M, d, d)
        total = shares.sum(axis=1)
        pooled = np.where(total > 0, (shares * each).sum(axis=1) / np.where(total > 0, total, 1.0), each[:, 0])
        shared = np.repeat(self.block._raised(pooled), self.M, axis=0)
        return shared if fixed is None else fixed.covariances(shared, mass)


@dataclass(frozen=True, eq=False)
class GaussianMixtures(Block):
    """Components that are mixtures of Gaussians.

    Parameters
    ----------
    gaussians
        What the Gaussians are, with their priors; "full" where the covariances of a component are tied.
    is_tied
        Whether the Gaussians of a component have one covariance.
    weights_prior
        (K, M) Dirichlet parameters.
    learn
        "w" for the weights, and as in `GaussianBlock`.
    fixed_weights
        (K, M) weights that are not learnt, NaN for those that are.
    """

    gaussians: GaussianBlock | None = None
    is_tied: bool = False
    weights_prior: Array | None = None
    learn: str = "wmc"
    fixed_weights: Array | None = None

    @property
    def _inner(self) -> GaussianBlock:
        assert self.gaussians is not None
        return self.gaussians

    def first(self, X: Array, k: int) -> Mixtures:
        """All Gaussians at the mean of the rows."""
        M = 1 if self.weights_prior is None else self.weights_prior.shape[1]
        return Mixtures(np.full((k, M), 1 / M), self._inner.first(X, k * M))

    # learning

    def _joint(self, theta: Mixtures, slab: Slab) -> Array:
        """Log joint density (K, M, n) of a row and a Gaussian."""
        out = np.repeat(safe_log(theta.weights).reshape(-1, 1), len(slab.X), axis=1)
        self._inner.log_density(theta.parts, slab, out)
        return out.reshape(*theta.weights.shape, -1)

    def log_density(self, theta: Mixtures, slab: Slab, out: Array) -> None:
        """Add the log densities."""
        joint = self._joint(theta, slab)
        top = joint.max(axis=1)
        out += top + np.log(np.exp(joint - top[:, None]).sum(axis=1))

    def _shares(self, theta: Mixtures, slab: Slab, R: Array) -> Array:
        """(K, M, n) responsibilities of the Gaussians."""
        shares = self._joint(theta, slab)
        shares = np.exp(shares - shares.max(axis=1, keepdims=True))
        shares *= (R / shares.sum(axis=1))[:, None]
        return np.asarray(shares)

    def expect(self, theta: Mixtures, slab: Slab, R: Array) -> MixtureMoments:
        """Counts and moments of all Gaussians."""
        r = self._shares(theta, slab, R)
        flat = np.ascontiguousarray(r.reshape(-1, r.shape[2]))
        return MixtureMoments(r.sum(axis=2), self._inner.expect(theta.parts, slab, flat))

    def update(self, theta: Mixtures, stats: MixtureMoments) -> Mixtures:
        """Posterior mode of weights and Gaussians."""
        if self.is_tied:  # the floor is that of the covariance they have together
            limits, free = WithinLimits(self._inner, theta.weights.shape[1]), replace(self._inner, floor=None)
            parts = free.update_within(theta.parts, stats.moments, limits)
        else:
            parts = self._inner.update(theta.parts, stats.moments)
        best = best_rows(stats.counts, self._pseudo() + 1, theta.weights, self._fixed(theta))
        learnt = ((stats.counts + self._pseudo()).sum(axis=1) > FEW * stats.weight.max()) & ("w" in self.learn)
        return Mixtures(np.where(learnt[:, None], best, theta.weights), parts)

    def _fixed(self, theta: Mixtures) -> Array:
        """(K, M) fixed weights, NaN for those that are learnt."""
        return np.full(theta.weights.shape, np.nan) if self.fixed_weights is None else self.fixed_weights

    def without_prior(self) -> Self:
        """The same components under flat priors."""
        return replace(self, gaussians=self._inner.without_prior(), weights_prior=None)

    def _pseudo(self) -> Array:
        return np.zeros(()) if self.weights_prior is None else self.weights_prior - 1

    def collapsed(self, theta: Mixtures) -> list[int]:
        """Components with a Gaussian that stands on the floor."""
        return sorted({j // theta.weights.shape[1] for j in self._inner.collapsed(theta.parts)})

    def rounding(self, theta: Mixtures) -> float:
        """Nats per row that rounding of the Gaussians' moments may cost."""
        return self._inner.rounding(theta.parts)

    def log_prior(self, theta: Mixtures) -> float:
        """Log density of the priors of weights and Gaussians."""
        pseudo = np.broadcast_to(self._pseudo(), theta.weights.shape)
        weights = np.where(pseudo == 0, 0.0, special.xlogy(pseudo, theta.weights)).sum()
        return float(weights) + self._inner.log_prior(theta.parts)

    def n_parameters(self, theta: Mixtures) -> int:
        """Weights, means and covariances, as far as they are learnt."""
        own = int((~self._inner_directions(theta).at_bound).sum())
        return ("w" in self.learn) * n_free(self._fixed(theta)) + own

    def observed(self, stats: MixtureMoments) -> Array:
        """Weight of the observed entries."""
        return self._inner.observed(stats.moments)

    def squares(self, stats: MixtureMoments) -> tuple[Array, Array, Array]:
        """Those of all Gaussians."""
        return self._inner.squares(stats.moments)

    def cross(self, theta: Mixtures, stats: MixtureMoments) -> Array:
        """Each with its own."""
        return np.where(np.eye(len(theta.weights)), 0.0, -max(float(stats.counts.sum()), 1.0))

    def reseed(self, theta: Mixtures, k: int, X: Array) -> Mixtures:
        """Spread the Gaussians of a component over these rows."""
        M = theta.weights.shape[1]
        weights, means = theta.weights.copy(), theta.parts.means
        weights[k] = filled_rows(np.full(M, 1 / M), self._fixed(theta)[k])
        for m, rows in enumerate(np.array_split(X, M)):
            if len(rows):
                means = self._inner.reseed(replace(theta.parts, means=means), k * M + m, rows).means
        return Mixtures(weights, replace(theta.parts, means=means))

    # parameters without constraints

    def _cut(self, theta: Mixtures) -> GaussianParams:
        """The Gaussians with each covariance once, as `gradient.pack` takes them."""
        if not self.is_tied:
            return theta.parts
        return replace(theta.parts, covariances=theta.parts.covariances[:: theta.weights.shape[1]])

    def pack(self, theta: Mixtures) -> Array:
        """Logits of the weights, then means and covariances."""
        return np.concatenate([logits(theta.weights, self._free(theta)), gradient.pack(self._cut(theta))])

    def unpack(self, theta: Mixtures, reader: Reader) -> Mixtures:
        """Weights and Gaussians."""
        weights = from_logits(reader, theta.weights, self._free(theta))
        parts = gradient.unpack(self._cut(theta), reader)
        if self.is_tied:
            parts = replace(parts, covariances=np.repeat(parts.covariances, theta.weights.shape[1], axis=0))
        return Mixtures(weights, self._inner.constrained(parts))

    def _free(self, theta: Mixtures) -> Mask:
        """(K, M) which weights are learnt."""
        return np.isnan(self._fixed(theta))

    def gradient(self, theta: Mixtures, stats: MixtureMoments) -> Array:
        """Gradient of log-likelihood and log prior in the vector."""
        weights = logit_gradient(stats.counts + self._pseudo(), theta.weights, self._free(theta))
        if not self.is_tied:
            return np.concatenate([weights, self._inner.gradient(theta.parts, stats.moments)])
        means, inner = gradient.gradients(theta.parts, stats.moments, self._inner._prior())
        shared = inner.reshape(*theta.weights.shape, *inner.shape[1:]).sum(axis=1)
        spread = cholesky_gradient(self._cut(theta).covariances, shared)
        return np.concatenate([weights, means.ravel(), spread.ravel()])

    def directions(self, theta: Mixtures) -> Directions:
        """Those of the weights, means and covariances."""
        weights = Directions.logits(theta.weights, self._free(theta)).if_learnt("w" in self.learn)
        return Directions.joined([weights, self._inner_directions(theta)])

    def _inner_directions(self, theta: Mixtures) -> Directions:
        """Those of means and covariances, with each covariance once."""
        own = self._inner.directions(theta.parts)
        if not self.is_tied:
            return own
        M, d = theta.weights.shape[1], theta.parts.means.shape[1]
        kept = np.repeat(np.arange(len(theta.parts.means)) % M == 0, d * (d + 1) // 2)
        kept = np.concatenate([np.ones(theta.parts.means.size, dtype=bool), kept])
        return Directions(own.unit[kept], own.row[kept], own.at_bound[kept])

    # talking to distributions

    def distributions(self, theta: Mixtures, k: int) -> list[tuple[Distribution, tuple[int, ...]]]:
        """A mixture."""
        M = theta.weights.shape[1]
        parts = [self._inner.distributions(theta.parts, k * M + m)[0][0] for m in range(M)]
        return [(MixtureDistribution(theta.weights[k], parts), self.columns)]

    def from_distributions(self, given: Sequence[Distribution]) -> Mixtures:
        """Weights and Gaussians of mixtures."""
        mixtures: list[Any] = [d.marginal(self.columns) for d in given]
        parts = self._inner.from_distributions([part for mixture in mixtures for part in mixture.components])
        return Mixtures(np.array([mixture.weights for mixture in mixtures]), parts)

    # answers

    def sample(self, theta: Mixtures, labels: Ints, rng: Any) -> Array:
        """Draw a Gaussian for each component, and a row from it."""
        return self._inner.sample(theta.parts, self._chosen(theta.weights[labels].T, labels, rng), rng)

    def _chosen(self, shares: Array, labels: Ints, rng: Any) -> Ints:
        """(n,) a Gaussian of each component, drawn in proportion to shares (M, n)."""
        ends = np.cumsum(shares, axis=0)
        part = (ends <= rng.uniform(size=len(labels)) * ends[-1]).sum(axis=0)
        return np.asarray(labels * len(shares) + np.minimum(part, len(shares) - 1))

    def fill(self, theta: Mixtures, slab: Slab, R: Array) -> Array:
        """Conditional means, averaged over the Gaussians."""
        shares = self._shares(theta, slab, R)
        return self._inner.fill(theta.parts, slab, shares.reshape(-1, shares.shape[2]))

    def interval(self, theta: Mixtures, slab: Slab, R: Array, level: float) -> tuple[Array, Array]:
        """Quantiles of mixtures of conditional Gaussians."""
        shares = self._shares(theta, slab, R)
        return self._inner.interval(theta.parts, slab, shares.reshape(-1, shares.shape[2]), level)

    def draw(self, theta: Mixtures, slab: Slab, labels: Ints, rng: Any) -> Array:
        """Draw a Gaussian given what is observed, and missing entries from it."""
        own = self._shares(theta, slab, np.ones((len(theta.weights), len(slab.X))))[labels, :, np.arange(len(labels))]
        return self._inner.draw(theta.parts, slab, self._chosen(own.T, labels, rng), rng)
