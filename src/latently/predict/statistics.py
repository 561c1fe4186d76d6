"""Statistics per class that add: what `partial_fit`, `merge` and `forget` are made of."""

from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latently import compiled
from latently.distributions.inputs import Array, ColumnError, no_negative
from latently.distributions.statistics import Additive, Moments, refuse_lost, spread
from latently.predict.fingerprint import Fingerprint

MOMENT_ROWS = 256  # rows summed about their own mean at a time: small enough for the fast cache
Places: TypeAlias = NDArray[np.intp]
SMALLEST = 1e-290  # variances below it have lost digits
NEVER_LEARNT = "these rows were never learnt: the statistics would become negative; the model is left as it was"


class PartError(ColumnError):
    """An error about a column of one of several parts; who knows the parts can name it."""

    def __init__(self, part: int, problem: ColumnError) -> None:
        super().__init__(problem.column, problem.reason)
        self.part = part


@dataclass(frozen=True, eq=False)
class ClassStatistics(Additive):
    """Weight of the rows of each class (K,), and what is known about their features."""

    class_count: Array
    features: Any

    def spread(self, at: Places, n_classes: int) -> Self:
        """Give the same among more classes: the class k becomes at[k], and of the others nothing is known."""
        return type(self)(spread(self.class_count, at, n_classes), self.features.spread(at, n_classes))

    def settled(self, before: Self) -> Self:
        """Give the statistics without rounding below zero; an error if it is more than rounding."""
        try:
            return type(self)(no_negative(self.class_count, "class counts"), self.features.settled(before.features))
        except ColumnError:
            raise
        except ValueError as problem:
            raise ValueError(NEVER_LEARNT) from problem


def class_moments(X: NDArray[Any], codes: NDArray[Any], weights: NDArray[Any], n_classes: int) -> Moments:
    """Moments (K, d) of every column in every class; missing entries have no weight."""
    weight, mean, scatter = (np.zeros((n_classes, X.shape[1])) for _ in range(3))
    rows = max(MOMENT_ROWS, 4 * n_classes)
    compiled.predict.naive_bayes.class_moments(np.ascontiguousarray(X), codes, weights, rows, weight, mean, scatter)
    return Moments(weight, mean, np.zeros_like(mean), scatter)


def settled_moments(now: Moments, before: Moments, values: Fingerprint) -> Moments:
    """Moments without rounding below zero; an error if it is more than rounding, or if digits are lost."""
    weight = no_negative(now.weight, "weights")
    weight = np.where(weight <= 1e-12 * before.weight, 0.0, weight)
    scatter, had = now.scatter(), before.scatter()
    # what rounding alone can make of a square, at the size of the numbers
    units = (1e-7 * before.mean()) ** 2
    if (scatter < -1e-9 * (had + before.weight * units)).any():
        raise ValueError("squares are negative")
    kept = weight > 0
    mean, squares = np.where(kept, now.mean(), 0.0), np.where(kept, np.maximum(scatter, 0.0), 0.0)
    squares = lossless(before.about(now.mean()).second, squares, weight, mean, values)
    return Moments(weight, mean, np.zeros_like(mean), squares)


def lossless(had: Array, left: Array, rows: Array, mean: Array, values: Fingerprint) -> Array:
    """Squares that are left; an error where they lost digits, beyond what smoothing by a share of 1e-9 makes up for."""
    constant = values.is_constant(mean, uncertain_mean(had, rows))
    left, rows = np.where(constant, 0.0, left), np.where(constant, 0.0, rows)
    total = np.maximum(rows.sum(axis=0), np.finfo(float).tiny)
    wide = (left + rows * (mean - (rows * mean).sum(axis=0) / total) ** 2).sum(axis=0) / total
    refuse_lost(had, left + 1e-9 * rows * wide, rows)
    return left


def uncertain_mean(had: Array, rows: Array) -> Array:
    """How far a mean may be off where squares about it were so many before rows were taken away."""
    each = np.divide(had, rows, out=np.zeros(np.broadcast_shapes(had.shape, rows.shape)), where=rows > 0)
    return np.asarray(4 * np.finfo(float).eps * np.sqrt(each))


