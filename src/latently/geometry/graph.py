"""Graphs of neighbours: their components, and the shortest paths in them."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from latently import compiled
from latently.geometry.distances import Array, pairwise
from latently.geometry.neighbours import Neighbours
from latently.learn.engine.blocks import for_blocks

_SOURCES = 16  # paths from this many nodes are found at a time
_WIDTH = 0.5  # of a bucket of nodes at about the same distance, in lengths of a typical edge
_MOST_BUCKETS = 4096
_VALUES = 2_000_000  # distances in memory at a time


def neighbour_graph(found: Neighbours, n: int) -> sparse.csr_array:
    """Graph (m, n) with an edge from each of m rows to its neighbours among n, as long as their distance.

    Examples
    --------
    >>> neighbour_graph(Neighbours(np.array([[1.0], [1.0]]), np.array([[1], [0]])), 2).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    m, k = found.indices.shape
    starts = np.arange(0, m * k + 1, k)
    return sparse.csr_array((found.distances.ravel(), found.indices.ravel(), starts), shape=(m, n))


def undirected(graph: Any) -> sparse.csr_array:
    """The graph with every edge in both directions, the shorter one where they differ; edges of length zero stay.

    Examples
    --------
    >>> undirected(sparse.csr_array(np.array([[0.0, 2.0], [0.0, 0.0]]))).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    edges = sparse.coo_array(graph)
    ends = np.concatenate([edges.coords[0], edges.coords[1]]), np.concatenate([edges.coords[1], edges.coords[0]])
    return _shortest_edges(ends[0], ends[1], np.tile(edges.data, 2), graph.shape[0])


def _shortest_edges(rows: Any, columns: Any, lengths: Array, n: int) -> sparse.csr_array:
    """A graph of n nodes with one edge, the shortest, for each pair of ends."""
    order = np.lexsort((lengths, columns, rows))
    rows, columns, lengths = rows[order], columns[order], lengths[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[new], minlength=n))])
    return sparse.csr_array((lengths[new], columns[new], starts), shape=(n, n))


def components(graph: sparse.csr_array) -> tuple[int, npt.NDArray[np.int32]]:
    """How many connected components a graph has, and which one each node is in.

    Examples
    --------
    >>> components(sparse.csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])))
    (2, array([0, 0, 1], dtype=int32))
    """
    links = sparse.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    count, which = connected_components(links, directed=False)
    return int(count), which


def joined(
    graph: sparse.csr_array, X: Array, metric: Any = "euclidean", params: dict[str, Any] | None = None
) -> sparse.csr_array:
    """The undirected graph with an edge more between every two components: the shortest that there is.

    Parameters
    ----------
    graph
        (n, n) undirected graph.
    X
        (n, d) rows of the nodes, or their (n, n) distances for the metric "precomputed".
    metric, params
        See `latently.geometry.distances.pairwise`.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> graph = np.array([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]])
    >>> joined(sparse.csr_array(graph), X).toarray()[1]
    array([1., 0., 4., 0.])
    """
    count, which = components(graph)
    if count == 1:
        return graph
    ends, lengths = _bridges(X, which, count, metric, params)
    old = sparse.coo_array(graph)
    rows = np.concatenate([old.coords[0], ends[:, 0], ends[:, 1]])
    columns = np.concatenate([old.coords[1], ends[:, 1], ends[:, 0]])
    return _shortest_edges(rows, columns, np.concatenate([old.data, lengths, lengths]), graph.shape[0])


def _bridges(X: Array, which: Any, count: int, metric: Any, params: Any) -> tuple[npt.NDArray[np.int64], Array]:
    """The shortest edges (m, 2) between any two components, and their lengths."""
    order = np.argsort(which, kind="stable")  # nodes of one component side by side
    starts = np.searchsorted(which[order], np.arange(count))
    best = np.full((count, count), np.inf)
    ends = np.zeros((count, count, 2), dtype=np.int64)
    for c in range(count - 1):
        own = np.flatnonzero(which == c)
        others = order[starts[c + 1] :]
        step = max(1, _VALUES // len(others))
        for first in range(0, len(own), step):
            some = own[first : first + step]
            table = X[np.ix_(some, others)] if _is_given(metric) else pairwise(X[some], X[others], metric, params)
            near = table.argmin(axis=0)
            lengths = table[near, np.arange(len(others))]
            for b in range(c + 1, count):
                span = slice(starts[b] - starts[c + 1], None if b + 1 == count else starts[b + 1] - starts[c + 1])
                j = int(lengths[span].argmin()) + span.start
                if lengths[j] < best[c, b]:
                    best[c, b], ends[c, b] = lengths[j], (some[near[j]], others[j])
    pairs = np.triu_indices(count, 1)
    return ends[pairs], best[pairs]


def _is_given(metric: Any) -> bool:
    return isinstance(metric, str) and metric == "precomputed"


def shortest_paths(graph: Any, sources: Any = None) -> Array:
    """Lengths (s, n) of the shortest paths from some nodes to all; inf where there is no path.

    Lengths are exact; nodes are settled in the order of their distance, roughly, for each source, by all threads.

    Parameters
    ----------
    graph
        (n, n) sparse graph; its entries are lengths of edges, none of them negative.
    sources
        Which nodes to start from; all if None.

    Examples
    --------
    >>> line = sparse.csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]))
    >>> shortest_paths(line, [0])
    array([[0., 1., 3.]])
    """
    edges = sparse.csr_array(graph)
    n = edges.shape[0]
    if edges.nnz and not edges.data.min() >= 0:
        raise ValueError("shortest paths need edges of length 0 or more: there is a negative one, or NaN")
    begin = np.arange(n) if sources is None else np.asarray(sources, dtype=np.int64)
    parts = edges.indptr.astype(np.int64), edges.indices.astype(np.int32), edges.data.astype(np.float64)
    width, ring = _buckets(edges.data)
    out = np.empty((len(begin), n))

    def fill(first: int, last: int) -> None:
        space = np.full(ring, -1, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
        compiled.geometry.paths.lengths(begin, first, last, *parts, 1.0 / width, *space, out)

    for_blocks(len(begin), fill, rows=_SOURCES)
    return out


def _buckets(lengths: Array) -> tuple[float, int]:
    """Width of the buckets that order nodes by their distance, and how many there are: enough for the longest edge."""
    longest = float(lengths.max(initial=0.0))
    if longest == 0:
        return 1.0, 2
    width = max(float(np.median(lengths)) * _WIDTH, longest / _MOST_BUCKETS)
    return width, int(longest / width) + 3
