"""Leading eigenvectors of a Gram matrix, and how far it is from positive semi-definite."""

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.blas import dsymv
from scipy.sparse.linalg import LinearOperator, eigsh

from latently.kernel.base import Array

Solver = Literal["auto", "dense", "arpack", "randomized"]
ROUNDING = 1e-9
"""Negative eigenvalues up to this share of the largest one are rounding."""
_LARGE = 600  # rows above which a few eigenvalues are sought by iterations
_TOL = 1e-12  # of Lanczos iterations where none is given
_OVERSAMPLED = 10  # random vectors beyond those wanted


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Leading eigenvalues and eigenvectors of a Gram matrix.

    Parameters
    ----------
    values
        (a,) eigenvalues, the largest first; those that are not above rounding are left out.
    vectors
        (n, a) eigenvectors of length one; the entry of largest size of each is positive.
    total
        Sum of all eigenvalues: the trace.
    negative
        Size of the most negative eigenvalue as a share of the largest: zero for a positive semi-definite matrix, None
        if it was not looked for.
    """

    values: Array
    vectors: Array
    total: float
    negative: float | None

    @property
    def coefficients(self) -> Array:
        """(n, a) expansion of the unit axes in the training points: u_a / sqrt(value_a)."""
        return np.asarray(self.vectors / np.sqrt(self.values))


def leading(K: Array, n_components: int | None = None) -> Spectrum:
    """Leading eigenvalues and eigenvectors of a symmetric matrix.

    Parameters
    ----------
    K
        (n, n) Gram matrix, centred or not.
    n_components
        How many; all that are above rounding if None.

    Examples
    --------
    >>> found = leading(np.diag([1.0, 3.0, -1.5]))
    >>> found.values, found.negative
    (array([3., 1.]), 0.5)
    """
    _check(K)
    if chosen_solver(len(K), n_components) == "dense":
        values, vectors = decomposed(K)
        negative: float | None = _negative(values[-1], values[0])
        values, vectors = values[:n_components], vectors[:, :n_components]
    else:
        values, vectors = decomposed(K, n_components)
        negative = None
    kept = values > ROUNDING * max(values[0], 0.0) if len(values) else np.zeros(0, bool)
    return Spectrum(values[kept], vectors[:, kept], float(np.trace(K)), negative)


def chosen_solver(n: int, k: int | None) -> Solver:
    """The solver that "auto" means for k eigenvectors of n."""
    return "dense" if k is None or n <= _LARGE or 10 * k >= n else "arpack"


def decomposed(
    K: Array,
    k: int | None = None,
    *,
    solver: Solver = "auto",
    tol: float = 0.0,
    max_iter: int | None = None,
    n_powers: int = 7,
    seed: int = 0,
) -> tuple[Array, Array]:
    """The k largest eigenvalues of a symmetric matrix, the largest first, and their eigenvectors (n, k).

    Parameters
    ----------
    K
        (n, n) symmetric matrix.
    k
        How many; all if None.
    solver
        "dense", "arpack" (Lanczos iterations), "randomized" (powers of random vectors, approximate), or "auto": dense
        for small matrices and where many are wanted, Lanczos iterations otherwise.
    tol, max_iter
        Of the Lanczos iterations; 0 and None for what they can reach.
    n_powers
        How often "randomized" multiplies with the matrix.
    seed
        Of the first vectors.

    Examples
    --------
    >>> decomposed(np.diag([1.0, 3.0, -1.5]), 1)
    (array([3.]), array([[0.], [1.], [0.]]))
    """
    n = len(K)
    count = n if k is None else min(k, n)
    way = chosen_solver(n, k) if solver == "auto" else solver
    if way == "dense" or count == n:
        few = 2 * count < n  # LAPACK finds all of them faster than most of them
        found = eigh(K, subset_by_index=(n - count, n - 1)) if few else np.linalg.eigh(K)
    elif way == "arpack":
        found = eigsh(_operator(K), k=count, which="LA", tol=tol or _TOL, maxiter=max_iter, v0=_start(n, seed))
    else:
        found = _randomized(K, count, n_powers, seed)
    order = np.argsort(-found[0], kind="stable")[:count]
    return np.asarray(found[0][order]), _signed(found[1][:, order])


def negative_share(K: Array) -> float:
    """Size of the most negative eigenvalue of a symmetric matrix as a share of the largest in size; 0 if there is none.

    Examples
    --------
    >>> negative_share(np.diag([2.0, -1.0]))
    0.5
    """
    _check(K)
    if len(K) <= _LARGE:
        values = eigh(K, eigvals_only=True)
        return _negative(values[0], values[-1])
    low = eigsh(K, k=1, which="SA", v0=_start(len(K)), tol=1e-6, return_eigenvectors=False)[0]
    high = eigsh(K, k=1, which="LA", v0=_start(len(K)), tol=1e-6, return_eigenvectors=False)[0]
    return _negative(low, high)


def warn_indefinite(K: Array, what: str = "the kernel", *, stacklevel: int = 3) -> float:
    """Warn if a Gram matrix is not positive semi-definite, and say how far; gives the share of `negative_share`."""
    share = negative_share(K)
    if share > ROUNDING:
        warnings.warn(
            f"{what} is not positive semi-definite: its most negative eigenvalue is {share:.2g} of the largest. The "
            "solution is a stationary point, not the minimum of a convex problem",
            UserWarning,
            stacklevel=stacklevel,
        )
    return share


def _negative(low: float, high: float) -> float:
    size = max(abs(low), abs(high))
    share = max(-low, 0.0) / size if size > 0 else 0.0
    return float(share) if share > ROUNDING else 0.0


def _signed(vectors: Array) -> Array:
    """Eigenvectors with a sign that does not depend on the algorithm."""
    if not vectors.size:
        return vectors
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
    return np.asarray(vectors * signs)


def _start(n: int, seed: int = 0) -> Array:
    return np.asarray(np.random.default_rng(seed).normal(size=n))


def _operator(K: Array) -> LinearOperator:
    """Products with a symmetric matrix of which only one half is read: they are bound by memory."""
    return LinearOperator(K.shape, matvec=lambda x: dsymv(1.0, K.T, x, lower=1), dtype=np.float64)


def _randomized(K: Array, k: int, n_powers: int, seed: int) -> tuple[Array, Array]:
    """Eigenvectors in the span of powers of the matrix times random vectors (Halko, Martinsson and Tropp, 2011)."""
    n = len(K)
    span = np.random.default_rng(seed).normal(size=(n, min(k + _OVERSAMPLED, n)))
    for _ in range(n_powers + 1):
        span = np.linalg.qr(K @ span)[0]
    small = span.T @ (K @ span)
    values, weights = eigh((small + small.T) / 2)
    return values, span @ weights


def _check(K: Array) -> None:
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"a Gram matrix is square, got shape {K.shape}")
    if not np.isfinite(K).all():
        raise ValueError("the Gram matrix has values that are not finite: look at the scale of the data")
    gap = np.abs(K - K.T).max(initial=0.0)
    if gap > 1e-8 * max(np.abs(K).max(initial=0.0), np.finfo(float).tiny):
        raise ValueError(f"a Gram matrix is symmetric, but entries differ from their mirror images by up to {gap:.2g}")
