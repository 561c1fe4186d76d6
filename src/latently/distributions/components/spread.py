"""How wide the data are inside clusters, before any cluster is known: what default priors are relative to.

The variance of a whole column is no measure of that: of two clusters of standard deviation 1 that lie 10,000 apart it
is 25 million. So the column is looked at through windows that hold a quarter of an average cluster's rows each. However
large and however far apart the clusters are, fewer than a third of the windows reach from one into the next (each of
the k - 1 gaps is in at most 1 / (4 k - 1) of them); the median width is that of a window inside a cluster, and an
outlier does not touch it. It is given as the standard deviation of the normal distribution with such windows, so
that a column without clusters has its own.
"""

import numpy as np
from scipy.special import ndtri

from latently.distributions.inputs import Array

# Widths below this share of the values are rounding, and below that share of the column's deviation as good as none.
_ROUNDING, _NOTHING = 8 * np.finfo(float).eps, 1e-10
SAMPLE_ROWS = 2048
"""Rows that the measure is taken on: a prior's scale need not be known to more than a few per cent."""

_WINDOWS = 256
_CELLS = 2**15  # entries of columns that are looked at together: they stay in the cache


def within_deviation(X: Array, weights: Array, deviation: Array, k: int) -> Array:
    """(d,) standard deviation inside clusters of every column, at most that of the column; NaN in X is missing.

    A weight of two counts as two rows. Where no window has a width (nearly all values are equal) the column's own
    deviation stands.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 1000)
    >>> apart = np.concatenate([x, x + 1e6])[:, None]
    >>> bool(within_deviation(apart, np.ones(2000), apart.std(axis=0), 2)[0] < 3 * x.std())
    True
    """
    step = max(1, _CELLS // max(len(X), 1))
    inside = [_columns(X[:, j : j + step], weights, k) for j in range(0, X.shape[1], step)]
    return np.minimum(deviation, np.concatenate(inside))


def _columns(X: Array, weights: Array, k: int) -> Array:
    """(d,) deviations of the normal distributions whose windows are as wide as the columns'; infinite if none is."""
    part = 1 / (4 * k)
    values, masses = _sorted(np.ascontiguousarray(X.T), weights)
    starts = (np.arange(_WINDOWS) + 0.5) / _WINDOWS * (1 - part)
    ends = np.append(starts, part + starts)
    places = np.array([np.searchsorted(row, ends * row[-1]) for row in np.cumsum(masses, axis=1)])
    low, high = np.take_along_axis(values, places, axis=1).reshape(len(values), 2, -1).swapaxes(0, 1)
    far = np.maximum(np.abs(low), np.abs(high))
    least = np.maximum(_ROUNDING * far, _NOTHING * _deviations(values, masses)[:, None])
    # of a normal distribution the windows that start at the first and at the last quarter have the median width
    usual = ndtri((1 - part) / 4 + part) - ndtri((1 - part) / 4)
    return np.asarray(_lower_medians(np.where(high - low > least, high - low, np.inf)) / usual)


def _sorted(T: Array, weights: Array) -> tuple[Array, Array]:
    """Rows (d, n) in order, and the mass of each entry, (1, n) where it is the same in all rows: NaN has none."""
    if (weights == weights[:1]).all() and not np.isnan(T.sum()):
        return np.sort(T, axis=1), weights[None]
    order = np.argsort(T, axis=1)
    values = np.take_along_axis(T, order, axis=1)
    return values, np.where(np.isnan(values), 0.0, weights[order])


def _lower_medians(widths: Array) -> Array:
    """(d,) lower median of what is finite in each row; infinite where nothing is."""
    counts = np.isfinite(widths).sum(axis=1)
    middle = np.maximum(counts - 1, 0) // 2
    return np.take_along_axis(np.sort(widths, axis=1), middle[:, None], axis=1)[:, 0]


def _deviations(values: Array, masses: Array) -> Array:
    """(d,) standard deviation of each row, even where the squares of its values are not numbers; NaN has no mass."""
    seen = np.nan_to_num(values, nan=0.0)
    size, total = np.abs(seen).max(axis=1, keepdims=True), masses.sum(axis=1, keepdims=True)
    scaled, shares = seen / np.where(size > 0, size, 1.0), masses / np.where(total > 0, total, 1.0)
    gaps = scaled - (shares * scaled).sum(axis=1, keepdims=True)
    return np.asarray(size[:, 0] * np.sqrt((shares * gaps**2).sum(axis=1)))


def shortest_scale(X: Array, weights: Array, k: int) -> Array:
    """(d,) mean of the shortest of k exponential clusters of every column, roughly; NaN in X is missing.

    Clusters of waiting times all begin at zero, so the lowest values are those of the cluster with the shortest, be
    the others however long: the quantile of one in 16 k, given as the mean of the exponential distribution that has it.
    Of a column that is one such cluster it is its mean; of several it is more by the share of the shortest. Infinite
    where no value is positive.

    Examples
    --------
    >>> x = -np.log1p(-(np.arange(1000) + 0.5) / 1000)[:, None]
    >>> shortest_scale(np.concatenate([x, 1e6 * x]), np.ones(2000), 2).round()
    array([2.])
    """
    return np.array([_shortest(column, weights, k) for column in X.T])


def _shortest(column: Array, weights: Array, k: int) -> float:
    seen = (column > 0) & (weights > 0)
    if not seen.any():
        return np.inf
    order = np.argsort(column[seen])
    shares, part = np.cumsum(weights[seen][order]), 1 / (16 * k)
    return float(column[seen][order][np.searchsorted(shares, part * shares[-1])] / -np.log1p(-part))
