"""A series as trend, season and rest, added or multiplied; how strong each is, and whether chance explains it."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from latently.report.series.rising import TREND_ALARM, trend_p

Values = NDArray[np.float64]
_LEAST_CYCLES: Final = 2.5
_ROUNDS: Final = 3
_SHARE: Final = 5  # a trend without season is a mean over so large a part of the series
_CANDIDATES: Final = 6
_SHIFTS: Final = 199
_BESIDE: Final = 8  # waves of the spectrum that one is compared with
_LONG: Final = 50  # steps of a cycle, from which on it is smooth
ALARM: Final = 0.001


@dataclass(frozen=True, eq=False)
class Parts:
    """What a series is made of.

    Attributes
    ----------
    period
        Steps of the season; 0 if there is none.
    multiplied
        Whether the parts are factors: they were found in the logarithm.
    trend, season, rest
        (n,) parts that add up to the series, or to its logarithm.
    cycle
        (period,) the season, from the first place on.
    season_strength, trend_strength
        Share of the variance, next to the rest alone, from 0 to 1; of a season within its cycles.
    p_season, p_trend
        How often chance would bring as much, allowing for the memory of the rest.
    """

    period: int
    multiplied: bool
    trend: Values
    season: Values
    rest: Values
    cycle: Values
    season_strength: float
    trend_strength: float
    p_season: float
    p_trend: float


def decompose(y: Values, periods: tuple[int, ...] = ()) -> Parts:
    """Take a series apart.

    Parameters
    ----------
    y
        (n,) values at even steps; NaN where missing.
    periods
        Periods to try beside those that the series itself suggests.

    Examples
    --------
    >>> months = np.arange(120)
    >>> y = 100 * 1.01**months * (1 + 0.2 * np.sin(2 * np.pi * months / 12))
    >>> parts = decompose(y)
    >>> parts.period, parts.multiplied, round(parts.season_strength, 2)
    (12, True, 1.0)
    """
    filled = _filled(y)
    plain = _best(filled, periods)
    if filled.min() <= 0:
        return plain
    logged = _best(np.log(filled), periods, multiplied=True)
    return logged if _criterion(logged) + 2 * float(np.log(filled).sum()) < _criterion(plain) else plain


def _filled(y: Values) -> Values:
    """Missing values between observed ones, on the line that joins them."""
    seen = np.flatnonzero(~np.isnan(y))
    return np.interp(np.arange(len(y)), seen, y[seen])


def _criterion(parts: Parts) -> float:
    """Bayesian information criterion of the rest, up to a constant."""
    n = len(parts.rest)
    return n * float(np.log(max(float(np.mean(parts.rest**2)), 1e-300))) + min(parts.period, _LONG) * float(np.log(n))


def movement(y: Values, periods: tuple[int, ...] = ()) -> float:
    """Strength of the trend or the season of a series, whichever is more, beyond chance: a quick look."""
    parts = _best(_filled(y), periods, candidates=1)
    return max(parts.trend_strength * (parts.p_trend < TREND_ALARM), parts.season_strength * (parts.period > 0))


def _best(y: Values, periods: tuple[int, ...], *, multiplied: bool = False, candidates: int = _CANDIDATES) -> Parts:
    """With the season that is least likely by chance, if that is unlikely enough; without one if not."""
    without = _parts(y, 0, 1, multiplied)
    tried = [p for p in _suggested(y - without.trend, periods, candidates) if _LEAST_CYCLES * p <= len(y)]
    found = [_parts(y, p, len(tried), multiplied, usual=p in periods) for p in tried]
    seasonal = [parts for parts in found if parts.p_season < ALARM]
    return min(seasonal, key=_criterion, default=without)


def _suggested(rest: Values, periods: tuple[int, ...], candidates: int) -> list[int]:
    """Usual periods, and those at which the spectrum has its highest peaks."""
    power = np.abs(np.fft.rfft(rest - rest.mean())) ** 2
    power[:2] = 0.0
    peaks = np.argsort(-power, kind="stable")[:candidates]
    own = [round(len(rest) / int(k)) for k in peaks if power[k] > 0]
    return sorted({p for p in (*periods, *own) if p > 1})


def _parts(y: Values, period: int, tried: int, multiplied: bool, *, usual: bool = False) -> Parts:
    """Trend and season in turns: each is what is smooth, or repeats, in what the other leaves."""
    season, cycle = np.zeros(len(y)), np.zeros(max(period, 1))
    width = _width(len(y), period)
    for _ in range(_ROUNDS if period else 1):
        trend = _smooth(y - season, width)
        if period:
            cycle = _cycle(y - trend, period)
            season = cycle[np.arange(len(y)) % period]
    rest = y - trend - season
    near = y - _smooth(y, period) if period else rest  # beside what lasts longer than a cycle
    return Parts(
        period, multiplied, trend, season, rest, cycle,
        _strength(season, near - season), _strength(trend, rest),
        min(1.0, tried * _season_p(y - trend, period, usual)) if period else 1.0,
        trend_p(y - season),
    )  # fmt: skip


def _width(n: int, period: int) -> int:
    """Places over which a trend is a mean: a part of the series, in whole cycles."""
    part = max(3, n // _SHARE)
    return period * max(1, round(part / period)) if period else part


def _smooth(y: Values, width: int) -> Values:
    """Mean over `width` places around each, with half weights at the ends of an even one; lines at both ends."""
    kernel = np.ones(width) if width % 2 else np.r_[0.5, np.ones(width - 1), 0.5]
    half = len(kernel) // 2
    if len(y) < 2 * len(kernel):
        line = np.polynomial.Polynomial.fit(np.arange(len(y)), y, 1)
        return np.asarray(line(np.arange(len(y))))
    out = np.empty(len(y))
    out[half:-half] = np.convolve(y, kernel / kernel.sum(), mode="valid")
    near = np.arange(2 * len(kernel))
    for part, at in ((slice(None, len(near)), slice(None, half)), (slice(-len(near), None), slice(-half, None))):
        line = np.polynomial.Polynomial.fit(near, y[part], 1)
        out[at] = line(near)[at]
    return out


def _cycle(y: Values, period: int) -> Values:
    places = np.arange(len(y)) % period
    means = np.bincount(places, y, period) / np.bincount(places, minlength=period)
    if period >= _LONG:
        width = period // 12 | 1
        means = np.convolve(np.r_[means, means, means], np.ones(width) / width, mode="same")[period : 2 * period]
    return np.asarray(means - means.mean())


def _strength(part: Values, rest: Values) -> float:
    both = float(np.var(part + rest))
    return max(0.0, 1 - float(np.var(rest)) / both) if both > 0 else 0.0


def _season_p(y: Values, period: int, usual: bool) -> float:
    """P-value of a season; of a period that the calendar suggests by the smaller of two tests, doubled."""
    by_cycles = _cycles_p(y, period)
    return min(1.0, 2 * min(by_cycles, _wave_p(y, period))) if usual else by_cycles


def _wave_p(y: Values, period: int) -> float:
    """How often a wave of the period would rise as far above the waves beside it in the spectrum.

    Few cycles cannot show that each begins at the same place; a year of days has a wave far above its neighbours.
    """
    cycles = len(y) // period
    z = y[: cycles * period] - y[: cycles * period].mean()
    power = np.abs(np.fft.rfft(z)) ** 2
    low, high = max(cycles // 2, 1), 2 * cycles + _BESIDE // 2
    beside = np.delete(power[low : high + 1], cycles - low)
    if cycles < 2 or len(beside) < _BESIDE // 2 or not beside.mean() > 0:
        return 1.0
    return float(stats.f.sf(power[cycles] / beside.mean(), 2, 2 * len(beside)))


def _cycles_p(y: Values, period: int) -> float:
    """How often the mean cycle would be as large if every cycle began at a place of its own, whatever its memory."""
    cycles = y[: len(y) // period * period].reshape(-1, period)
    cycles = cycles - cycles.mean(axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    shifts = rng.integers(0, period, size=(_SHIFTS, len(cycles), 1))
    moved = np.take_along_axis(
        np.broadcast_to(cycles, (_SHIFTS, *cycles.shape)), (np.arange(period) + shifts) % period, 2
    )
    chance = (moved.mean(axis=1) ** 2).sum(axis=1)
    found, mean, variance = float((cycles.mean(axis=0) ** 2).sum()), float(chance.mean()), float(chance.var())
    if variance <= 0:
        return 1.0
    return float(stats.gamma.sf(found, mean**2 / variance, scale=variance / mean))
