"""What the places of a calendar's cycle are called: January, the first quarter, Monday."""

from datetime import date, timedelta
from typing import Final

import numpy as np

from latently.report.series.spacing import Spacing

_NAMES: Final = {
    ("month", 12): [date(2000, month, 1).strftime("%B") for month in range(1, 13)],
    ("quarter", 4): ["the first quarter", "the second quarter", "the third quarter", "the fourth quarter"],
    ("day", 7): [date(1970, 1, day).strftime("%A") for day in range(1, 8)],
    ("day", 365): [(date(2001, 1, 1) + timedelta(days=day)).strftime("%B") for day in range(365)],
    ("week", 52): [(date(2001, 1, 1) + timedelta(weeks=week)).strftime("%B") for week in range(52)],
    ("hour", 24): [f"{hour}:00" for hour in range(24)],
    ("hour", 168): [f"{date(1970, 1, 1 + h // 24):%A} {h % 24}:00" for h in range(168)],
}


def phase(steps: Spacing, period: int, begin: float, place: int) -> str | None:
    """Name a place of a season; None if the calendar has no name for it.

    Parameters
    ----------
    steps
        The steps of the series.
    period
        How many of them make a season.
    begin
        Seconds since 1970 of the first moment.
    place
        Steps from the first moment.

    Examples
    --------
    >>> months = Spacing(np.arange(24), "month", (12,), 12.0)
    >>> phase(months, 12, 0.0, 13)
    'February'
    """
    names = _NAMES.get((steps.unit, period))
    return names[(_first(steps, period, begin) + place) % period] if names else None


def _first(steps: Spacing, period: int, seconds: float) -> int:
    """Where in the calendar's cycle a series begins."""
    moment = np.datetime64(int(seconds), "s")
    hours, days, months = (int(moment.astype(f"datetime64[{unit}]").astype(int)) for unit in ("h", "D", "M"))
    of_year = int((moment.astype("datetime64[D]") - moment.astype("datetime64[Y]")).astype(int))
    if (steps.unit, period) == ("day", 365):
        return of_year % period
    return {"month": months % 12, "quarter": months % 12 // 3, "week": of_year // 7, "day": days, "hour": hours}[
        steps.unit
    ] % period
