"""The one whitening: mean and directions of a table from sums over its chunks."""

import warnings
from dataclasses import dataclass
from typing import Self

import numpy as np

from latently.data.sources.chunks import Chunk
from latently.distributions.statistics import Additive, Moments
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import Reduction
from latently.learn.estimator.unconverged import warn_of_fit

# Below this share of the largest variance, the covariance matrix has lost digits of the smallest: rows decide then.
_LOST = 1e-9


@dataclass(frozen=True, eq=False)
class Whitening:
    """A map x -> matrix (x - mean) to coordinates without correlation and of variance one.

    Parameters
    ----------
    mean : (d,)
    matrix : (k, d) directions of largest variance first, each divided by the deviation along it
    inverse : (d, k) maps white coordinates back
    rows : number of rows that were seen
    """

    mean: Array
    matrix: Array
    inverse: Array
    rows: int

    def __call__(self, X: Array) -> Array:
        """(n, k) white coordinates of rows."""
        return np.asarray((X - self.mean) @ self.matrix.T)

    @classmethod
    def none(cls, d: int, rows: int) -> Self:
        """Data that are white already."""
        return cls(np.zeros(d), np.eye(d), np.eye(d), rows)


@dataclass(frozen=True, eq=False)
class Triangle(Additive):
    """Triangular factor R of centred rows, R'R = X'X: sums of squares without squaring.

    Two of them add by the factor of both, one above the other.
    """

    R: Array

    def _combine(self, other: Self, sign: int) -> Self:
        if sign < 0:
            raise TypeError("rows cannot be taken out of a triangular factor")
        return type(self)(np.asarray(np.linalg.qr(np.vstack([self.R, other.R]), mode="r")))


def moments_of(chunk: Chunk) -> Moments:
    """Weight, mean and scatter of a chunk, about its own mean."""
    X = np.asarray(chunk.X, dtype=np.float64)
    centre = X.mean(axis=0)
    gaps = X - centre
    return Moments(np.asarray(float(len(X))), centre, gaps.sum(axis=0), gaps.T @ gaps)


def whitening_of(reduce: Reduction, n_components: int | None, solver: str = "svd") -> Whitening:
    """Find the whitening of all chunks.

    Parameters
    ----------
    reduce
        Sums over the chunks.
    n_components
        How many directions to keep; None for as many as the data have. If the rank is less than what is asked for, a
        warning says so.
    solver
        "eigh": eigenvectors of the covariance matrix. "svd": those of the rows themselves, by triangular factors of
        the chunks, wherever the covariance matrix would not do.
    """
    moments: Moments = reduce(moments_of)
    n, mean = int(moments.weight), moments.mean()
    if n < 2:
        raise ValueError(f"n_samples={n}: independent components need at least 2 rows")
    values, vectors = np.linalg.eigh(moments.scatter() / n)
    if not np.isfinite(values).all():
        raise ValueError("the covariance of the columns cannot be represented: rescale the columns")
    values, vectors, least = values[::-1], vectors[:, ::-1], np.finfo(float).eps * max(len(mean), 10)
    if solver == "svd" and values[-1] < _LOST * values[0]:
        values, vectors = _of_rows(reduce, mean, n)
        least = (np.finfo(float).eps * max(n, len(mean))) ** 2
    k = _n_kept(values, least, mean, n, n_components, solver)
    vectors = vectors[:, :k] * np.where(vectors[0, :k] < 0, -1.0, 1.0)
    deviations = np.sqrt(values[:k])
    return Whitening(mean, (vectors / deviations).T, vectors * deviations, n)


def _of_rows(reduce: Reduction, mean: Array, n: int) -> tuple[Array, Array]:
    """Variances and directions from the rows, without squares of them."""

    def triangle_of(chunk: Chunk) -> Triangle:
        return Triangle(np.asarray(np.linalg.qr(np.asarray(chunk.X, dtype=np.float64) - mean, mode="r")))

    _, sizes, directions = np.linalg.svd(reduce(triangle_of).R)
    values = np.zeros(len(mean))
    values[: len(sizes)] = sizes**2 / n
    return values, directions.T


def _n_kept(values: Array, least: float, mean: Array, n: int, asked: int | None, solver: str) -> int:
    """How many directions are kept; a warning says why there are fewer than asked for."""
    # what rounding alone makes of a constant column that is far from zero is no variance
    noise = (np.finfo(float).eps * np.abs(mean).max(initial=0.0)) ** 2
    rank = int(np.count_nonzero(values > max(least * values[0], noise)))
    if rank == 0:
        raise ValueError("X is constant: its columns have no variance, so there is nothing to separate")
    most = min(n, len(mean))
    wanted = most if asked is None else asked
    if wanted > most:
        warnings.warn(f"n_components is too large: it will be set to {most}", UserWarning, stacklevel=2)
        wanted = most
    message = f"the data have rank {rank}, so that {rank} components are found instead of {wanted}"
    if wanted > rank and solver == "eigh":
        warnings.warn(f"There are some small singular values: {message}", UserWarning, stacklevel=2)
    elif wanted > rank and asked is not None:
        warn_of_fit(message)
    return min(wanted, rank)


def inverse_root(C: Array) -> Array:
    """C^(-1/2) of a positive matrix.

    Examples
    --------
    >>> inverse_root(np.diag([4.0, 0.25]))
    array([[0.5, 0. ], [0. , 2. ]])
    """
    values, vectors = np.linalg.eigh(C)
    if values[0] <= 1e-12 * values[-1]:
        raise ValueError("the rows drawn do not span all components: there are too few rows")
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)
