"""What is known about the columns of a long table from a short one that has the same values."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from latently.data.stored.parquet import kind_of, pyarrow

MOST_VALUES: Final = 1 << 20
"""Most distinct values of a column of text."""
_MOST_NUMBERS: Final = 4096


def digest_of(batches: Iterator[tuple[str, Any]], schema: Any, names: Sequence[str]) -> Any:
    """Give an Arrow table with the types of a long one and all distinct values of its columns of text.

    Columns of numbers have up to some thousand of their values. Below the values of a short column stands null.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"a": ["x", "y", "x"], "b": [1.0, 2.0, 3.0]})
    >>> short = digest_of((("here", batch) for batch in table.to_batches()), table.schema, ["a", "b"])
    >>> short.column("a").to_pylist()
    ['x', 'y', None]
    """
    pa = pyarrow()
    found = {name: _Values(name, schema.field(name).type) for name in names}
    for _, batch in batches:
        for name, values in found.items():
            values.add(batch.column(name))
    rows = max([len(values.seen) for values in found.values()], default=0)
    columns = [values.column(rows) for values in found.values()]
    return pa.Table.from_arrays(columns, names=list(names))


class _Values:
    """Distinct values of a column, in the order in which they came."""

    def __init__(self, name: str, type_: Any) -> None:
        pa = pyarrow()
        self.name, self.type = name, type_
        self.text = kind_of(type_) != "number"
        self.full = False
        self.levels = pa.types.is_dictionary(type_)
        self.seen = pa.array([], type_.value_type if self.levels else type_)

    def add(self, column: Any) -> None:
        if self.full:
            return
        pa = pyarrow()
        if pa.types.is_dictionary(column.type):
            # levels that no row has are levels too, and their order is that of the type
            column = column.dictionary if self.levels else column.dictionary_decode()
        new = pa.compute.unique(column.cast(self.seen.type)).drop_null()
        self.seen = pa.compute.unique(pa.concat_arrays([self.seen, new]))
        if self.text and len(self.seen) > MOST_VALUES:
            raise ValueError(
                f"column {self.name!r} has more than {MOST_VALUES} distinct values, too many to be categories: "
                "leave it out with columns=[...]"
            )
        if not self.text and len(self.seen) >= _MOST_NUMBERS:
            self.seen, self.full = self.seen.slice(0, _MOST_NUMBERS), True

    def column(self, rows: int) -> Any:
        """The values, with nulls below them up to so many rows."""
        pa = pyarrow()
        if not self.levels:
            return pa.concat_arrays([self.seen, pa.nulls(rows - len(self.seen), self.seen.type)])
        places = pa.array([*range(len(self.seen)), *[None] * (rows - len(self.seen))], pa.int32())
        return pa.DictionaryArray.from_arrays(places, self.seen, ordered=self.type.ordered)
