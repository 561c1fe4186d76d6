"""Symmetric matrices: their factors, their packing into rows, and moments of rows."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from latently.distributions.inputs import Array, ColumnError
from latently.distributions.statistics import Moments

Kind = Literal["full", "diag", "spherical"]

BLOCK = 1 << 17
"""Numbers in a block of rows whose products are summed at once."""
PIVOT = 1e-13
"""Share of its variance that a column must keep once the columns before it are known."""


def check_kind(kind: str) -> None:
    """Refuse anything but the three kinds of covariance."""
    if kind not in ("full", "diag", "spherical"):
        raise ValueError(f"kind must be 'full', 'diag' or 'spherical', not {kind!r}")


def factor(matrix: Array) -> Array:
    """Give the lower Cholesky factor of a covariance (d, d), whatever the units of its columns."""
    variance = np.diagonal(matrix)
    if (variance <= 0).any():
        c = int(np.argmin(variance > 0))
        raise ColumnError(c, f"has variance {variance[c]:g}, which must be positive")
    sd = np.sqrt(variance)
    correlation = matrix / sd[:, None] / sd
    if not np.allclose(correlation, correlation.T, rtol=0, atol=1e-8):
        raise ValueError("a covariance must be symmetric")
    lower, failed = linalg.lapack.dpotrf(correlation, lower=1, clean=1)
    pivots = np.diagonal(lower) ** 2
    if failed or (pivots <= PIVOT).any():
        c = int(failed) - 1 if failed else int(np.argmax(pivots <= PIVOT))
        raise ColumnError(
            c,
            "is a linear function of the columns before it, so that the covariance is singular: leave it "
            "out, take kind='diag', or give a NormalInverseWishart prior",
        )
    return np.asarray(sd[:, None] * lower)


def refuse_constant(variance: Array, moments: Moments) -> None:
    """Raise an error for variances (d,) that are no more than rounding in these moments."""
    eps = np.finfo(np.float64).eps
    mean = moments.mean()
    # rounding of the values themselves, and of the difference of squares if the centre is far off
    noise = (4 * eps * np.abs(mean)) ** 2 + 16 * eps * (mean - moments.centre) ** 2
    flat = variance <= (noise if variance.size > 1 else noise.max())
    if flat.any():
        raise ColumnError(
            int(np.argmax(flat)),
            "is constant (to rounding), and a variance of 0 is no density: leave it out, or give a prior "
            "(NormalInverseWishart)",
        )


def whiten(lower: Array, rows: Array) -> Array:
    """Solve lower @ z = x for each row x; the rows of the result have covariance one."""
    return np.asarray(linalg.solve_triangular(lower, rows.T, lower=True, check_finite=False)).T


def log_det(lower: Array) -> float:
    """Log determinant of the matrix with this Cholesky factor."""
    return 2.0 * float(np.log(np.diagonal(lower)).sum())


def pack(matrices: Array) -> Array:
    """Upper triangles (..., d(d+1)/2) of symmetric matrices (..., d, d)."""
    i, j = np.triu_indices(matrices.shape[-1])
    return matrices[..., i, j]


def unpack(rows: Array, d: int) -> Array:
    """Symmetric matrices (..., d, d) from their upper triangles."""
    i, j = np.triu_indices(d)
    full = np.empty((*rows.shape[:-1], d, d))
    full[..., i, j] = rows
    full[..., j, i] = rows
    return full


# moments of rows


def column_moments(X: Array, weights: Array) -> Moments:
    """Moments of each column over its observed entries."""
    seen = ~np.isnan(X)
    w = weights[:, None] * seen
    total = w.sum(axis=0)
    values = np.where(seen, X, 0.0)
    centre = np.divide((w * values).sum(axis=0), total, out=np.zeros(X.shape[1]), where=total > 0)
    step = np.where(seen, X - centre, 0.0)
    return Moments(total, centre, (w * step).sum(axis=0), (w * step**2).sum(axis=0))


def joint_moments(X: NDArray[Any], weights: Array | None = None) -> Moments:
    """Moments of complete rows, with products of columns, in blocks that stay in the cache."""
    n, d = X.shape
    size = max(min(n, BLOCK // max(d, 1)), 1)
    if weights is None and X.dtype == np.float64 and is_near_zero(X):
        return _about_zero(X, size)
    total = np.asarray(float(n) if weights is None else weights.sum())
    centre = _near_mean(X, weights, size, float(total))
    first, second, block = np.zeros(d), np.zeros((d, d)), np.empty((size, d))
    for start in range(0, n, size):
        step = np.subtract(X[start : start + size], centre, out=block[: min(size, n - start)])
        root = np.ones(len(step)) if weights is None else np.sqrt(weights[start : start + size])
        if weights is not None:
            step *= root[:, None]
        first += root @ step
        second += step.T @ step  # the same matrix twice: BLAS computes one triangle
    return Moments(total, centre, first, second)


def _about_zero(X: Array, size: int) -> Moments:
    """Moments without a copy of the rows."""
    n, d = X.shape
    first, second = np.zeros(d), np.zeros((d, d))
    for start in range(0, n, size):
        block = X[start : start + size]
        first += np.ones(len(block)) @ block
        second += block.T @ block
    return Moments(np.asarray(float(n)), np.zeros(d), first, second)


def is_near_zero(X: Array) -> bool:
    """Whether zero is as good as the mean for a centre: in the first rows, means are within a few deviations of it."""
    some = X[:200]
    if len(some) < 20 or some.shape[1] > len(some):
        return False
    mean = some.mean(axis=0)
    squares = np.einsum("ij,ij->j", some, some) / len(some)
    return bool((17 * mean**2 <= 16 * squares).all())  # |mean| <= 4 deviations


def _near_mean(X: NDArray[Any], weights: Array | None, size: int, total: float) -> Array:
    """(d,) the mean of the rows, or of the first of many: moments about it keep their digits."""
    if weights is None:
        return np.asarray(X[:size].mean(axis=0, dtype=np.float64)) if len(X) else np.zeros(X.shape[1])
    return np.asarray(weights @ X / total) if total > 0 else np.zeros(X.shape[1])


def regression(covariance: Array, given: NDArray[np.bool_]) -> Array:
    """Regression coefficients (d_m, d_o) of the other columns on the given ones."""
    if given.all() or not given.any():
        return np.zeros((int((~given).sum()), int(given.sum())))
    lower = factor(covariance[np.ix_(given, given)])
    return np.asarray(linalg.cho_solve((lower, True), covariance[np.ix_(given, ~given)], check_finite=False)).T
