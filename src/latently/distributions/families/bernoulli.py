"""Bernoulli: columns of zeros and ones."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from latently.distributions.base import UNSET, Distribution
from latently.distributions.columns import Columns, per_column, with_weight
from latently.distributions.family import ExponentialFamily
from latently.distributions.inputs import LOG_ZERO, Array, no_negative
from latently.distributions.priors.base import as_prior
from latently.distributions.priors.beta import Beta
from latently.distributions.statistics import Additive


@dataclass(frozen=True, eq=False)
class Bernoulli(Columns, ExponentialFamily):
    """Independent columns of zeros and ones.

    Features are (ones, zeros) per column, [x, 1 - x]; the conjugate prior is `Beta`.

    Parameters
    ----------
    probabilities : (d,) probability of a one in each column

    Examples
    --------
    >>> Bernoulli([0.5, 0.1]).prob([[1, 0], [1, float("nan")]])
    array([0.45, 0.5 ])
    >>> Bernoulli().fit([1, 1, 1, 0]).mean
    array([0.75])
    """

    probabilities: Array = UNSET

    PARAMETERS: ClassVar[tuple[str, ...]] = ("probabilities",)
    SCALES: ClassVar[tuple[str, ...]] = ("logit",)
    IS_CODED: ClassVar[bool] = True
    VALUES: ClassVar[str] = "0 and 1"
    _DISCRETE: ClassVar[bool] = True
    _ENDS: ClassVar[tuple[float, float]] = (0, 1)

    # parameters

    def _check_parameter(self, name: str, values: Array) -> None:
        if ((values < 0) | (values > 1)).any():
            raise ValueError(f"{name} of Bernoulli must be between 0 and 1, got {values}")

    # statistics

    def _outside(self, X: Array) -> NDArray[np.bool_]:
        return np.asarray((X != 0) & (X != 1) & ~np.isnan(X))

    def _features(self, X: Array, origin: Array | None) -> Array:
        return np.hstack([X == 1, X == 0]).astype(np.float64)

    def _natural(self, origin: Array | None) -> Array:
        p = self.probabilities
        logs = np.concatenate([special.xlogy(1.0, p), special.log1p(-p)])
        return np.asarray(np.maximum(logs, LOG_ZERO))

    # evaluation

    def _column_log_prob(self, X: Array) -> Array:
        return np.asarray(special.xlogy(X, self.probabilities) + special.xlog1py(1 - X, -self.probabilities))

    def _mean(self) -> Array:
        return self.probabilities

    def _variance(self) -> Array:
        return np.asarray(self.probabilities * (1 - self.probabilities))

    def _mode(self) -> Array:
        return (self.probabilities > 0.5).astype(np.float64)

    def _column_entropy(self) -> Array:
        return np.asarray(special.entr(self.probabilities) + special.entr(1 - self.probabilities))

    def _cdf(self, X: Array) -> Array:
        return np.where(X < 0, 0.0, np.where(X < 1, 1 - self.probabilities, 1.0))

    def _quantile(self, q: Array, upper: bool = False) -> Array:
        level = 1 - q if upper else q
        return (level > 1 - self.probabilities).astype(np.float64)

    def _kl(self, other: Distribution) -> float | None:
        if not isinstance(other, Bernoulli):
            return None
        p, q = self.probabilities, other.probabilities
        # kl_div(p, q) = p log(p/q) - p + q is never negative term by term
        return float((special.kl_div(p, q) + special.kl_div(1 - p, 1 - q)).sum())

    def _atoms(self) -> Array | None:
        return np.array([[0.0], [1.0]]) if self.n_columns == 1 else None

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        return (rng.random((n, self.n_columns)) < self.probabilities).astype(np.float64)

    # fit

    def from_statistics(self, stats: Additive, prior: Beta | None = None) -> Self:
        """Share of ones; with a Beta prior, the mode of the posterior."""
        if prior is not None:
            return type(self)(as_prior(prior, Beta, self).posterior(stats).mode)
        ones, zeros = per_column(stats, 2, self)
        weight = with_weight(ones + zeros)
        return type(self)(np.clip(no_negative(ones, "counts") / weight, 0.0, 1.0))

    def gradient(self, stats: Additive) -> Array:
        """Ones less those expected."""
        ones, zeros = per_column(stats, 2, self)
        return np.asarray(ones - (ones + zeros) * self.probabilities)
