"""A table of any make as columns of numbers, dates or strings."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from latently.data.tables import frames
from latently.data.tables.column_view import ColumnView
from latently.data.tables.matrix import as_table
from latently.data.tables.values import is_missing, quote
from latently.report.reading.codes import suspected_words
from latently.report.reading.dates import read_dates
from latently.report.reading.numerals import read_numerals
from latently.report.study.words import counted, cut

LARGEST: Final = 1e150
_LONGEST: Final = 60  # characters of a number or date
_DATE_NAME: Final = re.compile(r"date|day|datum|fecha", re.IGNORECASE)


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
        For numbers and dates that were text: "as" ("number" or "date"), "decimal" or "day_first", "words" that stand
        for missing, and in how many "rows" there is one.
    """

    name: str
    kind: Literal["number", "date", "text"]
    values: NDArray[np.float64]
    levels: tuple[str, ...] = ()
    ordered: bool = False
    notes: tuple[str, ...] = ()
    written: dict[str, Any] | None = None


def read_columns(table: Any) -> list[RawColumn]:
    """Read a table; an error says what is wrong with it as a whole.

    Parameters
    ----------
    table
        A pandas, polars or Arrow table, an array or nested list, or a dict of lists.

    Examples
    --------
    >>> [column.kind for column in read_columns({"a": [1, None], "b": ["x", "y"], "c": ["2024-01-01", ""]})]
    ['number', 'text', 'date']
    """
    return [read_column(view) for view in column_views(table)]


def column_views(table: Any) -> list[ColumnView]:
    """Give the columns of a table as they came; an error says what is wrong with it as a whole.

    Parameters
    ----------
    table
        As in `read_columns`.
    """
    views = _dict_views(table) if isinstance(table, Mapping) else list(frames.views(as_table(table, "table")).values())
    if not views:
        raise ValueError("the table has no columns: there is nothing to explore")
    if len(views[0].data) == 0:
        raise ValueError("the table has no rows: there is nothing to explore")
    return views


def plain_cells(view: ColumnView, rows: NDArray[np.intp]) -> list[Any]:
    """Give some values of a column as they stood there, as numbers, strings or None.

    Parameters
    ----------
    view
        The column.
    rows
        Places of the rows.

    Examples
    --------
    >>> plain_cells(column_views({"a": [1.5, None, "x"]})[0], np.array([2, 1]))
    ['x', None]
    """
    data = view.data[rows] if isinstance(view.data, np.ndarray) else view.data[rows.tolist()]
    return [_plain(value) for value in replace(view, data=data).to_list()]


def _plain(value: Any) -> Any:
    if is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return int(value) if abs(int(value)) < 2**53 else str(int(value))
    if isinstance(value, float | np.floating):
        return float(f"{value:.7g}") if math.isfinite(value) else str(float(value))
    if isinstance(value, datetime | date | np.datetime64):
        return cut(str(value).replace(" ", "T").removesuffix("T00:00:00"))
    return cut(value)


def _dict_views(table: Mapping[Any, Any]) -> list[ColumnView]:
    names = [str(name) for name in table]
    if len(set(names)) < len(names):
        raise ValueError(f"column names repeat as text: {quote(n for n in names if names.count(n) > 1)}; rename them")
    columns = [np.asarray(values) if hasattr(values, "dtype") else _objects(values) for values in table.values()]
    sizes = {len(column) for column in columns}
    if len(sizes) > 1:
        raise ValueError(f"the columns have different numbers of rows: {quote(sorted(sizes))}; make them equal")
    return [frames._array_view(name, column) for name, column in zip(names, columns, strict=True)]


def _objects(values: Any) -> NDArray[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"a dict table needs a list for each column, got {type(values).__name__}")
    given = list(values)
    out = np.empty(len(given), dtype=object)
    out[:] = given
    return out


def read_column(view: ColumnView, numbers: NDArray[np.int64] | None = None) -> RawColumn:
    """Read one column.

    Parameters
    ----------
    view
        The column as it came.
    numbers
        Numbers of the rows in the whole table; their places if None.
    """
    if view.kind in ("float", "integer"):
        x = np.array(view.to_floats(view.name), dtype=np.float64)
        return _numbers(view.name, x)
    values = view.to_list()
    if view.kind == "boolean":
        return _text(view.name, [None if is_missing(v) else str(bool(v)) for v in values], ("False", "True"))
    if view.kind in ("levels", "ordered"):
        levels = tuple(str(level) for level in view.levels)
        return _text(view.name, _strings(values), levels, ordered=view.kind == "ordered")
    return _judged(view.name, values, numbers)


