"""Nearest neighbours: the one search that every method of neighbourhoods shares."""

import importlib.util
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from latently.geometry.blocked import Ints, by_products, by_scores
from latently.geometry.distances import Array, pairwise
from latently.learn.engine.blocks import for_blocks
from latently.learn.engine.cores import n_threads

Method: TypeAlias = Literal["auto", "exact", "kd_tree", "approximate"]

_FEW_COLUMNS = 8  # up to which a k-d tree is faster than products
_MANY = 5e12  # multiplications from which "auto" is approximate: about a minute
_TILE = 2_000_000  # distances that are looked at at a time in a search by radius


@dataclass(frozen=True)
class Neighbours:
    """Nearest neighbours of m rows, from the nearest on.

    Attributes
    ----------
    distances
        (m, k) distances.
    indices
        (m, k) which rows they are.
    """

    distances: Array
    indices: Ints


def nearest(
    X: Any,
    k: int,
    Y: Any = None,
    *,
    metric: Any = "euclidean",
    method: Method = "auto",
    metric_params: dict[str, Any] | None = None,
    random_state: Any = None,
) -> Neighbours:
    """The k nearest rows of X to each row of Y; to each row of X itself, without that row, if Y is None.

    Duplicates of a row are its neighbours, at distance 0. The answer is exact unless the method is approximate.

    Parameters
    ----------
    X
        (n, d) rows; for the metric "precomputed", their (n, n) distances.
    k
        How many neighbours.
    Y
        (m, d) rows to find neighbours for; for the metric "precomputed", their (m, n) distances to the rows of X.
    metric
        "euclidean", "cosine", "precomputed", or another that `sklearn.metrics.pairwise_distances` takes.
    method
        "exact" by blocks of matrix products, "kd_tree" (Euclidean distances in few columns), "approximate"
        (pynndescent, which the extra `embed` installs) or "auto": exact, by a tree where that is faster; approximate
        where the exact search would take minutes and pynndescent is installed.
    metric_params
        Further arguments of the metric.
    random_state
        Seed of the approximate search.

    Examples
    --------
    >>> found = nearest(np.array([[0.0], [1.0], [3.0], [3.5]]), 2)
    >>> found.indices
    array([[1, 2],
           [0, 2],
           [3, 1],
           [2, 1]])
    >>> found.distances[0]
    array([1., 3.])
    """
    rows = np.asarray(X)
    asked = None if Y is None else np.asarray(Y)
    _check(rows, asked, k, metric)
    if metric == "precomputed":
        table = rows if asked is None else asked
        return Neighbours(*by_scores(lambda r, c: _floats(table[r, c]), table.shape, k, asked is None))
    chosen = _method(rows, asked, metric, method)
    if chosen == "approximate":
        return _approximate(rows, asked, k, metric, metric_params, random_state)
    if metric == "cosine":
        found = nearest(_unit(rows), k, None if asked is None else _unit(asked), method=chosen)
        return Neighbours(found.distances**2 / 2, found.indices)
    if metric not in ("euclidean", "l2") or metric_params:
        return Neighbours(*_by_metric(rows, asked, k, metric, metric_params or {}))
    return Neighbours(*(_by_tree if chosen == "kd_tree" else by_products)(rows, asked, k))


