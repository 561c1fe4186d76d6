"""White coordinates of a table, chunk by chunk, in the layout that kernels read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from latently.data.sources.chunks import Chunk, KeptSource
from latently.factor.ica.whitening import Whitening
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import Reduction

BLOCK_ROWS = 256  # rows of a block: with 20 components it fits the fast cache
Sums = TypeVar("Sums")


@dataclass(frozen=True, eq=False)
class Blocks:
    """White rows as blocks (n_blocks, k, rows), padded by zeros: k to a multiple of four, the last block's rows."""

    values: Array
    n_rows: int

    @classmethod
    def of(cls, Z: Array) -> "Blocks":
        """Arrange white rows (n, k)."""
        n, k = Z.shape
        padded = np.zeros((-(-n // BLOCK_ROWS) * BLOCK_ROWS, padded_size(k)))
        padded[:n, :k] = Z
        blocks = padded.reshape(-1, BLOCK_ROWS, padded.shape[1]).transpose(0, 2, 1)
        return cls(np.ascontiguousarray(blocks), n)


def padded_size(k: int) -> int:
    """Round up to a multiple of four: kernels work on as many components at a time."""
    return -(-k // 4) * 4


class WhiteData:
    """White coordinates of the rows of a source; kept in memory if the rows themselves are."""

    def __init__(self, reduce: Reduction, whitening: Whitening) -> None:
        self._reduce, self.whitening = reduce, whitening
        self._keeps = isinstance(reduce.source, KeptSource)
        self._key = object()  # memos of an earlier whitening are not ours
        self.n_rows, self.n_components = whitening.rows, len(whitening.matrix)

    def rows_of(self, chunk: Chunk) -> Array:
        """(n, k) white rows of a chunk."""
        return self.whitening(np.asarray(chunk.X, dtype=np.float64))

    def sum_rows(self, f: Callable[[Array], Sums]) -> Sums:
        """Sum of f(white rows) over all chunks."""
        total: Sums = self._reduce(lambda chunk: f(self.rows_of(chunk)))
        return total

    def sum_blocks(self, f: Callable[[Blocks], Sums]) -> Sums:
        """Sum of f(blocks) over all chunks."""
        total: Sums = self._reduce(lambda chunk: f(self._blocks_of(chunk)))
        return total

    def _blocks_of(self, chunk: Chunk) -> Blocks:
        kept: tuple[object, Blocks] | None = chunk.memo.get("white")
        if kept is not None and kept[0] is self._key:
            return kept[1]
        blocks = Blocks.of(self.rows_of(chunk))
        if self._keeps:
            chunk.memo["white"] = (self._key, blocks)
        return blocks
