"""The values of a column as numbers - or places among its categories - and back."""

import math
from itertools import repeat
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latently.data.schema.column import Column
from latently.data.tables.column_view import ColumnView
from latently.data.tables.values import is_missing, quote, to_floats

Unseen: TypeAlias = Literal["missing", "error", "code"]


def encode_numbers(column: Column, view: ColumnView) -> NDArray[np.float64]:
    """Give the values of a numeric column as floats, with NaN for missing."""
    if view.kind in ("float", "integer", "boolean"):
        values = np.array(view.to_floats(column.where), dtype=np.float64)
    else:
        if view.kind == "date":
            raise TypeError(date_message(column.where, view.type_name))
        values = to_floats((_parsed(v, column) for v in view.to_list()), column.where)
    numbers = [v for v in column.missing if not isinstance(v, str)]
    if numbers:
        values[np.isin(values, numbers)] = np.nan
    if np.isinf(values).any():
        raise ValueError(f"{column.where} contains inf: replace it by a number, or count inf as missing")
    return values


def encode_codes(column: Column, view: ColumnView, unseen: Unseen) -> NDArray[np.float64]:
    """Give the places of the values among the categories, with NaN for missing."""
    if view.kind == "date":
        raise TypeError(date_message(column.where, view.type_name))
    codes: dict[Any, float] = {value: float(code) for code, value in enumerate(column.categories)}
    codes |= dict.fromkeys((*column.missing, None), math.nan)
    values = view.to_list()
    try:
        out = np.fromiter(map(codes.get, values, repeat(-1.0)), np.float64, len(values))
    except TypeError as problem:
        raise TypeError(f"{column.where} holds values that cannot be categories: {problem}") from None
    unknown = [i for i in np.flatnonzero(out == -1.0) if not is_missing(values[i])]
    if unknown and unseen == "error":
        names = quote(dict.fromkeys(values[i] for i in unknown))
        raise ValueError(f"{column.where} has values that are not among its categories: {names}")
    out[out == -1.0] = np.nan
    if unseen == "code":
        out[unknown] = column.n_categories
    return out


def decode_column(column: Column, codes: NDArray[np.float64]) -> list[Any]:
    """Give the values that numbers or codes stand for, with None for missing and for the unseen code."""
    if column.kind == "numeric":
        return [None if math.isnan(v) else v for v in codes.tolist()]
    values = (*column.categories, None)
    with np.errstate(invalid="ignore"):
        wrong = ~np.isnan(codes) & ~((codes >= 0) & (codes < len(values)) & (codes == np.floor(codes)))
    if wrong.any():
        raise ValueError(
            f"{column.where}: {codes[wrong][0]} is not the code of a category, 0 to {column.n_categories - 1}"
        )
    places = np.where(np.isnan(codes), len(values) - 1, codes).astype(np.intp)
    return [values[i] for i in places.tolist()]


def date_message(where: str, type_name: str) -> str:
    """Say what to do about a column of dates."""
    return (
        f"{where} holds dates or times ({type_name}), which are neither numbers nor categories: "
        "turn them into numbers first (days since a start, hour of the day), or drop the column"
    )


def _parsed(value: Any, column: Column) -> Any:
    if is_missing(value) or value in column.missing:
        return None
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        message = f"{column.where} is numeric but holds {value!r}: repair it, or count it as missing"
        raise ValueError(message) from None