def within(X: Any, radius: float, Y: Any = None, *, metric: str = "euclidean") -> sparse.csr_array:
    """Distances (m, n), as a sparse matrix, of the rows of X that are within a radius of each row of Y.

    A row of X itself is left out if Y is None; duplicates are there with a stored distance of 0.

    Parameters
    ----------
    X, Y, metric
        As in `nearest`.
    radius
        Largest distance.

    Examples
    --------
    >>> within(np.array([[0.0], [1.0], [3.0]]), 1.5).nonzero()
    (array([0, 1]...), array([1, 0]...))
    """
    rows = np.asarray(X)
    asked = rows if Y is None else np.asarray(Y)
    size = (len(asked), rows.shape[1] if metric == "precomputed" else len(rows))
    step = max(1, _TILE // max(1, size[1]))
    parts: list[Any] = [None] * -(-size[0] // step)

    def fill(start: int, stop: int) -> None:
        table = (
            asked[start:stop]
            if metric == "precomputed"
            else pairwise(asked[start:stop], rows, metric, by_differences=True)
        )
        mask = table <= radius
        if Y is None:
            mask[np.arange(stop - start), np.arange(start, stop)] = False
        who, columns = np.nonzero(mask)
        parts[start // step] = (who + start, columns, table[mask])

    for_blocks(size[0], fill, rows=step)
    counts = np.concatenate(
        [np.bincount(i, minlength=min(step, size[0] - step * b)) for b, (i, _, _) in enumerate(parts)]
    )
    ends = np.concatenate([[0], np.cumsum(counts)])
    columns, values = np.concatenate([j for _, j, _ in parts]), np.concatenate([v for _, _, v in parts])
    return sparse.csr_array((values, columns, ends), shape=size)


def _check(rows: npt.NDArray[Any], asked: Any, k: int, metric: Any) -> None:
    if rows.ndim != 2 or (asked is not None and asked.ndim != 2):
        raise ValueError("neighbours are searched among the rows of a table with two dimensions")
    columns = len(rows) if metric == "precomputed" else rows.shape[1]
    if metric == "precomputed" and asked is None and rows.shape[0] != rows.shape[1]:
        raise ValueError(f"a precomputed matrix of distances must be square, this one is {rows.shape}")
    if asked is not None and asked.shape[1] != columns:
        raise ValueError(
            f"X has {columns} {'rows' if metric == 'precomputed' else 'columns'}, Y has {asked.shape[1]} columns"
        )
    most = len(rows) - (asked is None)
    if not 1 <= k <= most:
        raise ValueError(f"{k} neighbours were asked for, but there are {most} other rows: use from 1 to {most}")


def _method(rows: npt.NDArray[Any], asked: Any, metric: Any, method: Method) -> Method:
    n, d = rows.shape
    m = n if asked is None else len(asked)
    if method == "kd_tree" and metric not in ("euclidean", "l2"):
        raise ValueError(f"a k-d tree is for Euclidean distances, not for {metric!r}: use method='exact'")
    if method != "auto":
        return method
    if float(n) * m * d > _MANY and d > _FEW_COLUMNS and importlib.util.find_spec("pynndescent") is not None:
        return "approximate"
    return "kd_tree" if d <= _FEW_COLUMNS and metric in ("euclidean", "l2") and n > 1000 else "exact"


def _floats(table: npt.NDArray[Any]) -> Array:
    return np.ascontiguousarray(table, dtype=float)


def _unit(rows: npt.NDArray[Any]) -> Array:
    lengths = np.sqrt((_floats(rows) ** 2).sum(axis=1, keepdims=True))
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))


def _by_metric(rows: Any, asked: Any, k: int, metric: Any, params: dict[str, Any]) -> tuple[Array, Ints]:
    queries = rows if asked is None else asked
    shape = (len(queries), len(rows))
    return by_scores(
        lambda r, c: pairwise(queries[r], rows[c], metric, params, by_differences=True), shape, k, asked is None
    )


def _by_tree(rows: npt.NDArray[Any], asked: Any, k: int) -> tuple[Array, Ints]:
    from scipy.spatial import cKDTree

    queries = rows if asked is None else asked
    more = k + (asked is None)
    near, who = cKDTree(rows).query(queries, more, workers=n_threads())
    near, who = near.reshape(len(queries), more), who.reshape(len(queries), more).astype(np.int64)
    return (near, who) if asked is not None else without_self(near, who)


def without_self(near: Array, who: Ints) -> tuple[Array, Ints]:
    """Leave out each row itself; where many duplicates hid it, the farthest."""
    n, k = who.shape
    own = who == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    return near[~own].reshape(n, k - 1), who[~own].reshape(n, k - 1)


def _approximate(
    rows: npt.NDArray[Any], asked: Any, k: int, metric: Any, params: dict[str, Any] | None, random_state: Any
) -> Neighbours:
    if importlib.util.find_spec("pynndescent") is None:
        raise ImportError("the approximate search needs pynndescent: pip install 'latently[embed]', or method='exact'")
    from pynndescent import NNDescent
    from sklearn.utils import check_random_state

    more = k + (asked is None)
    centre = rows.mean(axis=0) if metric in ("euclidean", "l2") else 0.0  # an offset costs single precision digits
    index = NNDescent(
        np.asarray(rows - centre, dtype=np.float32),
        metric=metric,
        metric_kwds=params,
        n_neighbors=max(more, 15),
        random_state=check_random_state(random_state),
        n_jobs=n_threads(),
    )
    if asked is None:
        who, near = index.neighbor_graph
        near, who = without_self(near[:, :more], who[:, :more].astype(np.int64))
    else:
        who, near = index.query(np.asarray(asked - centre, dtype=np.float32), k)
    return Neighbours(np.asarray(near, dtype=float), np.asarray(who, dtype=np.int64))
