"""Leading eigenvectors of a Gram matrix, and how far it is from positive semi-definite."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from latently.kernel.base import Array

ROUNDING = 1e-9
"""Negative eigenvalues up to this share of the largest one are rounding."""
_LARGE = 600  # rows above which a few eigenvalues are sought by Lanczos iterations


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
    n = len(K)
    few = n_components is not None and n > _LARGE and 10 * n_components < n
    if few:
        values, vectors = eigsh(K, k=n_components, which="LA", v0=_start(n))
        order = np.argsort(-values)
        values, vectors, negative = values[order], vectors[:, order], None
    else:
        values, vectors = eigh(K)
        negative = _negative(values[0], values[-1])
        values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    kept = values > ROUNDING * max(values[0], 0.0) if len(values) else np.zeros(0, bool)
    return Spectrum(values[kept], _signed(vectors[:, kept]), float(np.trace(K)), negative)


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


def _start(n: int) -> Array:
    return np.asarray(np.random.default_rng(0).normal(size=n))


def _check(K: Array) -> None:
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"a Gram matrix is square, got shape {K.shape}")
    if not np.isfinite(K).all():
        raise ValueError("the Gram matrix has values that are not finite: look at the scale of the data")
    gap = np.abs(K - K.T).max(initial=0.0)
    if gap > 1e-8 * max(np.abs(K).max(initial=0.0), np.finfo(float).tiny):
        raise ValueError(f"a Gram matrix is symmetric, but entries differ from their mirror images by up to {gap:.2g}")
