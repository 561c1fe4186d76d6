"""What the numbers of a mixture over a table may be: fixed, bounded, or shared by several components."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from latently.distributions import ColumnError, Distribution
from latently.distributions.components.base import Block
from latently.distributions.components.gaussian.limits.bounded import Box, best_weights
from latently.distributions.components.gaussian.limits.constraints import check_weight_box, read_bounds, read_groups
from latently.distributions.components.slab import Ints, Mask
from latently.distributions.inputs import Array


@dataclass(frozen=True, eq=False)
class Allowed:
    """Lowest and highest values (K, T), and the first component (K, T) that each one is shared with.

    A fixed number has no room; components that share a value have the same room.
    """

    low: Array
    high: Array
    groups: Ints
    room: tuple[float, float]

    @classmethod
    def anything(cls, k: int, size: int, low: float, high: float) -> Self:
        """No limits but those of the numbers themselves: the room they have anyway."""
        groups = np.tile(np.arange(k)[:, None], size)
        return cls(np.full((k, size), low), np.full((k, size), high), groups, (low, high))

    @property
    def fixed(self) -> Mask:
        """(K, T) where there is only one value."""
        return np.asarray(self.low == self.high)

    @property
    def only_fixed(self) -> bool:
        """Whether every number is either fixed or without limits."""
        own = np.arange(len(self.groups))[:, None]
        wide = (self.low == self.room[0]) & (self.high == self.room[1])
        return bool((self.groups == own).all() and (self.fixed | wide).all())

    def narrowed(self, rows: Any, columns: Ints, low: Any, high: Any) -> Self:
        """Less room for some components and columns."""
        at = np.ix_(rows, columns)
        lows, highs = self.low.copy(), self.high.copy()
        lows[at], highs[at] = np.maximum(lows[at], low), np.minimum(highs[at], high)
        return replace(self, low=lows, high=highs).shared(self.groups)

    def shared(self, groups: Ints) -> Self:
        """The room that is left where components share values; an error if there is none."""
        lows, highs = self.low.copy(), self.high.copy()
        for first in range(len(groups)):
            members = groups == first  # (K, T)
            lows = np.where(members, np.where(members, lows, -np.inf).max(axis=0), lows)
            highs = np.where(members, np.where(members, highs, np.inf).min(axis=0), highs)
        if (lows > highs).any():
            k, t = (int(i) for i in np.argwhere(lows > highs)[0])
            raise ValueError(f"component {k} has no value left: at least {lows[k, t]:g} and at most {highs[k, t]:g}")
        return replace(self, low=lows, high=highs, groups=groups)

    def tied(self, columns: Ints, groups: Ints) -> Self:
        """Values of some columns shared by groups (K,) of components."""
        joint = self.groups.copy()
        joint[:, columns] = groups[:, None]
        return self.shared(joint)

    def keep(self, values: Array, mass: Array) -> Array:
        """The best values inside, given those without limits and the weight (K, T) behind each."""
        out, own = np.array(values), np.arange(len(values))[:, None]
        for first in np.unique(self.groups[self.groups != own]):
            members = self.groups == first
            total = np.where(members, mass, 0.0).sum(axis=0)
            even = np.where(total > 0, mass, 1.0) * members
            average = (even * values).sum(axis=0) / np.maximum(even.sum(axis=0), np.finfo(float).tiny)
            out = np.where(members, average, out)
        return np.clip(out, self.low, self.high)

    def n_free(self) -> int:
        """How many different numbers are learnt."""
        first = self.groups == np.arange(len(self.groups))[:, None]
        return int((first & ~self.fixed).sum())


@dataclass(frozen=True, eq=False)
class LimitedBlock(Block):
    """A block whose parameters are arrays (K, T) by name, each of which may have limits."""

    limits: Mapping[str, Allowed] | None = None

    RANGES: ClassVar[Mapping[str, tuple[float, float]]] = {}
    """Names of the parameters, and what they may be anyway."""

    @property
    def ranges(self) -> Mapping[str, tuple[float, float]]:
        """Names of the parameters, and what they may be anyway."""
        return self.RANGES

    @property
    def is_limited(self) -> bool:
        """Whether anything is fixed, bounded or shared."""
        return self.limits is not None

    @property
    def only_fixed(self) -> bool:
        """Whether nothing is bounded or shared."""
        return all(allowed.only_fixed for allowed in (self.limits or {}).values())

    def without_constraints(self) -> Self:
        """The same block without limits."""
        return replace(self, limits=None)

    def with_fixed(self, n_components: int, k: int, columns: Sequence[int], given: Any) -> Self:
        """Fix the parameters of some columns in component k: all by a distribution, or some by name."""
        numbers = given if isinstance(given, Mapping) else self._parameters(given, columns)
        return self._narrowed(n_components, [k], columns, {name: (v, v) for name, v in numbers.items()}, "fixed")

    def with_bounds(self, n_components: int, columns: Sequence[int], given: Mapping[str, Any]) -> Self:
        """Bounds of parameters of some columns, for all components or each."""
        return self._narrowed(n_components, range(n_components), columns, given, "bounds")

    def with_tied(self, n_components: int, columns: Sequence[int], given: Mapping[str, Any]) -> Self:
        """Parameters of some columns that groups of components share."""
        limits, at = self._limits(n_components), self._at(columns)
        for name, groups in self._known(given, columns, "tied").items():
            found = read_groups(groups, f"tied: {name} of column {self._name(columns)!r}", n_components)
            limits[name] = self._naming_columns(columns, limits[name].tied, at, found)
        return replace(self, limits=limits)

    def _narrowed(
        self, n_components: int, rows: Sequence[int], columns: Sequence[int], boxes: Mapping[str, Any], what: str
    ) -> Self:
        limits, at = self._limits(n_components), self._at(columns)
        for name, pair in self._known(boxes, columns, what).items():
            said = f"{what}: {name} of column {self._name(columns)!r}"
            box = read_bounds(pair, said, (len(rows), len(at)), self.ranges[name])
            limits[name] = self._naming_columns(columns, limits[name].narrowed, rows, at, *box)
        return replace(self, limits=limits)

    def _limits(self, k: int) -> dict[str, Allowed]:
        if self.limits is not None:
            return dict(self.limits)
        return {name: Allowed.anything(k, self.size, *room) for name, room in self.ranges.items()}

    def _known(self, given: Mapping[str, Any], columns: Sequence[int], what: str) -> Mapping[str, Any]:
        return check_names(given, tuple(self.ranges), self._name(columns), what)

    def _naming_columns(self, columns: Sequence[int], ask: Any, *given: Any) -> Allowed:
        try:
            found: Allowed = ask(*given)
        except ValueError as problem:
            raise ColumnError(
                self._name(columns),
                f"has constraints (fixed, bounds, tied) that contradict each other: {problem}",
            ) from None
        return found

    @property
    def size(self) -> int:
        """T, numbers per component of each parameter."""
        return len(self.columns)

    def _at(self, columns: Sequence[int]) -> Ints:
        """Where the numbers of some columns stand."""
        return np.array([self.columns.index(c) for c in columns])

    @abstractmethod
    def _parameters(self, given: Distribution, columns: Sequence[int]) -> dict[str, Array]:
        """Parameters by name, from a distribution of some columns."""


def check_names(given: Any, known: tuple[str, ...], column: str, what: str) -> Mapping[str, Any]:
    """What is said of a column's parameters, by name."""
    listed = ", ".join(known)
    if not isinstance(given, Mapping):
        raise ColumnError(column, f"needs a dict of {listed} in {what}, got {type(given).__name__}")
    if odd := [name for name in given if name not in known]:
        raise ColumnError(column, f"has no {odd[0]!r} for {what}: it has {listed}")
    return given


