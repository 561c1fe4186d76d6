"""The neighbourhoods that Isomap and LLE are made of: by number or by radius, of rows, distances or a graph."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from latently.embed.inputs import check_distances, read_table
from latently.geometry.distances import Array
from latently.geometry.graph import neighbour_graph
from latently.geometry.neighbours import nearest, within
from latently.learn.estimator.table import note_columns


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """How neighbours of new rows are found among those of the fit.

    Parameters
    ----------
    n_neighbors, radius
        How many neighbours, or how far away they may be; one of them is None.
    metric, params
        See `latently.geometry.distances.pairwise`; "precomputed" where distances were given.
    rows
        (n, d) rows of the fit; None where distances were given.
    """

    n_neighbors: int | None
    radius: float | None
    metric: Any
    params: dict[str, Any] | None
    rows: Array | None

    def among(self, X: Any, asked: Any = None) -> sparse.csr_array:
        """Graph (m, n) of the neighbours of asked rows, of X itself if None, as long as their distances."""
        given = X if asked is None else asked
        if sparse.issparse(given):
            return self._of_graph(given, asked is None)
        n = given.shape[1] if self.is_precomputed else len(X)
        if self.radius is not None:
            return within(X, self.radius, asked, metric=_only_name(self.metric, self.params))
        assert self.n_neighbors is not None
        found = nearest(X, self.n_neighbors, asked, metric=self.metric, metric_params=self.params)
        return neighbour_graph(found, n)

    def of_new(self, asked: Any) -> sparse.csr_array:
        """Graph (m, n) of the neighbours of new rows among those of the fit."""
        if self.is_precomputed:
            count = asked.shape[1]
            return self.among(asked if sparse.issparse(asked) else np.zeros((count, 0)), asked)
        return self.among(self.rows, asked)

    @property
    def is_precomputed(self) -> bool:
        """Whether distances are given in place of rows."""
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _of_graph(self, graph: Any, same: bool) -> sparse.csr_array:
        """The nearest of the neighbours that a sparse graph of distances has; a row is no neighbour of itself."""
        edges = sparse.coo_array(graph)
        rows, columns, lengths = np.asarray(edges.coords[0]), np.asarray(edges.coords[1]), np.asarray(edges.data)
        kept = rows != columns if same else np.ones(len(rows), dtype=bool)
        if self.radius is not None:
            kept &= lengths <= self.radius
        rows, columns, lengths = rows[kept], columns[kept], lengths[kept]
        order = np.lexsort((lengths, rows))
        rows, columns, lengths = rows[order], columns[order], lengths[order]
        counts = np.bincount(rows, minlength=graph.shape[0])
        if self.n_neighbors is not None:
            starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
            near = np.arange(len(rows)) - starts[rows] < self.n_neighbors
            columns, lengths, counts = columns[near], lengths[near], np.minimum(counts, self.n_neighbors)
        ends = np.concatenate([[0], np.cumsum(counts)])
        return sparse.csr_array((lengths.astype(np.float64), columns, ends), shape=graph.shape)


def read_neighbourly(estimator: Any, X: Any, *, precomputed: bool, reset: bool) -> Any:
    """Rows of numbers; for precomputed distances a dense matrix, or a sparse graph as it is."""
    if precomputed and sparse.issparse(X):
        note_columns(estimator, X, reset=reset)
        graph = sparse.csr_array(X)
        if graph.nnz:
            check_distances(graph.data[None])
        return graph
    rows = read_table(estimator, X, reset=reset, min_rows=2 if reset else 1)
    if precomputed:
        check_distances(rows)
        if reset and rows.shape[0] != rows.shape[1]:
            raise ValueError(f"a matrix of distances is square, got shape {rows.shape}")
    return rows


def check_one_of(n_neighbors: int | None, radius: float | None) -> None:
    """An error unless either a number of neighbours or a radius is given."""
    if (n_neighbors is None) == (radius is None):
        given = "Both n_neighbors and radius are" if radius is not None else "Neither n_neighbors nor radius is"
        raise ValueError(f"{given} provided: give one of them, and None for the other")


def euclidean_or(metric: Any, p: float, params: dict[str, Any] | None) -> tuple[Any, dict[str, Any] | None]:
    """The metric by the simplest name: Minkowski's with p = 2 is Euclid's."""
    if not (isinstance(metric, str) and metric == "minkowski") or params:
        return metric, params
    if p in (1, 2):
        return ("manhattan" if p == 1 else "euclidean"), None
    return "minkowski", {"p": p}


def _only_name(metric: Any, params: dict[str, Any] | None) -> Any:
    if not params:
        return metric
    from sklearn.metrics import pairwise_distances

    return lambda x, y: pairwise_distances(x[None], y[None], metric=metric, **params)[0, 0]
