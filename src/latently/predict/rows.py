"""Rows of any kind in chunks: dense numbers, codes, compressed sparse rows; and sums over them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from latently.data.sources.bounds import chunk_bounds
from latently.data.sources.chunks import Chunk, ChunkSource
from latently.data.tables import frames
from latently.learn.engine.reduce import mapping, reducing

Stats = TypeVar("Stats")
CHUNK_ROWS = 32768  # twice the usual: one pass does so little with a row that calls would cost more


class RowSource(ChunkSource):
    """Chunks of a table that can be cut by rows, whatever the type of its entries.

    Examples
    --------
    >>> [chunk.stop for chunk in RowSource(np.zeros((3, 2), dtype=int), chunk_rows=2)]
    [1, 3]
    """

    def __init__(self, X: Any, chunk_rows: int = CHUNK_ROWS) -> None:
        self._shape = X.shape
        self._chunks = tuple(Chunk(X[a:b], None, a) for a, b in chunk_bounds(X.shape[0], chunk_rows))

    @property
    def n_rows(self) -> int:  # type: ignore[override]  # of a source it is only read
        """Number of rows."""
        return int(self._shape[0])

    @property
    def column_names(self) -> tuple[str, ...]:  # type: ignore[override]  # made when asked for
        """Names of the columns, in order."""
        return frames.default_names(self._shape[1])

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self._chunks)

    def __len__(self) -> int:
        return len(self._chunks)

    def fresh(self) -> Self:
        """Give the same chunks with memos of their own."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _chunks=tuple(chunk.fresh() for chunk in self._chunks))
        return other


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Compressed sparse rows whose memory is shared with the table they were cut from."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    shape: tuple[int, int]

    @classmethod
    def of(cls, X: Any) -> Self:
        """Look at a matrix or array of compressed rows."""
        return cls(X.data, X.indices, X.indptr, X.shape)

    def __getitem__(self, rows: slice) -> "SparseRows":
        start, stop, _ = rows.indices(self.shape[0])
        return SparseRows(self.data, self.indices, self.indptr[start : stop + 1], (stop - start, self.shape[1]))

    def __len__(self) -> int:
        return self.shape[0]

    def toarray(self) -> NDArray[np.float64]:
        """All entries, (n, d)."""
        out = np.zeros(self.shape)
        rows = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        stored = slice(self.indptr[0], self.indptr[-1])
        out[rows, self.indices[stored]] = self.data[stored]
        return out


def is_sparse(X: Any) -> bool:
    """Whether something is a sparse matrix or array."""
    return hasattr(X, "nnz") and hasattr(X, "tocsr")


def four(K: int) -> int:
    """Round up to a multiple of four: kernels sum four classes at a time."""
    return -(-K // 4) * 4


def as_source(X: Any) -> ChunkSource:
    """Give a source over rows, or the source itself."""
    return X if isinstance(X, ChunkSource) else RowSource(X)


def total(X: Any, f: Callable[[Chunk], Stats]) -> Stats:
    """Sum of f over the chunks of X."""
    with reducing(as_source(X)) as reduce:
        result: Stats = reduce(f)
    return result


def row_by_row(X: Any, f: Callable[[Chunk], NDArray[Any]]) -> NDArray[Any]:
    """Values of f for every row, one chunk after the other."""
    with mapping(as_source(X)) as over_chunks:
        parts = list(over_chunks(f))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def part(values: NDArray[Any] | None, chunk: Chunk) -> NDArray[Any]:
    """Entries of a per-row array that belong to a chunk; an empty array stands for none."""
    return np.empty(0) if values is None else values[chunk.start : chunk.stop]


def lanes(K: int) -> int:
    """Round up to a multiple of four or five, whichever is nearer: as many classes are summed at a time."""
    return min(four(K), -(-K // 5) * 5)
