"""Chunks: a table as a fixed sequence of blocks of rows, which is all the learning engine ever sees.

A `ChunkSource` can be walked through again and again and always yields the same rows in the same order. Where
one chunk ends and the next begins depends on the number of rows and on `chunk_rows` alone, so sums over
chunks do not depend on the number of threads.
"""

import copy
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latently.data.schema.schema import Schema
from latently.data.sources.bounds import chunk_bounds
from latently.data.sources.paths import is_path
from latently.data.tables import frames
from latently.data.tables.matrix import (
    FloatArray,
    IntArray,
    WeightArray,
    as_matrix,
    check_size,
    check_weights,
    refuse_extreme,
)


@dataclass(frozen=True, eq=False, slots=True)
class Chunk:
    """A block of consecutive rows.

    Parameters
    ----------
    X
        Values, (rows, columns); a view of the table wherever that is possible. Not to be written to.
    weights
        Weight of each row, (rows,), or None if every row counts once.
    start
        Index of the first row in the whole table.
    memo
        Scratch space of whoever works through the source: what speeds up the next pass may be kept here.
        Results must not depend on it. It is left behind when a chunk is pickled.
    lengths
        Lengths of the whole sequences the rows make up, or None if rows stand alone.
    y
        Targets of the rows, (rows,), where the source has them.

    Examples
    --------
    >>> import numpy as np
    >>> chunk = Chunk(np.zeros((3, 2)), weights=np.array([1.0, 2.0, 0.5]))
    >>> chunk.n_rows, chunk.total_weight
    (3, 3.5)
    """

    X: FloatArray
    weights: WeightArray | None = None
    start: int = 0
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    lengths: IntArray | None = None
    y: NDArray[Any] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def stop(self) -> int:
        """Index just past the last row in the whole table."""
        return self.start + self.n_rows

    @property
    def total_weight(self) -> float:
        """Sum of the weights; the number of rows without weights."""
        return float(self.n_rows) if self.weights is None else float(self.weights.sum())

    def fresh(self) -> "Chunk":
        """Give the same rows with an empty memo."""
        return Chunk(self.X, self.weights, self.start, {}, self.lengths, self.y)

    def __reduce__(self) -> tuple[Any, ...]:
        return Chunk, (self.X, self.weights, self.start, {}, self.lengths, self.y)


