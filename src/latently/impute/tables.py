"""A table as the user has it and as floats, side by side; and what a model takes of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.cluster import GaussianMixture
from latently.data.schema.column import Column
from latently.data.schema.infer import infer_schema
from latently.data.schema.schema import Schema
from latently.data.tables import frames
from latently.data.tables.matrix import as_matrix, as_table, check_size
from latently.data.tables.values import quote
from latently.learn.engine.protocol import Array


@dataclass(frozen=True, eq=False)
class Table:
    """A table, what its columns are, and its values.

    Attributes
    ----------
    raw
        A dataframe, or a two-dimensional array.
    schema
        What the columns are.
    values
        (n, d) numbers and codes; NaN where missing, and where a category is not in the schema.
    """

    raw: Any
    schema: Schema
    values: Array

    def decoded(self, values: Array) -> Any:
        """Other values as a table of the same kind, with categories for codes."""
        return self.schema.decode(values, like=self.raw)


def read_table(X: Any, schema: Schema | None) -> Table:
    """Read a table; what its columns are is found out if nobody says."""
    raw = as_table(X, "X")
    shape = (frames.row_count(raw), len(frames.column_names(raw))) if frames.is_frame(raw) else raw.shape
    check_size(shape)
    if isinstance(raw, np.ndarray) and raw.dtype.kind == "f" and (schema is None or _is_plain(schema, raw.shape[1])):
        columns = (Column(name, "numeric") for name in frames.default_names(raw.shape[1]))
        values = np.asarray(as_matrix(raw, allow_nan=True, dtype=np.float64), dtype=np.float64)
        return Table(raw, schema or Schema(tuple(columns)), values)
    known = infer_schema(raw) if schema is None else schema
    if frames.is_frame(raw) and frames.column_names(raw) != known.names:
        raise ValueError(
            f"the schema must name the columns of the table in their order: it has {quote(known.names, 10)}, "
            f"the table has {quote(frames.column_names(raw), 10)}"
        )
    return Table(raw, known, known.encode(raw))


def _is_plain(schema: Schema, width: int) -> bool:
    """Whether encoding would leave an array of floats as it is."""
    return len(schema) == width and all(column.kind == "numeric" and not column.missing for column in schema)


def takes_tables(model: Any) -> bool:
    """Whether a model reads tables of mixed types by a schema of its own."""
    return hasattr(model, "schema")


def for_model(model: Any, table: Table, values: Array | None = None) -> Any:
    """Give what a model takes: the table itself, or its numbers; with other values if there are any."""
    if takes_tables(model):
        return table.raw if values is None else table.decoded(values)
    coded = [column.name for column in table.schema if column.kind != "numeric"]
    if coded and isinstance(model, GaussianMixture):
        raise ValueError(
            f"column {quote(coded)} holds categories, which a GaussianMixture cannot take: use "
            "latently.cluster.Mixture, or leave it out"
        )
    numbers = table.values if values is None else values
    # A model that was fitted with names wants them again.
    return frames.from_array(numbers, table.raw) if hasattr(model, "feature_names_in_") else numbers


def check_observed(table: Table) -> None:
    """See that every column has at least one value to learn from."""
    empty = np.asarray(np.isnan(table.values).all(axis=0))
    if empty.any():
        names = quote(name for name, is_empty in zip(table.schema.names, empty, strict=True) if is_empty)
        raise ValueError(f"column {names} has no observed values, so there is nothing to learn from: leave it out")
