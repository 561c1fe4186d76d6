"""Values of a kernel among the things a model is fitted to, a block at a time: what a solver asks for."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from latently import compiled
from latently.kernel.base import Array, Kernel, take
from latently.kernel.vector import RBF, VectorKernel, as_rows
from latently.learn.engine.blocks import for_blocks

Ints = npt.NDArray[np.int64]

FEW_COLUMNS = 24  # columns up to which differences are summed one by one
_TILE = 512


@dataclass(frozen=True, eq=False)
class KernelValues:
    """Blocks of the Gram matrix of some things, computed when they are asked for.

    Parameters
    ----------
    kernel
        A kernel, with its width fixed.
    things
        What it compares.
    """

    kernel: Kernel
    things: Any

    @property
    def diagonal(self) -> Array:
        """(n,) values of each with itself."""
        return self.kernel.diag(self.things)

    def block(self, rows: Ints, columns: Ints) -> Array:
        """(len(columns), len(rows)) values."""
        return self.kernel(take(self.things, columns), take(self.things, rows))

    def dot(self, rows: Ints, columns: Ints, weights: Array) -> Array:
        """(len(rows),) sums over columns of weight times value."""
        out = np.zeros(len(rows))
        for first in range(0, len(columns), _TILE):
            some = slice(first, first + _TILE)
            out += weights[some] @ self.block(rows, columns[some])
        return out


@dataclass(frozen=True, eq=False)
class RowValues(KernelValues):
    """The same for rows of numbers that have been checked."""

    def block(self, rows: Ints, columns: Ints) -> Array:
        """(len(columns), len(rows)) values."""
        points, others = self.things[columns], self.things[rows]
        out = np.empty((len(columns), len(rows)))

        def fill(first: int, last: int) -> None:
            out[first:last] = self.kernel._matrix(points[first:last], others)

        for_blocks(len(columns), fill)
        return out


@dataclass(frozen=True, eq=False)
class GaussianValues(RowValues):
    """The same for the RBF kernel of few columns: rows are kept column by column, in units of sqrt(2) widths."""

    columns: Array
    memo: dict[str, Any] = field(default_factory=dict)

    def block(self, rows: Ints, columns: Ints) -> Array:
        """(len(columns), len(rows)) values."""
        there = self._columns_of(rows)
        points = np.ascontiguousarray(self.columns[:, columns].T)
        out = np.empty((len(columns), len(rows)))

        def fill(first: int, last: int) -> None:
            bits = np.empty(_TILE, dtype=np.int64)
            compiled.kernel.rbf.gaussians(there, points[first:last], bits, bits.view(np.float64), out[first:last])

        for_blocks(len(columns), fill, rows=max(8, -(-len(columns) // 8)))
        return out

    def dot(self, rows: Ints, columns: Ints, weights: Array) -> Array:
        """(len(rows),) sums over columns of weight times value."""
        points = np.ascontiguousarray(self.columns[:, columns].T)
        return gaussian_sums(self._columns_of(rows), points, np.ascontiguousarray(weights))

    def _columns_of(self, rows: Ints) -> Array:
        if len(rows) == self.columns.shape[1]:
            return self.columns
        if self.memo.get("rows") is not rows:
            self.memo["rows"], self.memo["columns"] = rows, np.ascontiguousarray(self.columns[:, rows])
        return np.asarray(self.memo["columns"])


def gaussian_sums(columns: Array, points: Array, weights: Array) -> Array:
    """(n,) sums over points z_j (m, d) of weights_j exp(-|x_i - z_j|^2); x_i are the columns of a (d, n) array."""
    out = np.zeros(columns.shape[1])

    def fill(first: int, last: int) -> None:
        bits, row = np.empty(_TILE, dtype=np.int64), np.empty(_TILE)
        compiled.kernel.rbf.gaussian_sums(columns, points, weights, first, last, bits, bits.view(np.float64), row, out)

    for_blocks(len(out), fill, rows=max(_TILE, -(-len(out) // (16 * _TILE)) * _TILE))
    return out


def kernel_values(kernel: Kernel, X: Any) -> KernelValues:
    """Blocks of the Gram matrix of things, in the fastest way there is for the kernel.

    Examples
    --------
    >>> values = kernel_values(RBF(width=1.0), [[0.0], [1.0], [2.0]])
    >>> values.block(np.array([0, 1]), np.array([2])).round(4)
    array([[0.1353, 0.6065]])
    """
    fixed = kernel.adapted(X)
    if not isinstance(fixed, VectorKernel) or fixed.normalize:
        return KernelValues(fixed, X)
    rows = as_rows(X, "X")
    if not isinstance(fixed, RBF) or rows.shape[1] > FEW_COLUMNS:
        return RowValues(fixed, rows)
    scaled = (rows - rows.mean(axis=0)) / (np.sqrt(2.0) * float(fixed.width))
    return GaussianValues(fixed, rows, np.ascontiguousarray(scaled.T))


def gram(kernel: Kernel, X: Any) -> Array:
    """Gram matrix (n, n) of things, in the fastest way there is for the kernel.

    Examples
    --------
    >>> gram(RBF(width=1.0), [[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """
    values = kernel_values(kernel, X)
    if not isinstance(values, GaussianValues):
        return values.kernel(values.things)
    every = np.arange(len(values.things))
    return values.block(every, every)
