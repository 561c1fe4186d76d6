"""Chunks with a function applied to their values."""

from collections.abc import Callable, Iterator
from typing import Self

from latently.data.sources.chunks import Chunk, ChunkSource
from latently.data.tables.matrix import FloatArray


class MappedSource(ChunkSource):
    """The chunks of another source, with a function applied to their values.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.data.open import as_source
    >>> [chunk.X.tolist() for chunk in MappedSource(as_source([[1.0], [2.0]]), np.negative)]
    [[[-1.0], [-2.0]]]
    """

    def __init__(self, source: ChunkSource, f: Callable[[FloatArray], FloatArray]) -> None:
        self._source, self._f = source, f
        self.n_rows, self.column_names = source.n_rows, source.column_names

    def __iter__(self) -> Iterator[Chunk]:
        return (Chunk(self._f(c.X), c.weights, c.start, c.memo, c.lengths, c.y) for c in self._source)

    def fresh(self) -> Self:
        """Give the same chunks with memos of their own: for a second fit at the same time."""
        return type(self)(self._source.fresh(), self._f)

    def totals(self) -> tuple[float, int]:
        """Weight of all rows, and how many rows have any."""
        return self._source.totals()
