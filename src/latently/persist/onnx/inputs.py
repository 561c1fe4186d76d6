"""The inputs of a graph: one table of numbers, or a column each where there are categories."""

from typing import Any

import numpy as np

from latently.data.schema.column import Column
from latently.persist.onnx.graph import Graph


def numbers(graph: Graph, model: Any) -> str:
    """One input `X` of (rows, columns) numbers."""
    return graph.read("X", np.float64, int(model.n_features_in_))


def encoded(graph: Graph, model: Any, *, unseen: bool, missing: bool = False) -> str:
    """The table as a model sees it: numbers, codes of categories, NaN for missing ones.

    Without categories that is the input `X`. Otherwise every column is an input of its own, (rows, 1), called by its
    name: numbers, or strings, of which "" is a missing one.

    Parameters
    ----------
    graph
        The graph.
    model
        A fitted model, with a `schema_` if it has columns of categories.
    unseen
        Whether a category that was never seen has the code after the last, and is not taken as missing.
    missing
        Whether a missing category has that code too; NaN if not.
    """
    schema = getattr(model, "schema_", None)
    if schema is None or all(column.kind == "numeric" for column in schema):
        X = numbers(graph, model)
        return X if schema is None else graph.add("Concat", *_cleaned(graph, X, tuple(schema)), axis=1)
    read = [_column(graph, column, unseen, missing) for column in schema]
    return graph.add("Concat", *read, axis=1)


def _cleaned(graph: Graph, X: str, columns: tuple[Column, ...]) -> list[str]:
    return [_number(graph, graph.columns(X, [j]), column) for j, column in enumerate(columns)]


def _column(graph: Graph, column: Column, unseen: bool, missing: bool) -> str:
    if column.kind == "numeric":
        return _number(graph, graph.read(column.name, np.float64, 1), column)
    codes = np.arange(float(column.n_categories))
    beyond = float(column.n_categories) if unseen else np.nan
    if all(isinstance(category, str) for category in column.categories):
        value = graph.read(column.name, np.str_, 1)
        keys = np.array([*column.categories, "", *map(str, column.missing)], dtype=object)
    elif all(isinstance(category, int | float) for category in column.categories):  # truth values are 0 and 1
        value = graph.read(column.name, np.float64, 1)
        keys = np.array([*column.categories, np.nan, *column.missing], dtype=np.float64)
    else:
        raise TypeError(f"{column.where} has categories of several types, which ONNX cannot read: make them strings")
    missing_code = float(column.n_categories) if missing and column.kind == "categorical" else np.nan
    places = np.concatenate([codes, np.full(len(keys) - len(codes), missing_code)])
    return graph.add("LabelEncoder", value, domain="ai.onnx.ml", **_table(keys, places, beyond))


def _table(keys: Any, places: Any, beyond: float) -> dict[str, Any]:
    from onnx import numpy_helper

    def tensor(values: Any) -> Any:
        return numpy_helper.from_array(np.asarray(values))

    return {
        "keys_tensor": tensor(keys),
        "values_tensor": tensor(places),
        "default_tensor": tensor(np.array([beyond])),
    }


def _number(graph: Graph, value: str, column: Column) -> str:
    """A column of numbers, NaN where it holds a mark for missing."""
    for mark in column.missing:
        if isinstance(mark, int | float):
            value = graph.add("Where", graph.add("Equal", value, np.float64(mark)), np.float64(np.nan), value)
    return value
