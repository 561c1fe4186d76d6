"""Negative binomial: counts that vary more than Poisson's."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from latently.distributions.base import UNSET
from latently.distributions.columns import Columns, with_weight
from latently.distributions.family import Family
from latently.distributions.inputs import Array, as_rows, as_weights, no_negative
from latently.distributions.priors.pseudo_rows import PseudoRows, with_pseudo_rows
from latently.distributions.statistics import Additive

STIRLING = 50.0
"""Argument from which three terms of Stirling's series give log gamma to rounding."""
POISSON = 1e-8
"""Least share of the variance beyond the mean that counts as overdispersion: sizes stay below mean / POISSON."""
LONGEST = 1_000_000
"""Counts up to which sums over all of them are taken term by term."""


@dataclass(frozen=True, eq=False)
class Histogram(Additive):
    """Weight of each different count: what a fit needs to know where no sum of features is enough.

    Parameters
    ----------
    values : (m,) different counts, in order
    weight : (m, d) weight of the entries of each column with that count

    Examples
    --------
    >>> one = NegativeBinomial().statistics([0, 2, 2])
    >>> (one + one).weight[:, 0], (one - one).values
    (array([2., 4.]), array([], dtype=float64))
    """

    values: Array
    weight: Array

    def _combine(self, other: Self, sign: int) -> Self:
        if self.weight.shape[1:] != other.weight.shape[1:]:
            raise ValueError(
                f"statistics of {self.weight.shape[1]} and {other.weight.shape[1]} columns do not add: the chunks "
                "differ in columns"
            )
        values = np.concatenate([self.values, other.values])
        return type(self).of(values, np.concatenate([self.weight, sign * other.weight]))

    @classmethod
    def of(cls, values: Array, weight: Array) -> Self:
        """Sum up the weights (n, d) of equal values, (n,) or (n, d); those without any are left out."""
        n, d = weight.shape
        entries = np.broadcast_to(values if values.ndim == 2 else values[:, None], (n, d))
        different, where = np.unique(entries, return_inverse=True)
        cells = where.reshape(n, d) * d + np.arange(d)
        total = np.bincount(cells.ravel(), weight.ravel(), len(different) * d).reshape(-1, d)
        used = (total != 0).any(axis=1)
        return cls(different[used], total[used])


