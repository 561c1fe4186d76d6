"""Von Mises: angles around a circle, with a mean direction and a concentration."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from latently.distributions.base import UNSET, Distribution
from latently.distributions.columns import Columns, per_column, with_weight
from latently.distributions.family import ExponentialFamily
from latently.distributions.inputs import Array, ColumnError
from latently.distributions.priors.pseudo_rows import PseudoRows, with_pseudo_rows
from latently.distributions.quantiles import bisected
from latently.distributions.statistics import Additive

SERIES = np.array([1073 / 1024, 13 / 32, 25 / 128, 1 / 8, 1 / 8, 1 / 2, 0.0])
"""1 - I1(k) / I0(k) in powers of 1 / k, the highest first; exact to rounding for k above 500."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
"""Of quadratures over the part of the turn that has density."""


@dataclass(frozen=True, eq=False)
class VonMises(Columns, ExponentialFamily):
    """Independent columns of angles in radians, with density proportional to exp(concentration cos(x - direction)).

    Features are (cos x, sin x, observed) per column. An angle and the same angle after a full turn have the same
    density. `cdf`, `quantile`, `mean`, `variance` and `sample` are about the turn around the direction,
    from ``direction - pi`` to ``direction + pi``. A concentration of 0 is the uniform distribution.

    Parameters
    ----------
    direction : (d,) mean direction
    concentration : (d,) concentration, not negative; about 1 / variance where it is large

    Examples
    --------
    >>> VonMises(0.0, 2.0).prob([0.0, 3.14])
    array([0.516, 0.009])
    >>> north = VonMises().fit([6.2, 0.1, 0.3, 6.0])  # angles on both sides of a full turn
    >>> north.direction, north.concentration
    (array([0.0084]), array([21.8]))
    """

    direction: Array = UNSET
    concentration: Array = UNSET

    PARAMETERS: ClassVar[tuple[str, ...]] = ("direction", "concentration")
    SCALES: ClassVar[tuple[str, ...]] = ("real", "log")
    VALUES: ClassVar[str] = "finite angles in radians"

    # parameters

    def _check_parameter(self, name: str, values: Array) -> None:
        if name == "concentration" and (values < 0).any():
            raise ValueError(f"concentration of VonMises must not be negative, got {values}")

    # statistics

    def _outside(self, X: Array) -> NDArray[np.bool_]:
        return np.asarray(np.isinf(X))

    def _features(self, X: Array, origin: Array | None) -> Array:
        seen = ~np.isnan(X)
        angles = np.where(seen, X, 0.0)
        return np.hstack([np.cos(angles) * seen, np.sin(angles), seen])

    def _natural(self, origin: Array | None) -> Array:
        k = self.concentration
        return np.concatenate([k * np.cos(self.direction), k * np.sin(self.direction), -k - self._log_scale()])

    def _log_scale(self) -> Array:
        """Give log of 2 pi I0(concentration) exp(-concentration)."""
        return np.asarray(np.log(2 * np.pi * special.i0e(self.concentration)))

    # evaluation

    def _column_log_prob(self, X: Array) -> Array:
        # cos(a) - 1 = -2 sin(a / 2)^2 keeps the digits of narrow densities
        return np.asarray(-2 * self.concentration * np.sin((X - self.direction) / 2) ** 2 - self._log_scale())

    def _mean(self) -> Array:
        return self.direction

    @staticmethod
    def mixed_mean(members: Sequence[Any], shares: Array) -> Array:
        """Directions (n, d) of the mean vectors of mixtures of angles, with shares (n, K)."""
        angles, lengths = (np.array(part) for part in zip(*((m.direction, m._length()) for m in members), strict=True))
        return np.asarray(np.arctan2(shares @ (lengths * np.sin(angles)), shares @ (lengths * np.cos(angles))))

    @staticmethod
    def mixed_interval(members: Sequence[Any], shares: Array, level: float) -> tuple[Array, Array]:
        """Ends (n,) of equal-tailed intervals on the turn around the mean direction: they may lie beyond +-pi."""
        centre = VonMises.mixed_mean(members, shares)[:, 0]

        def turns(x: Array) -> Array:
            """Give (n, K) the cdf of each member, continued over all turns: one more after each."""
            gaps = np.stack([x - m.direction for m in members], axis=1)
            whole = np.floor(gaps / (2 * np.pi) + 0.5)
            rest = gaps - 2 * np.pi * whole
            return whole + np.stack([_cdf(rest[:, [k]], m.concentration)[:, 0] for k, m in enumerate(members)], axis=1)

        before = turns(centre - np.pi)

        def cdf(x: Array) -> Array:
            return np.asarray(np.einsum("nk,nk->n", shares, turns(centre + x) - before))

        half = np.full(len(centre), np.pi)
        low, high = (bisected(cdf, -half, half, q, False) for q in ((1 - level) / 2, (1 + level) / 2))
        return centre + low, centre + high

    def _length(self) -> Array:
        """Length of the mean vector: the expected cosine."""
        return np.asarray(1 - _shortfall(self.concentration))

    def _variance(self) -> Array:
        return _variance(self.concentration)

    def _mode(self) -> Array:
        return self.direction

    def _column_entropy(self) -> Array:
        return np.asarray(self._log_scale() + self.concentration * _shortfall(self.concentration))

    def _cdf(self, X: Array) -> Array:
        return _cdf(np.clip(X - self.direction, -np.pi, np.pi), self.concentration)

    def _quantile(self, q: Array, upper: bool = False) -> Array:
        levels = np.broadcast_to(q, (len(q), self.n_columns))
        found = _quantile(levels, self.concentration)
        return np.asarray(self.direction - found if upper else self.direction + found)

    def _kl(self, other: Distribution) -> float | None:
        if not isinstance(other, VonMises):
            return None
        short = _shortfall(self.concentration)
        apart = 2 * np.sin((self.direction - other.direction) / 2) ** 2  # 1 - cos
        spread = short * (other.concentration * (1 - apart) - self.concentration)
        scales = other._log_scale() - self._log_scale()
        return float((spread + other.concentration * apart + scales).sum())

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        return self.direction + rng.vonmises(0.0, self.concentration, size=(n, self.n_columns))

    # fit

    def from_statistics(self, stats: Additive, prior: PseudoRows | None = None) -> Self:
        """Maximum likelihood: the direction of the mean vector, and the concentration that explains its length."""
        stats = with_pseudo_rows(stats, prior, self)
        cosines, sines, weight = per_column(stats, 3, self)
        length = np.hypot(cosines, sines) / with_weight(weight)
        flat = length >= 1 - 1e-14
        if flat.any():
            raise ColumnError(
                int(np.argmax(flat)), "is one angle only (to rounding), so that no concentration fits: leave it out"
            )
        return type(self)(np.arctan2(sines, cosines), _concentration(length))


