"""Components: K members of a family side by side, and what models that are made of them ask: the one interface."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce as fold
from operator import add
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latently.distributions import ColumnError, Distribution, Product
from latently.distributions.components.spread import within_deviation
from latently.distributions.inputs import Array, patterns
from latently.distributions.statistics import Additive, refuse_lost
from latently.distributions.unconstrained import Directions, Reader

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
        return self.kept(("patterns", *columns), lambda: list(patterns(self.X[:, columns])))

    def take(self, columns: Ints) -> Array:
        """(n, m) these columns; not a copy if they are all there are."""
        whole = len(columns) == self.X.shape[1] and np.array_equal(columns, np.arange(len(columns)))
        return self.X if whole else self.X[:, columns]

    def absent(self, columns: Ints) -> bool:
        """Whether any of their entries is missing."""
        return self.kept(("absent", *columns), lambda: _has_missing(self.take(columns)))

    def part(self, start: int, stop: int) -> "Slab":
        """Some of the rows, with a place of their own to keep things."""
        return self.kept(("part", start, stop), lambda: Slab(self.X[start:stop]))


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


@dataclass(frozen=True, eq=False)
class Block(ABC):
    """K members of a family side by side, over some columns: configuration and prior, without the parameters (theta).

    What mixtures, hidden Markov models and naive Bayes are made of. Within a component, blocks are independent of each
    other.

    Parameters
    ----------
    columns
        Positions in the encoded table.
    names
        What errors call them.
    """

    columns: tuple[int, ...]
    names: tuple[str, ...]

    is_squared: ClassVar[bool] = False
    """Whether variances are learnt, so that squares must be numbers."""
    is_together: ClassVar[bool] = False
    """Whether the columns have one distribution, so that what is said is said of all of them."""
    FAMILIES: ClassVar[tuple[str, ...]] = ()

    @property
    def families(self) -> tuple[str, ...]:
        """Names of the families that it is of, which priors are given by."""
        return self.FAMILIES

    @property
    def places(self) -> Ints:
        """Positions of the columns, as an array."""
        return np.array(self.columns, dtype=np.intp)

    def checked(self, X: Array) -> Array:
        """The values (n, m) of the columns; an error for those that they cannot hold."""
        return X

    def as_points(self, X: Array) -> Array:
        """Rows (n, m) as points, for distances: columns of numbers are in standard deviations."""
        seen = ~np.isnan(X)
        counts = np.maximum(seen.sum(axis=0), 1)
        gaps = np.where(seen, X, 0.0) - np.where(seen, X, 0.0).sum(axis=0) / counts
        sd = np.sqrt((np.where(seen, gaps, 0.0) ** 2).sum(axis=0) / counts)
        return np.where(seen, gaps / np.where(sd > 0, sd, 1.0), np.nan)

    # learning

    @abstractmethod
    def first(self, X: Array, k: int) -> Any:
        """Give parameters of k equal components, near some rows: only to start a first pass from."""

    @abstractmethod
    def log_density(self, theta: Any, slab: Slab, out: Array) -> None:
        """Add the log density of the observed entries to out (K, n)."""

    @abstractmethod
    def expect(self, theta: Any, slab: Slab, R: Array) -> Any:
        """Sum up statistics, with responsibilities R (K, n)."""

    @abstractmethod
    def update(self, theta: Any, stats: Any) -> Any:
        """Parameters that are best for these statistics, under the prior."""

    @abstractmethod
    def log_prior(self, theta: Any) -> float:
        """Log prior density of the parameters, up to a constant."""

    def rounding(self, theta: Any) -> float:
        """Nats per row by which rounding may move a log density that is small beside its terms."""
        return 0.0

    def begin(self, theta: Any, slab: Slab, R: Array) -> Any:
        """Parameters to start from, given responsibilities R (K, n) and what all rows are like."""
        return self.update(theta, self.expect(theta, slab, R))

    @abstractmethod
    def reseed(self, theta: Any, k: int, X: Array) -> Any:
        """Give component k new parameters, around these rows."""

    def collapsed(self, theta: Any) -> list[int]:
        """Components that have shrunk onto a single value, as far as they are let."""
        return []

    @abstractmethod
    def n_parameters(self, theta: Any) -> int:
        """Number of free parameters."""

    # priors and constraints

    def with_prior(self, pooled: Any, priors: Sequence[Any]) -> Self:
        """The same block with a prior: per column a strength in rows, or a conjugate prior."""
        return self

    @abstractmethod
    def without_prior(self) -> Self:
        """The same block under a flat prior."""

    def inside_clusters(self, X: Array, weights: Array, k: int) -> Array | None:
        """How wide its columns X (n, m) are inside k clusters, (m,), if its default priors are relative to that."""
        return within_deviation(X, weights, np.full(X.shape[1], np.inf), k) if self.is_squared else None

    def with_spread(self, spread: Array | None) -> Self:
        """The same block with default priors about what was measured inside clusters, or about all rows."""
        return self

    def with_fixed(self, n_components: int, k: int, columns: Sequence[int], given: Any) -> Self:
        """The same block, with the parameters of some of its columns fixed in component k."""
        raise ColumnError(self._name(columns), "is of a family that cannot be fixed")

    def with_bounds(self, n_components: int, columns: Sequence[int], given: Any) -> Self:
        """The same block, with parameters of some of its columns inside bounds, by name."""
        raise ColumnError(self._name(columns), "is of a family that takes no bounds")

    def with_tied(self, n_components: int, columns: Sequence[int], given: Any) -> Self:
        """The same block, with parameters of some of its columns shared by groups of components, by name."""
        raise ColumnError(self._name(columns), "is of a family that cannot be tied")

    def _name(self, columns: Sequence[int]) -> str:
        return self.names[self.columns.index(columns[0])]

    @property
    def is_limited(self) -> bool:
        """Whether anything is fixed, bounded or shared."""
        return False

    @property
    def only_fixed(self) -> bool:
        """Whether nothing is bounded or shared."""
        return True

    def constrained(self, theta: Any) -> Any:
        """Parameters that keep to the limits, near those given."""
        return theta

    def without_constraints(self) -> Self:
        """The same block without limits."""
        return self

    # statistics

    def pooled(self, stats: Any) -> Any:
        """Statistics of all components together, as of one."""
        return fold(add, [stats.permuted(np.array([k])) for k in range(len(stats.weight))])

    @abstractmethod
    def observed(self, stats: Any) -> Array:
        """(m,) weight of the observed entries of each column."""

    def squares(self, stats: Any) -> tuple[Array, Array, Array] | None:
        """(K, m) sums of squares, those about the mean with what the prior adds, and weights; None for counts."""
        return None

    def refuse_lost(self, before: Any, left: Any) -> None:
        """An error where taking rows away has cost digits of what is left; counts lose none."""
        had, now = self.squares(before), self.squares(left)
        if had is None or now is None:
            return
        try:
            refuse_lost(had[0], *now[1:])
        except ColumnError as problem:
            raise problem.named(self.names[int(problem.column)]) from None

    @abstractmethod
    def cross(self, theta: Any, stats: Any) -> Array:
        """(K, L) expected log density, under each of our components, of what each of L others has seen."""

    # parameters without constraints

    @abstractmethod
    def pack(self, theta: Any) -> Array:
        """Parameters as a vector (P,) without constraints."""

    @abstractmethod
    def unpack(self, theta: Any, reader: Reader) -> Any:
        """Parameters from the next numbers of such a vector, in the shape of these."""

    @abstractmethod
    def gradient(self, theta: Any, stats: Any) -> Array:
        """Gradient (P,) of log-likelihood and log prior in the vector, from statistics under these parameters."""

    @abstractmethod
    def directions(self, theta: Any) -> Directions:
        """In which directions the vector is free to move, and by how much."""

    def widths(self, theta: Any, stats: Any) -> Array:
        """(P,) about how far each number of the vector may move: one over the root of its share of the information."""
        return self.directions(theta).unit / np.sqrt(max(float(stats.weight.mean()), 1.0))

    # talking to distributions

    @abstractmethod
    def distributions(self, theta: Any, k: int) -> list[tuple[Distribution, tuple[int, ...]]]:
        """Component k as distributions with their columns."""

    @abstractmethod
    def from_distributions(self, given: Sequence[Distribution]) -> Any:
        """Parameters from a distribution of all columns of the table for each component."""

    # answers

    @abstractmethod
    def sample(self, theta: Any, labels: Ints, rng: Any) -> Array:
        """Draw a row (n, m) from each of these components."""

    @abstractmethod
    def fill(self, theta: Any, slab: Slab, R: Array) -> Array:
        """(n, m) conditional mean, or most probable code, of every entry that is missing; others anyhow."""

    @abstractmethod
    def interval(self, theta: Any, slab: Slab, R: Array, level: float) -> tuple[Array, Array]:
        """Ends (n, m) of equal-tailed intervals of every entry that is missing."""

    def draw(self, theta: Any, slab: Slab, labels: Ints, rng: Any) -> Array:
        """Draw (n, m) missing entries given the observed ones and the component."""
        return self.sample(theta, labels, rng)


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


def mixture_quantile(cdf: Callable[[Array], Array], low: Array, high: Array, level: float, whole: bool) -> Array:
    """Level of a distribution that lies between two numbers, by bisection; all arrays (n,).

    A quantile of a mixture lies between the least and the greatest quantile of its components.
    """
    if whole:
        low = low - 1.0
    for _ in range(200):
        middle = np.floor((low + high) / 2) if whole else (low + high) / 2
        if ((middle <= low) | (middle >= high)).all():
            break
        reached = cdf(middle) >= level
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        if not whole and (high - low <= 1e-12 * np.maximum(np.abs(low), np.abs(high))).all():
            break
    return high
