"""Columns of zeros and ones in a mixture."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import special

from latently.distributions import Bernoulli, Beta, ColumnError, Distribution
from latently.distributions.components.base import FEW, Ints, Slab, safe_log
from latently.distributions.components.discrete import DiscreteBlock, Tally, Values
from latently.distributions.inputs import Array


@dataclass(frozen=True, eq=False)
class BinaryBlock(DiscreteBlock):
    """Columns of zeros and ones; the numbers are the probabilities of a one."""

    def log_density(self, theta: Values, slab: Slab, out: Array) -> None:
        """Log probabilities by one matrix product, or by two where entries are missing or certain."""
        p, X = theta.values, slab.take(self.places)
        logs, others = safe_log(p), safe_log(1 - p)
        if slab.absent(self.places):
            out += logs @ (X == 1).T.astype(np.float64) + others @ (X == 0).T.astype(np.float64)
        elif min(logs.min(), others.min()) > -40:
            out += (logs - others) @ X.T + others.sum(axis=1)[:, None]
        else:
            out += logs @ X.T + others @ (1 - X).T

    def expect(self, theta: Values, slab: Slab, R: Array) -> Tally:
        """Ones, and entries observed."""
        X = slab.take(self.places)
        if slab.absent(self.places):
            return Tally(R @ np.nan_to_num(X), R @ (~np.isnan(X)).astype(np.float64))
        ones = R @ X
        return Tally(ones, np.repeat(R.sum(axis=1)[:, None], ones.shape[1], axis=1))

    def update(self, theta: Values, stats: Tally) -> Values:
        """Shares of ones."""
        return Values(np.minimum(super().update(theta, stats).values, 1.0))

    def log_prior(self, theta: Values) -> float:
        """Beta."""
        events, trials = self._prior()
        logs = events * safe_log(theta.values) + (trials - events) * safe_log(1 - theta.values)
        return float(np.sum(logs))

    def with_prior(self, pooled: Tally, priors: Sequence[Any]) -> Self:
        """Prior per column; a strength is that many rows with the share of ones of all rows together."""
        share = (pooled.events / np.maximum(pooled.trials, FEW))[0]
        parts = []
        for name, p, given in zip(self.names, share, priors, strict=True):
            prior = self._strong(name, given, Beta)
            if isinstance(prior, Beta):
                if prior.n_columns != 1 or prior.a[0] < 1 or prior.b[0] < 1:
                    raise ColumnError(name, f"needs a Beta prior of one column with a, b >= 1, got {prior}")
                parts.append((prior.a[0] - 1, prior.a[0] + prior.b[0] - 2))
            else:
                parts.append((prior * p, prior))
        events, trials = np.array(parts, dtype=np.float64).T
        return replace(self, events=events, trials=trials)

    def cross(self, theta: Values, stats: Tally) -> Array:
        """Expected log densities."""
        ones, zeros = stats.events, stats.trials - stats.events
        return safe_log(theta.values) @ ones.T + safe_log(1 - theta.values) @ zeros.T

    def to_free(self, theta: Values) -> Array:
        """Log odds."""
        return special.logit(np.clip(theta.values, 1e-15, 1 - 1e-15)).ravel()

    def from_free(self, theta: Values, free: Array) -> Values:
        """Probabilities from log odds."""
        return self.constrained(Values(special.expit(free.reshape(theta.values.shape))))

    def distributions(self, theta: Values, k: int) -> list[tuple[Distribution, tuple[int, ...]]]:
        """One Bernoulli of all columns."""
        return [(Bernoulli(theta.values[k]), self.columns)]

    def _numbers(self, given: Distribution, at: int) -> Array:
        if not isinstance(given, Bernoulli):
            raise ColumnError(self.names[at], f"is of zeros and ones, which {given} does not fit")
        return given.probabilities

    def sample(self, theta: Values, labels: Ints, rng: np.random.Generator) -> Array:
        """Draw zeros and ones."""
        return (rng.random((len(labels), self.size)) < theta.values[labels]).astype(np.float64)

    def fill(self, theta: Values, slab: Slab, R: Array) -> Array:
        """The more probable of the two."""
        return (R.T @ theta.values > 0.5).astype(np.float64)

    def interval(self, theta: Values, slab: Slab, R: Array, level: float) -> tuple[Array, Array]:
        """The more probable of the two, twice."""
        modes = self.fill(theta, slab, R)
        return modes, modes
