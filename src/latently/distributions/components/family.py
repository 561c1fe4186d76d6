"""Columns that follow any other family of distributions, of one column or several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from latently.distributions import ColumnError, Distribution, Family, Prior, PseudoRows
from latently.distributions.components.base import NEVER_LEARNT, ROUNDING, Block
from latently.distributions.components.bounded_family import Boxes, fit_inside, is_inside, moved_inside, prior_gradient
from latently.distributions.components.constraints import LimitedBlock
from latently.distributions.components.family_answers import FamilyAnswers, Members
from latently.distributions.components.slab import FEW, LOG_ZERO, Ints, PerComponent, Slab
from latently.distributions.components.spread import shortest_scale
from latently.distributions.conjugate import log_prior
from latently.distributions.floor import Floor
from latently.distributions.inputs import Array
from latently.distributions.statistics import Moments
from latently.distributions.unconstrained import SCALES, Directions, Reader


@dataclass(frozen=True, eq=False)
class MemberSums(PerComponent):
    """Weights (K,), and the statistics of each component's distribution."""

    weight: Array
    parts: tuple[Any, ...]

    def _combine(self, other: "MemberSums", sign: int) -> "MemberSums":
        pairs = zip(self.parts, other.parts, strict=True)
        return MemberSums(self.weight + sign * other.weight, tuple(a._combine(b, sign) for a, b in pairs))


