"""Functions in feature space: f(x) = sum_j w_j k(x, z_j)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.kernel.base import Array, Kernel, length, take
from latently.kernel.gram.values import FEW_COLUMNS, gaussian_sums
from latently.kernel.vector import RBF, as_rows
from latently.learn.engine.blocks import for_blocks

_VALUES = 2_000_000  # kernel values in memory at a time


@dataclass(frozen=True, eq=False)
class Expansion:
    """A weighted sum of kernels with some things.

    Parameters
    ----------
    kernel
        The kernel, with its width fixed.
    things
        m things z_j.
    weights
        (m,) or (m, a) weights w_j.

    Examples
    --------
    >>> f = Expansion(RBF(width=1.0), np.array([[0.0], [1.0]]), np.array([1.0, -1.0]))
    >>> f(np.array([[0.0], [0.5]])).round(4)
    array([0.3935, 0.    ])
    """

    kernel: Kernel
    things: Any
    weights: Array

    def __call__(self, X: Any) -> Array:
        """Values (n,), or (n, a), of the function."""
        n, m = length(X), length(self.things)
        if isinstance(self.kernel, RBF) and self.weights.ndim == 1 and m:
            rows, centres = as_rows(X, "X"), as_rows(self.things, "Y")
            if rows.shape[1] == centres.shape[1] <= FEW_COLUMNS:
                return self._gaussian(rows, centres)
        out = np.zeros((n, *self.weights.shape[1:]))

        def fill(first: int, last: int) -> None:
            out[first:last] = self.kernel(take(X, np.arange(first, last)), self.things) @ self.weights

        if m:
            for_blocks(n, fill, rows=max(1, _VALUES // m))
        return out

    def _gaussian(self, rows: Array, centres: Array) -> Array:
        unit = np.sqrt(2.0) * float(self.kernel.width)  # type: ignore[attr-defined]
        origin = centres.mean(axis=0)
        points = np.ascontiguousarray((centres - origin) / unit)
        return gaussian_sums(np.ascontiguousarray(((rows - origin) / unit).T), points, self.weights)
