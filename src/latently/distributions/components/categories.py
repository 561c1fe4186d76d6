"""Columns of categories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from latently import compiled
from latently.distributions import Bernoulli, Categorical, ColumnError, Dirichlet, Distribution
from latently.distributions.components.constraints import check_names
from latently.distributions.components.discrete import DiscreteBlock, Tally, Values
from latently.distributions.components.slab import Ints, Mask, Slab, safe_log
from latently.distributions.inputs import Array
from latently.distributions.unconstrained import Directions, Reader

_TINY = float(np.finfo(float).tiny)
_MANY = 20  # categories of a column that count in distances


@dataclass(frozen=True, eq=False)
class CategoryBlock(DiscreteBlock):
    """Columns of codes 0..C-1; the numbers are the probabilities of all categories of all columns."""

    widths: tuple[int, ...] = ()
    possible: Mask | None = None  # (K, T) which categories a component may have; None for all

    FAMILIES: ClassVar[tuple[str, ...]] = ("Categorical", "Bernoulli")
    RANGES: ClassVar[Mapping[str, tuple[float, float]]] = {"probabilities": (0.0, 1.0)}

    @property
    def size(self) -> int:
        """Categories of all columns."""
        return sum(self.widths)

    @cached_property
    def offsets(self) -> Ints:
        """Where each column's categories begin."""
        return np.concatenate([[0], np.cumsum(self.widths)[:-1]]).astype(np.intp)

    def as_points(self, X: Array) -> Array:
        """Categories as corners at unit distance; rare ones of a column with many are all alike."""
        return np.hstack([_corners(column, width) for column, width in zip(X.T, self.widths, strict=True)])

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
            p = check_names(given, tuple(self.RANGES), self._name(columns), "fixed").get("probabilities")
            given = Categorical(np.asarray(p))
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

    def _row_counts(self, X: Array) -> tuple[Array, Array]:
        """Which category each row has, and whether its column is observed, as often as it has categories."""
        codes = [column[:, None] == np.arange(width) for column, width in zip(X.T, self.widths, strict=True)]
        return np.hstack(codes).astype(np.float64), np.repeat(~np.isnan(X), self.widths, axis=1).astype(np.float64)

    def _with_prior(self, stats: Tally) -> tuple[Array, Array]:
        # rows forgotten with other responsibilities than they were learnt with may leave less than nothing
        events, _ = super()._with_prior(replace(stats, events=np.maximum(stats.events, 0.0)))
        return events, self._totals(events)

    def _pseudo(self, name: str, means: Array, given: Any) -> tuple[Any, Any]:
        """Prior of a column; a strength is that many rows with the shares of all rows together."""
        prior = self._checked(name, given, Dirichlet)
        events = _excess(name, prior.concentration, len(means)) if isinstance(prior, Dirichlet) else prior * means
        return events, np.full(len(means), events.sum())

    def n_parameters(self, theta: Values) -> int:
        """One less than categories, per component and column."""
        if self.possible is not None:
            return int(np.maximum(np.add.reduceat(self.possible, self.offsets, axis=1, dtype=int) - 1, 0).sum())
        allowed = self._limits(len(theta.values))["probabilities"]
        own = allowed.groups == np.arange(len(theta.values))[:, None]
        return int(((np.array(self.widths) - 1) * (own & ~allowed.fixed)[:, self.offsets]).sum())

    def observed(self, stats: Tally) -> Array:
        """Weight of the observed entries."""
        return np.asarray(stats.trials.sum(axis=0)[self.offsets])

    def cross(self, theta: Values, stats: Tally) -> Array:
        """Expected log densities."""
        return safe_log(theta.values) @ stats.events.T

    # parameters without constraints

    def _used(self, theta: Values) -> Mask:
        positive = theta.values > 0
        return positive if self.possible is None else positive & self.possible

    def pack(self, theta: Values) -> Array:
        """Log probabilities of the categories that are possible."""
        return np.asarray(np.log(theta.values[self._used(theta)]))

    def unpack(self, theta: Values, reader: Reader) -> Values:
        """Probabilities, in proportion to the exponentials; they share what they had."""
        used, logits = self._used(theta), np.full(theta.values.shape, -np.inf)
        logits[used] = reader.take((int(used.sum()),))
        tops = np.repeat(np.maximum.reduceat(logits, self.offsets, axis=1), self.widths, axis=1)
        raised = np.where(used, np.exp(logits - np.where(np.isfinite(tops), tops, 0.0)), 0.0)
        share = self._totals(np.where(used, theta.values, 0.0)) / np.maximum(self._totals(raised), _TINY)
        return self.constrained(Values(np.where(used, raised * share, theta.values)))

    def directions(self, theta: Values) -> Directions:
        """Logits of a column may all be shifted together."""
        pieces, used = [], self._used(theta)
        learnt = ~self._limits(len(used))["probabilities"].fixed
        for k, row in enumerate(theta.values):
            pieces += [
                Directions.logits(row[span], used[k, span]).if_learnt(bool(learnt[k, span].any()))
                for span in map(self._span, self.columns)
            ]
        return Directions.joined(pieces)

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

    def sample(self, theta: Values, labels: Ints, rng: Any) -> Array:
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


def _corners(codes: Array, width: int) -> Array:
    seen = ~np.isnan(codes)
    counts = np.bincount(codes[seen].astype(np.intp), minlength=width)
    common = np.argsort(-counts, kind="stable")[:_MANY]
    return np.where(seen[:, None], (codes[:, None] == common) / np.sqrt(2), np.nan)


def _excess(name: str, concentration: Array, width: int) -> Array:
    if len(concentration) not in (1, width):
        raise ColumnError(name, f"has {width} categories, but its Dirichlet prior has {len(concentration)}")
    if (concentration < 1).any():
        raise ColumnError(name, "needs a Dirichlet prior of at least 1, so that there is a mode")
    return np.broadcast_to(concentration - 1, (width,))
