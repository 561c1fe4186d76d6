"""Reading what an embedding is given: rows of numbers, or dissimilarities between things."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_symmetric

from latently.geometry.distances import Array, distances
from latently.learn.estimator.missing import refuse_missing
from latently.learn.estimator.table import note_columns, read_rows


def read_table(estimator: Any, X: Any, *, reset: bool, min_rows: int = 1) -> Array:
    """The checked table of floats (n, d), a sparse matrix made dense; an error about NaN says which method takes it."""
    table = X.toarray() if hasattr(X, "toarray") and hasattr(X, "nnz") else X
    with refuse_missing(type(estimator).__name__):
        rows = read_rows(estimator, table, reset=reset, min_rows=min_rows)
    return np.ascontiguousarray(rows, dtype=np.float64)


def read_dissimilarities(estimator: Any, X: Any, metric: Any, params: dict[str, Any] | None = None) -> Array:
    """Symmetric dissimilarities (n, n): those given, or the distances between rows.

    Raises
    ------
    ValueError
        If given dissimilarities are not square, not symmetric, negative, or not zero on the diagonal.
    """
    if metric != "precomputed":
        return between(read_table(estimator, X, reset=True), None, metric, params)
    given = np.asarray(X, dtype=np.float64)
    symmetric = np.asarray(check_symmetric(_finite(given), raise_exception=True, tol=_tolerance(given)))
    note_columns(estimator, X if hasattr(X, "shape") else symmetric, reset=True)
    check_distances(symmetric)
    return symmetric


def read_new_dissimilarities(
    estimator: Any, X: Any, rows: Array | None, metric: Any, params: dict[str, Any] | None = None
) -> Array:
    """Dissimilarities (m, n) of new things to those of the fit: those given, or the distances to its rows."""
    table = read_table(estimator, X, reset=False)
    if metric == "precomputed":
        check_distances(table)
        return table
    assert rows is not None
    return between(table, rows, metric, params)


def between(X: Array, Y: Array | None, metric: Any, params: dict[str, Any] | None = None) -> Array:
    """Distances (n, m) between rows by the name of a metric, or a function; of X to itself if Y is None."""
    if metric in ("euclidean", "l2", "manhattan", "cityblock", "l1") and not params:
        return distances(X, Y, "euclidean" if metric in ("euclidean", "l2") else "manhattan")
    from sklearn.metrics import pairwise_distances

    return np.asarray(pairwise_distances(X, Y, metric=metric, **(params or {})), dtype=np.float64)


def check_distances(D: Array) -> None:
    """An error that names the first entry that is no distance."""
    if (D < 0).any():
        i, j = np.argwhere(D < 0)[0]
        raise ValueError(
            f"the dissimilarity of {i} and {j} is negative ({D[i, j]:.4g}): distances are at least 0; "
            "latently.embed.PseudoEuclidean takes similarities and dissimilarities that are no distances"
        )


def _finite(D: Array) -> Array:
    if not np.isfinite(D).all():
        i, j = np.argwhere(~np.isfinite(D))[0]
        raise ValueError(
            f"the dissimilarity of {i} and {j} is {D[i, j]}: Input contains NaN or infinity, and a map needs all of "
            "them; latently.factor.PCA takes tables with missing values"
        )
    return D


def _tolerance(D: Array) -> float:
    return float(1e-10 * max(np.abs(D).max(initial=0.0), np.finfo(float).tiny))
