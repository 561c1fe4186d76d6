"""Groups of columns of one kind: what to count of them, and the distributions that the counts become.

A group is a frozen record that counts a chunk's columns by class; `fitted` turns the sum of such counts into
`Gaussians`, `Tables` or `Fitted` components, which know `joint` (log densities) and `draw`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from latently.data.schema.column import Column
from latently.distributions import ColumnError, Distribution, Family
from latently.distributions.components.base import Block
from latently.distributions.components.counts import CountBlock
from latently.distributions.components.discrete import Values
from latently.distributions.components.family import FamilyBlock
from latently.distributions.components.family_answers import Members
from latently.distributions.components.slab import LOG_ZERO, Slab, joined
from latently.distributions.statistics import Additive
from latently.learn.estimator.classes import Codes
from latently.predict.bayes.categorical_nb import Lookup, draw_categories
from latently.predict.bayes.discrete import safe_log
from latently.predict.bayes.estimates import m_estimate, prior_shares
from latently.predict.bayes.gaussians import Gaussians
from latently.predict.statistics import CategoryCounts, GaussianStatistics, Places, pooled

Array = NDArray[np.float64]


def _moments(X: Array, codes: Codes, weights: Array, n_classes: int, names: tuple[str, ...]) -> GaussianStatistics:
    try:
        return GaussianStatistics.of(X, codes, weights, n_classes)
    except ColumnError as problem:
        raise problem.named(names[int(problem.column)]) from None


@dataclass(frozen=True, eq=False)
class GaussianColumns:
    """Numeric columns, normal within a class."""

    columns: tuple[int, ...]
    names: tuple[str, ...]
    smoothing: float

    def count(self, X: Array, codes: Codes, weights: Array, n_classes: int) -> GaussianStatistics:
        """Moments by class."""
        return _moments(X[:, list(self.columns)], codes, weights, n_classes, self.names)

    def fitted(self, stats: GaussianStatistics) -> Gaussians:
        """Means and variances."""
        return Gaussians.of(stats, self.smoothing)


@dataclass(frozen=True, eq=False)
class Fitted:
    """Components of some columns, one for each class: their block, and its parameters."""

    block: Block
    theta: Any

    @property
    def members(self) -> tuple[Distribution, ...]:
        """The distribution of each class."""
        K = len(getattr(self.theta, "members", getattr(self.theta, "values", ())))
        return tuple(joined(self.block.distributions(self.theta, k)) for k in range(K))

    def joint(self, X: Array, constant: Array) -> Array:
        """(n, K) a constant per class plus the log density of the observed entries."""
        out = np.repeat(constant[:, None], len(X), axis=1)
        self.block.log_density(self.theta, Slab(X), out)
        return np.where(out < LOG_ZERO / 2, -np.inf, out).T

    def draw(self, codes: Codes, rng: np.random.Generator) -> Array:
        """Draw a row for each class code."""
        return self.block.sample(self.theta, codes, rng)


@dataclass(frozen=True, eq=False)
class CountColumns:
    """Columns of counts, Poisson within a class; the m-estimate draws rates to that of all classes."""

    columns: tuple[int, ...]
    names: tuple[str, ...]
    m: float

    def count(self, X: Array, codes: Codes, weights: Array, n_classes: int) -> GaussianStatistics:
        """Moments by class, of which the means matter."""
        chosen = X[:, list(self.columns)]
        check_counts(chosen, self.names)
        return _moments(chosen, codes, weights, n_classes, self.names)

    def fitted(self, stats: GaussianStatistics) -> Fitted:
        """Rates, with `m` rows' worth of the overall rate."""
        seen, overall, _ = pooled(stats.by_class)
        weight = stats.by_class.weight
        whole = weight + self.m
        own = weight * stats.by_class.mean() + self.m * overall
        rate = np.where(whole > 0, own / np.where(whole > 0, whole, 1.0), overall)
        return fitted_rates(np.where(seen > 0, rate, 1.0))


def check_counts(X: Array, names: Sequence[str]) -> None:
    """See that entries are whole numbers from 0 on, or missing; an error names the column."""
    with np.errstate(invalid="ignore"):
        wrong = np.less(X, 0) | (np.floor(X) != X) & ~np.isnan(X)
    if wrong.any():
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"column {names[column]!r} holds {X[row, column]:g}: counts are whole numbers from 0 on")