@dataclass(frozen=True, eq=False)
class FamilyBlock(FamilyAnswers, LimitedBlock):
    """Columns with a distribution of the user's choice, the same for all components or one for each.

    A component for which a family has no best member (a Gamma that has seen one value, say) keeps the one it
    has. `widths` is the number of categories of each column, zero if it is numeric.
    """

    templates: tuple[Family, ...] = ()
    prior: Any = None
    spread: Array | None = None  # (m,) scale of the shortest clusters, of columns whose default prior is about that
    fixed: tuple[Distribution | None, ...] = ()
    floor: Floor | None = None

    is_together: ClassVar[bool] = True

    @property
    def families(self) -> tuple[str, ...]:
        """Those of the templates."""
        return tuple({type(template).__name__ for template in self.templates})

    # learning

    def first(self, X: Array, k: int) -> Members:
        """Templates fitted to the rows, unless they have parameters already."""
        rows = X[:, self.places]
        given = self.templates if len(self.templates) == k else self.templates[:1] * k
        fitted: dict[int, Distribution] = {}
        for template in given:
            if id(template) not in fitted:
                fitted[id(template)] = template if template.is_fitted else self._named(template.fit, rows)
        return Members(tuple(fitted[id(template)] for template in given))

    def _named(self, ask: Any, *given: Any) -> Any:
        try:
            return ask(*given)
        except ColumnError as problem:
            raise problem.named(self.names[int(problem.column)]) from None

    def log_density(self, theta: Members, slab: Slab, out: Array) -> None:
        """Add the log densities, one component after the other."""
        rows = slab.take(self.places)
        for row, member in zip(out, theta.members, strict=True):
            row += np.maximum(member.log_prob(rows), LOG_ZERO)

    def expect(self, theta: Members, slab: Slab, R: Array) -> MemberSums:
        """Statistics with missing entries at their expectation."""
        rows = slab.take(self.places)
        pairs: Any = zip(theta.members, R, strict=True)
        parts = tuple(self._named(m.expected_statistics, rows, r) for m, r in pairs)
        return MemberSums(R.sum(axis=1), parts)

    def update(self, theta: Members, stats: MemberSums) -> Members:
        """Fit every distribution to its own statistics, inside its bounds."""
        few = FEW * float(stats.weight.max())
        triples = zip(theta.members, stats.parts, stats.weight, strict=True)
        found = [self._fit(k, *pair) if weight > few else pair[0] for k, (*pair, weight) in enumerate(triples)]
        return Members(tuple(m if f is None else f for m, f in zip(found, self._fixed(found), strict=True)))

    def _fit(self, k: int, old: Any, part: Any) -> Any:
        try:
            found = old.fit_above(part, self.prior, self.floor)
        except ValueError:
            found = old
        boxes = self._boxes(k)
        return found if is_inside(found, boxes) else fit_inside(moved_inside(old, boxes), part, self.prior, boxes)

    def _boxes(self, k: int) -> Boxes:
        """Lowest and highest values of the parameters of component k, by name."""
        return {name: (allowed.low[k], allowed.high[k]) for name, allowed in (self.limits or {}).items()}

    def _fixed(self, members: Sequence[Any]) -> tuple[Distribution | None, ...]:
        return self.fixed or (None,) * len(members)

    def constrained(self, theta: Members) -> Members:
        """Put fixed distributions in their place, and parameters inside their bounds."""
        pairs = zip(theta.members, self._fixed(theta.members), strict=True)
        return Members(tuple(moved_inside(m, self._boxes(k)) if f is None else f for k, (m, f) in enumerate(pairs)))

    def reseed(self, theta: Members, k: int, X: Array) -> Members:
        """Fit a distribution to these rows; leave it if they are too few for that."""
        try:
            fresh = theta.members[k].fit(X[:, self.places], prior=self.prior)  # type: ignore[attr-defined]
        except ValueError:
            return theta
        return Members((*theta.members[:k], fresh, *theta.members[k + 1 :]))

    def collapsed(self, theta: Members) -> list[int]:
        """Distributions that stand on the floor."""
        floor = self.floor
        return [] if floor is None else [k for k, m in enumerate(theta.members) if m.is_on_floor(floor)]  # type: ignore[attr-defined]

    def without_prior(self) -> Self:
        """The same block under a flat prior."""
        return replace(self, prior=None)

    def log_prior(self, theta: Members) -> float:
        """Log prior of every distribution's parameters."""
        return sum(log_prior(member, self.prior) for member in theta.members)

    def with_prior(self, pooled: MemberSums, priors: Sequence[Any]) -> Self:
        """Prior of the group; a strength means something to the families that have default priors."""
        given = priors[0]
        if given is None or isinstance(given, Prior | PseudoRows | list | tuple):
            return replace(self, prior=given)
        if not isinstance(given, int | float):
            raise ColumnError(self.names[0], f"needs a prior or a strength, not {type(given).__name__}")
        if given == 0 or len(self.templates) > 1:
            return replace(self, prior=None)
        return replace(self, prior=self.templates[0].default_prior(pooled.parts[0], float(given), self.spread))

    def inside_clusters(self, X: Array, weights: Array, k: int) -> Array | None:
        """The scale of the shortest clusters, where a default prior is about it."""
        about = len(self.templates) == 1 and self.templates[0].ABOUT_SCALE
        return shortest_scale(X, weights, k) if about else None

    def with_spread(self, spread: Array | None) -> Self:
        """Default priors about this scale."""
        return replace(self, spread=spread)

    # constraints

    @property
    def ranges(self) -> Mapping[str, tuple[float, float]]:
        """Parameters of the family that are numbers by themselves, and what they may be anyway."""
        if len(self.templates) != 1:
            return {}
        pairs = zip(self.templates[0].PARAMETERS, self.templates[0].SCALES, strict=False)
        return {name: SCALES[scale][2] for name, scale in pairs if scale in SCALES}

    @property
    def is_limited(self) -> bool:
        """Whether a distribution is fixed, or a parameter bounded."""
        return bool(self.fixed) or self.limits is not None

    def with_fixed(self, n_components: int, k: int, columns: Sequence[int], given: Any) -> Self:
        """Fix the distribution of component k, or some of its parameters by name."""
        if isinstance(given, Mapping):
            return super().with_fixed(n_components, k, columns, given)
        if tuple(columns) != self.columns:
            raise ColumnError(self.names[0], f"is in the group {self.names}: fix all of it")
        placed = list(self._fixed(range(n_components)))
        placed[k] = given
        return replace(self, fixed=tuple(placed))

    def with_tied(self, n_components: int, columns: Sequence[int], given: Any) -> Self:
        """Refuse: members are fitted one by one."""
        return Block.with_tied(self, n_components, columns, given)

    def _parameters(self, given: Distribution, columns: Sequence[int]) -> dict[str, Array]:
        return {name: getattr(given, name) for name in self.ranges}

    def without_constraints(self) -> Self:
        """The same block with nothing fixed."""
        return replace(self, fixed=(), limits=None)

    def begin(self, theta: Members, slab: Slab, R: Array) -> Members:
        """Templates fitted to the rows of their components; what all rows are like where those are too few."""
        rows = slab.take(self.places)
        given = self.templates if len(self.templates) == len(R) else self.templates * len(R)
        triples = zip(given, theta.members, R, strict=True)
        return Members(
            tuple(m if t.is_fitted else _fitted(t, m, rows[r > 0], r[r > 0], self.prior) for t, m, r in triples)
        )

    def n_parameters(self, theta: Members) -> int:
        """Those of all distributions, but for what is fixed."""
        pairs = zip(theta.members, self._fixed(theta.members), strict=True)
        fixed = sum(int(allowed.fixed.sum()) for allowed in (self.limits or {}).values())
        return sum(m.n_parameters for m, f in pairs if f is None) - fixed

    def pooled(self, stats: MemberSums) -> MemberSums:
        """Statistics of all components together; of the first alone where each is of a family of its own."""
        return super().pooled(stats) if len(self.templates) == 1 else stats.permuted(np.array([0]))

    def refuse_lost(self, before: MemberSums, left: MemberSums) -> None:
        """An error where rows of all components together were taken away that were never learnt."""
        had, now = self.pooled(before).parts[0], self.pooled(left).parts[0]
        if isinstance(now, Moments):
            squares, most = (np.diagonal(s) if s.ndim == 2 else s for s in (now.scatter(), had.second))
            if (squares < -ROUNDING * most).any():
                raise ColumnError(self.names[int(np.argmin(squares))], NEVER_LEARNT)
        elif len(self.templates) == 1:
            try:
                with np.errstate(invalid="ignore"):
                    self._named(self.templates[0].from_statistics, now, self.prior)
            except ColumnError:
                raise
            except ValueError as problem:
                raise ColumnError(self.names[0], NEVER_LEARNT) from problem

    def observed(self, stats: MemberSums) -> Array:
        """Weight of the rows: a family refuses a column without values itself."""
        return np.full(len(self.columns), stats.weight.sum())

    def cross(self, theta: Members, stats: MemberSums) -> Array:
        """Each with its own: statistics of a family do not determine the density under another member."""
        return np.where(np.eye(len(theta.members)), 0.0, -max(stats.weight.sum(), 1.0))

    # parameters without constraints

    def pack(self, theta: Members) -> Array:
        """Parameters of all members."""
        return np.concatenate([m.pack() for m in theta.members])  # type: ignore[attr-defined]

    def unpack(self, theta: Members, reader: Reader) -> Members:
        """Members, one after the other."""
        return self.constrained(Members(tuple(m.unpack(reader) for m in theta.members)))  # type: ignore[attr-defined]

    def gradient(self, theta: Members, stats: MemberSums) -> Array:
        """Gradient of log-likelihood and log prior; none along what is fixed."""
        quadruples = zip(range(len(theta.members)), theta.members, stats.parts, self._fixed(theta.members), strict=True)
        parts = [np.zeros(len(m.pack())) if f else self._gradient(k, m, s) for k, m, s, f in quadruples]  # type: ignore[attr-defined]
        return np.concatenate(parts)

    def _gradient(self, k: int, member: Any, stats: Any) -> Array:
        found = member.gradient(stats)
        if self.prior is not None:
            found = found + prior_gradient(member, self.prior)
        if self.limits is not None:
            boxes = [self._boxes(k)[name] for name in member.PARAMETERS]
            found = found * np.concatenate([np.ravel(low < high) for low, high in boxes])
        return np.asarray(found)

    def directions(self, theta: Members) -> Directions:
        """Those of all members."""
        pairs: Any = zip(theta.members, self._fixed(theta.members), strict=True)
        return Directions.joined([m.directions().if_learnt(f is None) for m, f in pairs])

    # talking to distributions

    def distributions(self, theta: Members, k: int) -> list[tuple[Distribution, tuple[int, ...]]]:
        """The distribution itself."""
        return [(theta.members[k], self.columns)]

    def from_distributions(self, given: Sequence[Distribution]) -> Members:
        """Distributions of these columns."""
        return Members(tuple(d.marginal(self.columns) for d in given))

    # answers

    def sample(self, theta: Members, labels: Ints, rng: Any) -> Array:
        """Draw rows."""
        out = np.empty((len(labels), len(self.columns)))
        for k, member in enumerate(theta.members):
            here = np.flatnonzero(labels == k)
            out[here] = member.sample(len(here), rng)
        return out


def _fitted(template: Family, otherwise: Distribution, rows: Array, weights: Array, prior: Any) -> Distribution:
    try:
        found = template.fit(rows, weights)
        # counts that are all zero have a mean of zero, which a prior may rule out
        found = found if np.isfinite(log_prior(found, prior)) else template.fit(rows, weights, prior)
    except ValueError:
        return otherwise
    # rows of one component may lack categories that others have
    known = np.isfinite(found.log_prob(rows)).all() and found.n_parameters == otherwise.n_parameters
    return found if known else otherwise
