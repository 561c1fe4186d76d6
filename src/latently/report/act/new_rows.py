"""New rows as the model of a report sees them: the same curves, classes and codes for missing."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data.tables.values import quote
from latently.report.reading.raw import RawColumn
from latently.report.reading.table import read_columns
from latently.report.study.columns import OTHERS, Column, in_classes

Values = NDArray[np.float64]


def as_seen(table: Any, used: tuple[Column, ...]) -> Values:
    """(n, used) scores and codes of a table that has at least the columns that the model sees.

    Parameters
    ----------
    table
        The new rows, in any form that `explore` takes.
    used
        The columns of the report, as it judged them.
    """
    given = {raw.name: raw for raw in read_columns(table)}
    absent = [column.name for column in used if column.name not in given]
    if absent:
        raise ValueError(f"column {quote(absent)} of the report is not in the table, which has {quote(given, 10)}")
    return np.stack([_seen(given[column.name], column) for column in used], axis=1)


def _seen(raw: RawColumn, column: Column) -> Values:
    x = _without_codes(raw, column)
    if column.levels:
        return _coded(raw, x, column)
    if raw.kind == "text" and not np.isnan(x).all():
        found = quote(dict.fromkeys(raw.levels[int(v)] for v in x[~np.isnan(x)]), 3)
        raise ValueError(f"column {column.name!r} held numbers in the report, and holds {found} here: mend it")
    return in_classes(x, column.cuts) if column.curve is None else column.curve.apply(x)


def _without_codes(raw: RawColumn, column: Column) -> Values:
    """Values, NaN for the codes that the report took as missing."""
    codes = {code["value"] for code in column.codes if code["applied"]}
    places = [at for at, level in enumerate(raw.levels) if level in codes] if raw.levels else list(codes)
    numbers = np.array([v for v in places if not isinstance(v, str)], dtype=np.float64)
    return np.where(np.isin(raw.values, numbers), np.nan, raw.values)


def _coded(raw: RawColumn, x: Values, column: Column) -> Values:
    """Classes by the names of their levels; one that the report has not seen is among the others, or missing."""
    others = float(column.classes.index(OTHERS)) if OTHERS in column.classes else np.nan
    known = {name: float(code) for code, name in enumerate(column.classes)}
    place = {level: known.get(level, others) for level in column.levels}
    if raw.kind == "text":
        codes = np.array([place.get(level, others) for level in raw.levels] + [np.nan])
        return np.asarray(codes[np.where(np.isnan(x), len(raw.levels), np.nan_to_num(x)).astype(np.intp)])
    by_number = {_number(level): code for level, code in place.items()}
    return np.array([np.nan if np.isnan(v) else by_number.get(v, others) for v in x.tolist()])


def _number(level: str) -> float | None:
    try:
        return float(level)
    except ValueError:
        return None
