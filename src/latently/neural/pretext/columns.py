"""Tables of mixed types as inputs of a network: scaled numbers, categories one by one, and what is missing."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from latently.data import Schema, infer_schema
from latently.data.tables import frames
from latently.learn.estimator.table import note_columns
from latently.neural.inputs import Array, Scaling, read_table


@dataclass(frozen=True, eq=False)
class MixedColumns:
    """How the columns of a table become inputs; `schema` is None where all are numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cm": [1.0, 3.0], "city": ["Oslo", "Rome"]})
    >>> columns, _ = MixedColumns.of(table, infer_schema(table).encode(table), infer_schema(table))
    >>> columns.widths, columns.values(np.array([[3.0, 1.0]]))
    ((1, 2), array([[1., 0., 1.]]))
    """

    schema: Schema | None
    scaling: Scaling

    @classmethod
    def of(cls, table: Any, codes: Array, schema: Schema | None) -> tuple[Self, Array]:
        """Those of codes (n, d), which are given back."""
        return cls(schema, Scaling.of(codes)), codes

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each column, 0 for numbers."""
        if self.schema is None:
            return (0,) * len(self.scaling.centre)
        return tuple(0 if column.kind == "numeric" else max(column.n_categories, 1) for column in self.schema)

    @property
    def widths(self) -> tuple[int, ...]:
        """Inputs of each column."""
        return tuple(max(size, 1) for size in self.sizes)

    def values(self, codes: Array) -> Array:
        """(n, w) inputs: zeros where a value is missing."""
        parts = []
        for j, size in enumerate(self.sizes):
            column = codes[:, j]
            if size:
                parts.append((column[:, None] == np.arange(size)).astype(np.float64))
            else:
                scaled = (column - self.scaling.centre[j]) / self.scaling.scale[j]
                parts.append(np.where(np.isnan(scaled), 0.0, scaled)[:, None])
        return np.hstack(parts)

    def spread(self) -> NDArray[np.int64]:
        """(w,) the column that each input is of."""
        return np.repeat(np.arange(len(self.widths)), self.widths)


def read_columns(estimator: Any, X: Any, *, missing: str, known: MixedColumns | None) -> tuple[MixedColumns, Array]:
    """Columns and codes (n, d) of a table; of a frame with categories, by its schema.

    Categories that were not in the fit count as missing. Other missing values are errors, unless `missing` is "mask".
    """
    schema = known.schema if known else _schema_of(X)
    if schema is None:
        codes = read_table(estimator, X, reset=known is None, missing=missing)
    else:
        note_columns(estimator, X, reset=known is None)
        codes = schema.encode(X)
        lost = np.isnan(schema.encode(X, unseen="code"))
        if missing == "error" and lost.any():
            name = schema.names[int(np.argmax(lost.any(axis=0)))]
            raise ValueError(f"column {name!r} of X has missing values: fill them, or set missing='mask'")
    return (known, codes) if known else MixedColumns.of(X, codes, schema)


def _schema_of(X: Any) -> Schema | None:
    if not frames.is_frame(X) or not frames.row_count(X):
        return None
    schema = infer_schema(X)
    return None if set(schema.kinds) <= {"numeric"} else schema