@dataclass(frozen=True, eq=False)
class NegativeBinomial(Columns, Family):
    """Independent columns of counts with a mean and a size; the variance is ``mean + mean**2 / size``.

    Poisson counts whose rates vary, by a Gamma distribution with shape `size`, are of this kind. In another notation,
    the number of failures before `size` successes that have probability ``size / (size + mean)`` each. As the size
    grows this becomes a Poisson distribution. With the size learnt this is no exponential family: statistics are a
    `Histogram`, which holds every different count once.

    Parameters
    ----------
    mean : (d,) expected count of each column, not negative
    size : (d,) size, positive

    Examples
    --------
    >>> NegativeBinomial(mean=2.0, size=1.0).prob([0, 1])
    array([0.333, 0.222])
    >>> found = NegativeBinomial().fit([0, 0, 1, 2, 9, float("nan")])
    >>> found.mean, found.size
    (array([2.4]), array([0.51]))
    """

    mean: Array = UNSET
    size: Array = UNSET

    PARAMETERS: ClassVar[tuple[str, ...]] = ("mean", "size")
    SCALES: ClassVar[tuple[str, ...]] = ("log", "log")
    VALUES: ClassVar[str] = "whole numbers from 0 on"
    _DISCRETE: ClassVar[bool] = True
    _ENDS: ClassVar[tuple[float, float]] = (0, np.inf)

    # parameters

    def _check_parameter(self, name: str, values: Array) -> None:
        if name == "size":
            super()._check_parameter(name, values)
        elif (values < 0).any():
            raise ValueError(f"{name} of NegativeBinomial must not be negative, got {values}")

    @property
    def probability(self) -> Array:
        """(d,) probability of a success, ``size / (size + mean)``."""
        return np.asarray(self._ready().size / (self.size + self.mean))

    # statistics

    def _outside(self, X: Array) -> NDArray[np.bool_]:
        return np.asarray((X < 0) | np.isinf(X) | ((np.floor(X) != X) & ~np.isnan(X)))

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Histogram:
        """Weight of each different count; an error names the first value that is none."""
        rows = self._supported(as_rows(X, self._width()))
        w = as_weights(weights, len(rows))
        seen = ~np.isnan(rows)
        return Histogram.of(np.where(seen, rows, 0.0), w[:, None] * seen)

    def log_likelihood(self, stats: Additive) -> float:
        """Sum over the different counts."""
        if not isinstance(stats, Histogram):
            raise TypeError(f"NegativeBinomial reads a Histogram of counts as statistics, not {type(stats).__name__}")
        return float((stats.weight * self._column_log_prob(stats.values[:, None])).sum())

    # evaluation

    def _column_log_prob(self, X: Array) -> Array:
        return np.asarray(_log_prob(X, self.mean, self.size))

    def _mean(self) -> Array:
        return self.mean

    def _variance(self) -> Array:
        return np.asarray(self.mean + self.mean**2 / self.size)

    def _mode(self) -> Array:
        return np.floor(self.mean * np.maximum(1 - 1 / self.size, 0.0))

    def _column_entropy(self) -> Array:
        return np.array([_entropy(float(m), float(r)) for m, r in zip(self.mean, self.size, strict=True)])

    def _cdf(self, X: Array) -> Array:
        r, m = self.size, self.mean
        whole = np.floor(np.maximum(X, 0.0))
        lower = special.betainc(r, whole + 1, r / (r + m))
        # for large sizes the success's probability is 1 to rounding, and the failure's has all the digits
        found = np.where((m > r) | (r < 1e4), lower, 1 - special.betainc(whole + 1, r, m / (r + m)))
        return np.where(X < 0, 0.0, np.where(np.isinf(X), 1.0, found))

    def _quantile(self, q: Array, upper: bool = False) -> Array:
        level = np.broadcast_to(1 - q if upper else q, (len(q), self.n_columns))
        low, high = np.full(level.shape, -1.0), np.ones(level.shape) * np.ceil(self.mean)
        inner = np.minimum(level, 1 - 1e-16)
        while (short := self._cdf(high) < inner).any():
            low, high = np.where(short, high, low), np.where(short, 2 * high + 1, high)
        while (high - low > 1).any():
            middle = np.where(high - low > 1, np.floor((low + high) / 2), high)
            reached = self._cdf(middle) >= inner
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        return np.where((level >= 1) & (self.mean > 0), np.inf, high)

    def _atoms(self) -> Array | None:
        if self.n_columns > 1 or (reach := _reach(float(self.mean[0]), float(self.size[0]))) > LONGEST:
            return None
        return np.arange(reach, dtype=np.float64)[:, None]

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        rates = rng.gamma(self.size, size=(n, self.n_columns)) * (self.mean / self.size)
        return rng.poisson(rates).astype(np.float64)

    # fit

    def from_statistics(self, stats: Additive, prior: PseudoRows | None = None) -> Self:
        """Maximum likelihood: the mean count, and the size by Newton steps.

        Counts that vary no more than Poisson's are most likely in the limit of an infinite size: theirs is 1e8 times
        the mean, which differs from that limit by less than rounding of a likelihood. It is 1 where all are zero.
        """
        if not isinstance(stats, Histogram):
            raise TypeError(f"NegativeBinomial reads a Histogram of counts as statistics, not {type(stats).__name__}")
        if self._width() not in (None, stats.weight.shape[1]):
            raise ValueError(f"statistics of {stats.weight.shape[1]} columns are not those of {self}")
        stats = with_pseudo_rows(stats, prior, self)
        weight = no_negative(stats.weight, "weights")
        share = weight / with_weight(weight.sum(axis=0))
        mean = stats.values @ share
        return type(self)(mean, np.array([_size(stats.values, p, m) for p, m in zip(share.T, mean, strict=True)]))

    def default_prior(self, stats: Additive, strength: float, spread: Array | None) -> PseudoRows:
        """Counts as those of all rows, worth so many rows, or so many events if those are less."""
        assert isinstance(stats, Histogram)
        weight = no_negative(stats.weight, "weights")
        rows = with_weight(weight.sum(axis=0))
        share = strength / (rows * np.maximum(stats.values @ weight / rows, 1.0))
        return PseudoRows(replace(stats, weight=weight * share))


