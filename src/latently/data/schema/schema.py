"""What the columns of a table are, and the way to floats and back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latently.data.schema.codes import Unseen, decode_column, encode_codes, encode_numbers
from latently.data.schema.column import Column, Kind, check_fields
from latently.data.tables import frames
from latently.data.tables.column_view import ColumnView
from latently.data.tables.matrix import as_table
from latently.data.tables.values import quote


@dataclass(frozen=True)
class Schema:
    """What the columns of a table are; it turns tables into floats and back.

    Parameters
    ----------
    columns
        A record for each column, in order.

    Examples
    --------
    >>> import pandas as pd
    >>> schema = Schema((Column("size", "ordinal", ("S", "M", "L")), Column("cm", "numeric", missing=(-1,))))
    >>> table = pd.DataFrame({"cm": [3.5, -1.0], "size": ["L", "S"]})
    >>> schema.encode(table)
    array([[2. , 3.5], [0. , nan]])
    >>> schema.decode(schema.encode(table), like=table)
      size   cm
    0    L  3.5
    1    S  NaN
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        repeated = sorted({name for name in self.names if self.names.count(name) > 1})
        if repeated:
            raise ValueError(f"a schema names each column once, but {quote(repeated)} repeats")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kinds of the columns, in order."""
        return tuple(column.kind for column in self.columns)

    def where(self, kind: Kind) -> NDArray[np.intp]:
        """Give the places of the columns of one kind."""
        return np.flatnonzero([k == kind for k in self.kinds])

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing in it can change, and every clone of an estimator would copy all of it

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"no column {name!r}; the schema has {quote(self.names, 10)}")

    def encode(self, table: Any, *, unseen: Unseen = "missing") -> NDArray[np.float64]:
        """Turn a table into floats, (rows, columns): codes 0, 1, ... for categories, NaN for missing.

        Parameters
        ----------
        table
            A dataframe, whose columns are found by name (others are ignored), or an array or nested list
            with the columns in the order of the schema.
        unseen
            What becomes of a value that is not among the categories: "missing" (NaN), "error", or "code" (a
            code of its own, one above the last).
        """
        if unseen not in get_args(Unseen):
            raise ValueError(f"unseen must be one of {quote(get_args(Unseen))}, got {unseen!r}")
        views = self._views(as_table(table, "table"))
        out = np.empty((len(views[0].data) if views else 0, len(self)))
        for j, (column, view) in enumerate(zip(self.columns, views, strict=True)):
            numeric = column.kind == "numeric"
            out[:, j] = encode_numbers(column, view) if numeric else encode_codes(column, view, unseen)
        return out

    def _views(self, table: Any) -> list[ColumnView]:
        found = frames.views(table)
        if not frames.is_frame(table):
            if len(found) != len(self):
                raise ValueError(f"the table has {len(found)} columns but the schema has {len(self)}")
            return list(found.values())
        absent = [name for name in self.names if name not in found]
        if absent:
            raise ValueError(f"column {quote(absent)} is not in the table, which has {quote(found, 10)}")
        return [found[name] for name in self.names]

    def decode(self, array: ArrayLike, like: Any = None) -> Any:
        """Turn codes back into categories.

        Parameters
        ----------
        array
            What `encode` gave, (rows, columns).
        like
            A dataframe: the result is one of the same kind, with its index, and with its column types where
            they can hold the values. Otherwise the result is an array, of objects if there are categories.
        """
        A = np.asarray(array, dtype=np.float64)
        if A.ndim != 2 or A.shape[1] != len(self):
            raise ValueError(f"expected an array of shape (rows, {len(self)}), got {A.shape}")
        columns = {c.name: decode_column(c, A[:, j]) for j, c in enumerate(self.columns)}
        if frames.is_frame(like):
            return frames.restore_types(frames.from_columns(columns, like), like)
        if set(self.kinds) <= {"numeric"}:
            return A.copy()
        return np.array(list(columns.values()), dtype=object).T.reshape(A.shape)

    def to_dict(self) -> dict[str, Any]:
        """Give the schema as plain values that JSON can hold."""
        return {"columns": [column.to_dict() for column in self.columns]}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Make the schema that `to_dict` wrote down."""
        check_fields("a schema", record, ("columns",))
        return cls(tuple(Column.from_dict(column) for column in record["columns"]))