class ChunkSource(ABC):
    """A table that is read in chunks, as often as needed.

    Subclasses say how many rows there are (None if that is not known beforehand) and what the columns are
    called, and iterate over `Chunk` objects in a fixed order. Each iteration starts from the first row. A
    chunk's `memo` survives from one iteration to the next.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.data import as_source
    >>> source = as_source(np.arange(10.0).reshape(5, 2), chunk_rows=3)
    >>> [(chunk.start, chunk.n_rows) for chunk in source]
    [(0, 2), (2, 3)]
    >>> source.n_rows, source.n_columns, source.column_names
    (5, 2, ('x0', 'x1'))
    """

    n_rows: int | None
    """Number of rows, or None if it is only known after a full pass."""
    column_names: tuple[str, ...]
    """Names of the columns, in order."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.column_names)

    @abstractmethod
    def __iter__(self) -> Iterator[Chunk]:
        """Walk through the chunks, always in the same order."""

    @abstractmethod
    def fresh(self) -> Self:
        """Give the same chunks with memos of their own: for a second fit at the same time."""

    def mapped(self, f: Callable[[FloatArray], FloatArray]) -> "ChunkSource":
        """Give a source with a function applied to the values of every chunk."""
        from latently.data.sources.mapped import MappedSource

        return MappedSource(self, f)

    def totals(self) -> tuple[float, int]:
        """Weight of all rows, and how many rows have any."""
        found = [
            (chunk.total_weight, chunk.n_rows if chunk.weights is None else int(np.count_nonzero(chunk.weights)))
            for chunk in self
        ]
        return float(sum(weight for weight, _ in found)), sum(n for _, n in found)


@runtime_checkable
class Chunkable(Protocol):
    """Data that knows how to cut itself into chunks."""

    def chunked(self, weights: ArrayLike | None = None, chunk_rows: int | None = None) -> ChunkSource:
        """Give a source over this data."""
        ...  # pragma: no cover


class KeptSource(ChunkSource):
    """A source that holds all of its chunks, as it can when they are views of memory that is there anyway."""

    _chunks: tuple[Chunk, ...]

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self._chunks)

    def __len__(self) -> int:
        return len(self._chunks)

    def fresh(self) -> Self:
        """Give the same chunks with memos of their own: for a second fit at the same time."""
        other = copy.copy(self)
        other._chunks = tuple(chunk.fresh() for chunk in self._chunks)
        return other


class ArraySource(KeptSource):
    """Chunks of an array that is already a float table; every chunk is a view, and is kept.

    The values are not looked at: give an array that `as_matrix` has passed, or use `as_source`.

    Parameters
    ----------
    X
        Float array, (rows, columns).
    weights
        Weight of each row, or None.
    chunk_rows
        Most rows in a chunk.
    column_names
        Names of the columns; x0, x1, ... if None.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.zeros((4, 1))
    >>> first, second = ArraySource(X, weights=[1, 2, 3, 4], chunk_rows=2)
    >>> np.shares_memory(first.X, X), second.start, second.weights
    (True, 2, array([3., 4.]))
    """

    def __init__(
        self,
        X: FloatArray,
        weights: ArrayLike | None = None,
        chunk_rows: int | None = None,
        column_names: tuple[str, ...] | None = None,
    ) -> None:
        if not isinstance(X, np.ndarray) or X.dtype not in (np.float64, np.float32) or X.ndim != 2:
            raise TypeError("ArraySource takes a 2-D float64 or float32 array: use as_source")
        self.n_rows = X.shape[0]
        self.column_names = column_names or frames.default_names(X.shape[1])
        w = check_weights(weights, X.shape[0])
        self._chunks = tuple(
            Chunk(X[a:b], None if w is None else w[a:b], a) for a, b in chunk_bounds(X.shape[0], chunk_rows)
        )


class FrameSource(ChunkSource):
    """Chunks of a dataframe, turned into floats one chunk at a time, so the whole is never held twice.

    Parameters
    ----------
    frame
        A pandas, polars or Arrow table.
    weights
        Weight of each row, or None.
    chunk_rows
        Most rows in a chunk.
    schema
        How to encode the columns; without it every column must be numeric.

    Examples
    --------
    >>> import pandas as pd
    >>> source = FrameSource(pd.DataFrame({"a": [1, 2], "b": [0.5, None]}))
    >>> [chunk.X for chunk in source]
    [array([[1. , 0.5], [2. , nan]])]
    """

    def __init__(
        self,
        frame: Any,
        weights: ArrayLike | None = None,
        chunk_rows: int | None = None,
        schema: Schema | None = None,
    ) -> None:
        self._frame = frame
        self._schema = schema
        self.column_names = frames.column_names(frame) if schema is None else schema.names
        self.n_rows = frames.row_count(frame)
        check_size((self.n_rows, self.n_columns))
        self._weights = check_weights(weights, self.n_rows)
        self._bounds = chunk_bounds(self.n_rows, chunk_rows)
        self._memos: tuple[dict[str, Any], ...] = tuple({} for _ in self._bounds)

    def __iter__(self) -> Iterator[Chunk]:
        for (start, stop), memo in zip(self._bounds, self._memos, strict=True):
            weights = None if self._weights is None else self._weights[start:stop]
            yield Chunk(self._values(start, stop), weights, start, memo)

    def __len__(self) -> int:
        return len(self._bounds)

    def _values(self, start: int, stop: int) -> FloatArray:
        rows = frames.row_slice(self._frame, start, stop)
        if self._schema is None:
            return as_matrix(rows, allow_nan=True)
        return refuse_extreme(self._schema.encode(rows), rows)

    def fresh(self) -> Self:
        """Give the same chunks with memos of their own: for a second fit at the same time."""
        other = copy.copy(self)
        other._memos = tuple({} for _ in self._bounds)
        return other


def is_out_of_core(X: Any) -> bool:
    """Whether data is not in memory: paths of files, Dask collections, functions that give frames.

    Examples
    --------
    >>> is_out_of_core("data/*.parquet"), is_out_of_core([[1.0]])
    (True, False)
    """
    return is_path(X) or is_dask(X) or (callable(X) and not hasattr(X, "shape") and not isinstance(X, Chunkable))


def is_dask(X: Any) -> bool:
    """Whether something is a Dask collection; Dask is not imported for that."""
    return "dask" in sys.modules and hasattr(X, "__dask_graph__")
