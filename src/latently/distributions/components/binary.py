"""Columns of zeros and ones."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from latently.distributions import Bernoulli, Beta, ColumnError, Distribution
from latently.distributions.components.discrete import DiscreteBlock, Tally, Values
from latently.distributions.components.slab import Ints, Slab, safe_log
from latently.distributions.inputs import Array


@dataclass(frozen=True, eq=False)
class BinaryBlock(DiscreteBlock):
    """Columns of zeros and ones; the numbers are the probabilities of a one."""

    FAMILIES: ClassVar[tuple[str, ...]] = ("Bernoulli",)

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

    def _pseudo(self, name: str, means: Array, given: Any) -> tuple[Any, Any]:
        """Prior of a column; a strength is that many rows with the share of ones of all rows together."""
        prior = self._checked(name, given, Beta)
        if not isinstance(prior, Beta):
            return prior * means, prior
        if prior.n_columns != 1 or prior.a[0] < 1 or prior.b[0] < 1:
            raise ColumnError(name, f"needs a Beta prior of one column with a, b >= 1, got {prior}")
        return prior.a - 1, prior.a + prior.b - 2

    def cross(self, theta: Values, stats: Tally) -> Array:
        """Expected log densities."""
        ones, zeros = stats.events, stats.trials - stats.events
        return safe_log(theta.values) @ ones.T + safe_log(1 - theta.values) @ zeros.T

    def distributions(self, theta: Values, k: int) -> list[tuple[Distribution, tuple[int, ...]]]:
        """One Bernoulli of all columns."""
        return [(Bernoulli(theta.values[k]), self.columns)]

    def _numbers(self, given: Distribution, at: int) -> Array:
        if not isinstance(given, Bernoulli):
            raise ColumnError(self.names[at], f"is of zeros and ones, which {given} does not fit")
        return given.probabilities

    def sample(self, theta: Values, labels: Ints, rng: Any) -> Array:
        """Draw zeros and ones."""
        return np.asarray(rng.random((len(labels), self.size)) < theta.values[labels], dtype=np.float64)

    def fill(self, theta: Values, slab: Slab, R: Array) -> Array:
        """The more probable of the two."""
        return (R.T @ theta.values > 0.5).astype(np.float64)

    def interval(self, theta: Values, slab: Slab, R: Array, level: float) -> tuple[Array, Array]:
        """The more probable of the two, twice."""
        modes = self.fill(theta, slab, R)
        return modes, modes
