"""Choices by column, the account of what was done, and tables put together again."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from latently.data.schema.column import Column
from latently.data.schema.schema import Schema
from latently.data.tables import frames
from latently.data.tables.values import quote
from latently.prepare.columns import NumericStep, Values, skewness


def account_of(column: Column, x: Values, step: NumericStep | None, missing: str, scale: str) -> dict[str, Any]:
    """What is done to a column, as plain values; counts are of the values given."""
    lost = int(np.isnan(x).sum())
    record: dict[str, Any] = {
        "column": column.name,
        "kind": column.kind,
        "n_missing": lost,
        "missing": missing,
    }
    if step is None:
        codes = {"codes": dict(enumerate(column.categories))} if column.kind == "ordinal" else {}
        return record | codes
    straight = step.curve.apply(x)
    low, high = step.limits
    return record | {
        "skew": step.curve.kind,
        "skewness_before": skewness(x),
        "skewness_after": skewness(straight),
        "outliers": step.outliers,
        "n_outliers": int(((straight < low) | (straight > high)).sum()),
        "limits": [float(v) for v in step.curve.undo(np.array([low, high]))],
        "scale": scale,
        "centre": step.centre,
        "unit": step.unit,
        "fill": None if step.fill is None else float(step.undo(np.array([step.fill]))[0]),
    }


def by_column(choice: str | Mapping[str, str], schema: Schema, default: str) -> dict[str, str]:
    """Give a choice for each column, by name."""
    if not isinstance(choice, Mapping):
        return dict.fromkeys(schema.names, choice)
    unknown = [name for name in choice if name not in schema.names]
    if unknown:
        raise ValueError(f"column {quote(unknown)} is not in the table, which has {quote(schema.names, 10)}")
    return {name: choice.get(name, default) for name in schema.names}


def assembled(columns: dict[str, Any], like: Any, schema: Schema, *, raw: bool = False) -> Any:
    """Put columns together as a frame like the one given, or as an array."""
    if frames.is_frame(like):
        return frames.from_columns(columns, like)
    if all(kind == "numeric" or (kind == "ordinal" and not raw) for kind in schema.kinds):
        return np.stack([np.asarray(values) for values in columns.values()], axis=1)
    rows = len(next(iter(columns.values())))
    out = np.empty((rows, len(columns)), dtype=object)
    for j, values in enumerate(columns.values()):
        out[:, j] = values
    return out
