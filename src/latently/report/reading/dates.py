"""Dates as people write them; whether the day or the month comes first is found out from the whole column."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from itertools import pairwise
from typing import Final

_SHORT: Final = "jan feb mar apr may jun jul aug sep oct nov dec"
_LONG: Final = "january february march april may june july august september october november december"
_MONTHS: Final = {name: month for names in (_SHORT, _LONG) for month, name in enumerate(names.split(), 1)} | {"sept": 9}
_NAME: Final = r"(?P<name>[A-Za-z]{3,9})\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_TIME: Final = (
    r"(?:[T ,]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
    r"\s*(?:Z|UTC|[+\-]\d{2}:?\d{2})?)?"
)
_WEEKDAY: Final = r"(?:(?:Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat|Sun)[a-z]*\.?,?\s+)?"
_FORMS: Final = tuple(
    (form, re.compile(rf"^{_WEEKDAY}{pattern}{_TIME}$", re.IGNORECASE))
    for form, pattern in (
        ("year first", r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})"),
        ("digits", r"(?P<year>(?:18|19|20|21)\d{2})(?P<month>\d{2})(?P<day>\d{2})"),
        ("slashes", r"(?P<one>\d{1,2})/(?P<two>\d{1,2})/(?P<year>\d{4}|\d{2})"),
        ("dots", r"(?P<one>\d{1,2})\.(?P<two>\d{1,2})\.(?P<year>\d{4}|\d{2})"),
        ("dashes", r"(?P<one>\d{1,2})-(?P<two>\d{1,2})-(?P<year>\d{4}|\d{2})"),
        ("month day year", rf"{_NAME}[ \-]{_DAY},?[ \-](?P<year>\d{{4}})"),
        ("day month year", rf"{_DAY}[ \-]{_NAME},?[ \-](?P<year>\d{{4}}|\d{{2}})"),
        ("year month", r"(?P<year>\d{4})[-/](?P<month>\d{1,2})"),
        ("month year", rf"{_NAME}[ \-](?P<year>\d{{4}})"),
        ("year and name of the month", rf"(?P<year>\d{{4}})[ \-]{_NAME}"),
        ("year quarter", r"(?P<year>\d{4})[ \-]?Q(?P<quarter>[1-4])"),
        ("quarter year", r"Q(?P<quarter>[1-4])[ \-](?P<year>\d{4})"),
        ("year week", r"(?P<year>\d{4})[ \-]?W(?P<week>\d{2})"),
    )
)
_NUMERIC: Final = ("slashes", "dots", "dashes")
_LEAST_SHARE: Final = 0.8  # of the different texts that must be dates for the others to be called impossible
_LEAST_STEPS: Final = 4  # from date to date, all up, that tell what comes first
_PIVOT: Final = 69  # two digits of a year up to which the century is the 21st


@dataclass(frozen=True)
class Dates:
    """The dates of a column.

    Attributes
    ----------
    values
        Seconds since 1970 for each text; NaN for one that looks like a date and is none.
    notes
        How they were read, if that is not plain.
    impossible
        The texts that look like dates and are none, such as 2023-02-30.
    day_first
        Whether the day comes before the month where both are numbers.
    formats
        How many different texts are written in each way, the most common first; empty if all are in ISO 8601.
    """

    values: dict[str, float]
    notes: tuple[str, ...]
    impossible: tuple[str, ...]
    day_first: bool = False
    formats: dict[str, int] = field(default_factory=dict)


def read_dates(texts: Iterable[str]) -> Dates | None:
    """Read texts as dates; None if they are not.

    Parameters
    ----------
    texts
        The different texts of a column.

    Examples
    --------
    >>> read_dates(["31/12/2023", "01/02/2023"]).values["01/02/2023"] == read_dates(["2023-02-01"]).values["2023-02-01"]
    True
    >>> read_dates(["Jan 1 2000", "Feb 30 2000", "Mar 3 2000", "Mar 4 2000", "Mar 5 2000", "Mar 6 2000"]).impossible
    ('Feb 30 2000',)
    """
    given = [text for text in texts if text.strip()]
    if (plain := _iso(given)) is not None:
        return Dates(plain, (), ())
    found = [(text, *_form(text.strip())) for text in given]
    if not given or any(part is None for _, _, part in found):
        return None
    known = [(text, form, part) for text, form, part in found if part is not None]
    order, how = _order(known)
    values = {text: _seconds(part, order.get(form, "day")) for text, form, part in known}
    impossible = tuple(text for text, value in values.items() if value is None)
    if len(impossible) > (1 - _LEAST_SHARE) * len(given):
        return None
    seconds = {text: float("nan") if value is None else value for text, value in values.items()}
    formats = dict(Counter(form for _, form, _ in known).most_common())
    return Dates(seconds, (*_mixed(formats), *how), impossible, "day" in order.values(), formats)


def is_date(text: str) -> bool:
    """Whether a text by itself looks like a date, in any form.

    Parameters
    ----------
    text
        What a cell holds.

    Examples
    --------
    >>> is_date("Feb 30 2000"), is_date("not yet")
    (True, False)
    """
    return _form(text.strip())[1] is not None


def _iso(texts: list[str]) -> dict[str, float] | None:
    """Dates in the way of ISO 8601, with the offsets of time zones."""
    try:
        moments = {text: datetime.fromisoformat(text.strip()) for text in texts}
    except ValueError:
        return None
    return {text: (m if m.tzinfo else m.replace(tzinfo=UTC)).timestamp() for text, m in moments.items()} or None


def _form(text: str) -> tuple[str, re.Match[str] | None]:
    for form, pattern in _FORMS:
        part = pattern.match(text) if len(text) < 60 else None
        if part is not None and (part.groupdict().get("name") or "jan").lower() in _MONTHS:
            return form, part
    return "", None


def _order(known: list[tuple[str, str, re.Match[str]]]) -> tuple[dict[str, str], list[str]]:
    """Whether the day or the month comes first in each numeric form, and what to say of it."""
    order, notes = {}, []
    for form in _NUMERIC:
        parts = [part for _, each, part in known if each == form]
        if not parts:
            continue
        day_first = sum(int(part["one"]) > 12 for part in parts)
        month_first = sum(int(part["two"]) > 12 for part in parts)
        if day_first == month_first == 0:
            order[form], note = _by_the_rows(known, form)
            notes.append(note)
        else:
            order[form] = "day" if day_first >= month_first else "month"
            notes.append(f"the {order[form]} comes first")
    return order, notes


def _by_the_rows(known: list[tuple[str, str, re.Match[str]]], form: str) -> tuple[str, str]:
    """The order in which the dates rise from row to row, if they do in one alone; the usual one if not."""
    rising = [first for first in ("day", "month") if _rises(known, form, first)]
    if len(rising) == 1:
        return rising[0], f"the {rising[0]} comes first: so read the dates rise from row to row"
    usual = "month" if form == "slashes" else "day"
    return usual, f"day and month cannot be distinguished; the {usual} is taken to come first"


def _rises(known: list[tuple[str, str, re.Match[str]]], form: str, first: str) -> bool:
    moments = [_seconds(part, first if each == form else "day") for _, each, part in known]
    steps = [b > a for a, b in pairwise(moments) if a is not None and b is not None]
    return len(steps) >= _LEAST_STEPS and all(steps)


def _mixed(formats: dict[str, int]) -> list[str]:
    if len(formats) < 2:
        return []
    return ["dates in several formats: " + ", ".join(f"{form} ({count})" for form, count in formats.items())]


def _seconds(part: re.Match[str], first: str) -> float | None:
    """Seconds since 1970; None if there is no such day."""
    given = part.groupdict()
    try:
        return datetime.combine(_day(given, first), time(*_clock(given)), UTC).timestamp()
    except ValueError:
        return None


def _day(given: dict[str, str | None], first: str) -> date:
    year = _year(given["year"])
    if given.get("week"):
        return date.fromisocalendar(year, int(str(given["week"])), 1)
    if given.get("one"):
        pair = (given["two"], given["one"]) if first == "day" else (given["one"], given["two"])
        return date(year, int(str(pair[0])), int(str(pair[1])))
    return date(year, _month(given), int(given.get("day") or 1))


def _month(given: dict[str, str | None]) -> int:
    if given.get("name"):
        return _MONTHS[str(given["name"]).lower()]
    if given.get("quarter"):
        return 3 * int(str(given["quarter"])) - 2
    return int(str(given["month"]))


def _year(text: str | None) -> int:
    year = int(str(text))
    if len(str(text)) == 4:
        return year
    return year + (2000 if year <= _PIVOT else 1900)


def _clock(given: dict[str, str | None]) -> tuple[int, int, int]:
    if not given.get("hour"):
        return 0, 0, 0
    hour, half = int(str(given["hour"])), (given.get("half") or "").lower().replace(".", "")
    if half and not 1 <= hour <= 12:
        raise ValueError("an hour beyond twelve has no half of the day")
    hour = hour % 12 + (12 if half == "pm" else 0) if half else hour
    return hour, int(str(given["minute"])), int(given.get("second") or 0)
