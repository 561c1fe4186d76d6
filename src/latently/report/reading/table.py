"""A table of any make as columns of numbers, dates or strings."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data.tables import frames
from latently.data.tables.column_view import ColumnView
from latently.data.tables.matrix import as_table
from latently.data.tables.values import is_missing, quote
from latently.report.reading.raw import RawColumn, number_column, text_column
from latently.report.reading.texts import read_texts
from latently.report.study.words import cut


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
        return number_column(view.name, x)
    values = view.to_list()
    if view.kind == "boolean":
        return text_column(view.name, [None if is_missing(v) else str(bool(v)) for v in values], ("False", "True"))
    if view.kind in ("levels", "ordered"):
        levels = tuple(str(level) for level in view.levels)
        return text_column(view.name, _strings(values), levels, ordered=view.kind == "ordered")
    return _judged(view.name, values, numbers)


def _judged(name: str, values: list[Any], numbers: NDArray[np.int64] | None) -> RawColumn:
    """A column of Python objects or strings, by what is in it."""
    types = {type(v) for v in _different(values) if not is_missing(v)}
    if types and all(issubclass(t, datetime | date | np.datetime64) for t in types):
        return RawColumn(name, "date", _floats(values, _seconds))
    if types and all(issubclass(t, timedelta | time) for t in types):
        return replace(number_column(name, _floats(values, _length)), notes=("durations are given in seconds",))
    if types and all(issubclass(t, int | float | np.number) or t.__name__ == "Decimal" for t in types - {bool}):
        if types == {bool}:
            return text_column(name, _strings(values), ("False", "True"))
        return number_column(name, _floats(values, float))
    return read_texts(name, _strings(values), numbers)


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
