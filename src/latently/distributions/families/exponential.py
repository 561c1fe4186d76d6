"""Exponential: waiting times."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from latently.distributions.base import UNSET, Distribution
from latently.distributions.columns import Columns, per_column, with_weight
from latently.distributions.families.gamma import Gamma
from latently.distributions.family import ExponentialFamily
from latently.distributions.floor import TOUCHING, Floor
from latently.distributions.inputs import Array, ColumnError
from latently.distributions.priors.base import PER_STRENGTH, as_prior
from latently.distributions.statistics import Additive


@dataclass(frozen=True, eq=False)
class Exponential(Columns, ExponentialFamily):
    """Independent columns of waiting times, with density rate exp(-rate x) for x >= 0.

    Features are (observed, x) per column; the conjugate prior is `Gamma`.

    Parameters
    ----------
    rate : (d,) events per unit, positive; the mean is 1 / rate

    Examples
    --------
    >>> Exponential().fit([1.0, 2.0, 6.0]).mean
    array([3.])
    >>> Exponential(0.5).cdf([2.0])
    array([0.632])
    """

    rate: Array = UNSET

    PARAMETERS: ClassVar[tuple[str, ...]] = ("rate",)
    SCALES: ClassVar[tuple[str, ...]] = ("log",)
    ABOUT_SCALE: ClassVar[bool] = True
    VALUES: ClassVar[str] = "finite numbers from 0 on"
    _ENDS: ClassVar[tuple[float, float]] = (0, np.inf)

    # statistics

    def _outside(self, X: Array) -> NDArray[np.bool_]:
        return np.asarray((X < 0) | np.isinf(X))

    def _features(self, X: Array, origin: Array | None) -> Array:
        return np.hstack([~np.isnan(X), np.nan_to_num(X)])

    def _natural(self, origin: Array | None) -> Array:
        return np.concatenate([np.log(self.rate), -self.rate])

    # evaluation

    def _column_log_prob(self, X: Array) -> Array:
        return np.asarray(np.log(self.rate) - self.rate * X)

    def _mean(self) -> Array:
        return np.asarray(1 / self.rate)

    def _variance(self) -> Array:
        return np.asarray(1 / self.rate**2)

    def _mode(self) -> Array:
        return np.zeros(self.n_columns)

    def _column_entropy(self) -> Array:
        return np.asarray(1 - np.log(self.rate))

    def _cdf(self, X: Array) -> Array:
        return np.asarray(-np.expm1(-self.rate * np.maximum(X, 0.0)))

    def _quantile(self, q: Array, upper: bool = False) -> Array:
        survival = special.xlogy(1.0, q) if upper else special.log1p(-q)
        return np.asarray(-survival / self.rate)

    def _kl(self, other: Distribution) -> float | None:
        if isinstance(other, Exponential):
            excess = (other.rate - self.rate) / self.rate
            return float((excess - np.log1p(excess)).sum())
        return Gamma(np.ones(self.n_columns), self.rate)._kl(other)

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        return rng.exponential(size=(n, self.n_columns)) / self.rate

    # fit

    def from_statistics(self, stats: Additive, prior: Gamma | None = None) -> Self:
        """One over the mean; with a Gamma prior, the mode of the posterior."""
        if prior is not None:
            rate = as_prior(prior, Gamma, self).posterior(stats).mode
            return type(self)(self._nonzero(rate, "has a posterior whose mode is a rate of 0: give a shape above 1"))
        weight, values = per_column(stats, 2, self)
        weight = with_weight(weight)
        return type(self)(
            weight / self._nonzero(values, "is all zeros, so that the rate has no bound: give a Gamma prior")
        )

    def gradient(self, stats: Additive) -> Array:
        """Entries less their expected number."""
        weight, values = per_column(stats, 2, self)
        return np.asarray(weight - values * self.rate)

    def default_prior(self, stats: Additive, strength: float, spread: Array | None) -> Gamma | None:
        """A Gamma about the scale of the shortest clusters."""
        mean = self.from_statistics(stats).mean
        strength = PER_STRENGTH * strength
        return Gamma(np.asarray(1 + strength), strength * (mean if spread is None else np.minimum(mean, spread)))

    def _fit_above(self, stats: Additive, floor: Floor) -> Self:
        weight, values = per_column(stats, 2, self)
        return type(self)(1 / np.maximum(values / with_weight(weight), np.sqrt(floor.least)))

    def is_on_floor(self, floor: Floor) -> bool:
        """Whether a mean has come down to it."""
        return bool((floor.varies & (self.mean <= TOUCHING * np.sqrt(floor.least))).any())

    def _nonzero(self, values: Array, reason: str) -> Array:
        if (values <= 0).any():
            raise ColumnError(int(np.argmin(values > 0)), reason)
        return values
