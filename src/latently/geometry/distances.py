"""Distances between the rows of two tables."""

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

Array: TypeAlias = npt.NDArray[np.float64]
Metric: TypeAlias = Literal["euclidean", "manhattan"]

_FEW = 12  # columns up to which differences are summed one by one: no slower than a matrix product, and exact
_SAMPLE = 1000  # rows from which a median distance is taken
_SEED = 0


def squared_distances(X: Array, Y: Array | None = None) -> Array:
    """Squared Euclidean distances (n, m) between rows; of X to itself if Y is None.

    Few columns are compared difference by difference. Many go through a matrix product about the mean of Y, so that
    an offset of all rows costs no digits.

    Parameters
    ----------
    X, Y
        (n, d) and (m, d) rows.

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[ 0., 25.],
           [25.,  0.]])
    """
    other = X if Y is None else Y
    if X.shape[1] <= _FEW:
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(X, other, "sqeuclidean"))
    centre = other.mean(axis=0)
    a = X - centre
    b = a if Y is None else other - centre
    found = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2.0 * (a @ b.T)
    np.maximum(found, 0.0, out=found)
    if Y is None:
        np.fill_diagonal(found, 0.0)
    return np.asarray(found)


def distances(X: Array, Y: Array | None = None, metric: Metric = "euclidean") -> Array:
    """Distances (n, m) between rows; of X to itself if Y is None.

    Parameters
    ----------
    X, Y
        (n, d) and (m, d) rows.
    metric
        "euclidean", or "manhattan" (the sum of absolute differences).

    Examples
    --------
    >>> distances(np.array([[0.0, 0.0], [3.0, 4.0]]), metric="manhattan")
    array([[0., 7.],
           [7., 0.]])
    """
    if metric == "euclidean":
        return np.asarray(np.sqrt(squared_distances(X, Y)))
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(X, X if Y is None else Y, "cityblock"))


def pairwise(
    X: Array,
    Y: Array | None = None,
    metric: Any = "euclidean",
    params: dict[str, Any] | None = None,
    *,
    by_differences: bool = False,
) -> Array:
    """Distances (n, m) between rows by any metric of scikit-learn, or a function; of X to itself if Y is None.

    Parameters
    ----------
    X, Y
        (n, d) and (m, d) rows.
    metric
        A name that `sklearn.metrics.pairwise_distances` takes, or a function of two rows.
    params
        Further arguments of the metric.
    by_differences
        Whether Euclidean distances are sums of squared differences, not made of products, which is faster: those of
        equal rows are then zero without rounding.

    Examples
    --------
    >>> pairwise(np.array([[0.0, 0.0], [3.0, 4.0]]), metric="chebyshev")
    array([[0., 4.],
           [4., 0.]])
    """
    if not params and metric in ("euclidean", "l2"):
        return np.asarray(cdist(X, X if Y is None else Y)) if by_differences else distances(X, Y)
    if not params and metric in ("manhattan", "cityblock", "l1"):
        return distances(X, Y, "manhattan")
    from sklearn.metrics import pairwise_distances

    return np.asarray(pairwise_distances(X, Y, metric=metric, **(params or {})), dtype=np.float64)


def median_distance(X: Array, metric: Metric = "euclidean") -> float:
    """Median of the distances between different rows; 1 where all rows are the same, or there is only one.

    Of more than 1000 rows a fixed random sample of 1000 is taken.

    Parameters
    ----------
    X
        (n, d) rows.
    metric
        See `distances`.

    Examples
    --------
    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    rows = X if len(X) <= _SAMPLE else X[_sampled(len(X))]
    between = distances(rows, metric=metric)[np.triu_indices(len(rows), 1)]
    apart = between[between > 0]
    return float(np.median(apart)) if len(apart) else 1.0


def _sampled(n: int) -> npt.NDArray[Any]:
    return np.sort(np.random.default_rng(_SEED).choice(n, _SAMPLE, replace=False))
