"""How the moments of a series are spaced: by months, days or any even step, and which periods that suggests."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
_DAY: Final = 86400.0
_YEAR: Final = 365.2425 * _DAY
_MONTHS: Final[
    tuple[tuple[tuple[float, float], int, str, tuple[int, ...]], ...]
] = (  # shortest and longest step in days, months in a step, its name, periods
    ((27.5, 31.5), 1, "month", (12,)),
    ((89.0, 92.5), 3, "quarter", (4,)),
    ((364.5, 366.5), 12, "year", ()),
)
_STEPS: Final[tuple[tuple[float, str, tuple[int, ...]], ...]] = (  # seconds, name, periods
    (60.0, "minute", (60, 1440)),
    (900.0, "quarter-hour", (96, 672)),
    (1800.0, "half-hour", (48, 336)),
    (3600.0, "hour", (24, 168)),
    (_DAY, "day", (7, 365)),
    (7 * _DAY, "week", (52,)),
)
_OF_A_YEAR: Final = (
    ("year", 1.0),
    ("month", 12.0),
    ("day", _YEAR / _DAY),
    ("hour", _YEAR / 3600),
    ("minute", _YEAR / 60),
)
_EVEN: Final = 0.9  # share of steps that must be the usual one, or a multiple of it
_MOST_GAPS: Final = 2.0  # places for each moment
_MOST_PLACES: Final = 100_000


@dataclass(frozen=True, eq=False)
class Spacing:
    """Places 0, 1, 2, ... of the moments of a series.

    Attributes
    ----------
    places
        (n,) place of each moment, rising.
    unit
        What a step is called: "month", "day", "step".
    periods
        Periods that are usual for such steps, in steps.
    per_year
        Steps in a year; None if time is neither dates nor years.
    """

    places: NDArray[np.int64]
    unit: str
    periods: tuple[int, ...]
    per_year: float | None

    @property
    def rate(self) -> tuple[str, float]:
        """The unit of time in which growth is told, the longest that the series is long enough for, and its steps."""
        if self.per_year is None:
            return self.unit, 1.0
        found = ((name, self.per_year / often) for name, often in _OF_A_YEAR)
        return next(((name, n) for name, n in found if n < 1.5 or n <= self.places[-1] / 1.5), (self.unit, 1.0))


def spacing(times: Values, *, dates: bool) -> Spacing | None:
    """Find the even step of moments; None if there is none.

    Parameters
    ----------
    times
        (n,) different moments, rising: seconds since 1970, or any numbers.
    dates
        Whether they are seconds.

    Examples
    --------
    >>> spacing(np.array([0.0, 31, 59, 90, 120]) * 86400, dates=True).unit
    'month'
    """
    steps = np.diff(times)
    if len(steps) < 3 or not (steps > 0).all():
        return None
    usual = float(np.median(steps))
    if dates:
        for (low, high), months, unit, periods in _MONTHS:
            if low * _DAY <= usual <= high * _DAY:
                return _checked(_month_numbers(times) // months, unit, periods, 12 / months)
    places = np.round((times - times[0]) / usual).astype(np.int64)
    off = np.abs(steps / usual - np.round(steps / usual))
    if (off < 0.02).mean() < _EVEN:
        return None
    if not dates:
        per_year = 1 / usual if _are_years(times) else None
        return _checked(places, "year" if per_year == 1 else "step", (), per_year)
    unit, periods = next(((u, p) for size, u, p in _STEPS if abs(usual / size - 1) < 0.02), ("step", ()))
    return _checked(places, unit, periods, _YEAR / usual)


def _are_years(times: Values) -> bool:
    """Whether numbers are years, one after the other or with as many between them."""
    return bool((times == np.round(times)).all() and times[0] >= 1500 and times[-1] <= 2100)


def _month_numbers(times: Values) -> NDArray[np.int64]:
    moments = [datetime.fromtimestamp(float(t), UTC) for t in times]
    return np.array([12 * moment.year + moment.month for moment in moments])


def _checked(places: NDArray[np.int64], unit: str, periods: tuple[int, ...], per_year: float | None) -> Spacing | None:
    """None if moments share a place, or if most places are empty."""
    places = places - places[0]
    span = int(places[-1]) + 1
    if (np.diff(places) < 1).any() or span > _MOST_GAPS * len(places) or span > _MOST_PLACES:
        return None
    return Spacing(places, unit, periods, per_year)