def _tail(z: Array) -> Array:
    """What Stirling's formula lacks of log gamma(z)."""
    return np.asarray((1 / 12 - (1 / 360 - 1 / (1260 * z**2)) / z**2) / z)


def _log_rising(z: Array, b: Array) -> Array:
    """Give log gamma(z + b) - log gamma(z), for large z without the cancellation."""
    wide = np.maximum(z, STIRLING)
    step = np.maximum(b, -0.5 * wide)  # other than b only where the other formula is used
    growth = (wide + step - 0.5) * np.log1p(step / wide)
    series = growth + step * (np.log(wide) - 1) + _tail(wide + step) - _tail(wide)
    return np.asarray(np.where(z >= STIRLING, series, special.gammaln(z + b) - special.gammaln(z)))


def _log_prob(x: Array, m: Array | float, r: Array | float) -> Array:
    m, r = np.asarray(m, dtype=np.float64), np.asarray(r, dtype=np.float64)
    few = _log_rising(r, x) - special.gammaln(x + 1)
    many = _log_rising(x + 1, r - 1) - special.gammaln(r)
    failures = np.where(m > r, -x * np.log1p(r / np.maximum(m, r)), special.xlogy(x, m / (r + m)))
    return np.asarray(np.where(x + 1 > r, many, few) - r * np.log1p(m / r) + failures)


def _reach(m: float, r: float) -> float:
    """A count that no more than rounding lies above."""
    return float(np.ceil(m + 60 * np.sqrt(m + m**2 / r) + 60 * (1 + m / r)))


def _entropy(m: float, r: float) -> float:
    """Sum term by term; from LONGEST on the terms change so slowly that an integral is as good."""

    def terms(x: Array) -> Array:
        log_p = _log_prob(x, m, r)
        return -np.exp(log_p) * np.where(np.isinf(log_p), 0.0, log_p)

    reach = _reach(m, r)
    total = float(terms(np.arange(min(reach, LONGEST))).sum())
    if reach <= LONGEST:
        return total
    start = max(LONGEST - 0.5, m - 60 * np.sqrt(m + m**2 / r))
    edges = np.linspace(np.log(start), np.log(reach), 401)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    x = np.exp(edges[:-1, None] + half * (1 + nodes))
    return total + float((half * weights * x * terms(x)).sum())


def _log1p_rest(d: Array) -> Array:
    """Give log(1 + d) - d, which is about -d^2 / 2."""
    small = np.where(np.abs(d) < 0.1, d, 0.0)
    powers = np.array([(-1.0) ** (j + 1) / j for j in range(18, 1, -1)])
    return np.where(np.abs(d) < 0.1, small**2 * np.polyval(powers, small), np.log1p(d) - d)


def _score(x: Array, share: Array, m: float, r: float) -> tuple[float, float]:
    """Derivative of the mean log-likelihood by the size, the mean at its best, and the derivative of that."""
    if r < STIRLING:
        first = share @ (special.digamma(x + r) - special.digamma(r)) - np.log1p(m / r)
        second = share @ (special.polygamma(1, x + r) - special.polygamma(1, r)) + m / (r * (r + m))
        return float(first), float(second)
    top = x + r
    steps = x / (2 * r * top) + x * (r + top) / (12 * r**2 * top**2) * (1 - (r**2 + top**2) / (10 * r**2 * top**2))
    first = share @ (_log1p_rest((x - m) / (r + m)) + steps)
    second = share @ (m / (r * (r + m)) - x / (r * top) - x * (r + top) / (2 * r**2 * top**2))
    return float(first), float(second)


def _size(x: Array, share: Array, m: float) -> float:
    """Most likely size for counts x with these shares, by Newton's method in log(size) inside a bracket."""
    if m == 0:
        return 1.0
    beyond = float(share @ (x - m) ** 2) - m  # the only root is there if this is positive
    most = m / POISSON
    if beyond <= POISSON * m:
        return most
    low, high = 0.0, most
    r = min(m**2 / beyond, most)
    for _ in range(200):
        first, second = _score(x, share, m, r)
        low, high = (r, high) if first > 0 else (low, r)
        fresh = r * np.exp(np.clip(-first / (r * second), -3.0, 3.0)) if second < 0 else low
        if not low < fresh < high:
            fresh = np.sqrt(low * high) if low > 0 else high / 10
        if abs(fresh - r) <= 1e-14 * r:
            break
        r = float(fresh)
    return float(r)
