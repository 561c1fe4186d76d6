"""A uniform sample of the rows that stream by, and column types that the library knows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class FileTable:
    """What was read of a file.

    Attributes
    ----------
    table
        The rows that were kept, in the order of the file.
    total_rows
        How many rows the file has.
    row_numbers
        Which of them were kept, counted from 0; None if all were.
    """

    table: Any
    total_rows: int
    row_numbers: NDArray[np.int64] | None = None


class Reservoir:
    """Keeps rows that stream by: all of them, or a sample in which every row has the same chance.

    Every row draws a number; those with the smallest are kept, in their order. What is kept does not depend on
    where one batch ends and the next begins.

    Parameters
    ----------
    schema
        Of the batches to come, for a stream without any.
    rows
        How many rows to keep; all if None.
    seed
        Of the numbers drawn.
    most
        Bytes that may be held; more is a `MemoryError`. None for no bound.

    Examples
    --------
    >>> import pyarrow as pa
    >>> batches = pa.table({"a": list(range(100))}).to_batches(max_chunksize=7)
    >>> kept = Reservoir(batches[0].schema, 10, seed=0)
    >>> for batch in batches:
    ...     kept.add(batch)
    >>> kept.seen, kept.table().num_rows
    (100, 10)
    >>> kept.table()["a"].to_pylist() == kept.row_numbers().tolist()
    True
    """

    def __init__(self, schema: Any, rows: int | None, seed: int, most: int | None = None) -> None:
        self.seen = 0
        self._most, self._bytes = most, 0
        self._schema, self._rows = schema, rows
        self._rng = np.random.default_rng(seed)
        self._bound = 1.0  # a row with a larger number cannot be among the smallest any more
        self._keys: list[NDArray[np.float64]] = []
        self._numbers: list[NDArray[np.int64]] = []
        self._parts: list[Any] = []

    def add(self, batch: Any) -> None:
        """Look at further rows."""
        import pyarrow as pa

        self.seen += batch.num_rows
        if self._rows is None:
            self._hold(pa.Table.from_batches([batch]))
            return
        keys = self._rng.random(batch.num_rows)
        here = np.flatnonzero(keys < self._bound)
        self._keys.append(keys[here])
        self._numbers.append(here + (self.seen - batch.num_rows))
        self._hold(pa.Table.from_batches([batch]).take(pa.array(here)))
        if sum(map(len, self._keys)) > 2 * self._rows + 10_000:
            self._prune()

    def _hold(self, part: Any) -> None:
        import pyarrow as pa

        self._parts.append(part)
        self._bytes += part.nbytes
        if self._most is not None and self._bytes > self._most:
            self._prune()
            # parts may share what they hold, such as a dictionary
            self._bytes = pa.concat_tables(self._parts).get_total_buffer_size()
            if self._bytes > self._most:
                raise MemoryError(f"the rows to be kept take {self._bytes} bytes")

    def table(self) -> Any:
        """Give what was kept, in the order it came."""
        import pyarrow as pa

        self._prune()
        return pa.concat_tables(self._parts) if self._parts else self._schema.empty_table()

    def row_numbers(self) -> NDArray[np.int64] | None:
        """Which rows were kept, counted from 0 in the order they came; None if all were."""
        self._prune()
        return None if self._rows is None or self.seen <= self._rows else np.concatenate(self._numbers)

    def _prune(self) -> None:
        """Put what is held into one part, without the rows that have dropped out."""
        import pyarrow as pa

        if self._rows is None or not self._parts:
            return
        keys, numbers = np.concatenate(self._keys), np.concatenate(self._numbers)
        whole = pa.concat_tables(self._parts)
        if len(keys) > self._rows:
            self._bound = float(np.partition(keys, self._rows)[self._rows])
            here = np.flatnonzero(keys < self._bound)
            keys, numbers, whole = keys[here], numbers[here], whole.take(pa.array(here))
        self._keys, self._numbers, self._parts = [keys], [numbers], [whole]


def plain_types(table: Any) -> Any:
    """Give an Arrow table whose decimals are floats, and whose columns without any value have a type.

    Examples
    --------
    >>> import pyarrow as pa
    >>> str(plain_types(pa.table({"a": pa.nulls(2)})).schema.field("a").type)
    'double'
    """
    import pyarrow as pa

    def plain(kind: Any) -> Any:
        if pa.types.is_null(kind) or pa.types.is_decimal(kind):
            return pa.float64()
        return pa.float32() if pa.types.is_float16(kind) else kind

    fields = [field.with_type(plain(field.type)) for field in table.schema]
    return table.cast(pa.schema(fields)).combine_chunks()
