"""What is known about the columns of a Dask collection from a few of its values, gathered by the workers."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data.tables.matrix import IntArray

MOST_VALUES = 1 << 20
"""Most distinct values of a column of text."""
_MOST_NUMBERS = 4096


def distinct_values(table: Any, lengths: IntArray | None = None) -> dict[str, Any] | NDArray[Any]:
    """Give the distinct values of each column of a frame, in the order in which they came; some rows of an array.

    Examples
    --------
    >>> import pandas as pd
    >>> distinct_values(pd.DataFrame({"a": ["x", "y", "x"]}))["a"].tolist()
    ['x', 'y']
    """
    if isinstance(table, np.ndarray):
        return table[:_MOST_NUMBERS]
    return {str(name): _distinct(table[name]) for name in table.columns}


def _distinct(column: Any) -> Any:
    if str(column.dtype) == "category":
        return column.iloc[:0].reset_index(drop=True)  # its levels are part of its type
    seen = column.dropna().drop_duplicates().reset_index(drop=True)
    if getattr(column.dtype, "kind", "O") in "biuf":
        return seen.iloc[:_MOST_NUMBERS]
    if len(seen) > MOST_VALUES:
        raise ValueError(
            f"column {column.name!r} has more than {MOST_VALUES} distinct values, too many to be categories: leave it "
            "out with columns=[...]"
        )
    return seen


def digest_of(parts: list[Any]) -> Any:
    """Give a small table with the values of all parts; below those of a short column stands nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> parts = [distinct_values(pd.DataFrame({"a": values})) for values in (["x", "y"], ["z", "x"])]
    >>> digest_of(parts)["a"].tolist()
    ['x', 'y', 'z']
    """
    if not parts:
        raise ValueError("the Dask collection has no rows")
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)[:_MOST_NUMBERS]
    pd = _pandas()
    columns = {name: _joined([part[name] for part in parts]) for name in parts[0]}
    rows = max(len(values) for values in columns.values())
    return pd.DataFrame({name: values.reindex(range(rows)) for name, values in columns.items()})


def _joined(values: list[Any]) -> Any:
    pd = _pandas()
    if all(str(each.dtype) == "category" for each in values):
        union = pd.api.types.union_categoricals
        levels = values[0].dtype if _alike(values) else union(values, sort_categories=False).dtype
        return pd.Series(pd.Categorical(list(levels.categories), dtype=levels))
    whole = pd.concat(values, ignore_index=True).drop_duplicates().reset_index(drop=True)
    return whole.iloc[: MOST_VALUES + 1] if whole.dtype.kind not in "biuf" else whole.iloc[:_MOST_NUMBERS]


def _alike(values: list[Any]) -> bool:
    return all(each.dtype == values[0].dtype for each in values)


def count(table: Any, lengths: IntArray | None) -> int:
    """Number of rows."""
    return len(table)


def take(table: Any, lengths: IntArray | None, rows: NDArray[np.int64]) -> Any:
    """Some rows of a partition."""
    return table[rows] if isinstance(table, np.ndarray) else table.iloc[rows]


def stacked(tables: list[Any]) -> Any:
    """One table below the other."""
    if isinstance(tables[0], np.ndarray):
        return np.concatenate(tables)
    return _pandas().concat(tables, ignore_index=True)


def _pandas() -> Any:
    # Dask's dataframes are made of pandas', so it is there when one of them is.
    return import_module("pandas")
