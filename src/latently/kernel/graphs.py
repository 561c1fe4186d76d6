"""Diffusion kernel: how much of what starts at one vertex of a graph has arrived at another."""

from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import expm_multiply

from latently.kernel.base import Array, Kernel
from latently.kernel.vector import positive

_WHOLE = 4000  # vertices up to which the whole matrix is computed


class DiffusionKernel(Kernel):
    """Diffusion on a graph (Kondor and Lafferty, 2002): K = exp(beta H), with H = A - D.

    A is the adjacency matrix (weights at least zero), D the diagonal of its row sums. Vertices that no path joins have
    a value of zero; a vertex without edges is similar to itself alone.

    Parameters
    ----------
    beta
        How long to diffuse: at 0 each vertex is similar to itself only, at infinity all of a component are alike.
    normalize
        Whether to divide by sqrt(k(v, v) k(w, w)).

    Attributes
    ----------
    matrix_
        (n, n) the whole matrix; computed when it is first asked for. For more than some thousand vertices use
        `dot`, or call the kernel with the vertices that matter.
    vertices_
        Names of the vertices of a networkx graph, in the order of the matrix.
    n_vertices_
        How many there are.

    Examples
    --------
    >>> k = DiffusionKernel(beta=0.5).fit([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> k.matrix_.round(3)
    array([[0.674, 0.259, 0.067],
           [0.259, 0.482, 0.259],
           [0.067, 0.259, 0.674]])
    >>> k([0, 2]).round(3)
    array([[0.674, 0.067],
           [0.067, 0.674]])
    """

    def __init__(self, beta: float = 1.0, *, normalize: bool = False) -> None:
        self.beta = beta
        self.normalize = normalize

    def fit(self, graph: Any) -> Self:
        """Take a graph: a square symmetric matrix, dense or sparse, of weights; or a networkx graph."""
        positive(self.beta, "beta")
        adjacency, names = _adjacency(graph)
        self.__dict__.pop("matrix_", None)
        self.vertices_ = names
        self.n_vertices_ = adjacency.shape[0]
        self._generator = (adjacency - sparse.diags_array(np.asarray(adjacency.sum(axis=1)).ravel())).tocsr()
        return self

    @cached_property
    def matrix_(self) -> Array:
        """The whole kernel matrix."""
        self._check_fitted()
        values, vectors = eigh(self._generator.toarray())
        found = (vectors * np.exp(self.beta * values)) @ vectors.T
        found = np.asarray(0.5 * (found + found.T))
        if not self.normalize:
            return found
        scale = 1.0 / np.sqrt(np.diagonal(found))
        return np.asarray(found * scale * scale[:, None])

    def dot(self, vector: Any) -> Array:
        """exp(beta H) times a vector (n,) or a matrix (n, m), without the matrix itself: for large graphs."""
        self._check_fitted()
        if self.normalize:
            raise ValueError("dot is for the kernel as it is: normalize=True needs the diagonal of the whole matrix")
        right = np.asarray(vector, dtype=float)
        if right.shape[0] != self.n_vertices_:
            raise ValueError(f"the graph has {self.n_vertices_} vertices, the vector {right.shape[0]} entries")
        return np.asarray(expm_multiply(self.beta * self._generator, right, traceA=self.beta * self._generator.trace()))

    def _check_fitted(self) -> None:
        if not hasattr(self, "_generator"):
            raise ValueError("this DiffusionKernel has no graph yet: call fit(graph) first")

    def _read(self, X: Any, Y: Any) -> tuple[Any, Any]:
        self._check_fitted()
        return self._places(X), None if Y is None else self._places(Y)

    def _places(self, X: Any) -> Any:
        names = [x.item() if isinstance(x, np.generic) else x for x in np.asarray(X, dtype=object).ravel()]
        known = {name: i for i, name in enumerate(self.vertices_)}
        missing = [name for name in names if name not in known]
        if missing:
            raise ValueError(f"the graph has no vertex {missing[0]!r}")
        return np.array([known[name] for name in names], dtype=np.int64)

    def _columns(self, places: Any) -> Array:
        """(n, m) columns of the kernel matrix, not normalised."""
        if self.n_vertices_ <= _WHOLE and not self.normalize:
            return self.matrix_[:, places]
        units = np.zeros((self.n_vertices_, len(places)))
        units[places, np.arange(len(places))] = 1.0
        return np.asarray(expm_multiply(self.beta * self._generator, units, traceA=self.beta * self._generator.trace()))

    def _matrix(self, X: Any, Y: Any) -> Array:
        return np.asarray(self._columns(X if Y is None else Y)[X])

    def _diagonal(self, X: Any) -> Array:
        return np.asarray(self._columns(X)[X, np.arange(len(X))])


def _adjacency(graph: Any) -> tuple[Any, list[Any]]:
    """Sparse matrix of weights and the names of the vertices."""
    if hasattr(graph, "nodes") and hasattr(graph, "is_directed"):
        import networkx

        if graph.is_directed():
            raise ValueError("a diffusion kernel is for undirected graphs: use graph.to_undirected()")
        names = list(graph.nodes)
        matrix = networkx.to_scipy_sparse_array(graph, dtype=float) if names else sparse.csr_array((0, 0))
    else:
        matrix = sparse.csr_array(graph if sparse.issparse(graph) else np.asarray(graph, dtype=float))
        names = list(range(matrix.shape[0]))
    _check(matrix)
    return sparse.csr_array(matrix), names


def _check(matrix: Any) -> None:
    n, m = matrix.shape
    if n != m:
        raise ValueError(f"the matrix of a graph is square, got shape {matrix.shape}")
    if n == 0:
        raise ValueError("the graph has no vertices")
    if not np.isfinite(matrix.data).all():
        raise ValueError("the graph has weights that are not finite numbers")
    if (matrix.data < 0).any():
        raise ValueError("the graph has negative weights: a diffusion kernel needs weights of at least zero")
    gap = abs(matrix - matrix.T)
    if gap.nnz and gap.max() > 1e-12 * abs(matrix).max():
        i, j = divmod(int(gap.toarray().argmax()) if n <= _WHOLE else int(gap.tocoo().data.argmax()), n)
        where = f", as from {i} to {j}" if n <= _WHOLE else ""
        raise ValueError(f"the matrix of an undirected graph is symmetric; this one is not{where}")
