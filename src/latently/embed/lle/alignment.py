"""Local pictures added up to a sparse matrix, and the map in its null space."""

import warnings
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from latently.embed.lle.local import Hessians, ManyWeights, Tangents, barycentre_weights, small_to_large
from latently.geometry.distances import Array
from latently.geometry.graph import components

Ints: TypeAlias = npt.NDArray[np.int64]
Method: TypeAlias = Literal["standard", "hessian", "modified", "ltsa"]

_VALUES = 4_000_000  # numbers of neighbours in memory at a time
_SMALL = 400  # rows up to which "auto" is dense
_SHIFT = 1e-13  # of the largest diagonal entry: the matrix has a null vector, and this makes it regular


def batches(graph: sparse.csr_array, width: int) -> Iterator[tuple[Ints, Ints]]:
    """Rows (b,) that have the same number of neighbours, and those neighbours (b, k), a part at a time."""
    counts = np.diff(graph.indptr)
    for k in np.unique(counts):
        alike = np.flatnonzero(counts == k)
        step = max(1, _VALUES // max(1, int(k) * max(width, int(k))))
        for first in range(0, len(alike), step):
            rows = alike[first : first + step]
            yield rows, graph.indices[graph.indptr[rows][:, None] + np.arange(k)].astype(np.int64)


def reconstruction_weights(X: Array, graph: sparse.csr_array, reg: float, asked: Array | None = None) -> Any:
    """Sparse weights (m, n) that write asked rows (X itself if None) as means of their neighbours in X."""
    rows = X if asked is None else asked
    data = np.empty(graph.nnz)
    for some, near in batches(graph, X.shape[1]):
        data[graph.indptr[some][:, None] + np.arange(near.shape[1])] = barycentre_weights(rows[some], X[near], reg)
    return sparse.csr_array((data, graph.indices, graph.indptr), shape=graph.shape)


def alignment_matrix(
    X: Array, graph: sparse.csr_array, method: Method, d: int, reg: float, tols: tuple[float, float]
) -> sparse.csc_array:
    """Symmetric matrix (n, n), whose quadratic form is what a map loses of the local pictures."""
    n = len(X)
    if method == "standard":
        missed = sparse.eye_array(n, format="csr") - reconstruction_weights(X, graph, reg)
        return sparse.csc_array(missed.T @ missed)
    way: Any = Tangents(d)
    if method == "hessian":
        way = Hessians(d, tols[0])
    elif method == "modified":
        ratios = [small_to_large(X[rows], X[near], d) for rows, near in batches(graph, X.shape[1])]
        way = ManyWeights(d, float(np.median(np.concatenate(ratios))), reg, tols[1])
    total = sparse.csc_array((n, n))
    for rows, near in batches(graph, X.shape[1]):
        blocks = way.blocks(X[rows], X[near])
        points = near if blocks.shape[1] == near.shape[1] else np.column_stack([rows, near])
        ends = np.broadcast_to(points[:, :, None], blocks.shape), np.broadcast_to(points[:, None], blocks.shape)
        total = total + sparse.coo_array((blocks.ravel(), (ends[0].ravel(), ends[1].ravel())), shape=(n, n)).tocsc()
    return total


def null_space(
    M: sparse.csc_array, d: int, *, solver: str = "auto", tol: float = 1e-6, max_iter: int = 100, start: Array
) -> tuple[Array, float]:
    """The d eigenvectors (n, d) of smallest eigenvalue after the constant one, and the sum of their eigenvalues."""
    n = M.shape[0]
    if solver == "dense" or (solver == "auto" and n <= _SMALL) or d + 1 >= n:
        values, vectors = eigh(M.toarray(), subset_by_index=(1, d))
        return np.asarray(vectors), float(values.sum())
    shift = _SHIFT * max(float(np.abs(M.diagonal()).max(initial=0.0)), np.finfo(float).tiny)
    shifted = sparse.csc_array(M + shift * sparse.eye_array(n))
    factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    inverse = LinearOperator(M.shape, matvec=factor.solve, dtype=np.float64)
    try:
        values, vectors = eigsh(M, d + 1, sigma=-shift, OPinv=inverse, v0=start, tol=tol, maxiter=max_iter)
    except ArpackNoConvergence as problem:
        raise ValueError(
            f"Error in determining null-space with ARPACK: {problem}. Raise max_iter, or use eigen_solver='dense'"
        ) from problem
    order = np.argsort(values)[1:]
    return np.asarray(vectors[:, order]), float(values[order].sum())


def warn_apart(graph: sparse.csr_array) -> int:
    """How many connected components the graph of neighbours has; a warning if there are several."""
    count = components(graph)[0]
    if count > 1:
        warnings.warn(
            f"the number of connected components of the neighbour graph is {count} > 1: the map says which component a "
            "row is in, rather than where in it. Use more neighbours, or a map for each component",
            UserWarning, stacklevel=4,
        )  # fmt: skip
    return count