def pooled(by_class: Moments) -> tuple[Array, Array, Array]:
    """Weight, mean and variance of each column over all classes, (d,); 0 where nothing is observed."""
    weight, means = by_class.weight.sum(axis=0), by_class.mean()
    safe = np.where(weight > 0, weight, 1.0)
    mean = (by_class.weight * means).sum(axis=0) / safe
    between = (by_class.weight * (means - mean) ** 2).sum(axis=0)
    return weight, mean, (np.maximum(by_class.scatter(), 0.0).sum(axis=0) + between) / safe


@dataclass(frozen=True, eq=False)
class Powers(Additive):
    """Sums of powers of each column about a centre, all classes together: the unit of its variation.

    Parameters
    ----------
    centre : (d,) the point that the powers are about
    sums : (5, d) weighted sums of (x - centre)^p over the observed entries, for p = 0 to 4
    """

    centre: Array
    sums: Array

    @classmethod
    def of(cls, X: NDArray[Any], weights: NDArray[Any], by_class: Moments) -> Self:
        """Sum up rows about their mean; the lower powers are in the moments already."""
        with np.errstate(over="ignore", invalid="ignore"):
            weight, centre, variance = pooled(by_class)
        third, fourth = np.zeros(len(centre)), np.zeros(len(centre))
        compiled.predict.naive_bayes.column_powers(np.ascontiguousarray(X), weights, centre, third, fourth)
        _refuse_extremes(variance, fourth)
        return cls(centre, np.stack([weight, np.zeros(len(centre)), weight * variance, third, fourth]))

    def about(self, centre: Array) -> Self:
        """Move the powers to another centre: the binomial theorem, by Pascal's triangle in place."""
        step, moved = self.centre - centre, self.sums.copy()
        for first in range(1, 5):
            for p in range(4, first - 1, -1):
                moved[p] += step * moved[p - 1]
        return type(self)(centre, moved)

    def _combine(self, other: Self, sign: int) -> Self:
        theirs = other.about(self.centre)
        weight = self.sums[0] + sign * theirs.sums[0]
        first = self.sums[1] + sign * theirs.sums[1]
        centre = self.centre + np.divide(first, weight, out=np.zeros(len(weight)), where=weight > 0)
        return type(self)(centre, self.about(centre).sums + sign * other.about(centre).sums)

    def refuse_lost(self, before: Self) -> None:
        """An error where so much of the fourth powers is lost that smoothing by 1e-9 of the unit would show it."""
        weight, _, second, _, _ = self.sums
        left = 3e9 * second**2 / np.where(weight > 0, weight, 1.0)
        refuse_lost(before.about(self.centre).sums[4], left, np.where(second > 0, weight, 0.0))

    def unit(self) -> Array:
        """(d,) squared unit in which each column varies: its variance, or more if that sits in rare values.

        A third of the fourth moment over the second is the variance for a normal column. For a column that
        is almost always the same it is the size of its few departures, where the variance would be next to
        zero.
        """
        weight, _, second, _, fourth = self.sums
        safe = np.where(second > 0, second, 1.0)
        variance = np.maximum(second, 0.0) / np.where(weight > 0, weight, 1.0)
        return np.asarray(np.maximum(variance, np.where(second > 0, fourth / (3 * safe), 0.0)))


def _refuse_extremes(variance: Array, fourth: Array) -> None:
    """See that squares of squares can be represented; an error names the column."""
    wrong = ~np.isfinite(fourth) | ((variance > 0) & (variance < SMALLEST))
    if wrong.any():
        j = int(np.argmax(wrong))
        raise ColumnError(j, f"has values of extreme size (variance {variance[j]:.3g}): rescale it")


