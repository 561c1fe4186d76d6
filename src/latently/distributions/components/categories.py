"""Columns of categories in a mixture over a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from latently import compiled
from latently.distributions import Bernoulli, Categorical, ColumnError, Dirichlet, Distribution
from latently.distributions.components.base import FEW, Ints, Slab, safe_log
from latently.distributions.components.constraints import check_names
from latently.distributions.components.discrete import DiscreteBlock, Tally, Values
from latently.distributions.inputs import Array


@dataclass(frozen=True, eq=False)
class CategoryBlock(DiscreteBlock):
    """Columns of codes 0..C-1; the numbers are the probabilities of all categories of all columns."""

    widths: tuple[int, ...] = ()

    ROOM: ClassVar[Mapping[str, tuple[float, float]]] = {"probabilities": (0.0, 1.0)}

    @property
    def size(self) -> int:
        """Categories of all columns."""
        return sum(self.widths)

    @property
    def offsets(self) -> Ints:
        """Where each column's categories begin."""
        return np.concatenate([[0], np.cumsum(self.widths)[:-1]]).astype(np.intp)

    def _totals(self, counts: Array) -> Array:
        """Sums over each column's categories, in the shape of the counts."""
        return np.repeat(np.add.reduceat(counts, self.offsets, axis=-1), self.widths, axis=-1)

    def _span(self, column: int) -> slice:
        at = self.columns.index(column)
        return slice(int(self.offsets[at]), int(self.offsets[at]) + self.widths[at])

    def _at(self, columns: Sequence[int]) -> Ints:
        return np.concatenate([np.arange(self.size)[self._span(c)] for c in columns])

    def with_fixed(self, n_components: int, k: int, columns: Sequence[int], given: Any) -> Self:
        """Fix the probabilities of some columns in component k."""
        if isinstance(given, Mapping):
            p = check_names(given, tuple(self.ROOM), self._name(columns), "fixed").get("probabilities")
            given = Categorical(p)
        return super().with_fixed(n_components, k, columns, given)

    def with_bounds(self, n_components: int, columns: Sequence[int], given: Any) -> Self:
        """Refuse: probabilities of categories hang together."""
        raise ColumnError(self._name(columns), "holds categories, which take no bounds: fix or tie them")

    def first(self, X: Array, k: int) -> Values:
        """All categories alike."""
        return Values(np.tile(np.repeat(1 / np.array(self.widths), self.widths), (k, 1)))

    def log_density(self, theta: Values, slab: Slab, out: Array) -> None:
        """Look up the log probabilities."""
        table = np.hstack([safe_log(theta.values), np.zeros((len(theta.values), 1))])
        compiled.components.columns.category_density(slab.X, self.places, self.offsets, table, out)

    def expect(self, theta: Values, slab: Slab, R: Array) -> Tally:
        """Count categories."""
        counts = np.zeros((self.size + 1, len(R)))
        compiled.components.columns.category_counts(slab.X, self.places, self.offsets, R, counts)
        events = np.ascontiguousarray(counts[:-1].T)
        return Tally(events, self._totals(events))

    def _with_prior(self, stats: Tally) -> tuple[Array, Array]:
        # rows forgotten with other responsibilities than they were learnt with may leave less than nothing
        events, _ = super()._with_prior(replace(stats, events=np.maximum(stats.events, 0.0)))
        return events, self._totals(events)

    def log_prior(self, theta: Values) -> float:
        """Dirichlet."""
        return float(np.sum(self._prior()[0] * safe_log(theta.values)))

    def with_prior(self, pooled: Tally, priors: Sequence[Any]) -> Self:
        """Prior per column; a strength is that many rows with the shares of all rows together."""
        shares = (pooled.events / np.maximum(pooled.trials, FEW))[0]
        parts = []
        for name, column, width, given in zip(self.names, self.columns, self.widths, priors, strict=True):
            prior = self._strong(name, given, Dirichlet)
            if isinstance(prior, Dirichlet):
                parts.append(_excess(name, prior.concentration, width))
            else:
                parts.append(prior * shares[self._span(column)])
        events = np.concatenate(parts)
        return replace(self, events=events, trials=self._totals(events))

    def n_parameters(self, theta: Values) -> int:
        """One less than categories, per component and column."""
        allowed = self._limits(len(theta.values))["probabilities"]
        own = allowed.groups == np.arange(len(theta.values))[:, None]
        return int(((np.array(self.widths) - 1) * (own & ~allowed.fixed)[:, self.offsets]).sum())

    def observed(self, stats: Tally) -> Array:
        """Weight of the observed entries."""
        return stats.trials.sum(axis=0)[self.offsets]

    def cross(self, theta: Values, stats: Tally) -> Array:
        """Expected log densities."""
        return safe_log(theta.values) @ stats.events.T

    # free numbers

    def to_free(self, theta: Values) -> Array:
        """Log probabilities."""
        return np.log(np.maximum(theta.values, 1e-300)).ravel()

    def from_free(self, theta: Values, free: Array) -> Values:
        """Probabilities, in proportion to the exponentials."""
        logits = free.reshape(theta.values.shape)
        tops = np.repeat(np.maximum.reduceat(logits, self.offsets, axis=1), self.widths, axis=1)
        raised = np.exp(logits - tops)
        return self.constrained(Values(raised / self._totals(raised)))

    # talking to distributions

    def distributions(self, theta: Values, k: int) -> list[tuple[Distribution, tuple[int, ...]]]:
        """A Categorical for each column."""
        return [(Categorical(theta.values[k, self._span(c)]), (c,)) for c in self.columns]

    def _numbers(self, given: Distribution, at: int) -> Array:
        p = given.probabilities if isinstance(given, Categorical) else None
        if isinstance(given, Bernoulli):
            p = np.array([1 - given.probabilities[0], given.probabilities[0]])
        if p is None or len(p) != self.widths[at]:
            raise ColumnError(self.names[at], f"has {self.widths[at]} categories, which {given} does not fit")
        return p

    # answers

    def sample(self, theta: Values, labels: Ints, rng: np.random.Generator) -> Array:
        """Draw codes."""
        out = np.empty((len(labels), len(self.columns)))
        for j, c in enumerate(self.columns):
            ends = np.cumsum(theta.values[:, self._span(c)], axis=1)[labels]
            out[:, j] = (rng.random(len(labels))[:, None] * ends[:, -1:] >= ends).sum(axis=1)
        return np.minimum(out, np.array(self.widths) - 1.0)

    def fill(self, theta: Values, slab: Slab, R: Array) -> Array:
        """Most probable codes."""
        modes = [(R.T @ theta.values[:, self._span(c)]).argmax(axis=1) for c in self.columns]
        return np.stack(modes, axis=1).astype(np.float64)

    def interval(self, theta: Values, slab: Slab, R: Array, level: float) -> tuple[Array, Array]:
        """Most probable codes, twice: categories have no order to take an interval of."""
        modes = self.fill(theta, slab, R)
        return modes, modes


def _excess(name: str, concentration: Array, width: int) -> Array:
    if len(concentration) not in (1, width):
        raise ColumnError(name, f"has {width} categories, but its Dirichlet prior has {len(concentration)}")
    if (concentration < 1).any():
        raise ColumnError(name, "needs a Dirichlet prior of at least 1, so that there is a mode")
    return np.broadcast_to(concentration - 1, (width,))
