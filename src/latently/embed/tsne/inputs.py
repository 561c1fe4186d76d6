"""What a stochastic neighbour embedding is given: rows, or distances; and the neighbours it finds in them."""

from typing import Any

import numpy as np
from scipy import sparse

from latently.embed.inputs import read_table
from latently.geometry.distances import Array
from latently.geometry.neighbours import Neighbours, nearest
from latently.learn.estimator.table import note_columns


def read_input(estimator: Any, X: Any, metric: Any) -> Any:
    """Rows (n, d), or distances (n, n) if they are precomputed, which may be a sparse graph of neighbours."""
    if metric != "precomputed":
        return read_table(estimator, X, reset=True, min_rows=2)
    if sparse.issparse(X):
        D: Any = sparse.csr_array(X)
        _check_square(D.shape)
        check_positive(D.data)
        note_columns(estimator, D, reset=True)
        return D
    table = read_table(estimator, X, reset=True, min_rows=2)
    _check_square(table.shape)
    check_positive(table)
    _check_symmetric(table)
    return table


def find_neighbours(X: Any, k: int, metric: Any, params: dict[str, Any] | None, random_state: Any) -> Neighbours:
    """The k nearest neighbours of each row; of a sparse graph, those that it has."""
    if sparse.issparse(X):
        from sklearn.neighbors import NearestNeighbors

        near, who = NearestNeighbors(n_neighbors=k, metric="precomputed").fit(X).kneighbors()
        return Neighbours(np.asarray(near, dtype=float), np.asarray(who, dtype=np.int64))
    found = nearest(X, k, metric=metric, metric_params=params, random_state=random_state)
    if callable(metric) and (found.distances < 0).any():
        raise ValueError("All distances should be positive, the metric given is not correct")
    return found


def scaled_squares(near: Array) -> Array:
    """Squared distances, in units that neither over- nor underflow when squared."""
    size = float(near.max(initial=0.0))
    return (near / size) ** 2 if size > 0 else np.zeros_like(near)


def _check_square(shape: tuple[int, ...]) -> None:
    if shape[0] != shape[1]:
        raise ValueError(f"X should be a square distance matrix, its shape is {shape}")


def check_positive(values: Array) -> None:
    """An error if a given distance is negative."""
    if (values < 0).any():
        raise ValueError(
            "With metric='precomputed', X should contain positive distances: at least one is negative. "
            "latently.embed.PseudoEuclidean takes dissimilarities that are no distances"
        )


def _check_symmetric(D: Array) -> None:
    apart = np.abs(D - D.T)
    if apart.max(initial=0.0) > 1e-6 * np.abs(D).max(initial=0.0):
        i, j = np.unravel_index(apart.argmax(), D.shape)
        raise ValueError(
            f"precomputed distances must be symmetric: from {i} to {j} it is {D[i, j]:.6g}, back it is {D[j, i]:.6g}; "
            "take (D + D.T) / 2"
        )