@dataclass(frozen=True, eq=False)
class GaussianStatistics(Additive):
    """Moments of every column in every class, and powers and fingerprint of every column."""

    by_class: Moments
    powers: Powers
    values: Fingerprint

    @classmethod
    def of(cls, X: NDArray[Any], codes: NDArray[Any], weights: NDArray[Any], n_classes: int) -> Self:
        """Sum up rows by class."""
        X = np.ascontiguousarray(X)
        by_class = class_moments(X, codes, weights, n_classes)
        return cls(by_class, Powers.of(X, weights, by_class), Fingerprint.of(X, weights))

    def spread(self, at: Places, n_classes: int) -> Self:
        """Give the same among more classes."""
        return replace(self, by_class=self.by_class.spread(at, n_classes))

    def settled(self, before: Self) -> Self:
        """Give the statistics without rounding below zero; an error if it is more than rounding."""
        left = settled_moments(self.by_class, before.by_class, self.values)
        self.powers.refuse_lost(before.powers)
        return replace(self, by_class=left)


def former_gaussian_statistics(by_class: Moments, powers: Powers) -> GaussianStatistics:
    """Statistics of a version that kept no fingerprint."""
    return GaussianStatistics(by_class, powers, Fingerprint.unknown(len(powers.centre)))


@dataclass(frozen=True, eq=False)
class Counts(Additive):
    """Sums of counts (K, d) and the weight that was observed, (K, d) or (K, 1)."""

    total: Array
    seen: Array

    def spread(self, at: Places, n_classes: int) -> Self:
        """Give the same among more classes."""
        return type(self)(spread(self.total, at, n_classes), spread(self.seen, at, n_classes))

    def settled(self, before: Self) -> Self:
        """Give the statistics without rounding below zero; an error if it is more than rounding."""
        return type(self)(no_negative(self.total, "counts"), no_negative(self.seen, "weights"))


@dataclass(frozen=True, eq=False)
class CategoryCounts(Additive):
    """Weight of each category: an array (categories, K) for each column; more categories may come."""

    tables: tuple[Array, ...]

    @classmethod
    def of(
        cls, X: NDArray[Any], codes: NDArray[Any], weights: NDArray[Any], widths: NDArray[Any], n_classes: int
    ) -> Self:
        """Count codes by class; every code is below the width of its column."""
        ends = np.cumsum(widths) * n_classes
        counts = np.zeros(int(ends[-1]) if len(ends) else 0)
        offsets = (ends - widths * n_classes).astype(np.int64)
        compiled.predict.naive_bayes.category_counts(
            np.ascontiguousarray(X), codes, weights, offsets, n_classes, counts
        )
        flat = zip(offsets, widths, strict=True)
        return cls(tuple(counts[a : a + k * n_classes].reshape(k, n_classes) for a, k in flat))

    def _combine(self, other: Self, sign: int) -> Self:
        if len(self.tables) != len(other.tables):
            raise ValueError(f"counts of {len(self.tables)} and {len(other.tables)} columns do not add")
        pairs = zip(self.tables, other.tables, strict=True)
        return type(self)(tuple(_padded(a, len(b)) + sign * _padded(b, len(a)) for a, b in pairs))

    def spread(self, at: Places, n_classes: int) -> Self:
        """Give the same among more classes."""
        return type(self)(tuple(spread(table.T, at, n_classes).T for table in self.tables))

    def settled(self, before: Self) -> Self:
        """Give the statistics without rounding below zero; an error if it is more than rounding."""
        return type(self)(tuple(no_negative(table, "counts") for table in self.tables))


def _padded(table: Array, rows: int) -> Array:
    return np.pad(table, ((0, max(0, rows - len(table))), (0, 0)))


@dataclass(frozen=True, eq=False)
class Side(Additive):
    """Statistics of several groups of columns side by side."""

    parts: tuple[Any, ...]

    def _combine(self, other: Self, sign: int) -> Self:
        return type(self)(tuple(a._combine(b, sign) for a, b in zip(self.parts, other.parts, strict=True)))

    def spread(self, at: Places, n_classes: int) -> Self:
        """Give the same among more classes."""
        return type(self)(tuple(part.spread(at, n_classes) for part in self.parts))

    def settled(self, before: Self) -> Self:
        """Give the statistics without rounding below zero; an error if it is more than rounding."""
        parts = []
        for at, (now, had) in enumerate(zip(self.parts, before.parts, strict=True)):
            try:
                parts.append(now.settled(had))
            except ColumnError as problem:
                raise PartError(at, problem) from None
        return type(self)(tuple(parts))
