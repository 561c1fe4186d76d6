"""Finding out what the columns of a table are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from latently.data.schema.codes import date_message, encode_codes, encode_numbers
from latently.data.schema.column import Column, Kind, Plain, plain
from latently.data.schema.schema import Schema
from latently.data.tables import frames
from latently.data.tables.column_view import ColumnView
from latently.data.tables.matrix import as_table
from latently.data.tables.values import is_missing, quote


def infer_schema(
    table: Any,
    *,
    ordinal: Mapping[str, Sequence[Plain]] | None = None,
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    missing: Sequence[Any] | Mapping[str, Sequence[Any]] = (),
) -> Schema:
    """Find out what each column of a table is.

    Numbers are numeric, integers too. Strings are categorical, with the categories in alphabetical order;
    truth values are categorical with the categories False and True; an ordered categorical type (of pandas or
    Arrow) and an Enum of polars are ordinal, with the levels in the order of the type; other categorical
    types are categorical. A column of Python objects is judged by its values. Dates and times are an error.

    Parameters
    ----------
    table
        A pandas, polars or Arrow table, an array or nested list (columns x0, x1, ...).
    ordinal
        Columns whose categories have an order, with the categories in that order.
    categorical
        Columns to take as categorical whatever they hold, such as numbers that are only labels.
    numeric
        Columns to take as numeric; strings in them must read as numbers.
    missing
        Values that stand for a missing one, in all columns, or by the name of the column. None, NaN and null
        always do.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"size": ["M", "S", "?"], "city": ["Rome", None, "Oslo"], "cm": [3.5, 1, -999]})
    >>> schema = infer_schema(table, ordinal={"size": ["S", "M", "L"]}, missing=["?", -999])
    >>> schema.kinds
    ('ordinal', 'categorical', 'numeric')
    >>> schema["city"].categories
    ('Oslo', 'Rome')
    >>> schema.encode(table)
    array([[1. , 1. , 3.5], [0. , nan, 1. ], [nan, 0. , nan]])
    """
    table = as_table(table, "table")
    views = frames.views(table)
    rows = len(next(iter(views.values())).data) if views else 0
    if rows == 0:
        raise ValueError(f"table has {rows} sample(s) and {len(views)} feature(s): nothing to infer from")
    ordinal = ordinal or {}
    asked = _asked_kinds(views, ordinal=ordinal, categorical=categorical, numeric=numeric)
    marks = _marks(views, missing)
    return Schema(tuple(_infer(view, asked.get(n), ordinal.get(n), marks[n]) for n, view in views.items()))


def _asked_kinds(names: Iterable[str], **asked: Iterable[str]) -> dict[str, str]:
    """Give the kind that was asked for, by the name of the column."""
    kinds: dict[str, str] = {}
    for kind, columns in asked.items():
        if isinstance(columns, str):
            raise TypeError(f"{kind} takes a list of names, got the string {columns!r}")
        for name in columns:
            if name not in names:
                raise ValueError(f"{kind}: column {name!r} is not in the table, which has {quote(names, 10)}")
            if kinds.setdefault(name, kind) != kind:
                raise ValueError(f"column {name!r} is asked to be both {kinds[name]} and {kind}")
    return kinds


def _marks(names: Iterable[str], missing: Any) -> dict[str, tuple[Any, ...]]:
    """Give the marks for missing, by the name of the column."""
    if isinstance(missing, Mapping):
        _asked_kinds(names, missing=missing)
        lists = {name: missing.get(name, ()) for name in names}
    else:
        lists = dict.fromkeys(names, missing)
    for marks in lists.values():
        if isinstance(marks, str) or not isinstance(marks, Iterable):
            raise TypeError(f"missing takes a list of values, got {marks!r}")
    return {name: tuple(marks) for name, marks in lists.items()}


def _infer(view: ColumnView, asked: str | None, order: Sequence[Plain] | None, marks: tuple[Any, ...]) -> Column:
    where = f"column {view.name!r}"
    if view.kind == "date":
        raise TypeError(date_message(where, view.type_name))
    if order is not None:
        column = Column(view.name, "ordinal", tuple(order), marks)
        encode_codes(column, view, "error")
        return column
    if asked == "numeric" or (asked is None and _is_numeric(view, marks, where)):
        column = Column(view.name, "numeric", (), marks)
        encode_numbers(column, view)
        return column
    kind: Kind = "ordinal" if view.kind == "ordered" and asked is None else "categorical"
    return Column(view.name, kind, _categories(view, marks, where), marks)


def _is_numeric(view: ColumnView, marks: tuple[Any, ...], where: str) -> bool:
    """Judge a column by its type, and one of Python objects by what is in it."""
    if view.kind != "object":
        return view.kind in ("float", "integer")
    types = {type(v) for v in _observed(view.to_list(), marks)}
    text = {t for t in types if issubclass(t, str | bool | np.bool_)}
    if text and text != types:
        found = quote(sorted(t.__name__ for t in types))
        raise TypeError(f"{where} mixes values of the types {found}: name it in `categorical` or `numeric`")
    return not text


def _categories(view: ColumnView, marks: tuple[Any, ...], where: str) -> tuple[Plain, ...]:
    if view.kind == "boolean":
        return (False, True)
    if view.levels:
        return tuple(plain(v, where) for v in view.levels if v not in marks)
    try:
        values = {plain(v, where) for v in _observed(set(view.to_list()), marks)}
    except TypeError as problem:
        raise TypeError(f"{where} holds values that cannot be categories: {problem}") from None
    return tuple(sorted(values, key=lambda v: (isinstance(v, str), v)))


def _observed(values: Iterable[Any], marks: tuple[Any, ...]) -> list[Any]:
    return [v for v in values if not is_missing(v) and v not in marks]
