"""Gamma: positive values with a shape and a rate; the prior of Poisson and Exponential rates."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from latently.distributions.base import UNSET, Distribution
from latently.distributions.columns import Columns, per_column, with_weight
from latently.distributions.family import ExponentialFamily
from latently.distributions.floor import TOUCHING, Floor
from latently.distributions.inputs import Array, ColumnError
from latently.distributions.priors.base import Prior
from latently.distributions.priors.pseudo_rows import PseudoRows, with_pseudo_rows
from latently.distributions.statistics import Additive, as_sums


@dataclass(frozen=True, eq=False)
class Gamma(Columns, ExponentialFamily, Prior):
    """Gamma distribution, one per column, with density proportional to x^(shape-1) exp(-rate x) for x > 0.

    Features are (log x, x, observed) per column. As a prior of the rates of `Poisson` or `Exponential`,
    a single pair serves any number of columns.

    Parameters
    ----------
    shape : (d,) shape, positive
    rate : (d,) rate, positive; the mean is shape / rate

    Examples
    --------
    >>> from latently.distributions import Poisson
    >>> Gamma(2, 1).posterior(Poisson().statistics([3, 5]))
    Gamma(shape=array([10.]), rate=array([3.]))
    >>> Gamma().fit([1.0, 2.0, 4.0]).mean
    array([2.33])
    """

    shape: Array = UNSET
    rate: Array = UNSET

    PARAMETERS: ClassVar[tuple[str, ...]] = ("shape", "rate")
    SCALES: ClassVar[tuple[str, ...]] = ("log", "log")
    VALUES: ClassVar[str] = "positive finite numbers"
    _ENDS: ClassVar[tuple[float, float]] = (0, np.inf)

    # statistics

    def _outside(self, X: Array) -> NDArray[np.bool_]:
        return np.asarray((X <= 0) | np.isinf(X))

    def _features(self, X: Array, origin: Array | None) -> Array:
        seen = ~np.isnan(X)
        values = np.where(seen, X, 1.0)
        return np.hstack([np.log(values), values * seen, seen])

    def _natural(self, origin: Array | None) -> Array:
        constant = special.xlogy(self.shape, self.rate) - special.gammaln(self.shape)
        return np.concatenate([self.shape - 1, -self.rate, constant])

    def posterior(self, stats: Additive) -> Self:
        """Update on Poisson or Exponential data, whose natural parameters are both (log rate, -rate)."""
        events, exposure = per_column(stats, 2, self, shared=True)
        return type(self)(self.shape + events, self.rate + exposure)

    def log_marginal(self, stats: Additive) -> float:
        """Log density of Poisson or Exponential rows with the rates integrated out."""
        after = self.posterior(stats)
        return float((self._log_constant() - after._log_constant()).sum()) + as_sums(stats, "Gamma").base

    def _log_constant(self) -> Array:
        return np.asarray(self.shape * np.log(self.rate) - special.gammaln(self.shape))

    # evaluation

    def _column_log_prob(self, X: Array) -> Array:
        return np.asarray(special.xlogy(self.shape - 1, X) - self.rate * X + self._log_constant())

    def _mean(self) -> Array:
        return np.asarray(self.shape / self.rate)

    def _variance(self) -> Array:
        return np.asarray(self.shape / self.rate**2)

    def _mode(self) -> Array:
        if (self.shape < 1).any():
            c = int(np.argmax(self.shape < 1))
            raise ColumnError(c, f"has no mode: the Gamma density is unbounded at 0 for shape {self.shape[c]:g} < 1")
        return np.asarray((self.shape - 1) / self.rate)

    def _column_entropy(self) -> Array:
        a = self.shape
        return np.asarray(a - np.log(self.rate) + special.gammaln(a) + (1 - a) * special.digamma(a))

    def _cdf(self, X: Array) -> Array:
        return np.asarray(special.gammainc(self.shape, self.rate * np.maximum(X, 0.0)))

    def _quantile(self, q: Array, upper: bool = False) -> Array:
        inverse = special.gammainccinv if upper else special.gammaincinv
        return np.asarray(inverse(self.shape, q) / self.rate)

    def _kl(self, other: Distribution) -> float | None:
        if not isinstance(other, Gamma):
            return None
        a, b, c, d = self.shape, self.rate, other.shape, other.rate
        scale = (d - b) / b
        terms = special.gammaln(c) - special.gammaln(a) + (a - c) * special.digamma(a)
        return float((terms + (a - c) * scale + c * (scale - np.log1p(scale))).sum())

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        return rng.gamma(self.shape, size=(n, self.n_columns)) / self.rate

    # fit

    def from_statistics(self, stats: Additive, prior: PseudoRows | None = None) -> Self:
        """Maximum likelihood by Newton steps; `PseudoRows` are a prior."""
        stats = with_pseudo_rows(stats, prior, self)
        logs, values, weight = per_column(stats, 3, self)
        weight = with_weight(weight)
        mean, mean_log = values / weight, logs / weight
        gap = np.log(mean) - mean_log  # >= 0 by Jensen, and 0 only for a constant column
        flat = gap <= 1e-14 * np.maximum(1.0, np.abs(mean_log))
        if flat.any():
            raise ColumnError(
                int(np.argmax(flat)),
                "is constant (to rounding), so that no Gamma shape fits: use a Gaussian with a prior",
            )
        shape = _shape(gap)
        return type(self)(shape, shape / mean)

    def gradient(self, stats: Additive) -> Array:
        """Gradient in log shape and log rate."""
        logs, values, weight = per_column(stats, 3, self)
        by_shape = logs + weight * (np.log(self.rate) - special.digamma(self.shape))
        return np.concatenate([self.shape * by_shape, weight * self.shape - self.rate * values])

    def _fit_above(self, stats: Additive, floor: Floor) -> Self:
        """The likelihood of a shape, with the best rate for it, has one peak."""
        logs, values, weight = per_column(stats, 3, self)
        most, mean = floor.most_shape, values / with_weight(weight)
        gap = np.log(mean) - logs / weight
        fitted = gap > 0.5 / most  # about log(shape) - digamma(shape) at the largest one
        shape = np.where(fitted, np.minimum(_shape(np.where(fitted, gap, 1.0)), most), most)
        return type(self)(shape, shape / mean)

    def is_on_floor(self, floor: Floor) -> bool:
        """Whether a shape has grown as large as it may."""
        return bool((floor.varies & (self.shape * TOUCHING >= floor.most_shape)).any())


def _shape(gap: Array) -> Array:
    """Solve log(shape) - digamma(shape) = gap by Newton's method in 1 / shape."""
    shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(100):
        gradient = shape**2 * (1 / shape - special.polygamma(1, shape))  # < 0
        step = (np.log(shape) - special.digamma(shape) - gap) / gradient
        fresh = 1 / np.maximum(1 / shape + step, 0.1 / shape)  # a step never grows the shape more than tenfold
        if np.allclose(fresh, shape, rtol=1e-14, atol=0.0):
            break
        shape = fresh
    return np.asarray(shape)
