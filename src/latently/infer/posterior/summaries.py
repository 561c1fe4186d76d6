"""Summaries of a density of one variable: whatever has `pdf`, `ppf` and `support`, as scipy's distributions have."""

from typing import Any, Protocol

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import gaussian_kde

from latently.infer.factors import Floats


class Marginal(Protocol):
    """A distribution of one variable."""

    def pdf(self, x: Any) -> Any:
        """Density."""
        ...

    def ppf(self, q: Any) -> Any:
        """Quantiles."""
        ...

    def support(self) -> tuple[float, float]:
        """Smallest and largest value."""
        ...


class Empirical:
    """The distribution of draws: quantiles as they are, the density smoothed."""

    def __init__(self, draws: Floats) -> None:
        self._draws = np.sort(draws)
        self._smooth: Any = None

    def pdf(self, x: Any) -> Any:
        """Density, by Gaussian kernels on at most 2000 of the draws."""
        if self._smooth is None:
            thinned = self._draws[np.linspace(0, len(self._draws) - 1, 2000).astype(int)]
            self._smooth = gaussian_kde(thinned)
        return self._smooth(np.atleast_1d(x)).reshape(np.shape(x))

    def ppf(self, q: Any) -> Any:
        """Quantiles of the draws."""
        return np.quantile(self._draws, q)

    def support(self) -> tuple[float, float]:
        """Smallest and largest draw."""
        return float(self._draws[0]), float(self._draws[-1])


def equal_tailed(marginal: Marginal, level: float) -> Floats:
    """Give the interval with as much probability below it as above it."""
    return np.asarray(marginal.ppf(np.array([(1 - level) / 2, (1 + level) / 2])), dtype=np.float64)


def shortest(marginal: Marginal, level: float) -> Floats:
    """Give the shortest interval of that probability: the highest density interval of a single hill."""

    def width(below: Any) -> Any:
        return marginal.ppf(below + level) - marginal.ppf(below)

    coarse = np.linspace(0, 1 - level, 201)
    widths = width(coarse)
    best = int(np.nanargmin(np.where(np.isfinite(widths), widths, np.inf)))
    low, high = coarse[max(best - 1, 0)], coarse[min(best + 1, len(coarse) - 1)]
    fine = minimize_scalar(lambda b: float(width(b)), bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    below = fine.x if fine.fun < widths[best] else coarse[best]
    return np.array([float(marginal.ppf(below)), float(marginal.ppf(below + level))])


def highest(marginal: Marginal) -> float:
    """Give the value of highest density."""
    places = _scan(marginal)
    heights = np.asarray(marginal.pdf(places))
    best = int(np.nanargmax(heights))
    low, high = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]
    if not low < high:
        return float(places[best])
    fine = minimize_scalar(
        lambda x: -float(marginal.pdf(x)), bounds=(low, high), method="bounded", options={"xatol": 1e-10 * (high - low)}
    )
    return float(fine.x) if -fine.fun > heights[best] else float(places[best])


def half_maximum(marginal: Marginal) -> Floats:
    """Give the two places around the highest one where the density has fallen to half: the error bars of a MAP.

    The end of the support, if it does not fall that far. A density that is infinite somewhere has none.
    """
    top = highest(marginal)
    half = float(marginal.pdf(top)) / 2
    if not np.isfinite(half):
        raise _no_maximum(top)
    places = _scan(marginal)
    below = [p for p in places[places < top][::-1] if marginal.pdf(p) < half]
    above = [p for p in places[places > top] if marginal.pdf(p) < half]
    fall = lambda x: float(marginal.pdf(x)) - half  # noqa: E731
    ends = [float(places[0]), float(places[-1])]
    if below:
        ends[0] = brentq(fall, below[0], top, xtol=1e-12 * max(1.0, abs(top)))
    if above:
        ends[1] = brentq(fall, top, above[0], xtol=1e-12 * max(1.0, abs(top)))
    if ends[1] - ends[0] < 1e-6 * np.diff(equal_tailed(marginal, 0.5))[0]:
        raise _no_maximum(top)  # panels and bins are finite even where the density is not
    return np.array(ends)


def _no_maximum(at: float) -> ValueError:
    return ValueError(f"the density rises without bound at {at:.6g}: it has no maximum; use quantiles or intervals")


def _scan(marginal: Marginal) -> Floats:
    """Give places from one end to the other, dense where probability is."""
    q = np.concatenate([[1e-9, 1e-6, 1e-4], np.linspace(0.001, 0.999, 999), [1 - 1e-4, 1 - 1e-6, 1 - 1e-9]])
    low, high = marginal.support()
    places = np.concatenate([np.asarray(marginal.ppf(q)), [e for e in (low, high) if np.isfinite(e)]])
    return np.unique(places)
