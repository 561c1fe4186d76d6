"""Where a solver gets the values of a kernel matrix from."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]


class Gram(Protocol):
    """Where values of K come from."""

    @property
    def diagonal(self) -> Array:
        """(n,) K_ii."""

    def block(self, rows: Ints, columns: Ints) -> Array:
        """(len(columns), len(rows)) values of K: one row for each column."""

    def dot(self, rows: Ints, columns: Ints, weights: Array) -> Array:
        """(len(rows),) sums over columns of weight times K."""


@dataclass(frozen=True, eq=False)
class MatrixGram:
    """A symmetric matrix that is in memory.

    Examples
    --------
    >>> gram = MatrixGram(np.array([[2.0, 1.0], [1.0, 3.0]]))
    >>> gram.block(np.array([0, 1]), np.array([1]))
    array([[1., 3.]])
    """

    matrix: Array

    @property
    def diagonal(self) -> Array:
        """(n,) its diagonal."""
        return np.asarray(np.diagonal(self.matrix))

    def block(self, rows: Ints, columns: Ints) -> Array:
        """(len(columns), len(rows)) its values."""
        whole = self.matrix[columns]
        return whole if len(rows) == len(self.matrix) else np.asarray(whole[:, rows])

    def dot(self, rows: Ints, columns: Ints, weights: Array) -> Array:
        """(len(rows),) sums over columns of weight times value."""
        return np.asarray(weights @ self.block(rows, columns))


class Columns:
    """Columns of K on the active rows, the latest of which are kept."""

    def __init__(self, gram: Gram, n: int, cache_mb: float) -> None:
        self.gram, self.budget = gram, cache_mb * 1e6
        self.kept: OrderedDict[int, Array] = OrderedDict()
        self.rows = np.arange(n)

    def of(self, js: Ints) -> Array:
        """(len(js), active rows) columns of K."""
        new = np.array([j for j in js.tolist() if j not in self.kept], dtype=np.int64)
        if len(new):
            for j, column in zip(new.tolist(), self.gram.block(self.rows, new), strict=True):
                self.kept[j] = column
        for j in js.tolist():
            self.kept.move_to_end(j)
        found = np.array([self.kept[j] for j in js.tolist()])
        most = max(int(self.budget / (8 * len(self.rows))), 1)
        while len(self.kept) > most:
            self.kept.popitem(last=False)
        return found

    def restrict(self, rows: Ints, mask: npt.NDArray[np.bool_]) -> None:
        """Go on with fewer rows: `mask` says which of the present ones."""
        self.rows = rows
        self.kept = OrderedDict((j, column[mask]) for j, column in self.kept.items())

    def widen(self, n: int) -> None:
        """Go on with all rows."""
        self.rows = np.arange(n)
        self.kept.clear()
