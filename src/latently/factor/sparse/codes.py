"""Sparse codes of rows, for given atoms."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from latently import compiled
from latently.learn.engine.protocol import Array

Algorithm = Literal["lasso_lars", "lasso_cd", "lars", "omp", "threshold"]
_TOL = 1e-6  # share of alpha that the gradient may be off by, for coordinate descent


@dataclass(frozen=True)
class Coder:
    """Finds codes s of rows x for atoms D.

    Parameters
    ----------
    algorithm
        "lasso_cd" and "lasso_lars" minimise ``|x - s D|^2 / 2 + alpha |s|_1``; "lars" and "omp" add atoms up to
        `n_nonzero`; "threshold" shrinks the correlations with the atoms by alpha.
    alpha
        Weight of the 1-norm.
    n_nonzero
        Most atoms of a code.
    positive
        Whether codes may not be negative.
    max_iter
        Steps for each row.

    Examples
    --------
    >>> D = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> Coder("lasso_cd", alpha=0.5)(np.array([[2.0, -0.3]]), D)[0]
    array([[1.5, 0. ]])
    """

    algorithm: Algorithm
    alpha: float = 1.0
    n_nonzero: int = 1
    positive: bool = False
    max_iter: int = 1000

    def __call__(self, X: Array, D: Array) -> tuple[Array, int]:
        """(n, k) codes of rows (n, d) for atoms (k, d), and how many rows ran out of steps."""
        B = np.ascontiguousarray(X @ D.T)
        if self.algorithm == "threshold":
            codes = np.sign(B) * np.maximum(np.abs(B) - self.alpha, 0)
            return np.maximum(codes, 0) if self.positive else codes, 0
        G = np.ascontiguousarray(D @ D.T)
        codes = np.zeros(B.shape)
        return codes, (self._descent if self.algorithm == "lasso_cd" else self._path)(G, B, codes)

    def _descent(self, G: Array, B: Array, codes: Array) -> int:
        k = len(G)
        q, moves, x, active = np.empty(k), np.empty(k), np.empty(k), np.empty(k, dtype=np.int64)
        sizes = np.diag(G).copy()
        missed: int = compiled.factor.sparse_descent.coordinate_descent(
            G, sizes, B, self.alpha, self.positive, self.max_iter, _TOL, codes, q, moves, active, np.empty((k, k)), x
        )
        return missed

    def _path(self, G: Array, B: Array, codes: Array) -> int:
        k, paths = len(G), compiled.factor.sparse_paths
        most = k if self.algorithm == "lasso_lars" else min(self.n_nonzero, k)
        used, taken = np.empty(k + 1, dtype=np.int64), np.zeros(k, dtype=np.int64)
        L, q, x = np.zeros((k + 1, k + 1)), np.empty(k), np.empty(k + 1)
        if self.algorithm == "omp":
            paths.matching_pursuit(G, B, most, codes, q, used, taken, L, x)
            return 0
        lasso = self.algorithm == "lasso_lars"
        alpha, steps = (self.alpha if lasso else 0.0), (self.max_iter if lasso else k + 1)
        most = 2 * self.max_iter if lasso else most
        missed: int = paths.least_angle(
            G, B, alpha, most, lasso, self.positive, steps, codes, q, np.empty(k), used, taken, L, x
        )
        return missed if lasso else 0