def _judged(name: str, values: list[Any], numbers: NDArray[np.int64] | None) -> RawColumn:
    """A column of Python objects or strings, by what is in it."""
    types = {type(v) for v in _different(values) if not is_missing(v)}
    if types and all(issubclass(t, datetime | date | np.datetime64) for t in types):
        return RawColumn(name, "date", _floats(values, _seconds))
    if types and all(issubclass(t, timedelta | time) for t in types):
        return replace(_numbers(name, _floats(values, _length)), notes=("durations are given in seconds",))
    if types and all(issubclass(t, int | float | np.number) or t.__name__ == "Decimal" for t in types - {bool}):
        if types == {bool}:
            return _text(name, _strings(values), ("False", "True"))
        return _numbers(name, _floats(values, float))
    texts = _strings(values)
    different, words = _different_texts(texts)
    if not different or max(map(len, different)) >= _LONGEST:
        return _text(name, texts)
    return (
        _as_numbers(name, texts, different, words)
        or _as_dates(name, texts, different, words, numbers)
        or _text(name, texts)
    )


def _different(values: list[Any]) -> Iterable[Any]:
    """The different values; all of them, if they cannot be told apart quickly."""
    try:
        return set(values)
    except TypeError:
        return values


def _strings(values: list[Any]) -> list[str | None]:
    """The values as strings, each different one turned but once."""
    try:
        known = {v: None if is_missing(v) else str(v) for v in set(values)}
    except TypeError:  # lists and the like
        return [None if is_missing(v) else str(v) for v in values]
    return [known[v] for v in values]


def _floats(values: list[Any], convert: Any) -> NDArray[np.float64]:
    return np.array([math.nan if is_missing(v) else _tried(convert, v) for v in values], dtype=np.float64)


def _tried(convert: Any, value: Any) -> float:
    try:
        return float(convert(value))
    except (OverflowError, ValueError):
        return math.nan


def _seconds(value: Any) -> float:
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return float((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp())


def _length(value: timedelta | time) -> float:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6


def _numbers(name: str, x: NDArray[np.float64]) -> RawColumn:
    if (days := _as_day_numbers(name, x)) is not None:
        return days
    wild = np.isinf(x) | (np.abs(np.nan_to_num(x, posinf=0.0, neginf=0.0)) > LARGEST)
    if not wild.any():
        return RawColumn(name, "number", x)
    note = f"{counted(int(wild.sum()), 'value')} infinite or beyond {LARGEST:g}, taken as missing"
    return RawColumn(name, "number", np.where(wild, np.nan, x), notes=(note,))


def _text(name: str, texts: Sequence[str | None], known: tuple[str, ...] = (), *, ordered: bool = False) -> RawColumn:
    codes: dict[str | None, float] = {level: float(place) for place, level in enumerate(known)}
    codes[None] = math.nan
    for text in texts:
        if text not in codes:
            codes[text] = float(len(codes) - 1)
    values = np.fromiter(map(codes.__getitem__, texts), np.float64, len(texts))
    del codes[None]
    return RawColumn(name, "text", values, tuple(codes), ordered)  # type: ignore[arg-type]


def _as_numbers(name: str, texts: Sequence[str | None], different: list[str], words: list[str]) -> RawColumn | None:
    """A column of strings that are numbers, apart from words for missing."""
    found = read_numerals(different)
    if found is None:
        return None
    column = _numbers(name, _looked_up(texts, found.values))
    written = _written("number", column.values, words, decimal=found.decimal)
    return replace(column, notes=(*column.notes, *found.notes, *_taken(words)), written=written)


def _as_dates(
    name: str,
    texts: Sequence[str | None],
    different: list[str],
    words: list[str],
    numbers: NDArray[np.int64] | None,
) -> RawColumn | None:
    """A column of strings that are dates, apart from words for missing."""
    found = read_dates(different)
    if found is None:
        return None
    notes = (*found.notes, *_impossible(texts, found.impossible, numbers), *_taken(words))
    values = _looked_up(texts, found.values)
    written = _written("date", values, words, day_first=found.day_first)
    return RawColumn(name, "date", values, notes=notes, written=written)


def _written(kind: str, values: NDArray[np.float64], words: list[str], **how: Any) -> dict[str, Any]:
    return {"as": kind, "rows": int((~np.isnan(values)).sum()), "words": words, **how}


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
    written = _written("date", values, [], day_first=False)
    return RawColumn(name, "date", values, notes=("dates written as numbers", *found.notes), written=written)


def _different_texts(texts: Sequence[str | None]) -> tuple[list[str], list[str]]:
    """The different texts in their order, and apart from them the words for missing."""
    different = [text for text in dict.fromkeys(texts) if text is not None]
    words = set(suspected_words([text for text in different if len(text) < 10]))
    return [text for text in different if text not in words], sorted(words)


def _looked_up(texts: Sequence[str | None], known: dict[str, float]) -> NDArray[np.float64]:
    return np.array([math.nan if text is None else known.get(text, math.nan) for text in texts])


def _taken(words: Sequence[str]) -> list[str]:
    return [f"{cut(word)!r} taken as missing" for word in words]


def _impossible(texts: Sequence[str | None], wrong: Sequence[str], numbers: NDArray[np.int64] | None) -> list[str]:
    """What to say of texts that look like dates and are none."""
    if not wrong:
        return []
    named = set(wrong)
    rows = [str(row if numbers is None else numbers[row]) for row, text in enumerate(texts) if text in named]
    return [f"there is no such day as {quote(wrong, 3)} (row {', '.join(rows[:5])}): taken as missing"]
