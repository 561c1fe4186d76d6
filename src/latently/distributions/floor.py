"""How narrow a state may become: no narrower than the values of a column lie apart.

The likelihood of a state that shrinks onto one value has no upper bound. What bounds it is the resolution of the data:
neighbouring values are some distance apart, and a state that is narrower than that says nothing that they show. The
floor follows the data in their own unit, wherever clusters lie, and does not touch states that it does not stop.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from latently.distributions.inputs import Array

MOST_ROWS = 20_000
"""Rows of a long table that floors are taken from."""

NEAR = 0.1
"""Share of the gaps between neighbouring values that are smaller than the distance which counts."""

WIDEST = 0.01
"""Where values are few and far apart: the floor is at most this share of a column's own deviation."""

ROUNDING = 1e-13
"""Difference below which numbers of the order of one are the same."""

LEAST = 1e-8
"""Least variance along a main axis, in units: eight digits of it are left in sums over rows."""

FLAT = 1e-3 * 12**0.5
"""Resolution, in units, of what does not vary at all."""

TOUCHING = 1 + 1e-6
"""A variance of so many times its floor is at the floor."""


@dataclass(frozen=True, eq=False)
class Floor:
    """Floors of some columns.

    Parameters
    ----------
    rows : (n, d) what the floors are of, maybe a sample of it
    """

    rows: Array

    @classmethod
    def of(cls, X: Array) -> "Floor":
        """Floors of a table; of a long one, some rows are looked at. A column that is all missing counts as zeros."""
        rows = X[:: -(-len(X) // MOST_ROWS)]
        absent = np.isnan(np.fmax.reduce(rows, axis=0))
        return cls(np.where(absent, 0.0, rows) if absent.any() else rows)

    def columns(self, places: list[int]) -> "Floor":
        """Floors of some of the columns."""
        return Floor(self.rows[:, places])

    @cached_property
    def deviations(self) -> Array:
        """Standard deviations (d,) of all rows together; zero where a column is constant, to rounding."""
        size = np.maximum(np.fmax.reduce(np.abs(self.rows), axis=0), np.finfo(float).tiny)
        scaled = self.rows / size
        deviations = np.nanstd(scaled, axis=0) if np.isnan(scaled.sum()) else scaled.std(axis=0)
        return np.asarray(np.where(deviations > 1e-13, deviations * size, 0.0))

    @cached_property
    def units(self) -> Array:
        """Deviations (d,), or a thousandth of the value of a constant column."""
        if self.varies.all():
            return self.deviations
        value = np.abs(np.nanmean(self.rows, axis=0))
        return np.where(self.deviations > 0, self.deviations, 1e-3 * np.where(value > 0, value, 1.0))

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Columns (d,) that are not constant."""
        return np.asarray(self.deviations > 0)

    @cached_property
    def most(self) -> Array:
        """What the smallest variances (d,) are at most, without looking at every value."""
        return np.asarray(np.where(self.varies, WIDEST**2, FLAT**2 / 12) * self.units**2)

    def raised(self, variances: Array) -> Array:
        """Variances (..., d) that are nowhere below the floor."""
        if (variances >= self.most).all():
            return variances
        return np.maximum(variances, self.least)

    def raised_together(self, variances: Array) -> Array:
        """Variances (...) that all columns share, not below the lowest floor."""
        if (variances >= self.most.min()).all():
            return variances
        return np.asarray(np.maximum(variances, self.least.min()))

    @cached_property
    def least(self) -> Array:
        """Smallest variances (d,)."""
        return np.asarray(floors_of(self._scaled) * self.units**2)

    @cached_property
    def matrix(self) -> Array:
        """Smallest covariance (d, d): floors along the main axes of all rows together."""
        rows = np.nan_to_num(self._scaled)
        axes = np.linalg.eigh(rows.T @ rows / len(rows))[1]
        floors = np.maximum(floors_of(rows @ axes), LEAST) if len(axes) > 1 else floors_of(self._scaled)
        return np.asarray((axes * floors) @ axes.T * self.units[:, None] * self.units)

    @property
    def _scaled(self) -> Array:
        """Rows about their mean, in units."""
        return np.asarray((self.rows - np.nanmean(self.rows, axis=0)) / self.units)

    @cached_property
    def n_flat(self) -> int:
        """Main axes along which the table itself is flat: constant columns, or columns that follow from others."""
        rows = np.nan_to_num(self._scaled)
        return self.n_touching(rows.T @ rows / len(rows) * self.units[:, None] * self.units)

    def is_clear(self, covariance: Array) -> bool:
        """Whether covariances (..., d, d) are above the floor along every axis, without looking at every value."""
        scaled = covariance / self.units[:, None] / self.units
        return bool(np.linalg.eigvalsh(scaled).min() > TOUCHING * WIDEST**2 * scaled.shape[-1])

    def n_touching(self, covariance: Array) -> int:
        """Axes along which a covariance (d, d) is at the floor."""
        scaled = (m / self.units[:, None] / self.units for m in (covariance, self.matrix))
        return int((linalg.eigh(*scaled, eigvals_only=True) <= TOUCHING).sum())

    @cached_property
    def most_shape(self) -> Array:
        """Largest shapes (d,) of Gamma distributions, whose deviation is 1 / sqrt(shape) of their mean."""
        logs = Floor(np.log(np.where(self.rows > 0, self.rows, np.nan)))
        return np.asarray(1 / logs.least)

    def constrained(self, covariance: Array) -> Array:
        """The most likely covariance (d, d) that is nowhere below the floor, given the one without it."""
        unit = self.units
        matrix = (covariance + covariance.T) / 2
        if self.is_clear(matrix):
            return np.asarray(matrix)
        floor = self.matrix / unit[:, None] / unit
        values, vectors = linalg.eigh(matrix / unit[:, None] / unit, floor)
        if values[0] >= 1.0:
            return np.asarray(matrix)
        sides = floor @ vectors
        fixed = (sides * np.maximum(values, 1.0)) @ sides.T
        return np.asarray((fixed + fixed.T) / 2 * unit[:, None] * unit)


def floors_of(rows: Array) -> Array:
    """Smallest variances (d,) of columns whose numbers are of the order of one, or are constant."""
    return np.array([(resolution(column) or FLAT) ** 2 / 12 for column in rows.T])


def resolution(column: Array) -> float:
    """How far neighbouring values, of the order of one, lie apart where they are dense; zero if there is one only.

    Where values are few and far apart, it is at most what makes `WIDEST` of their deviation.

    Examples
    --------
    >>> resolution(np.repeat(np.arange(100.0), 5))
    1.0
    """
    seen = column[~np.isnan(column)]
    return min(spacing(seen), float(np.sqrt(12) * WIDEST * seen.std())) if len(seen) else 0.0


def spacing(values: Array) -> float:
    """How far neighbouring values, of the order of one, lie apart where they are dense; zero if there is one only.

    Examples
    --------
    >>> spacing(np.array([0.0, 2.0, 2.0, 4.0]))
    2.0
    """
    distinct = np.unique(values)
    gaps = np.diff(distinct)
    gaps = gaps[gaps > ROUNDING * np.abs(distinct).max(initial=1.0)]
    return float(np.quantile(gaps, NEAR)) if len(gaps) else 0.0
