"""Poisson: columns of counts."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from latently.distributions.base import UNSET, Distribution
from latently.distributions.columns import Columns, per_column, with_weight
from latently.distributions.families.gamma import Gamma
from latently.distributions.family import ExponentialFamily
from latently.distributions.inputs import LOG_ZERO, Array, no_negative
from latently.distributions.priors.base import as_prior
from latently.distributions.statistics import Additive


@dataclass(frozen=True, eq=False)
class Poisson(Columns, ExponentialFamily):
    """Independent columns of counts.

    Features are (x, observed) per column; the conjugate prior is `Gamma`. A rate of 0 is all zeros.

    Parameters
    ----------
    rate : (d,) expected count of each column, not negative

    Examples
    --------
    >>> Poisson(2.0).prob([0, 1])
    array([0.135, 0.271])
    >>> Poisson().fit([[1, 4], [3, float("nan")]]).rate
    array([2., 4.])
    """

    rate: Array = UNSET

    PARAMETERS: ClassVar[tuple[str, ...]] = ("rate",)
    SCALES: ClassVar[tuple[str, ...]] = ("log",)
    VALUES: ClassVar[str] = "whole numbers from 0 on"
    _DISCRETE: ClassVar[bool] = True
    _ENDS: ClassVar[tuple[float, float]] = (0, np.inf)

    # parameters

    def _check_parameter(self, name: str, values: Array) -> None:
        if (values < 0).any():
            raise ValueError(f"{name} of Poisson must not be negative, got {values}")

    # statistics

    def _outside(self, X: Array) -> NDArray[np.bool_]:
        return np.asarray((X < 0) | np.isinf(X) | ((np.floor(X) != X) & ~np.isnan(X)))

    def _features(self, X: Array, origin: Array | None) -> Array:
        return np.hstack([np.nan_to_num(X), ~np.isnan(X)])

    def _natural(self, origin: Array | None) -> Array:
        return np.concatenate([np.maximum(special.xlogy(1.0, self.rate), LOG_ZERO), -self.rate])

    def _log_base(self, X: Array) -> Array:
        return np.asarray(-special.gammaln(np.nan_to_num(X) + 1).sum(axis=1))

    # evaluation

    def _column_log_prob(self, X: Array) -> Array:
        return np.asarray(special.xlogy(X, self.rate) - self.rate - special.gammaln(X + 1))

    def _mean(self) -> Array:
        return self.rate

    def _variance(self) -> Array:
        return self.rate

    def _mode(self) -> Array:
        return np.floor(self.rate)

    def _column_entropy(self) -> Array:
        return np.array([_entropy(rate) for rate in self.rate])

    def _cdf(self, X: Array) -> Array:
        whole = np.floor(np.maximum(X, 0.0))
        return np.where(X < 0, 0.0, special.gammaincc(whole + 1, self.rate))

    def _quantile(self, q: Array, upper: bool = False) -> Array:
        level = np.broadcast_to(1 - q if upper else q, (len(q), self.n_columns))
        rate = np.where(self.rate > 0, self.rate, 1.0)
        guess = np.ceil(special.pdtrik(level, rate))  # the smoothed quantile is off by one at most
        below = np.maximum(guess - 1, 0.0)
        found = np.where(special.pdtr(below, rate) >= level, below, guess)
        return np.where(self.rate > 0, np.where(level >= 1, np.inf, found), 0.0)

    def _kl(self, other: Distribution) -> float | None:
        if not isinstance(other, Poisson):
            return None
        return float(special.kl_div(self.rate, other.rate).sum())

    def _atoms(self) -> Array | None:
        rate = float(self.rate[0])
        reach = 40 * np.sqrt(rate) + 40
        if self.n_columns > 1 or reach > 1e6:
            return None
        return np.arange(max(0.0, np.floor(rate - reach)), np.ceil(rate + reach))[:, None]

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        return rng.poisson(self.rate, size=(n, self.n_columns)).astype(np.float64)

    # fit

    def from_statistics(self, stats: Additive, prior: Gamma | None = None) -> Self:
        """Mean count; with a Gamma prior, the mode of the posterior."""
        if prior is not None:
            return type(self)(as_prior(prior, Gamma, self).posterior(stats).mode)
        events, weight = per_column(stats, 2, self)
        return type(self)(no_negative(events, "counts") / with_weight(weight))

    def gradient(self, stats: Additive) -> Array:
        """Events less those expected."""
        events, weight = per_column(stats, 2, self)
        return np.asarray(events - weight * self.rate)


def _entropy(rate: float) -> float:
    if rate > 1e4:
        # Stirling's series; the next term is below rounding here
        return float(0.5 * np.log(2 * np.pi * np.e * rate) - 1 / (12 * rate) - 1 / (24 * rate**2))
    x = np.arange(np.ceil(rate + 40 * np.sqrt(rate) + 40))
    log_p = special.xlogy(x, rate) - rate - special.gammaln(x + 1)
    return float(-(np.exp(log_p) * np.where(np.isinf(log_p), 0.0, log_p)).sum())
