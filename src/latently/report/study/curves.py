"""Rising curves that make a column look normal, chosen by its quantiles so that a few wild values have no say.

`latently.data.TablePrep` straightens by moments, which outliers rule, and its strongest curves (atan, cdf) hide the
outliers that a report is to show; hence these.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Values = NDArray[np.float64]

_LEVELS: Final = np.array([0.0125, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.975, 0.9875])
# a curve must take away this share of what is not normal, and there must be something to take away
_GAIN, _STRAIGHT = 0.25, 0.003
# Johnson's curve is fitted to the quantiles at these normal scores, and at three times them
_SCORE: Final = 0.65


@dataclass(frozen=True)
class Curve:
    """z = sign (f(sign x) - centre) / unit with f one of five kinds; the sign is -1 for tails to the left.

    Attributes
    ----------
    kind
        "none", "sqrt" or "root" (cube root) of x - shift, "log" (of x - shift) or "asinh" (of (x - shift) / spread).
    """

    kind: Literal["none", "sqrt", "root", "log", "asinh"]
    shift: float = 0.0
    spread: float = 1.0
    lowest: float = 0.0
    centre: float = 0.0
    unit: float = 1.0
    sign: float = 1.0

    def apply(self, x: Values) -> Values:
        """Values to scores."""
        return np.asarray(self.sign * (self._bend(self.sign * x) - self.centre) / self.unit)

    def _bend(self, x: Values) -> Values:
        if self.kind == "sqrt":
            return np.sqrt(np.maximum(x - self.shift, 0.0))
        if self.kind == "root":
            return np.cbrt(x - self.shift)
        if self.kind == "log":
            return np.log(np.maximum(x - self.shift, self.lowest))
        if self.kind == "asinh":
            return np.arcsinh((x - self.shift) / self.spread)
        return x

    def undo(self, z: Values) -> Values:
        """Scores to values."""
        return self.sign * self._unbend(self.sign * np.asarray(z, dtype=np.float64) * self.unit + self.centre)

    def _unbend(self, bent: Values) -> Values:
        if self.kind == "sqrt":
            return np.maximum(bent, 0.0) ** 2 + self.shift
        if self.kind == "root":
            return bent**3 + self.shift
        if self.kind == "log":
            return np.exp(np.minimum(bent, 700.0)) + self.shift
        if self.kind == "asinh":
            return np.sinh(np.clip(bent, -700.0, 700.0)) * self.spread + self.shift
        return bent


def fit_curve(values: Values, step: float = 0.0) -> Curve:
    """Give the curve under which the observed values look most normal; none if they look so already.

    Parameters
    ----------
    values
        (n,) values, NaN where missing.
    step
        Least distance of two different values: those of a coarse column are spread by it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> fit_curve(rng.normal(size=500)).kind, fit_curve(rng.exponential(size=500)).kind
    ('none', 'root')
    >>> fit_curve(rng.standard_t(2, size=1000)).kind
    'asinh'
    """
    x = values[~np.isnan(values)]
    x = x + step * np.random.default_rng(0).uniform(-0.5, 0.5, len(x))
    low, middle, high = np.quantile(x, _levels(len(x))[[0, 6, -1]])
    sign = 1.0 if high - middle >= middle - low else -1.0
    return replace(_right_skewed(sign * x, step), sign=sign)


def _right_skewed(x: Values, step: float) -> Curve:
    """The best curve for a column whose longer tail, if any, is to the right."""
    levels = _levels(len(x))
    q, normal = np.quantile(x, levels), ndtri(levels)
    plain = _strayed(q, normal)
    if plain <= _STRAIGHT + 1 / len(x):
        return _scaled(Curve("none"), q, normal, x)
    found = [(c, _strayed(c._bend(q), normal)) for c in _candidates(q, x, step)]
    best, strayed = min(found, key=lambda pair: pair[1], default=(Curve("none"), plain))
    return _scaled(best if strayed < (1 - _GAIN) * plain else Curve("none"), q, normal, x)


def _candidates(q: Values, x: Values, step: float) -> list[Curve]:
    made = []
    low, middle = float(x.min()), float(np.median(x))
    next_one = next((float(v) for v in q[2:] if v > q[0]), low)  # of few rows several of the lowest are one
    if q[0] - low <= 2 * (next_one - q[0]):  # a bound below: the smallest value is not far from the lowest hundredth
        base = (0.0 if low >= -step / 2 else low) - step
        made += [Curve("sqrt", shift=base), Curve("root", shift=base)]
        if low > 0:
            made.append(Curve("log", lowest=low))
        if (shift := (middle - low) / 3) > 0:
            made.append(Curve("log", shift=low - shift, lowest=shift))
    johnson = _johnson(x)
    return made if johnson is None else [*made, johnson]


def _johnson(x: Values) -> Curve | None:
    """Unbounded curve by four quantiles (Slifker and Shapiro); None for tails lighter than normal."""
    levels = 0.5 * (1 + np.sign([-3, -1, 1, 3]) * np.array([0.948823, 0.484350, 0.484350, 0.948823]))
    a, b, c, d = np.quantile(x, levels)
    m, n, p = d - c, b - a, c - b
    if not (p > 0 and m > 0 and n > 0 and m * n / p**2 > 1.02):
        return None
    tail = (m + n) / p
    skew = (n - m) / p
    spread = 2 * p * np.sqrt(m * n / p**2 - 1) / ((tail - 2) * np.sqrt(tail + 2))
    return Curve("asinh", shift=float((b + c) / 2 + p * skew / (2 * (tail - 2))), spread=float(spread))


def _levels(n: int) -> Values:
    """Levels of the quantiles that are looked at; of few rows, the two furthest on either side have no say."""
    edge = min(2 / max(n - 1, 1), 0.25)
    return np.asarray(np.clip(_LEVELS, edge, 1 - edge))


def _strayed(q: Values, normal: Values) -> float:
    """One minus the squared correlation of quantiles with those of a normal column."""
    spread = q.std()
    if not spread > 0:
        return 1.0
    return float(1 - (np.mean((q - q.mean()) * normal) / (spread * normal.std())) ** 2)


def _scaled(curve: Curve, q: Values, normal: Values, x: Values) -> Curve:
    bent = curve._bend(q)
    unit = float(np.mean((bent - bent.mean()) * normal) / np.mean(normal**2))
    if not unit > 1e-9 * float(np.abs(bent).max()):
        unit = float(curve._bend(x).std()) or 1.0
    return Curve(curve.kind, curve.shift, curve.spread, curve.lowest, float(bent.mean()), unit)
