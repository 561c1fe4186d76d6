"""What columns of categories, of zeros and ones, and of counts share."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from latently.distributions import ColumnError, Distribution
from latently.distributions.components.base import NEVER_LEARNT, ROUNDING
from latently.distributions.components.constraints import LimitedBlock
from latently.distributions.components.slab import FEW, Mask, PerComponent, Slab
from latently.distributions.inputs import Array
from latently.distributions.unconstrained import SCALES, Directions, Reader

_TINY = float(np.finfo(float).tiny)


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

    The prior is events and trials seen before, in the mind: (T,), or (K, T) where components differ.
    """

    events: Array | None = None
    trials: Array | None = None

    RANGES: ClassVar[Mapping[str, tuple[float, float]]] = {"probability": (0.0, 1.0)}
    SCALE: ClassVar[str] = "logit"
    """How the numbers are written without constraints."""

    def first(self, X: Array, k: int) -> Values:
        """All components alike."""
        return Values(np.full((k, self.size), 0.5))

    def update(self, theta: Values, stats: Tally) -> Values:
        """Events over trials, those of the prior included."""
        events, trials = self._with_prior(stats)
        few = FEW * max(float(trials.max(initial=0.0)), _TINY)
        values = np.divide(events, trials, out=theta.values.copy(), where=trials > few)
        return self.constrained(Values(np.maximum(values, 0.0)), np.maximum(trials, 0.0))

    def reseed(self, theta: Values, k: int, X: Array) -> Values:
        """Numbers of these rows, and a row with those of all components."""
        R = np.zeros((len(theta.values), len(X)))
        R[k] = 1.0
        seen, values = self.expect(theta, Slab(X), R), theta.values.copy()
        values[k] = (seen.events[k] + values.mean(axis=0)) / (seen.trials[k] + 1)
        return self.constrained(Values(values))

    def _with_prior(self, stats: Tally) -> tuple[Array, Array]:
        events, trials = self._prior()
        return stats.events + events, stats.trials + trials

    def refuse_lost(self, before: Tally, left: Tally) -> None:
        """An error where more was taken away than was counted in all components together (how they share may vary)."""
        events, trials = left.events.sum(axis=0), left.trials.sum(axis=0)
        least = np.minimum(events, trials - events) if self.SCALE == "logit" else events
        wrong = least < -ROUNDING * (before.events + before.trials).sum(axis=0)
        for name, column in zip(self.names, self.columns, strict=True):
            if wrong[self._span(column)].any():
                raise ColumnError(name, NEVER_LEARNT)

    def without_prior(self) -> Self:
        """The same block under a flat prior."""
        return replace(self, events=None, trials=None)

    def _prior(self) -> tuple[Array, Array]:
        zero = np.zeros(self.size)
        return (zero if self.events is None else self.events), (zero if self.trials is None else self.trials)

    def log_prior(self, theta: Values) -> float:
        """Log density of the parameters given what was seen before, in the mind."""
        found = self.cross(theta, Tally(*(np.atleast_2d(part) for part in self._prior())))
        return float(found.sum() if found.shape[1] == 1 else np.trace(found))

    def with_prior(self, pooled: Tally, priors: Sequence[Any]) -> Self:
        """Prior per column; a strength is that many rows like all rows together."""
        means = (pooled.events / np.maximum(pooled.trials, _TINY))[0]
        triples = zip(self.names, self.columns, priors, strict=True)
        parts = [self._pseudo(name, means[self._span(c)], given) for name, c, given in triples]
        events, trials = (np.concatenate([np.atleast_1d(p) for p in each]) for each in zip(*parts, strict=True))
        return replace(self, events=events.astype(np.float64), trials=trials.astype(np.float64))

    @abstractmethod
    def _pseudo(self, name: str, means: Array, given: Any) -> tuple[Any, Any]:
        """Events and trials of a column's prior, given the numbers of all rows."""

    def constrained(self, theta: Values, trials: Array | None = None) -> Values:
        """Numbers that keep to the limits; those that are shared are averaged by what they are counted against."""
        if self.limits is None:
            return theta
        (allowed,) = self.limits.values()
        return Values(allowed.keep(theta.values, np.ones_like(theta.values) if trials is None else trials))

    def _parameters(self, given: Distribution, columns: Sequence[int]) -> dict[str, Array]:
        """Numbers by name; columns of one distribution in its own order, or each by itself."""
        (name,) = self.RANGES
        pairs = [(at, self.columns.index(c)) for at, c in enumerate(columns)]
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

    def observed(self, stats: Tally) -> Array:
        """Weight of the observed entries."""
        return np.asarray(stats.trials.sum(axis=0))

    # parameters without constraints

    def _used(self, theta: Values) -> Mask:
        """(K, T) which numbers are in the vector."""
        return np.ones(theta.values.shape, dtype=bool)

    def pack(self, theta: Values) -> Array:
        """The numbers on their scale."""
        most = 1 - 1e-15 if self.SCALE == "logit" else np.inf
        inner = np.clip(theta.values, 1e-300 if self.SCALE == "log" else 1e-15, most)
        return np.asarray(SCALES[self.SCALE][0](inner)).ravel()

    def unpack(self, theta: Values, reader: Reader) -> Values:
        """Numbers from such a vector."""
        vector = np.clip(reader.take(theta.values.shape), -690.0, 690.0)  # a trial step of a search may lie anywhere
        return self.constrained(Values(SCALES[self.SCALE][1](vector)))

    def gradient(self, theta: Values, stats: Tally) -> Array:
        """Events less those expected; none along what is fixed."""
        events, trials = self._with_prior(stats)
        found = (events - theta.values * trials) * self._free(theta)
        return np.asarray(found[self._used(theta)])

    def scores(self, theta: Values, slab: Slab, R: Array) -> Array:
        """Events of each row less those expected."""
        events, trials = self._row_counts(slab.take(self.places))
        found = R.T[:, :, None] * (events[:, None, :] - theta.values * trials[:, None, :])
        return np.asarray(found[:, self._used(theta)] * self._free(theta)[self._used(theta)])

    def _row_counts(self, X: Array) -> tuple[Array, Array]:
        """Events and trials (n, T) of each row."""
        return np.nan_to_num(X), (~np.isnan(X)).astype(np.float64)

    def _free(self, theta: Values) -> Mask:
        """(K, T) which numbers are not fixed."""
        if self.limits is None:
            return np.ones(theta.values.shape, dtype=bool)
        (allowed,) = self.limits.values()
        return np.asarray(~allowed.fixed)

    def step_sizes(self, theta: Values, stats: Tally) -> Array:
        """From the variance of what is counted; what the data hardly speak about moves no further than a unit."""
        spread = theta.values * (1 - np.minimum(theta.values, 0.5)) * stats.trials
        return np.asarray(1 / np.sqrt(np.maximum(spread, 1.0))[self._used(theta)])

    def directions(self, theta: Values) -> Directions:
        """Each by itself."""
        (allowed,) = self._limits(len(theta.values)).values()
        return Directions.plain(np.ones(theta.values.size)).without(allowed.fixed.ravel())

    def _checked(self, name: str, given: Any, kind: type[Distribution]) -> Any:
        if not isinstance(given, int | float | kind):
            raise ColumnError(name, f"needs a {kind.__name__} prior or a strength, not {type(given).__name__}")
        return given
