"""Columns that only say when: the year, month or weekday of the time beside them."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
_LEAST = 10
_EXACT = 1e-9


def is_calendar(x: Values, times: Values, *, dates: bool) -> bool:
    """Whether a column repeats the time in other units, or is a part of it.

    Parameters
    ----------
    x
        (n,) values of the column, NaN where missing.
    times
        (n,) seconds since 1970, or any numbers; years with fractions are read as dates.
    dates
        Whether they are seconds.

    Examples
    --------
    >>> months = np.arange("2000-01", "2004-01", dtype="datetime64[M]")
    >>> seconds = months.astype("datetime64[s]").astype(float)
    >>> is_calendar(np.tile(np.arange(1.0, 13.0), 4), seconds, dates=True)
    True
    >>> is_calendar(np.random.default_rng(0).poisson(5, 48).astype(float), seconds, dates=True)
    False
    """
    there = ~(np.isnan(x) | np.isnan(times))
    x, t = x[there], times[there]
    if len(x) < _LEAST or not np.ptp(x) > 0 or not np.ptp(t) > 0:
        return False
    if _is_line(x, t):
        return True
    parts = list(_of_seconds(t) if dates else _of_years(t))
    return any(_says_the_same(x, part) for part in parts) or (bool(parts) and _is_line(x, _months(t, dates)))


def is_shared(x: Values, times: Values) -> bool:
    """Whether rows of the same moment always share the value of a column: it says when, or what befell all at once.

    Examples
    --------
    >>> moments = np.array([1.0, 1, 2, 2])
    >>> is_shared(np.array([5.0, 5, 6, 6]), moments), is_shared(np.arange(4.0), moments)
    (True, False)
    """
    there = ~(np.isnan(x) | np.isnan(times))
    moments = np.unique(times[there])
    pairs = np.unique(np.column_stack([times[there], x[there]]), axis=0)
    return bool(len(moments) < there.sum() and len(pairs) == len(moments))


def is_measured(x: Values, times: Values) -> bool:
    """Whether most moments have a value of their own, unlike a clock's.

    Examples
    --------
    >>> is_measured(np.array([1.0, 2, 1, 2]), np.arange(4.0)), is_measured(np.array([1.3, 2.1, 1.4]), np.arange(3.0))
    (False, True)
    """
    there = ~(np.isnan(x) | np.isnan(times))
    return bool(len(np.unique(x[there])) > len(np.unique(times[there])) / 2)


def dated(years: Values) -> Values | None:
    """Seconds since 1970 of years with fractions, if all are the beginnings of months or quarters; None if not.

    Examples
    --------
    >>> dated(np.array([1970.0, 1970 + 1 / 12]))
    array([      0., 2678400.])
    """
    there = ~np.isnan(years)
    t = years[there]
    months = np.round(12 * t)
    if not len(t) or t.min() <= 1000 or t.max() >= 3000 or not (t % 1 > 0).any() or np.abs(12 * t - months).max() > 0.1:
        return None
    out = np.full(len(years), np.nan)
    out[there] = (months.astype(np.int64) - 12 * 1970).astype("datetime64[M]").astype("datetime64[s]").astype(float)
    return out


def _of_seconds(t: Values) -> Iterator[NDArray[np.int64]]:
    """Year, quarter, month, day of the month, of the week and of the year, hour."""
    moments = t.astype(np.int64).astype("datetime64[s]")
    months, days, hours = (moments.astype(f"datetime64[{unit}]").astype(np.int64) for unit in ("M", "D", "h"))
    year, first = moments.astype("datetime64[Y]"), moments.astype("datetime64[M]").astype("datetime64[D]")
    yield from (year.astype(np.int64), months // 3 % 4, months % 12, days - first.astype(np.int64), days % 7)
    yield from (days - year.astype("datetime64[D]").astype(np.int64), hours % 24)


def _of_years(t: Values) -> Iterator[NDArray[np.int64]]:
    """Year, quarter and month of years with fractions."""
    if not (t.min() > 1000 and t.max() < 3000 and (t % 1 > 0).any()):
        return
    months = np.round(12 * t).astype(np.int64)
    yield from (months // 12, months // 3 % 4, months % 12)


def _months(t: Values, dates: bool) -> Values:
    """Months since the year 1970, or 0."""
    return t.astype(np.int64).astype("datetime64[s]").astype("datetime64[M]").astype(float) if dates else 12 * t


def _is_line(x: Values, t: Values) -> bool:
    return bool(np.ptp(t) > 0 and 1 - abs(np.corrcoef(x, t)[0, 1]) < _EXACT)


def _says_the_same(x: Values, part: NDArray[np.int64]) -> bool:
    """Whether each value goes with one value of the other, both ways, and values repeat."""
    one, other = (np.unique(each, return_inverse=True)[1] for each in (x, part))
    size = int(other.max()) + 1
    if not 1 < size <= len(x) / 2 or int(one.max()) + 1 != size:
        return False
    return len(np.unique(one * size + other)) == size
