"""Kernels of rows of numbers."""

from abc import abstractmethod
from numbers import Real
from typing import Any, Literal

import numpy as np

from latently.data.tables.matrix import as_matrix
from latently.geometry.distances import Array, distances, median_distance, squared_distances
from latently.kernel.base import Kernel

Width = float | Literal["median"]


class VectorKernel(Kernel):
    """A kernel of the rows of a table."""

    def _read(self, X: Any, Y: Any) -> tuple[Any, Any]:
        left = as_rows(X, "X")
        right = None if Y is None else as_rows(Y, "Y")
        if right is not None and left.shape[1] != right.shape[1]:
            raise ValueError(f"X has {left.shape[1]} columns and Y has {right.shape[1]}: they must be the same")
        return left, right


def as_rows(X: Any, name: str) -> Array:
    """The table of floats; a sparse matrix is made dense."""
    return np.asarray(as_matrix(X.toarray() if hasattr(X, "toarray") else X, name=name), dtype=float)


def reads_tables(kernel: Kernel) -> bool:
    """Whether a kernel, or all kernels that it is made of, compare rows of numbers."""
    inner = [value for value in kernel.get_params(deep=False).values() if isinstance(value, Kernel)]
    return isinstance(kernel, VectorKernel) or (bool(inner) and all(map(reads_tables, inner)))


class Linear(VectorKernel):
    """Inner product of two rows: k(x, y) = x'y.

    Parameters
    ----------
    normalize
        Whether to divide by the lengths of the rows: the cosine of the angle between them.

    Examples
    --------
    >>> Linear()([[1.0, 0.0], [1.0, 1.0]])
    array([[1., 1.],
           [1., 2.]])
    """

    def __init__(self, *, normalize: bool = False) -> None:
        self.normalize = normalize

    def _matrix(self, X: Array, Y: Array | None) -> Array:
        return np.asarray(X @ (X if Y is None else Y).T)

    def _diagonal(self, X: Array) -> Array:
        return np.asarray((X * X).sum(axis=1))


class Polynomial(VectorKernel):
    """Polynomials of the columns: k(x, y) = (gamma x'y + coef0)^degree.

    Parameters
    ----------
    degree
        Highest degree of a product of columns.
    coef0
        Weight of products of lower degree, at least 0; 0 leaves only those of the full degree.
    gamma
        Factor of the inner product; one over the number of columns if None.
    normalize
        Whether to divide by sqrt(k(x, x) k(y, y)).

    Examples
    --------
    >>> Polynomial(degree=2, gamma=1.0)([[1.0], [2.0]])
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    def __init__(
        self, degree: int = 3, *, coef0: float = 1.0, gamma: float | None = None, normalize: bool = False
    ) -> None:
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma
        self.normalize = normalize

    def adapted(self, X: Any) -> Kernel:
        """The kernel with gamma fixed."""
        if self.degree < 1 or int(self.degree) != self.degree:
            raise ValueError(f"degree must be a whole number of at least 1, got {self.degree}")
        if not self.coef0 >= 0:
            raise ValueError(f"coef0 must be at least 0, or this is no positive semi-definite kernel; got {self.coef0}")
        gamma = 1.0 / as_rows(X, "X").shape[1] if self.gamma is None else positive(self.gamma, "gamma")
        return Polynomial(self.degree, coef0=self.coef0, gamma=gamma, normalize=self.normalize)

    def _matrix(self, X: Array, Y: Array | None) -> Array:
        return np.asarray((self._gamma * (X @ (X if Y is None else Y).T) + self.coef0) ** self.degree)

    def _diagonal(self, X: Array) -> Array:
        return np.asarray((self._gamma * (X * X).sum(axis=1) + self.coef0) ** self.degree)

    @property
    def _gamma(self) -> float:
        assert self.gamma is not None  # adapted
        return self.gamma


class DistanceKernel(VectorKernel):
    """A kernel that falls with the distance of two rows; one where they are the same."""

    def __init__(self, width: Width = "median", *, gamma: float | None = None) -> None:
        self.width = width
        self.gamma = gamma

    def adapted(self, X: Any) -> Kernel:
        """The kernel with its width fixed, by the median heuristic if it is not given."""
        if self.gamma is not None:
            if self.width != "median":
                raise ValueError(f"give width or gamma, not both: width={self.width}, gamma={self.gamma}")
            return type(self)(self._width_of(positive(self.gamma, "gamma")))
        if self.width == "median":
            return type(self)(self._median(as_rows(X, "X")))
        positive(self.width, "width")
        return self

    @abstractmethod
    def _width_of(self, gamma: float) -> float:
        """The width that a gamma means."""

    @abstractmethod
    def _median(self, X: Array) -> float:
        """Median distance of the rows."""

    def _diagonal(self, X: Array) -> Array:
        return np.ones(len(X))


class RBF(DistanceKernel):
    """Gaussian of the distance of two rows: ``k(x, y) = exp(-|x - y|^2 / (2 width^2))``.

    Parameters
    ----------
    width
        Distance at which similarity has fallen to exp(-1/2); "median" takes the median distance between different
        rows of Y (the rows a model was fitted to), or of X if there is no Y.
    gamma
        1 / (2 width^2), in place of the width.

    Examples
    --------
    >>> RBF(width=1.0)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    >>> from sklearn.svm import SVC
    >>> SVC(kernel=RBF()).fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]).predict([[0.4], [5.4]])
    array([0, 1])
    """

    def _width_of(self, gamma: float) -> float:
        return float(np.sqrt(0.5 / gamma))

    def _median(self, X: Array) -> float:
        return median_distance(X)

    def _matrix(self, X: Array, Y: Array | None) -> Array:
        found = squared_distances(X, Y)
        found *= -0.5 / float(self.width) ** 2
        return np.asarray(np.exp(found, out=found))


class Laplace(DistanceKernel):
    """Exponential of the sum of absolute differences: ``k(x, y) = exp(-|x - y|_1 / width)``.

    Parameters
    ----------
    width
        Distance at which similarity has fallen to exp(-1); "median" takes the median of the sums of absolute
        differences between different rows of Y, or of X if there is no Y.
    gamma
        1 / width, in its place.

    Examples
    --------
    >>> Laplace(width=1.0)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    def _width_of(self, gamma: float) -> float:
        return 1.0 / gamma

    def _median(self, X: Array) -> float:
        return median_distance(X, "manhattan")

    def _matrix(self, X: Array, Y: Array | None) -> Array:
        found = distances(X, Y, "manhattan")
        found *= -1.0 / float(self.width)
        return np.asarray(np.exp(found, out=found))


def positive(value: Any, name: str) -> float:
    """The number, which must be above zero."""
    if not (isinstance(value, Real) and 0 < float(value) < np.inf):
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return float(value)
