"""What columns of categories, of zeros and ones, and of counts share in a mixture over a table."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from latently.distributions import ColumnError, Distribution
from latently.distributions.components.base import FEW, PerComponent
from latently.distributions.components.constraints import LimitedBlock
from latently.distributions.inputs import Array


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
class DiscreteBlock(LimitedBlock):
    """One number per component and column or category, events over trials.

    The prior is events (T,) and trials (T,) seen before, in the mind.
    """

    events: Array | None = None
    trials: Array | None = None

    FREE: ClassVar[bool] = True
    ROOM: ClassVar[Mapping[str, tuple[float, float]]] = {"probability": (0.0, 1.0)}

    def first(self, X: Array, k: int) -> Values:
        """All components alike."""
        return Values(np.full((k, self.size), 0.5))

    def update(self, theta: Values, stats: Tally) -> Values:
        """Events over trials, those of the prior included."""
        events, trials = self._with_prior(stats)
        values = np.divide(events, trials, out=theta.values.copy(), where=trials > FEW)
        return self.constrained(Values(np.maximum(values, 0.0)), np.maximum(trials, 0.0))

    def _with_prior(self, stats: Tally) -> tuple[Array, Array]:
        if self.events is None or self.trials is None:
            return stats.events, stats.trials
        return stats.events + self.events, stats.trials + self.trials

    def _prior(self) -> tuple[Array, Array]:
        zero = np.zeros(self.size)
        return (zero if self.events is None else self.events), (zero if self.trials is None else self.trials)

    def constrained(self, theta: Values, trials: Array | None = None) -> Values:
        """Numbers that keep to the limits; those that are shared are averaged by what they are counted against."""
        if self.limits is None:
            return theta
        (allowed,) = self.limits.values()
        return Values(allowed.keep(theta.values, np.ones_like(theta.values) if trials is None else trials))

    def _parameters(self, given: Distribution, columns: Sequence[int]) -> dict[str, Array]:
        pairs = enumerate(self.columns.index(c) for c in columns)
        (name,) = self.ROOM
        return {name: np.concatenate([self._numbers(given.marginal(at), own) for at, own in pairs])}

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

    def n_parameters(self, theta: Values) -> int:
        """One per component and column."""
        (allowed,) = self._limits(len(theta.values)).values()
        return allowed.n_free()

    def gradient(self, theta: Values, stats: Tally) -> Array:
        """Gradient of log-likelihood and log prior along the free numbers, whose slope is that of a logarithm."""
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
        if self.limits is None:
            return 1.0
        (allowed,) = self.limits.values()
        return ~allowed.fixed

    def _strong(self, name: str, given: Any, kind: type[Distribution]) -> Any:
        if not isinstance(given, int | float | kind):
            raise ColumnError(name, f"needs a {kind.__name__} prior or a strength, not {type(given).__name__}")
        return given
