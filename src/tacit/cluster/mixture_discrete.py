"""What columns of categories, of zeros and ones, and of counts share in a mixture over a table."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from tacit.cluster.mixture_block import FEW, Block, Mask, PerComponent
from tacit.distributions import ColumnError, Distribution
from tacit.learn.protocol import Array


@dataclass(frozen=True, eq=False)
class Values(PerComponent):
    """Probabilities or rates of every component: (K, T)."""

    values: Array


@dataclass(frozen=True, eq=False)
class Tally(PerComponent):
    """What was counted, and what it is counted against, of every component: (K, T)."""

    events: Array
    trials: Array

    @property
    def weight(self) -> Array:
        """What it is counted against."""
        return self.trials


@dataclass(frozen=True, eq=False)
class DiscreteBlock(Block):
    """One number per component and column or category, events over trials.

    The prior is events (T,) and trials (T,) seen before, in the mind.
    """

    events: Array | None = None
    trials: Array | None = None
    fixed: Values | None = None
    is_fixed: Mask | None = None

    FREE: ClassVar[bool] = True

    @property
    def size(self) -> int:
        """T, numbers per component."""
        return len(self.columns)

    def first(self, X: Array, k: int) -> Values:
        """All components alike."""
        return Values(np.full((k, self.size), 0.5))

    def update(self, theta: Values, stats: Tally) -> Values:
        """Events over trials, those of the prior included."""
        events, trials = self._with_prior(stats)
        values = np.divide(events, trials, out=theta.values.copy(), where=trials > FEW)
        return self.held(Values(np.maximum(values, 0.0)))

    def _with_prior(self, stats: Tally) -> tuple[Array, Array]:
        if self.events is None or self.trials is None:
            return stats.events, stats.trials
        return stats.events + self.events, stats.trials + self.trials

    def _prior(self) -> tuple[Array, Array]:
        zero = np.zeros(self.size)
        return (zero if self.events is None else self.events), (zero if self.trials is None else self.trials)

    def held(self, theta: Values) -> Values:
        """Put fixed parameters in their place."""
        return theta if self.fixed is None else Values(np.where(self.is_fixed, self.fixed.values, theta.values))

    def with_fixed(self, n_components: int, k: int, columns: Sequence[int], given: Distribution) -> Self:
        """Fix the numbers of some columns in component k."""
        values, keep = np.zeros((2, n_components, self.size))
        if self.fixed is not None:
            values, keep = self.fixed.values.copy(), self.is_fixed
        keep = np.array(keep, dtype=bool)
        for at, c in enumerate(columns):
            numbers = self._numbers(given.marginal(at), self.columns.index(c))
            values[k, self._span(c)], keep[k, self._span(c)] = numbers, True
        return replace(self, fixed=Values(values), is_fixed=keep)

    def _span(self, column: int) -> slice:
        at = self.columns.index(column)
        return slice(at, at + 1)

    @abstractmethod
    def _numbers(self, given: Distribution, at: int) -> Array:
        """Numbers of one column (the `at`-th of the block) from a distribution of it."""

    def from_distributions(self, given: Sequence[Distribution]) -> Values:
        """Numbers from distributions of the whole table."""
        rows = [np.concatenate([self._numbers(d.marginal(c), at) for at, c in enumerate(self.columns)]) for d in given]
        return Values(np.array(rows))

    def loose(self) -> Self:
        """The same block with nothing fixed."""
        return replace(self, fixed=None, is_fixed=None)

    def n_parameters(self, theta: Values) -> int:
        """One per component and column."""
        return int(theta.values.size - (0 if self.is_fixed is None else self.is_fixed.sum()))

    def gradient(self, theta: Values, stats: Tally) -> Array:
        """Slope of log-likelihood and log prior along the free numbers, whose slope is that of a logarithm."""
        events, trials = self._with_prior(stats)
        return ((events - theta.values * trials) * self._free()).ravel()

    def information(self, theta: Values, stats: Tally) -> Array:
        """Curvature along each free number: the variance of what is counted."""
        spread = theta.values * (1 - np.minimum(theta.values, 0.5)) * stats.trials
        return np.maximum(spread, 1.0).ravel()  # what the data hardly speak about moves no further than a unit

    def observed(self, stats: Tally) -> Array:
        """Weight of the observed entries."""
        return stats.trials.sum(axis=0)

    def _free(self) -> Array | float:
        return 1.0 if self.is_fixed is None else ~self.is_fixed

    def _strong(self, name: str, given: Any, kind: type[Distribution]) -> Any:
        if not isinstance(given, int | float | kind):
            raise ColumnError(name, f"needs a {kind.__name__} prior or a strength, not {type(given).__name__}")
        return given
