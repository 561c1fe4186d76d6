"""Isomap: classical scaling of distances along a manifold."""

import warnings
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Annotated, Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from latently.embed.base import Embedding
from latently.embed.kernel_pca.components import Solving, from_all_rows
from latently.embed.kernel_pca.kernel_pca import KernelPCA
from latently.embed.neighbourhoods import Neighbourhoods, check_one_of, euclidean_or, read_neighbourly
from latently.geometry.distances import Array
from latently.geometry.graph import components, joined, shortest_paths, undirected
from latently.kernel.gram.centring import centred
from latently.learn.engine.blocks import for_blocks
from latently.learn.estimator.parameters import CHOICES, COUNT, Count, Seed, checked, stores_parameters
from latently.learn.estimator.table import generator

_ROWS = 32  # of the matrix that are squared at a time, in cache
_VALUES = 4_000_000  # path lengths in memory at a time


@stores_parameters
class Isomap(Embedding):
    """Isomap (Tenenbaum, de Silva and Langford, 2000): distances are measured along the manifold.

    A drop-in replacement for scikit-learn's class of the same name. Distances are lengths of the shortest paths in
    the graph of neighbours, and classical scaling makes a map of them. Where the graph falls apart, its components are
    joined by the shortest edge between every two of them, and a warning says so.

    Parameters
    ----------
    n_neighbors, radius
        How many neighbours, or how far away they may be; one of them must be None.
    n_components
        Dimensions of the map.
    eigen_solver
        "dense", "arpack", or "auto".
    tol, max_iter
        Of "arpack"; 0 and None for what it can reach.
    path_method, neighbors_algorithm, n_jobs
        Accepted for scikit-learn's sake: there is one algorithm for each, and `latently.learn.threads` sets the number
        of threads.
    metric, p, metric_params
        Metric of the neighbours: a name that `sklearn.metrics.pairwise_distances` takes, "minkowski" with its p, or
        "precomputed": distances, or a sparse graph of them.
    n_landmarks
        Measure paths from this many rows only (de Silva and Tenenbaum, 2003): memory is then n times this number, not n
        squared. None measures all.
    random_state
        Seed of the choice of landmarks.

    Attributes
    ----------
    embedding_
        (n, k) the map.
    dist_matrix_
        (n, n) lengths of paths; (n_landmarks, n) with landmarks.
    landmarks_
        Which rows are landmarks; all without.
    n_connected_components_
        How many components the graph had before it was joined.
    kernel_pca_
        The `KernelPCA` of the lengths of paths between landmarks.
    nbrs_
        How neighbours are found.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> X, along = make_swiss_roll(1000, random_state=0)
    >>> places = Isomap(n_neighbors=10).fit_transform(X)
    >>> bool(abs(np.corrcoef(places[:, 0], along)[0, 1]) > 0.99)
    True
    """

    _: KW_ONLY
    n_neighbors: Annotated[int | None, COUNT, None] = 5
    radius: Annotated[float | None, Interval(Real, 0, None, closed="both"), None] = None
    n_components: Count = 2
    eigen_solver: Annotated[Literal["auto", "arpack", "dense"], CHOICES] = "auto"
    tol: Annotated[float, Interval(Real, 0, None, closed="left")] = 0
    max_iter: Annotated[int | None, COUNT, None] = None
    path_method: Annotated[Literal["auto", "FW", "D"], CHOICES] = "auto"
    neighbors_algorithm: Annotated[Literal["auto", "brute", "kd_tree", "ball_tree"], CHOICES] = "auto"
    n_jobs: Annotated[int | None, Integral, None] = None
    metric: Annotated[Any, str, callable] = "minkowski"
    p: Annotated[float, Interval(Real, 1, None, closed="left")] = 2
    metric_params: Annotated[dict[str, Any] | None, dict, None] = None
    n_landmarks: Annotated[int | None, Interval(Integral, 2, None, closed="left"), None] = None
    random_state: Seed = None

    @checked
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the map.

        Parameters
        ----------
        X
            (n, d) rows; for the metric "precomputed" their (n, n) distances, or a sparse graph of the distances of
            neighbours.
        y
            Not used.
        """
        check_one_of(self.n_neighbors, self.radius)
        metric, params = euclidean_or(self.metric, self.p, self.metric_params)
        table = read_neighbourly(self, X, precomputed=self._is_precomputed, reset=True)
        rows = None if self._is_precomputed else table
        self.nbrs_ = Neighbourhoods(self.n_neighbors, self.radius, metric, params, rows)
        graph = self._connected(undirected(self.nbrs_.among(table)), table)
        n = graph.shape[0]
        few = self.n_landmarks is not None and self.n_landmarks < n
        self.landmarks_ = self._chosen(n) if few else np.arange(n)
        self.dist_matrix_ = shortest_paths(graph, self.landmarks_)
        self._scale(few)
        return self

    @checked
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Array:
        """Find the map, and give the places (n, k) of the rows."""
        return self.fit(X).embedding_

    def _connected(self, graph: sparse.csr_array, table: Any) -> sparse.csr_array:
        """The graph in one piece."""
        self.n_connected_components_ = components(graph)[0]
        if self.n_connected_components_ == 1:
            return graph
        problem = (
            f"the number of connected components of the neighbour graph is {self.n_connected_components_} > 1: "
            "distances between them are not known from neighbours"
        )
        if sparse.issparse(table):
            raise RuntimeError(f"{problem}, and a sparse graph has no others. Give more neighbours, or rows")
        warnings.warn(
            f"{problem}; they are joined by the shortest edge between every two of them. More neighbours avoid this",
            UserWarning, stacklevel=4,
        )  # fmt: skip
        return joined(graph, table, self.nbrs_.metric, self.nbrs_.params)

    def _chosen(self, n: int) -> Any:
        assert self.n_landmarks is not None
        return np.sort(generator(self.random_state).permutation(n)[: self.n_landmarks])

    def _scale(self, few: bool) -> None:
        """Classical scaling of the lengths of paths between landmarks; other rows by their lengths to those."""
        between = self.dist_matrix_[:, self.landmarks_] if few else self.dist_matrix_
        K = np.empty_like(between)

        def fill(first: int, last: int) -> None:
            K[first:last] = -0.5 * between[first:last] ** 2

        for_blocks(len(K), fill, rows=_ROWS)
        how = Solving(self.eigen_solver, self.tol, self.max_iter)
        found = from_all_rows(K, self.n_components, how, indefinite=False)
        model = KernelPCA(self.n_components, kernel="precomputed", eigen_solver=self.eigen_solver, copy_X=False)
        self.kernel_pca_ = model._adopt(found, K)
        self.embedding_ = self._places(self.dist_matrix_.T) if few else found.scores

    def _places(self, lengths: Array) -> Array:
        """Places (m, k) by lengths of paths (m, landmarks), by blocks."""
        rows = max(1, _VALUES // lengths.shape[1])
        parts = [lengths[i : i + rows] for i in range(0, len(lengths), rows)]
        return np.concatenate([self.kernel_pca_._scores(-0.5 * part**2) for part in parts])

    def transform(self, X: Any) -> Array:
        """Places (m, k) of new rows: the paths from each go through its neighbours among the rows of the fit.

        Parameters
        ----------
        X
            (m, d) rows; for the metric "precomputed", their (m, n) distances to the rows of the fit, or a sparse graph.
        """
        check_is_fitted(self)
        table = read_neighbourly(self, X, precomputed=self._is_precomputed, reset=False)
        graph = self.nbrs_.of_new(table)
        lengths = np.empty((graph.shape[0], len(self.landmarks_)))
        for i in range(len(lengths)):
            near = slice(graph.indptr[i], graph.indptr[i + 1])
            if near.start == near.stop:
                raise ValueError(f"row {i} has no neighbour within radius={self.radius} among the rows of the fit")
            through = self.dist_matrix_[:, graph.indices[near]] + graph.data[near]
            lengths[i] = through.min(axis=1)
        return self._places(lengths)

    def reconstruction_error(self) -> float:
        """Root mean square of what the inner products of the map miss of those of the lengths of paths.

        sqrt(sum of squares of the centred matrix - sum of squared eigenvalues) / n, between landmarks.
        """
        check_is_fitted(self)
        K = centred(-0.5 * self.dist_matrix_[:, self.landmarks_] ** 2)
        left = float((K**2).sum()) - float((self.kernel_pca_.eigenvalues_**2).sum())
        return float(np.sqrt(max(left, 0.0)) / len(K))
