"""Incomplete Cholesky decomposition with pivots: a Gram matrix as G G' without computing it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from latently.kernel.base import Array, Kernel, length, take

_INDEFINITE = 1e-8  # negative residual, as a share of the largest diagonal entry, that is no rounding


@dataclass(frozen=True, eq=False)
class IncompleteCholesky:
    """K is about G G', exactly so in the rows and columns of the pivots.

    Parameters
    ----------
    kernel
        The kernel, with its width fixed.
    factor
        (n, r) G.
    pivots
        (r,) rows of the training data that G is built on, in their order.
    landmarks
        Those things themselves.
    residual
        Trace of K - G G': what is missed, over all rows.
    """

    kernel: Kernel
    factor: Array
    pivots: npt.NDArray[np.int64]
    landmarks: Any
    residual: float

    def transform(self, X: Any) -> Array:
        """Features (m, r) of new things: their inner products with G's rows are the approximate kernel values."""
        lower = self.factor[self.pivots]  # (r, r) lower triangular
        return np.asarray(solve_triangular(lower, self.kernel(X, self.landmarks).T, lower=True).T)


def incomplete_cholesky(kernel: Kernel, X: Any, *, rank: int | None = None, tol: float = 1e-6) -> IncompleteCholesky:
    """Decompose a Gram matrix by pivots, the largest residual first; only its diagonal and r columns are computed.

    Parameters
    ----------
    kernel
        A kernel.
    X
        n things.
    rank
        Columns of the factor at most; n if None.
    tol
        Stop when the trace of what is missed is below this share of the trace of the Gram matrix.

    Raises
    ------
    ValueError
        If a residual becomes clearly negative: the kernel is not positive semi-definite. The message says how far.

    Examples
    --------
    >>> from latently.kernel import RBF
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> found = incomplete_cholesky(RBF(width=1.0), X)
    >>> found.factor.shape[1] < 10, bool(np.abs(found.factor @ found.factor.T - RBF(width=1.0)(X)).max() < 1e-4)
    (True, True)
    """
    fixed = kernel.adapted(X)
    n = length(X)
    left = np.array(fixed.diag(X), dtype=float)  # (n,) diagonal of what is missed
    largest, total = float(left.max(initial=0.0)), float(left.sum())
    most = n if rank is None else min(rank, n)
    factor = np.zeros((n, min(most, 64)))
    pivots: list[int] = []
    while len(pivots) < most and left.sum() > tol * total:
        pivot, r = int(left.argmax()), len(pivots)
        if r == factor.shape[1]:
            factor = np.hstack([factor, np.zeros((n, min(most - r, r)))])
        column = fixed(X, take(X, [pivot]))[:, 0] - factor[:, :r] @ factor[pivot, :r]
        factor[:, r] = column / np.sqrt(left[pivot])
        factor[pivots, r] = 0.0
        left -= factor[:, r] ** 2
        pivots.append(pivot)
        left[pivots] = 0.0
        _check(left, largest)
        np.maximum(left, 0.0, out=left)
    chosen = np.array(pivots, dtype=np.int64)
    return IncompleteCholesky(fixed, factor[:, : len(chosen)], chosen, take(X, chosen), float(left.sum()))


def _check(left: Array, largest: float) -> None:
    low = float(left.min(initial=0.0))
    if low < -_INDEFINITE * largest:
        raise ValueError(
            f"the kernel is not positive semi-definite: a squared norm came out as {low / largest:.2g} of the largest "
            "diagonal entry"
        )
