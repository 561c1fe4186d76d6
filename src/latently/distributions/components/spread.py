"""How wide the data are inside clusters, before any cluster is known: what default priors are relative to.

The variance of a whole column is no measure of that: of two clusters of standard deviation 1 that lie 10,000 apart it
is 25 million. So the column is looked at through windows that hold a quarter of an average cluster's rows each. However
large and however far apart the clusters are, fewer than a third of the windows reach from one into the next (each of
the k - 1 gaps is in at most 1 / (4 k - 1) of them); the median width is that of a window inside a cluster, and an
outlier does not touch it. It is told as the standard deviation of the normal distribution with such windows, so
that a column without clusters has its own.
"""

import numpy as np
from scipy.special import ndtri

from latently.data.tables.matrix import deviation_of
from latently.distributions.inputs import Array

# Widths below this share of the values are rounding, and below that share of the column's deviation as good as none.
_ROUNDING, _NOTHING = 8 * np.finfo(float).eps, 1e-10
SAMPLE_ROWS = 2048
"""Rows that the measure is taken on: a prior's scale need not be known to more than a few per cent."""

_WINDOWS = 256


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
    return np.minimum(deviation, [_column(column, weights, k) for column in X.T])


def _column(column: Array, weights: Array, k: int) -> float:
    """Standard deviation of the normal distribution whose windows are as wide as a column's; infinite if none is."""
    order = np.argsort(column)
    values, part = column[order], 1 / (4 * k)
    shares = np.cumsum(np.where(np.isnan(values), 0.0, weights[order]))
    if not shares[-1] > 0:
        return np.inf
    starts = (np.arange(_WINDOWS) + 0.5) / _WINDOWS * (1 - part)
    low, high = values[np.searchsorted(shares, np.add.outer([0.0, part], starts) * shares[-1])]
    widths = high - low
    least = np.maximum(
        _ROUNDING * np.maximum(np.abs(low), np.abs(high)), _NOTHING * deviation_of(values, weights[order])
    )
    widths = np.sort(widths[widths > least])
    # of a normal distribution the windows that start at the first and at the last quarter have the median width
    usual = ndtri((1 - part) / 4 + part) - ndtri((1 - part) / 4)
    return float(widths[(len(widths) - 1) // 2] / usual) if len(widths) else np.inf


def shortest_scale(X: Array, weights: Array, k: int) -> Array:
    """(d,) mean of the shortest of k exponential clusters of every column, roughly; NaN in X is missing.

    Clusters of waiting times all begin at zero, so the lowest values are those of the cluster with the shortest, be
    the others however long: the quantile of one in 16 k, told as the mean of the exponential distribution that has it.
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