@dataclass(frozen=True, eq=False)
class Tables:
    """Probabilities of the categories of every column in every class."""

    logs: tuple[Array, ...]
    lookup: Lookup

    def joint(self, X: Array, constant: Array) -> Array:
        """(n, K) a constant per class plus the log probability of the observed categories."""
        return self.lookup.joint(X) + constant

    def draw(self, codes: Codes, rng: np.random.Generator) -> Array:
        """Draw codes for each class code; missing for a column that has no categories."""
        drawn = [
            draw_categories(np.exp(log.T), codes, rng) if len(log) else np.full(len(codes), np.nan) for log in self.logs
        ]
        return np.stack(drawn, axis=1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class CategoryColumns:
    """Columns of categories, with or without an order, estimated by the m-estimate."""

    columns: tuple[int, ...]
    schema: tuple[Column, ...]
    ordered: tuple[bool, ...]
    m: float | str
    p: Any

    def count(self, X: Array, codes: Codes, weights: Array, n_classes: int) -> CategoryCounts:
        """Count categories by class."""
        widths = np.array([column.n_categories for column in self.schema], dtype=np.int64)
        return CategoryCounts.of(X[:, list(self.columns)], codes, weights, widths, n_classes)

    def fitted(self, stats: CategoryCounts) -> Tables:
        """Log probabilities, and that of a category never seen."""
        logs, unseen = [], []
        for table, column, ordered in zip(stats.tables, self.schema, self.ordered, strict=True):
            prior, other = prior_shares(table, column, self.p)
            logs.append(safe_log(m_estimate(table, prior, self.m, ordered=ordered)))
            unseen.append(np.log(other))
        return Tables(tuple(logs), Lookup.of(logs, np.array(unseen)))


@dataclass(frozen=True, eq=False)
class FamilyStatistics(Additive):
    """Statistics of a family for every class."""

    parts: tuple[Any, ...]

    def _combine(self, other: Self, sign: int) -> Self:
        return type(self)(tuple(a._combine(b, sign) for a, b in zip(self.parts, other.parts, strict=True)))

    def spread(self, at: Places, n_classes: int) -> Self:
        """Give the same among more classes."""
        parts = [self.parts[0] - self.parts[0]] * n_classes
        for k, part in zip(at.tolist(), self.parts, strict=True):
            parts[k] = part
        return type(self)(tuple(parts))

    def settled(self, before: Self) -> Self:
        """Give the statistics as they are: a family refuses negative ones itself."""
        return self


def fitted_rates(rate: Array) -> Fitted:
    """Poisson distributions of every column in every class, with rates (K, d)."""
    columns = tuple(range(rate.shape[1]))
    return Fitted(CountBlock(columns, tuple(map(str, columns))), Values(rate))


def fitted_families(members: tuple[Family, ...]) -> Fitted:
    """A fitted distribution of one column for every class."""
    return Fitted(FamilyBlock((0,), ("0",), widths=(0,)), Members(tuple(members)))


@dataclass(frozen=True, eq=False)
class FamilyColumn:
    """One column with a family of the user's choice within each class."""

    columns: tuple[int, ...]
    name: str
    family: Family

    def count(self, X: Array, codes: Codes, weights: Array, n_classes: int) -> FamilyStatistics:
        """Statistics of the family by class."""
        chosen = X[:, list(self.columns)]
        w = weights if len(weights) else np.ones(len(X))
        try:
            return FamilyStatistics(tuple(self.family.statistics(chosen, w * (codes == k)) for k in range(n_classes)))
        except ColumnError as problem:
            raise problem.named(self.name) from None

    def fitted(self, stats: FamilyStatistics) -> Fitted:
        """One distribution for each class; a class of which nothing was observed has that of all together."""
        try:
            pooled = self.family.from_statistics(reduce(add, stats.parts))
        except ColumnError as problem:
            raise problem.named(self.name) from None
        return fitted_families(tuple(self._member(part, pooled) for part in stats.parts))

    def _member(self, part: Any, pooled: Family) -> Family:
        try:
            return self.family.from_statistics(part)
        except ValueError:
            # Too little was observed in this class for the family to have a best member.
            return pooled
