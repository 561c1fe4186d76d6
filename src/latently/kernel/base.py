"""What all kernels share: k(X, Y), the diagonal, normalisation, sums and products, parameters by name."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from inspect import signature
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]


class Kernel(ABC):
    """A positive semi-definite function of two things: rows of a table, strings, trees, graphs' vertices.

    `k(X, Y)` is the matrix of its values, `k.diag(X)` the values of each thing with itself. Kernels can be added and
    multiplied with each other and with positive numbers. scikit-learn's SVC takes one as `kernel=k`.

    A subclass gives `_matrix` and `_diagonal`, and `_read` if its input is not a table of numbers. A kernel with
    settings that depend on data overrides `adapted`.
    """

    compares: ClassVar[str] = "rows"
    """What it reads one by one: rows, strings or trees."""

    normalize: bool = False
    """Whether values are divided by sqrt(k(x, x) k(y, y))."""

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Values (n, m) of the kernel between two collections; of X with itself if Y is None.

        Parameters
        ----------
        X
            n things.
        Y
            m things, those that a model was fitted to: settings that are found from data are found from these.
        """
        kernel = self.adapted(X if Y is None else Y)
        left, right = kernel._read(X, Y)
        found = kernel._matrix(left, right)
        if self.normalize:
            scale = _root(kernel._diagonal(left))
            found = found * scale[:, None] * (scale if right is None else _root(kernel._diagonal(right)))
        return found

    def diag(self, X: Any) -> Array:
        """Values (n,) of the kernel of each thing with itself."""
        kernel = self.adapted(X)
        found = kernel._diagonal(kernel._read(X, None)[0])
        return (found > 0).astype(float) if self.normalize else found

    def adapted(self, X: Any) -> "Kernel":
        """The kernel with everything fixed that is found from data, such as a width: the same for new rows."""
        return self

    def _read(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """What is compared, in the kernel's own form; Y stays None if there is none."""
        return X, Y

    @abstractmethod
    def _matrix(self, X: Any, Y: Any) -> Array:
        """Values between what was read; of X with itself if Y is None."""

    @abstractmethod
    def _diagonal(self, X: Any) -> Array:
        """Values of what was read with itself."""

    # parameters, as scikit-learn asks for them

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the constructor by name, and with `deep` those of kernels inside, as "left__width"."""
        own = {name: getattr(self, name) for name in self._names()}
        if not deep:
            return own
        inner = {
            f"{name}__{key}": value
            for name, kernel in own.items()
            if isinstance(kernel, Kernel)
            for key, value in kernel.get_params().items()
        }
        return own | inner

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; "left__width" is the width of the kernel inside."""
        for name, value in params.items():
            first, _, rest = name.partition("__")
            if first not in self._names():
                raise ValueError(f"{type(self).__name__} has no parameter {first!r}; it has {self._names()}")
            if rest:
                getattr(self, first).set_params(**{rest: value})
            else:
                setattr(self, first, value)
        return self

    def __repr__(self) -> str:
        defaults = {name: p.default for name, p in signature(type(self).__init__).parameters.items()}
        changed = {k: v for k, v in self.get_params(deep=False).items() if not _same(v, defaults[k])}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernel) or type(self) is not type(other):
            return False
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return all(_same(value, theirs[name]) for name, value in mine.items())

    __hash__ = None  # type: ignore[assignment]  # parameters may change

    # arithmetic

    def __add__(self, other: Any) -> "Kernel":
        from latently.kernel.combine import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> "Kernel":
        from latently.kernel.combine import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if np.ndim(other) == 0 else NotImplemented

    def __rmul__(self, other: Any) -> "Kernel":
        return self.__mul__(other)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return a is b or bool(a == b)


def _root(diagonal: Array) -> Array:
    """(n,) one over the norms; zero for what has none (an empty string), which then is similar to nothing."""
    return np.asarray(np.where(diagonal > 0, 1.0, 0.0) / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)))


def length(X: Any) -> int:
    """How many things a collection has."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take(X: Any, rows: Sequence[int] | npt.NDArray[Any]) -> Any:
    """Some things of a collection: rows of an array, a sparse matrix or a frame, entries of a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "column_names") and hasattr(X, "take"):  # an Arrow table
        return X.take(rows)
    if hasattr(X, "shape") and len(X.shape) >= 1:
        return X[rows]
    return [X[i] for i in rows]