def _shortfall(k: Array) -> Array:
    """1 - I1(k) / I0(k), which is one minus the expected cosine."""
    large = np.maximum(k, 500.0)
    return np.where(k > 500.0, np.polyval(SERIES, 1 / large), 1 - special.i1e(k) / special.i0e(k))


def _slope(k: Array) -> Array:
    """Derivative of I1(k) / I0(k)."""
    large, small = np.maximum(k, 500.0), np.clip(k, 1e-8, 500.0)
    powers = np.polyval(np.polyder(SERIES), 1 / large) / large**2
    ratio = special.i1e(small) / special.i0e(small)
    return np.asarray(np.where(k > 500.0, powers, 1 - ratio / small - ratio**2))


def _concentration(length: Array) -> Array:
    """Solve I1(k) / I0(k) = length, which is below 1, by Newton steps from Fisher's approximations."""
    r, short = length, 1 - length
    low = 2 * r + r**3 + 5 * r**5 / 6
    middle = -0.4 + 1.39 * r + 0.43 / short
    high = 1 / (np.maximum(r, 0.5) * short * (3 - r))
    k = np.where(r < 0.53, low, np.where(r < 0.85, middle, high))
    for _ in range(20):
        # the equation whose terms keep their digits: for short vectors the length, for long ones what it lacks
        gap = np.where(r < 0.5, special.i1e(k) / special.i0e(k) - r, short - _shortfall(k))
        fresh = np.maximum(k - gap / _slope(k), 0.1 * k)
        done = np.abs(fresh - k) <= 1e-15 * k
        k = fresh
        if done.all():
            break
    return np.asarray(k)


def _density(x: Array, k: Array) -> Array:
    return np.asarray(np.exp(-2 * k * np.sin(x / 2) ** 2) / (2 * np.pi * special.i0e(k)))


def _variance(k: Array) -> Array:
    """Variance of the angle about its direction, over one turn."""
    reach = np.minimum(np.pi, 12 / np.sqrt(np.maximum(k, 1e-8)))
    x = reach * NODES[:, None]
    return np.asarray(reach * (WEIGHTS @ (x**2 * _density(x, k))))


def _cdf(x: Array, k: Array) -> Array:
    """Probability (n, d) of an angle up to x in [-pi, pi], for a direction of 0."""
    end = -np.abs(x)  # the lower half: a sum of small positive terms keeps its digits
    half = np.minimum(np.pi + end, 9 / np.sqrt(np.maximum(k, 1e-8))) / 2
    total = np.zeros(x.shape)
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        total += weight * _density(end - half * (1 + node), k)
    return np.where(x > 0, 1 - half * total, half * total)


def _quantile(levels: Array, k: Array) -> Array:
    """Angles (m, d) in [-pi, pi] whose cdf is `levels`: Newton steps inside a bracket that shrinks."""
    low, high = np.full(levels.shape, -np.pi), np.full(levels.shape, np.pi)
    x = np.zeros(levels.shape)
    for _ in range(200):
        gap = _cdf(x, k) - levels
        low, high = np.where(gap < 0, x, low), np.where(gap < 0, high, x)
        fresh = x - gap / np.maximum(_density(x, k), 1e-300)
        fresh = np.where((fresh > low) & (fresh < high), fresh, (low + high) / 2)
        done = np.abs(fresh - x) <= 4e-16 * np.maximum(np.abs(x), 1 / np.sqrt(1 + k))
        x = fresh
        if done.all():
            break
    return np.where(levels <= 0, -np.pi, np.where(levels >= 1, np.pi, x))
