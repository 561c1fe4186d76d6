"""Kernels that somebody else defines: a function, the sigmoid. Nothing says that they are positive semi-definite."""

from collections.abc import Callable
from typing import Any

import numpy as np

from latently.kernel.base import Array, Kernel
from latently.kernel.vector import RBF, Linear, Polynomial, VectorKernel


class Sigmoid(VectorKernel):
    """tanh(gamma x'y + coef0): the activation of a neuron, and not positive semi-definite in general.

    Examples
    --------
    >>> Sigmoid(0.5)([[1.0], [2.0]]).round(4)
    array([[0.4621, 0.7616],
           [0.7616, 0.964 ]])
    """

    def __init__(self, gamma: float, *, coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def _matrix(self, X: Array, Y: Array | None) -> Array:
        return np.asarray(np.tanh(self.gamma * (X @ (X if Y is None else Y).T) + self.coef0))

    def _diagonal(self, X: Array) -> Array:
        return np.asarray(np.tanh(self.gamma * (X * X).sum(axis=1) + self.coef0))


class FunctionKernel(VectorKernel):
    """A function of two tables that gives the matrix of kernel values, as scikit-learn takes one.

    Examples
    --------
    >>> FunctionKernel(lambda X, Y: X @ Y.T)([[1.0], [2.0]])
    array([[1., 2.],
           [2., 4.]])
    """

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def _matrix(self, X: Array, Y: Array | None) -> Array:
        other = X if Y is None else Y
        found = np.asarray(self.function(X, other), dtype=float)
        if found.shape != (len(X), len(other)):
            raise ValueError(f"the kernel function gave shape {found.shape} for {len(X)} and {len(other)} rows")
        return found

    def _diagonal(self, X: Array) -> Array:
        return np.array([self._matrix(row[None], None)[0, 0] for row in X])


class PairKernel(VectorKernel):
    """A function of two rows that gives one number, as scikit-learn's `pairwise_kernels` takes one.

    Examples
    --------
    >>> PairKernel(lambda x, y: np.minimum(x, y).sum())([[1.0, 5.0], [2.0, 3.0]])
    array([[6., 4.],
           [4., 5.]])
    """

    def __init__(self, function: Callable[..., float], params: dict[str, Any] | None = None) -> None:
        self.function = function
        self.params = params

    def _matrix(self, X: Array, Y: Array | None) -> Array:
        return np.array([[self._value(x, y) for y in (X if Y is None else Y)] for x in X], dtype=float)

    def _diagonal(self, X: Array) -> Array:
        return np.array([self._value(x, x) for x in X], dtype=float)

    def _value(self, x: Array, y: Array) -> float:
        return self.function(x, y, **(self.params or {}))


def named_kernel(name: Any, *, gamma: Any, degree: int, coef0: float, rows: Array | None) -> Kernel:
    """The kernel that scikit-learn's support vector machines mean by a name, a function or one of ours.

    Parameters
    ----------
    name
        "linear", "poly", "rbf", "sigmoid", "cosine", a function or a kernel.
    gamma
        "scale" (1 / (columns times the variance of all values)), "auto" (1 / columns), a number, or None: the median
        distance is the width of "rbf", and "auto" for the others.
    degree, coef0
        Of the polynomial and the sigmoid.
    rows
        (n, d) training rows, for gamma.
    """
    if isinstance(name, Kernel):
        return name
    if callable(name):
        return FunctionKernel(name)
    if name in ("linear", "cosine"):
        return Linear(normalize=name == "cosine")
    if name == "rbf" and gamma is None:
        return RBF()
    assert rows is not None
    width = _gamma(gamma, rows)
    if name == "rbf":
        return RBF(gamma=width)
    if name == "sigmoid":
        return Sigmoid(width, coef0=coef0)
    return Polynomial(degree, coef0=coef0, gamma=width)


def _gamma(gamma: Any, rows: Array) -> float:
    if gamma == "scale":
        spread = float(rows.var())
        return 1.0 / (rows.shape[1] * spread) if spread > 0 else 1.0
    return 1.0 / rows.shape[1] if gamma in ("auto", None) else float(gamma)


def may_be_indefinite(kernel: Kernel | None) -> bool:
    """Whether nothing says that a kernel is positive semi-definite: a function of somebody else, a sigmoid, a matrix."""
    return kernel is None or isinstance(kernel, FunctionKernel | PairKernel | Sigmoid)
