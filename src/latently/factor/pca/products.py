"""Singular values and vectors from products of the rows, in stages that keep the digits of the small ones.

The eigenvalues of A'A are squares: those far below the largest have lost their digits. So only singular values down to
a hundredth of the largest are taken from it; what is left of A is a matrix of its own, whose products come next.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
DIGITS = 0.25
"""Share of the digits of the largest eigenvalue that the least one of a stage may have lost."""


@dataclass(frozen=True, eq=False)
class Singular:
    """The first k singular values of a tall matrix, with vectors: sizes (k,), left (m, k), right (p, k)."""

    sizes: Array
    left: Array
    right: Array


def singular_of(A: Array, k: int, *, needs_left: bool) -> Singular:
    """The first k singular values and vectors of A (m, p) with m >= p; `left` is empty unless it is needed.

    Examples
    --------
    >>> A = np.diag([3.0, 1.0, 1e-9])[:, ::-1]
    >>> found = singular_of(A, 3, needs_left=True)
    >>> found.sizes
    array([3.e+00, 1.e+00, 1.e-09])
    >>> bool(np.allclose(found.left * found.sizes @ found.right.T, A, rtol=0, atol=1e-15))
    True
    """
    m, p = A.shape
    eps = float(np.finfo(A.dtype).eps)
    left, right = np.zeros((m if needs_left else 0, 0), A.dtype), np.zeros((p, 0), A.dtype)
    sizes, rest, basis = np.zeros(0, A.dtype), A, np.zeros((p, p), A.dtype)
    while True:
        new, vectors = _stage(rest, eps**DIGITS, rounding=4 * eps * p * float(sizes.max(initial=0.0)))
        taken, found = min(len(new), k - len(sizes)), basis @ vectors if len(sizes) else vectors
        if needs_left:
            left = np.hstack([left, _normed(rest @ vectors[:, :taken], new[:taken], left)])
        sizes, right = np.concatenate([sizes, new[:taken]]), np.hstack([right, found[:, :taken]])
        basis = found[:, taken:]
        if len(sizes) == k:
            return Singular(sizes, left, right)
        rest = A @ basis
        if needs_left:
            rest -= left @ (left.T @ rest)


def _stage(rest: Array, share: float, rounding: float) -> tuple[Array, Array]:
    """Singular values near the largest, and all right vectors; every value where the largest is but rounding."""
    values, vectors = np.linalg.eigh(rest.T @ rest)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    taken = int((values >= share * values[0]).sum()) if values[0] > rounding**2 else len(values)
    return np.sqrt(values[:taken]), vectors


def _normed(images: Array, sizes: Array, known: Array) -> Array:
    """Left vectors of unit length, orthogonal to those known, from the images of the right ones."""
    if sizes[-1] > 1e-3 * sizes[0]:
        return np.asarray(images / sizes)
    drawn = np.random.default_rng(0).normal(size=images.shape)  # no size, no direction: any that is left will do
    drawn -= known @ (known.T @ drawn)
    return np.asarray(np.linalg.qr(drawn)[0], dtype=images.dtype)
