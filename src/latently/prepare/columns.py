"""What can be done to one numeric column: take out skew, tame outliers, scale; each can be undone."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[np.float64]
Skew: TypeAlias = Literal["none", "log", "atan", "cdf"]
Scale: TypeAlias = Literal["standard", "robust", "range", "none"]

MAD_TO_SD: Final = 1.482602218505602  # a normal column's standard deviation over its median absolute deviation
MILD_SKEW: Final = 1.0
_KNOTS: Final = 1001


def skewness(values: Values) -> float:
    """Third standardised moment of the observed values; 0 for a constant column.

    Examples
    --------
    >>> skewness(np.array([0.0, 0.0, 3.0, np.nan]))
    0.707
    """
    seen = values[~np.isnan(values)]
    if len(seen) == 0:
        return 0.0
    gap = seen - seen.mean()
    spread = float(np.abs(gap).max())
    if spread <= 8 * np.finfo(float).eps * float(np.abs(seen).max()):
        return 0.0
    gap = gap / spread
    return float((gap**3).mean() / (gap**2).mean() ** 1.5)


def middle(values: Values) -> tuple[float, float]:
    """Median of the observed values, and a robust standard deviation (the usual one if half are equal)."""
    seen = values[~np.isnan(values)]
    if len(seen) == 0:
        return 0.0, 1.0
    centre = float(np.median(seen))
    gap = np.abs(seen - centre)
    spread = float(np.median(gap)) * MAD_TO_SD
    if spread == 0:
        spread = float(np.sqrt((gap**2).mean()))
    return centre, spread if spread > 8 * np.finfo(float).eps * abs(centre) else 1.0


@dataclass(frozen=True, eq=False)
class Curve:
    """A rising function of a column that takes out skew.

    Parameters
    ----------
    kind : "none", "log" (of x + shift), "atan" (of (x - shift) / unit) or "cdf" (shares of the values up to
    x)
    shift, unit : as above
    lowest : smallest argument that a log is taken of; smaller values are lifted to it
    knots, levels : values and shares between which the cdf is interpolated
    """

    kind: Skew
    shift: float = 0.0
    unit: float = 1.0
    lowest: float = 0.0
    knots: Values | None = None
    levels: Values | None = None

    def apply(self, x: Values) -> Values:
        """Values to straight ones; missing stays missing."""
        if self.kind == "log":
            return np.asarray(np.log(np.maximum(x + self.shift, self.lowest)))
        if self.kind == "atan":
            return np.asarray(np.arctan((x - self.shift) / self.unit))
        if self.kind == "cdf" and self.knots is not None and self.levels is not None:
            return _through(x, self.knots, self.levels)
        return x

    def undo(self, x: Values) -> Values:
        """Straight values back; beyond the range of the curve, its end."""
        if self.kind == "log":
            return np.asarray(np.exp(x) - self.shift)
        if self.kind == "atan":
            edge = np.pi / 2 * (1 - 1e-12)
            return np.asarray(np.tan(np.clip(x, -edge, edge)) * self.unit + self.shift)
        if self.kind == "cdf" and self.knots is not None and self.levels is not None:
            return _through(x, self.levels, self.knots)
        return x


def _through(x: Values, knots: Values, levels: Values) -> Values:
    return np.where(np.isnan(x), np.nan, np.interp(np.nan_to_num(x), knots, levels))


def fit_curve(values: Values, kind: Skew) -> Curve:
    """Give the curve of a kind for the values of a column."""
    seen = values[~np.isnan(values)]
    if kind == "none" or len(seen) == 0:
        return Curve("none")
    if kind == "log":
        low = float(seen.min())
        if low > 0:
            return Curve("log", lowest=low)
        unit = float(np.median(seen - low)) or float(seen.max() - low) or 1.0
        return Curve("log", shift=unit - low, lowest=unit)
    if kind == "atan":
        return Curve("atan", *middle(seen))
    return _cdf(seen)


def _cdf(seen: Values) -> Curve:
    values, counts = np.unique(seen, return_counts=True)
    levels = (np.cumsum(counts) - 0.5 * counts) / len(seen)  # ties share the middle of their step
    if len(values) > _KNOTS:
        picked = np.unique(np.linspace(0, len(values) - 1, _KNOTS).round().astype(np.intp))
        values, levels = values[picked], levels[picked]
    return Curve("cdf", knots=values, levels=levels)


def mildest(values: Values) -> Curve:
    """Give the mildest curve that brings the skewness to at most 1: none, log (right tails), atan, cdf.

    Examples
    --------
    >>> mildest(np.exp(np.linspace(0, 8, 100))).kind
    'log'
    >>> mildest(np.linspace(0, 8, 100)).kind
    'none'
    """
    skew = skewness(values)
    kinds: tuple[Skew, ...] = ("none", "log", "atan") if skew > 0 else ("none", "atan")
    for kind in kinds:
        curve = fit_curve(values, kind)
        if abs(skewness(curve.apply(values))) <= MILD_SKEW:
            return curve
    return fit_curve(values, "cdf")


def fit_scale(values: Values, kind: Scale) -> tuple[float, float]:
    """Centre and unit of a column; a constant column has the unit 1."""
    seen = values[~np.isnan(values)]
    if kind == "none" or len(seen) == 0:
        return 0.0, 1.0
    if kind == "robust":
        return middle(seen)
    if kind == "range":
        centre, unit = float(seen.min()), float(seen.max() - seen.min())
    else:
        centre, unit = float(seen.mean()), float(seen.std())
    return centre, unit_of(centre, unit)


def unit_of(centre: float, spread: float) -> float:
    """The spread of a column, or 1 if it is no more than rounding."""
    return spread if spread > 8 * np.finfo(float).eps * abs(centre) else 1.0


@dataclass(frozen=True, eq=False)
class NumericStep:
    """What is done to a numeric column, in this order: curve, limits, centre and unit, fill.

    Parameters
    ----------
    curve : takes out skew
    limits : lowest and highest value (after the curve) that is not an outlier
    outliers : what becomes of values beyond the limits: "keep", "clip" or "missing"
    centre, unit : taken away and divided by
    fill : what missing values become, on the new scale; None if they stay missing
    """

    curve: Curve
    limits: tuple[float, float]
    outliers: str
    centre: float
    unit: float
    fill: float | None

    def apply(self, x: Values) -> Values:
        """Prepare values."""
        out = self.tamed(self.curve.apply(x))
        out = (out - self.centre) / self.unit
        return out if self.fill is None else np.where(np.isnan(out), self.fill, out)

    def tamed(self, x: Values) -> Values:
        """Straight values without outliers."""
        low, high = self.limits
        if self.outliers == "clip":
            return np.clip(x, low, high)
        if self.outliers == "missing":
            return np.where((x < low) | (x > high), np.nan, x)
        return x

    def undo(self, x: Values) -> Values:
        """Give prepared values as they were; what was clipped or filled stays so."""
        return self.curve.undo(x * self.unit + self.centre)
