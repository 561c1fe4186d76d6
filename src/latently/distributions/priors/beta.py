"""Beta: values between 0 and 1; the prior of a Bernoulli's probabilities."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from latently.distributions.base import Distribution
from latently.distributions.columns import Columns, per_column
from latently.distributions.inputs import Array, ColumnError
from latently.distributions.priors.base import Prior
from latently.distributions.statistics import Additive, as_sums


@dataclass(frozen=True, eq=False)
class Beta(Columns, Prior):
    """Beta distribution, one per column, with density x^(a-1) (1-x)^(b-1) / B(a, b).

    As a prior of `Bernoulli`, a - 1 and b - 1 act like ones and zeros seen before; a single pair serves any
    number of columns.

    Parameters
    ----------
    a : (d,) weight of ones, positive
    b : (d,) weight of zeros, positive

    Examples
    --------
    >>> from latently.distributions import Bernoulli
    >>> coin = Bernoulli().statistics([1, 1, 1, 0])
    >>> Beta(2, 2).posterior(coin)
    Beta(a=array([5.]), b=array([3.]))
    """

    a: Array
    b: Array

    PARAMETERS: ClassVar[tuple[str, ...]] = ("a", "b")
    _ENDS: ClassVar[tuple[float, float]] = (0, 1)

    # statistics

    def posterior(self, stats: Additive) -> Self:
        """Add the ones to a and the zeros to b."""
        ones, zeros = per_column(stats, 2, self, shared=True)
        return type(self)(self.a + ones, self.b + zeros)

    def log_marginal(self, stats: Additive) -> float:
        """Log probability of the rows in the order they came."""
        after = self.posterior(stats)
        gain = special.betaln(after.a, after.b) - special.betaln(self.a, self.b)
        return float(gain.sum()) + as_sums(stats, "Beta").base

    # evaluation

    def _outside(self, X: Array) -> NDArray[np.bool_]:
        return np.asarray((X < 0) | (X > 1))

    def _inner(self) -> float:
        return 0.5

    def _column_log_prob(self, X: Array) -> Array:
        body = special.xlogy(self.a - 1, X) + special.xlog1py(self.b - 1, -X)
        return np.asarray(body - special.betaln(self.a, self.b))

    def _mean(self) -> Array:
        return np.asarray(self.a / (self.a + self.b))

    def _variance(self) -> Array:
        total = self.a + self.b
        return np.asarray(self.a * self.b / (total**2 * (total + 1)))

    def _mode(self) -> Array:
        unclear = (self.a < 1) | (self.b < 1) | ((self.a == 1) & (self.b == 1))
        if unclear.any():
            c = int(np.argmax(unclear))
            raise ColumnError(
                c,
                f"has no mode under Beta({self.a[c]:g}, {self.b[c]:g}): a, b >= 1, not both 1, have one",
            )
        return np.asarray((self.a - 1) / (self.a + self.b - 2))

    def _column_entropy(self) -> Array:
        a, b, digamma = self.a, self.b, special.digamma
        return np.asarray(
            special.betaln(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b)
        )

    def _cdf(self, X: Array) -> Array:
        return np.asarray(special.betainc(self.a, self.b, np.clip(X, 0.0, 1.0)))

    def _quantile(self, q: Array, upper: bool = False) -> Array:
        if upper:
            return np.asarray(1.0 - special.betaincinv(self.b, self.a, q))
        return np.asarray(special.betaincinv(self.a, self.b, q))

    def _kl(self, other: Distribution) -> float | None:
        if not isinstance(other, Beta):
            return None
        more_a, more_b = other.a - self.a, other.b - self.b
        terms = special.betaln(other.a, other.b) - special.betaln(self.a, self.b) - more_a * special.digamma(self.a)
        terms += (more_a + more_b) * special.digamma(self.a + self.b) - more_b * special.digamma(self.b)
        return float(terms.sum())

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        return rng.beta(self.a, self.b, size=(n, self.n_columns))
