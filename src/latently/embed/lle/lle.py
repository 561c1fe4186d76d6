"""Locally linear embedding."""

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Annotated, Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from latently.embed.base import Embedding
from latently.embed.inputs import read_table
from latently.embed.lle.alignment import (
    Method,
    alignment_matrix,
    null_space,
    reconstruction_weights,
    warn_apart,
)
from latently.embed.neighbourhoods import Neighbourhoods, check_one_of
from latently.geometry.distances import Array
from latently.kernel.gram.eigen import signed
from latently.learn.estimator.parameters import CHOICES, COUNT, Count, Seed, checked, stores_parameters
from latently.learn.estimator.table import generator


@stores_parameters
class LocallyLinearEmbedding(Embedding):
    """Locally linear embedding (Roweis and Saul, 2000): rows are the same means of their neighbours in the map.

    A drop-in replacement for scikit-learn's class of the same name, with neighbours by radius too. "hessian" follows
    the paper, which penalises quadratic terms alone; scikit-learn's penalises all that is not linear, and so gives the
    map of "ltsa".

    Parameters
    ----------
    n_neighbors, radius
        How many neighbours, or how far away they may be; one of them must be None.
    n_components
        Dimensions of the map.
    reg
        Ridge of the weights, as a share of the trace of the neighbours' Gram matrix.
    eigen_solver
        "dense", "arpack" (shift and invert), or "auto": dense for few rows.
    tol, max_iter
        Of "arpack".
    method
        "standard"; "modified" (several sets of weights for a row: Zhang and Wang, 2006); "hessian" (Donoho and Grimes,
        2003); "ltsa" (local tangent spaces: Zhang and Zha, 2004).
    hessian_tol, modified_tol
        What counts as zero in those methods.
    neighbors_algorithm, n_jobs
        Accepted for scikit-learn's sake: there is one search, and `latently.learn.threads` sets the number of threads.
    random_state
        Seed of the first vector of "arpack".

    Attributes
    ----------
    embedding_
        (n, k) the map, a column of length one for each dimension.
    reconstruction_error_
        Sum of the eigenvalues of its dimensions: what the map loses of the neighbourhoods.
    n_connected_components_
        How many components the graph of neighbours has: a map is about one.
    nbrs_
        How neighbours are found.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> X, along = make_swiss_roll(1000, random_state=0)
    >>> places = LocallyLinearEmbedding(n_neighbors=12, method="ltsa").fit_transform(X)
    >>> from scipy.stats import spearmanr
    >>> bool(max(abs(spearmanr(places[:, i], along)[0]) for i in range(2)) > 0.99)
    True
    """

    _: KW_ONLY
    n_neighbors: Annotated[int | None, COUNT, None] = 5
    n_components: Count = 2
    reg: Annotated[float, Interval(Real, 0, None, closed="left")] = 1e-3
    eigen_solver: Annotated[Literal["auto", "arpack", "dense"], CHOICES] = "auto"
    tol: Annotated[float, Interval(Real, 0, None, closed="left")] = 1e-6
    max_iter: Count = 100
    method: Annotated[Method, CHOICES] = "standard"
    hessian_tol: Annotated[float, Interval(Real, 0, None, closed="left")] = 1e-4
    modified_tol: Annotated[float, Interval(Real, 0, None, closed="left")] = 1e-12
    neighbors_algorithm: Annotated[Literal["auto", "brute", "kd_tree", "ball_tree"], CHOICES] = "auto"
    random_state: Seed = None
    n_jobs: Annotated[int | None, None, Integral] = None
    radius: Annotated[float | None, Interval(Real, 0, None, closed="neither"), None] = None

    @checked
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the map.

        Parameters
        ----------
        X
            (n, d) rows.
        y
            Not used.
        """
        check_one_of(self.n_neighbors, self.radius)
        rows = read_table(self, X, reset=True, min_rows=2)
        self._refuse_impossible(rows)
        self.nbrs_ = Neighbourhoods(self.n_neighbors, self.radius, "euclidean", None, rows)
        graph = self.nbrs_.among(rows)
        self._refuse_lonely(graph)
        self.n_connected_components_ = warn_apart(graph)
        centred = rows - rows.mean(axis=0)  # an offset of all rows costs no digits
        tols = self.hessian_tol, self.modified_tol
        M = alignment_matrix(centred, graph, self.method, self.n_components, self.reg, tols)
        start = generator(self.random_state).uniform(-1, 1, len(rows))
        found, self.reconstruction_error_ = null_space(
            M, self.n_components, solver=self.eigen_solver, tol=self.tol, max_iter=self.max_iter, start=start
        )
        self.embedding_ = signed(found)
        return self

    @checked
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Array:
        """Find the map, and give the places (n, k) of the rows."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> Array:
        """Places (m, k) of new rows: the same means of their neighbours among the rows of the fit.

        A row that is one of the fit stands where that stands.
        """
        check_is_fitted(self)
        rows = read_table(self, X, reset=False)
        known = self.nbrs_.rows
        assert known is not None
        graph = self.nbrs_.of_new(rows)
        self._refuse_lonely(graph)
        centre = known.mean(axis=0)
        weights = reconstruction_weights(known - centre, graph, self.reg, rows - centre)
        return np.asarray(_on_the_spot(graph, weights) @ self.embedding_)

    def _refuse_impossible(self, rows: Array) -> None:
        d = self.n_components
        if d > rows.shape[1]:
            raise ValueError(f"n_components={d} must be at most the number of columns, {rows.shape[1]}")
        if d >= len(rows):
            raise ValueError(f"n_components={d}, but there are only n_samples = {len(rows)} rows")
        if (rows == rows[0]).all():
            raise ValueError(f"all columns are constant (n_samples = {len(rows)}): there is no neighbourhood to keep")

    def _refuse_lonely(self, graph: sparse.csr_array) -> None:
        """An error where a row has too few neighbours for the method."""
        d = self.n_components
        least = {"standard": 1, "ltsa": d + 1, "modified": d + 1, "hessian": 1 + d + d * (d + 1) // 2}[self.method]
        counts = np.diff(graph.indptr)
        if len(counts) and counts.min() < least:
            raise ValueError(
                f"row {int(counts.argmin())} has {int(counts.min())} neighbours, but method='{self.method}' needs at "
                f"least {least} for {d} dimensions: raise {'n_neighbors' if self.radius is None else 'radius'}"
            )


def _on_the_spot(graph: sparse.csr_array, weights: sparse.csr_array) -> sparse.csr_array:
    """The weights, with all of it on a neighbour at distance zero."""
    for i in np.unique(np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))[graph.data == 0]):
        near = slice(graph.indptr[i], graph.indptr[i + 1])
        weights.data[near] = 0.0
        weights.data[near.start + int(graph.data[near].argmin())] = 1.0
    return weights


def locally_linear_embedding(
    X: Any,
    *,
    n_neighbors: int,
    n_components: int,
    reg: float = 1e-3,
    eigen_solver: Literal["auto", "arpack", "dense"] = "auto",
    tol: float = 1e-6,
    max_iter: int = 100,
    method: Method = "standard",
    hessian_tol: float = 1e-4,
    modified_tol: float = 1e-12,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> tuple[Array, float]:
    """The map (n, k) of `LocallyLinearEmbedding`, and its reconstruction error; parameters are the same.

    A drop-in replacement for scikit-learn's function of the same name.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> locally_linear_embedding(X, n_neighbors=6, n_components=2)[0].shape
    (30, 2)
    """
    model = LocallyLinearEmbedding(
        n_neighbors=n_neighbors, n_components=n_components, reg=reg, eigen_solver=eigen_solver, tol=tol,
        max_iter=max_iter, method=method, hessian_tol=hessian_tol, modified_tol=modified_tol,
        random_state=random_state, n_jobs=n_jobs,
    ).fit(X)  # fmt: skip
    return model.embedding_, model.reconstruction_error_
