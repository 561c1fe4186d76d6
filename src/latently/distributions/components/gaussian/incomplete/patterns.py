"""Which columns are observed together."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latently.data.tables.matrix import FloatArray


@dataclass(frozen=True, eq=False)
class Patterns:
    """Which columns are observed together: rows `order[edges[p]:edges[p + 1]]` have pattern p.

    `columns[p]` lists the observed columns first, `counts[p]` of them, and then the missing ones.
    """

    order: NDArray[np.intp]
    edges: NDArray[np.int64]
    columns: NDArray[np.int64]
    counts: NDArray[np.int64]

    def __iter__(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]]:
        """Rows, observed columns and missing columns of each pattern."""
        for p, (columns, count) in enumerate(zip(self.columns, self.counts, strict=True)):
            yield self.order[self.edges[p] : self.edges[p + 1]], columns[:count], columns[count:]


def patterns_of(X: FloatArray) -> Patterns | None:
    """The patterns of a table; None if nothing is missing."""
    missing = np.isnan(X)
    if not missing.any():
        return None
    packed = np.packbits(missing, axis=1)
    keys = packed.view([("", packed.dtype)] * packed.shape[1])[:, 0]
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    absent = missing[first]
    edges = np.concatenate([[0], np.cumsum(np.bincount(codes))])
    return Patterns(
        np.argsort(codes, kind="stable"),
        edges.astype(np.int64),
        np.argsort(absent, axis=1, kind="stable").astype(np.int64),
        (~absent).sum(axis=1).astype(np.int64),
    )