@dataclass(frozen=True, eq=False)
class WeightLimits:
    """What the weights (K, 1) may be."""

    allowed: Allowed

    @property
    def box(self) -> Box:
        """Lowest and highest weights (K,)."""
        return Box(self.allowed.low[:, 0], self.allowed.high[:, 0])

    def best(self, counts: Array) -> Array:
        """Weights for these counts."""
        return best_weights(counts, self.allowed.groups[:, 0], self.box)

    def n_free(self) -> int:
        """How many weights are learnt: one less than are open."""
        return max(self.allowed.n_free() - 1, 0)


def weight_limits(fixed: Any, bounds: Any, tied: Any, k: int) -> WeightLimits | None:
    """What a user says of the weights, checked; NaN in `fixed` for those that are learnt. None if nothing is said."""
    if fixed is None and bounds is None and tied is None:
        return None
    allowed = Allowed.anything(k, 1, 0.0, 1.0).tied(np.array([0]), read_groups(tied, 'tied["weights"]', k))
    low, high = read_bounds(bounds, 'bounds["weights"]', (k,), (0.0, 1.0))
    allowed = allowed.narrowed(range(k), np.array([0]), low[:, None], high[:, None])
    if fixed is not None:
        values = _fixed_values(fixed, k)
        given = np.flatnonzero(~np.isnan(values))
        allowed = allowed.narrowed(given, np.array([0]), values[given, None], values[given, None])
    limits = WeightLimits(allowed)
    check_weight_box(limits.box, "fixed_weights")
    return limits


def _fixed_values(given: Any, k: int) -> Array:
    values = np.asarray(given, dtype=np.float64)
    if values.shape != (k,) or np.isinf(values).any() or (values < 0).any():
        raise ValueError(
            f"fixed_weights must be {k} numbers, not negative, NaN for those that are learnt, got {given!r}"
        )
    if not np.isnan(values).any():
        if abs(values.sum() - 1) > 1e-6:
            raise ValueError(f"fixed_weights must sum to 1, not to {values.sum():.8g}")
        return np.asarray(values / values.sum())
    return values
