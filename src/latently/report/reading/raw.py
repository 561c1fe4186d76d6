"""A column as it came: numbers, dates or the levels of a text."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from latently.report.reading.dates import read_dates
from latently.report.study.words import counted

LARGEST: Final = 1e150
_DATE_NAME: Final = re.compile(r"date|day|datum|fecha", re.IGNORECASE)


@dataclass(frozen=True)
class Written:
    """How the numbers or dates of a column were written.

    Attributes
    ----------
    kind
        "number" or "date".
    rows
        In how many rows there is one.
    words
        Texts that stand for a missing value.
    decimal
        The decimal sign of numbers.
    day_first
        Whether the day comes before the month where both are numbers.
    formats
        For dates: how many different ones are written in each way, the most common first.
    unread
        Texts that are no number or date in a column of them, or no day of the calendar; taken as missing.
    places
        The rows of these.
    """

    kind: Literal["number", "date"]
    rows: int
    words: tuple[str, ...] = ()
    decimal: str = "."
    day_first: bool = False
    formats: dict[str, int] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    places: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class RawColumn:
    """One column as it came.

    Attributes
    ----------
    name
        Its name.
    kind
        "number", "date" (seconds since 1970) or "text".
    values
        (n,) numbers, NaN where missing; for text the places of the levels.
    levels
        For text: the different values, in the order of their type, or of their first appearance.
    ordered
        Whether the levels have an order.
    notes
        What was done to it.
    written
        How numbers and dates were written that came as text.
    """

    name: str
    kind: Literal["number", "date", "text"]
    values: NDArray[np.float64]
    levels: tuple[str, ...] = ()
    ordered: bool = False
    notes: tuple[str, ...] = ()
    written: Written | None = None


def number_column(name: str, x: NDArray[np.float64]) -> RawColumn:
    """Give a column of numbers, or of dates if they are written as 20231231; what is infinite is missing."""
    if (days := _as_day_numbers(name, x)) is not None:
        return days
    wild = np.isinf(x) | (np.abs(np.nan_to_num(x, posinf=0.0, neginf=0.0)) > LARGEST)
    if not wild.any():
        return RawColumn(name, "number", x)
    note = f"{counted(int(wild.sum()), 'value')} infinite or beyond {LARGEST:g}, taken as missing"
    return RawColumn(name, "number", np.where(wild, np.nan, x), notes=(note,))


def text_column(
    name: str, texts: Sequence[str | None], known: tuple[str, ...] = (), *, ordered: bool = False
) -> RawColumn:
    """Give a column of levels: those that are known, then the others as they appear."""
    codes: dict[str | None, float] = {level: float(place) for place, level in enumerate(known)}
    codes[None] = math.nan
    for text in texts:
        if text not in codes:
            codes[text] = float(len(codes) - 1)
    values = np.fromiter(map(codes.__getitem__, texts), np.float64, len(texts))
    del codes[None]
    return RawColumn(name, "text", values, tuple(codes), ordered)  # type: ignore[arg-type]


def _as_day_numbers(name: str, x: NDArray[np.float64]) -> RawColumn | None:
    """Numbers such as 20231231 in a column whose name says that it holds dates."""
    seen = np.unique(x[~np.isnan(x)])
    if not _DATE_NAME.search(name) or not len(seen) or (seen != np.floor(seen)).any() or seen.min() < 1e7:
        return None
    found = read_dates([str(int(v)) for v in seen]) if seen.max() < 1e8 else None
    if found is None:
        return None
    known = {float(text): value for text, value in found.values.items()} | {math.nan: math.nan}
    values = np.array([math.nan if math.isnan(v) else known[v] for v in x.tolist()])
    written = Written("date", int((~np.isnan(values)).sum()))
    return RawColumn(name, "date", values, notes=("dates written as numbers", *found.notes), written=written)
