"""What components are given and give back: rows of a table, and records with an entry per component."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latently.distributions import Distribution, Product
from latently.distributions.inputs import Array, patterns
from latently.distributions.statistics import Additive

Ints: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]

LOG_ZERO = -1e300
"""Stands for log 0: below any log density, yet the sums of it are numbers."""

FEW = 1e-8
"""Share of the heaviest component's weight below which there is nothing to learn from."""

FLOOR = 1e-10
"""Share of a column's own variance that no component's variance falls below, whatever the prior."""


@dataclass(frozen=True)
class Slab:
    """Encoded rows (n, d) of a chunk, and a place to keep what does not change from pass to pass."""

    X: Array
    memo: dict[Any, Any] = field(default_factory=dict)

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What was made before, or is made now."""
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]

    def patterns(self, columns: Ints) -> list[tuple[Mask, Ints]]:
        """Rows grouped by which of these columns are observed."""
        found: list[tuple[Mask, Ints]] = self.kept(("patterns", *columns), lambda: list(patterns(self.X[:, columns])))
        return found

    def take(self, columns: Ints) -> Array:
        """(n, m) these columns; not a copy if they are all there are."""
        whole = len(columns) == self.X.shape[1] and np.array_equal(columns, np.arange(len(columns)))
        return self.X if whole else self.X[:, columns]

    def absent(self, columns: Ints) -> bool:
        """Whether any of their entries is missing."""
        return bool(self.kept(("absent", *columns), lambda: _has_missing(self.take(columns))))

    def part(self, start: int, stop: int) -> "Slab":
        """Some of the rows, with a place of their own to keep things."""
        found: Slab = self.kept(("part", start, stop), lambda: Slab(self.X[start:stop]))
        return found


def _has_missing(X: Array) -> bool:
    with np.errstate(invalid="ignore"):
        suspect = np.isnan(X.sum())  # one pass, and no array of marks, where nothing is missing
    return bool(suspect and np.isnan(X).any())


@dataclass(frozen=True, eq=False)
class PerComponent(Additive):
    """A record in which every array, and every tuple, has an entry per component first."""

    def permuted(self, order: Ints) -> Self:
        """The same record with its components in another order."""

        def moved(value: Any) -> Any:
            return tuple(value[k] for k in order) if isinstance(value, tuple) else value[order]

        return replace(self, **{f.name: moved(getattr(self, f.name)) for f in fields(self)})

    def replaced(self, other: Self, k: int) -> Self:
        """The same record with component k of another one."""

        def put(mine: Any, theirs: Any) -> Any:
            if isinstance(mine, tuple):
                return (*mine[:k], theirs[k], *mine[k + 1 :])
            out = mine.copy()
            out[k] = theirs[k]
            return out

        return replace(self, **{f.name: put(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)})


def joined(parts: Sequence[tuple[Distribution, tuple[int, ...]]]) -> Distribution:
    """Distributions with their columns as one distribution of all of them."""
    alone = len(parts) == 1 and parts[0][1] == tuple(range(len(parts[0][1])))
    return parts[0][0] if alone else Product(parts)


def safe_log(values: Array) -> Array:
    """Logarithms, with LOG_ZERO for those of zero."""
    return np.log(values, out=np.full(np.shape(values), LOG_ZERO), where=np.asarray(values) > 0)


def floored(variance: Array, mean: Array) -> Array:
    """A column's own variance; one for a column that does not vary (to rounding), which keeps its own unit."""
    rounding = (8 * np.finfo(float).eps * np.abs(mean)) ** 2
    return np.where(variance > np.maximum(rounding, np.finfo(float).tiny), variance, 1.0)


def inside(variance: Array, deviation: Array | None) -> Array:
    """Variances inside clusters, which are no wider than all rows, if they were measured."""
    return variance if deviation is None else np.minimum(variance, deviation**2)
