"""Sums and products of kernels, and kernels times a number: positive semi-definite again."""

from typing import Any

import numpy as np

from latently.kernel.base import Array, Kernel


class _Pair(Kernel):
    """Of two kernels."""

    def __init__(self, left: Kernel, right: Kernel, *, normalize: bool = False) -> None:
        self.left = left
        self.right = right
        self.normalize = normalize

    def adapted(self, X: Any) -> Kernel:
        """The same of the adapted kernels."""
        return type(self)(self.left.adapted(X), self.right.adapted(X), normalize=self.normalize)


class Sum(_Pair):
    """Sum of two kernels: `left + right`.

    Examples
    --------
    >>> from latently.kernel import Linear, RBF
    >>> k = Linear() + RBF(width=1.0)
    >>> k([[1.0], [2.0]]).round(3)
    array([[2.   , 2.607],
           [2.607, 5.   ]])
    """

    def _matrix(self, X: Any, Y: Any) -> Array:
        return np.asarray(self.left(X, Y) + self.right(X, Y))

    def _diagonal(self, X: Any) -> Array:
        return np.asarray(self.left.diag(X) + self.right.diag(X))


class Product(_Pair):
    """Product of two kernels: `left * right`.

    Examples
    --------
    >>> from latently.kernel import Linear
    >>> k = Linear() * Linear()
    >>> k([[1.0], [2.0]])
    array([[ 1.,  4.],
           [ 4., 16.]])
    """

    def _matrix(self, X: Any, Y: Any) -> Array:
        return np.asarray(self.left(X, Y) * self.right(X, Y))

    def _diagonal(self, X: Any) -> Array:
        return np.asarray(self.left.diag(X) * self.right.diag(X))


class Scaled(Kernel):
    """A kernel times a positive number: `2.0 * kernel`.

    Examples
    --------
    >>> from latently.kernel import Linear
    >>> (2.0 * Linear())([[1.0], [2.0]])
    array([[2., 4.],
           [4., 8.]])
    """

    def __init__(self, kernel: Kernel, factor: float, *, normalize: bool = False) -> None:
        if not (np.isfinite(factor) and factor > 0):
            raise ValueError(f"a kernel times {factor} is no kernel: the factor must be positive and finite")
        self.kernel = kernel
        self.factor = factor
        self.normalize = normalize

    def adapted(self, X: Any) -> Kernel:
        """The adapted kernel times the number."""
        return Scaled(self.kernel.adapted(X), self.factor, normalize=self.normalize)

    def _matrix(self, X: Any, Y: Any) -> Array:
        return np.asarray(self.factor * self.kernel(X, Y))

    def _diagonal(self, X: Any) -> Array:
        return np.asarray(self.factor * self.kernel.diag(X))
