"""Eigenvectors of a covariance, by five ways: each gives a `Spectrum`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, svds

from latently.distributions.statistics import Moments
from latently.factor.moments import few_threads
from latently.factor.pca.products import singular_of
from latently.factor.signs import flipped
from latently.learn.estimator.table import generator

Array = NDArray[Any]
SHORT = 600
"""Rows or columns up to which their products cost less than the powers of a random block."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Principal directions of some rows.

    Attributes
    ----------
    mean : (d,)
    variances : (r,) along the directions, largest first, with weight - 1 in the denominator
    vectors : (r, d) directions
    total : variance of all columns together
    weight : weight of the rows
    steps : iterations it took, and whether they converged
    """

    mean: Array
    variances: Array
    vectors: Array
    total: float
    weight: float
    steps: tuple[int, bool] = (1, True)

    @property
    def limit(self) -> int:
        """Most directions that the rows could have: the least of rows and columns."""
        return int(min(np.ceil(self.weight), len(self.mean)))


@dataclass(frozen=True, eq=False)
class Centred:
    """Rows about their mean, times the roots of their weights.

    Attributes
    ----------
    rows : (n, d) array, or sparse with the mean not yet taken off
    mean : (d,)
    weight : sum of the weights
    squares : sum of the squares of sparse rows about their mean
    roots : (n,) of the weights of sparse rows
    """

    rows: Any
    mean: Array
    weight: float
    squares: float | None = None
    roots: Array | None = None

    def total(self) -> float:
        """Variance of all columns together."""
        squares = np.einsum("ij,ij->", self.rows, self.rows, dtype=np.float64) if self.squares is None else self.squares
        return float(squares) / max(self.weight - 1, np.finfo(float).tiny)

    def operator(self) -> Any:
        """The centred rows as something that multiplies vectors."""
        if not sparse.issparse(self.rows):
            return self.rows
        A, mean, roots = self.rows, self.mean, np.asarray(self.roots)
        return LinearOperator(
            A.shape,
            matvec=lambda v: A @ v.ravel() - roots * (mean @ v.ravel()),
            rmatvec=lambda u: A.T @ u.ravel() - mean * (roots @ u.ravel()),
            matmat=lambda V: A @ V - np.outer(roots, mean @ V),
            rmatmat=lambda U: A.T @ U - np.outer(mean, roots @ U),
            dtype=A.dtype,
        )


def centred(rows: Any, weights: Array | None) -> Centred:
    """Take the mean off; an array is copied, sparse rows stay as they are."""
    if sparse.issparse(rows):
        return _centred_sparse(rows, weights)
    if weights is None:
        mean = rows.mean(axis=0, dtype=np.float64)
        A = rows - mean.astype(rows.dtype)
        if np.abs(mean).max() > 10 * float(np.abs(A[0]).max()):  # far from zero rounding of the mean matters
            shift = A.mean(axis=0)
            A, mean = A - shift, mean + shift
        return Centred(A, mean, float(len(rows)))
    mean = weights @ rows / weights.sum()
    A = (rows - mean) * np.sqrt(weights)[:, None]
    weight = float(weights.sum())
    most = int(min(np.ceil(weight), rows.shape[1]))
    if len(A) < most:  # as many directions as repeated rows would have
        A = np.vstack([A, np.zeros((most - len(A), A.shape[1]))])
    return Centred(A.astype(rows.dtype), mean, weight)


def _centred_sparse(rows: Any, weights: Array | None) -> Centred:
    w = np.ones(rows.shape[0]) if weights is None else weights
    n, roots = float(w.sum()), np.sqrt(w).astype(rows.dtype)
    scaled = rows if weights is None else (sparse.diags_array(roots) @ rows).tocsr()
    mean = np.asarray(scaled.T @ roots, dtype=np.float64).ravel() / n
    squares = float(scaled.multiply(scaled).sum(dtype=np.float64))
    return Centred(scaled, mean, n, squares - n * float(mean @ mean), roots)


def solved(model: Any, solver: str, rows: Any, weights: Array | None) -> Spectrum:
    """Directions of complete rows, by the solver and the settings of the model."""
    data = centred(rows, weights)
    k = min(rows.shape) - (solver == "arpack") if model.n_components is None else model.n_components
    if solver == "full":
        exact = model.svd_solver == "full" or data.rows.dtype != np.float64
        return by_svd(data) if exact else by_products(data, min(data.rows.shape))
    rng = generator(model.random_state)
    match solver:
        case "arpack":
            return by_arpack(data, k, model.tol, rng)
        case "randomized":
            power = None if model.iterated_power == "auto" else model.iterated_power
            return by_krylov(data, k, model.n_oversamples, power, rng)
    return by_power(data, k, model.tol, model.max_iter, rng)


def by_moments(moments: Moments) -> Spectrum:
    """All directions, from sums over the rows: one pass over data of any size."""
    weight = float(moments.weight)
    with few_threads(moments):
        values, vectors = np.linalg.eigh(moments.scatter() / (weight - 1))
    values = np.maximum(values[::-1], 0.0)
    limit = int(min(np.ceil(weight), len(values)))
    return Spectrum(moments.mean(), values[:limit], flipped(vectors.T[::-1][:limit]), float(values.sum()), weight)


def by_svd(data: Centred) -> Spectrum:
    """All directions, to full accuracy."""
    A = data.rows
    n, d = A.shape
    if n > 1.5 * d and A.size > 4096:  # the left singular vectors are not needed
        (A,) = linalg.qr(A, mode="r", check_finite=False, overwrite_a=True)
        A = A[:d]
    _, singular, vectors = linalg.svd(A, full_matrices=False, check_finite=False)
    return _of_singular(data, singular, vectors)


def _of_singular(data: Centred, singular: Array, vectors: Array, steps: tuple[int, bool] = (1, True)) -> Spectrum:
    variances = np.square(singular, dtype=np.float64) / (data.weight - 1)
    every = len(variances) == min(data.rows.shape)
    total = float(variances.sum()) if every else data.total()
    return Spectrum(data.mean, variances, flipped(vectors), total, data.weight, steps)


def by_arpack(data: Centred, k: int, tol: float, rng: np.random.RandomState) -> Spectrum:
    """The first k directions by Lanczos iteration."""
    start = rng.uniform(-1, 1, size=min(data.rows.shape))
    _, singular, vectors = svds(data.operator(), k=k, tol=tol, v0=start)
    order = np.argsort(-singular)
    return _of_singular(data, singular[order], vectors[order])


def by_krylov(data: Centred, k: int, more: int, power: int | None, rng: np.random.RandomState) -> Spectrum:
    """The first k directions from a random block and its powers (Musco and Musco 2015).

    The powers are kept side by side, so few are needed for what takes many where only the last is kept. With few rows
    or columns, or so many directions that the powers would span all there are, products are decomposed instead.
    """
    A = data.rows
    width = min(k + more, min(A.shape))
    powers = 3 if power is None else power
    if min(A.shape) <= SHORT or width * (powers + 1) >= 0.7 * min(A.shape):
        return by_products(data, k)
    tall = A.shape[0] >= A.shape[1]
    B = A if tall else A.T  # (m, p), m >= p
    block = rng.normal(size=(B.shape[1], width)).astype(A.dtype, copy=False)
    blocks = [block := _orthonormal(B.T @ (B @ block)) for _ in range(powers + 1)]
    basis = _orthonormal(np.hstack(blocks))  # (p, r)
    found = singular_of(B @ basis, k, needs_left=not tall)
    return _of_singular(data, found.sizes, found.right.T @ basis.T if tall else found.left.T)


def _orthonormal(A: Array) -> Array:
    return singular_of(A, A.shape[1], needs_left=True).left


def by_products(data: Centred, k: int) -> Spectrum:
    """The first k directions, from products of the rows or, if these are fewer, of the columns."""
    A = data.rows
    wide = A.shape[0] < A.shape[1]
    found = singular_of(A.T if wide else A, k, needs_left=wide)
    return _of_singular(data, found.sizes, (found.left if wide else found.right).T)


def by_power(data: Centred, k: int, tol: float, max_iter: int, rng: np.random.RandomState) -> Spectrum:
    """The first k directions, one after the other: power iteration, and deflation of what is found."""
    A, (n, d) = data.operator(), data.rows.shape
    product = None if n < d or sparse.issparse(data.rows) else A.T @ A
    apply: Callable[[Array], Array] = (lambda v: A.T @ (A @ v)) if product is None else (lambda v: product @ v)
    vectors, values, most, settled = np.zeros((k, d)), np.zeros(k), 1, True
    for j in range(k):
        vectors[j], values[j], steps, good = _power(apply, vectors[:j], values[:j], tol or 1e-10, max_iter, rng)
        most, settled = max(most, steps), settled and good
    order = np.argsort(-values, kind="stable")
    return _of_singular(data, np.sqrt(np.maximum(values[order], 0.0)), vectors[order], (most, settled))


def _power(
    apply: Callable[[Array], Array], known: Array, values: Array, tol: float, max_iter: int, rng: np.random.RandomState
) -> tuple[Array, float, int, bool]:
    """The largest eigenvector that is orthogonal to those known, its value, and how the iteration ended."""
    size = float(values[0]) if len(values) else 0.0
    v: Array = np.asarray(rng.normal(size=known.shape[1]))
    v -= known.T @ (known @ v)
    v /= np.linalg.norm(v)
    value = 0.0
    for step in range(1, max_iter + 1):
        u = apply(v)
        u -= known.T @ (known @ u)  # deflation, and what rounding brings back
        value = float(u @ v)
        rest = float(np.linalg.norm(u - value * v))
        norm = float(np.linalg.norm(u))
        if rest <= tol * max(size, value) or norm == 0:
            return v, max(value, 0.0), step, True
        v = u / norm
    return v, value, max_iter, False
