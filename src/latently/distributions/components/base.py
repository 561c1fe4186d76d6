"""Components: K members of a family side by side, and what models that are made of them ask: the one interface."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from functools import reduce as fold
from operator import add
from typing import Any, ClassVar, Self

import numpy as np

from latently.distributions import ColumnError, Distribution
from latently.distributions.components.slab import Ints, Slab
from latently.distributions.components.spread import within_deviation
from latently.distributions.inputs import Array
from latently.distributions.statistics import refuse_lost
from latently.distributions.unconstrained import Directions, Reader

ROUNDING = 1e-9
"""Share of what was counted that subtraction may leave below zero by rounding alone."""
NEVER_LEARNT = "cannot forget these rows: they were not all learnt, since less than nothing would be left"


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

    @cached_property
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
        """An error where rows were taken away that were never learnt, or at the cost of digits of what is left."""
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

    def scores(self, theta: Any, slab: Slab, R: Array) -> Array:
        """Gradients (n, P) of the log density of each row in the vector, with responsibilities R (K, n); no prior."""
        flat = self.without_prior()
        rows = [(Slab(slab.X[i : i + 1]), R[:, i : i + 1]) for i in range(len(slab.X))]
        return np.array([flat.gradient(theta, flat.expect(theta, row, shares)) for row, shares in rows])

    @abstractmethod
    def directions(self, theta: Any) -> Directions:
        """In which directions the vector is free to move, and by how much."""

    def step_sizes(self, theta: Any, stats: Any) -> Array:
        """(P,) about how far each number of the vector may move: one over the root of its share of the information."""
        return np.asarray(self.directions(theta).unit / np.sqrt(max(float(stats.weight.mean()), 1.0)))

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
