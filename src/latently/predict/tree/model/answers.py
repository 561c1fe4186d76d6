"""What trees say about rows: leaves, paths, values."""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from latently import compiled
from latently.data.sources.chunks import Chunk
from latently.learn.engine.reduce import mapping
from latently.predict.rows import CHUNK_ROWS, RowSource, row_by_row
from latently.predict.tree.model.nodes import Nodes
from latently.predict.tree.model.walk import NOT_SINGLE, PassingRows

Array = NDArray[np.float64]


_BYTES: Final = 1 << 22  # of rows that pass tree after tree: the more, the less often a tree is fetched


def mean_of(trees: Sequence[Nodes], X: Array, values: Sequence[Array] | None = None) -> Array:
    """(n, outputs, classes or 1) mean of the values of trees, or of others for their nodes, by shares where missing."""
    total = np.zeros((len(X), math.prod(trees[0].value.shape[1:])))
    _in_chunks(X, partial(_add_chunk, trees, values, total))
    return total.reshape(len(X), *trees[0].value.shape[1:])


def classes_of(nodes: Nodes, X: Array) -> NDArray[np.int64]:
    """(n,) code of the class of the highest share at the leaf of each row, for one output."""
    out = np.empty(len(X), dtype=np.int64)
    _in_chunks(X, partial(_class_chunk, nodes, out))
    return out


def _class_chunk(nodes: Nodes, out: NDArray[np.int64], chunk: Chunk) -> None:
    """Fill a chunk's rows with their classes."""
    X = np.asarray(chunk.X, dtype=np.float64)
    if nodes.walk is None:
        out[chunk.start : chunk.stop] = values_of(nodes, X).argmax(axis=1)
    else:
        out[chunk.start : chunk.stop] = nodes.walk.likely[nodes.walk.leaves(PassingRows.of(X))]


def _in_chunks(X: Array, fill: Callable[[Chunk], None]) -> None:
    """Let a function fill what it knows of all chunks of rows, in threads if there are several."""
    most = int(min(max(_BYTES // (8 * X.shape[1]), 1024), CHUNK_ROWS // 2))
    if len(X) <= most:
        fill(Chunk(X, None, 0))
        return
    with mapping(RowSource(X, most)) as over:
        deque(over(fill), maxlen=0)


def _add_chunk(trees: Sequence[Nodes], values: Sequence[Array] | None, total: Array, chunk: Chunk) -> None:
    """Fill a chunk's rows of the total."""
    X, out = np.asarray(chunk.X, dtype=np.float64), total[chunk.start : chunk.stop]
    rows = PassingRows.of(X)
    for t, tree in enumerate(trees):
        table = (tree.value if values is None else values[t]).reshape(len(tree), -1)
        if tree.walk is None:
            out += values_of(tree, X, table)
        else:
            single = tree.walk.single if values is None else NOT_SINGLE
            compiled.tree.walk.add_values(rows.values, tree.walk.nodes_for(rows), single, table, out)
    if len(trees) > 1:
        out /= len(trees)


def _arrays(nodes: Nodes) -> tuple[Any, ...]:
    return (
        nodes.feature, nodes.kind, nodes.threshold, nodes.first, nodes.missing, nodes.list_start, nodes.list_len,
        nodes.lists, nodes.n_categories,
    )  # fmt: skip


def leaves_of(nodes: Nodes, X: Array) -> NDArray[np.int64]:
    """(n,) the leaf of each row; of a row that belongs to several, the one with the largest branches on its way."""
    return np.asarray(row_by_row(X, partial(_leaves_chunk, to_largest(nodes))))


def _leaves_chunk(nodes: Nodes, chunk: Chunk) -> NDArray[np.int64]:
    return _leaves(nodes, np.asarray(chunk.X, dtype=np.float64))


def _leaves(nodes: Nodes, X: Array) -> NDArray[np.int64]:
    """(n,) the leaf of each row, in a tree that is not fractional."""
    if nodes.walk is not None:
        return nodes.walk.leaves(PassingRows.of(X)).astype(np.int64)
    out = np.empty(len(X), dtype=np.int64)
    compiled.tree.walk.leaves(X, *_arrays(nodes), out)
    return out


def to_largest(nodes: Nodes) -> Nodes:
    """Give the tree with missing values sent to the largest branch."""
    if not nodes.is_fractional:
        return nodes
    missing = nodes.missing.copy()
    for node in np.flatnonzero((nodes.missing < 0) & ~nodes.is_leaf):
        missing[node] = nodes.weight[nodes.first[node] : nodes.first[node] + nodes.n_children[node]].argmax()
    return replace(nodes, missing=missing)


def values_of(nodes: Nodes, X: Array, values: Array | None = None) -> Array:
    """(n, v) values of the leaves of rows, their mean by shares where a value is missing."""
    table = nodes.value.reshape(len(nodes), -1) if values is None else values
    if not nodes.is_fractional:
        return np.asarray(table[_leaves(nodes, X)])
    total = np.zeros((len(X), table.shape[1]))
    feature, kind, threshold, first, missing, list_start, list_len, lists, n_categories = _arrays(nodes)
    compiled.tree.walk.spread(
        X, feature, kind, threshold, first, nodes.n_children, missing, list_start, list_len, lists, n_categories,
        nodes.weight, nodes.weight <= 0, np.ascontiguousarray(table), total,
    )  # fmt: skip
    return total


def paths_of(nodes: Nodes, X: Array) -> csr_matrix:
    """(n, nodes) ones where a row passes through a node."""
    leaves = leaves_of(nodes, X)
    parents, depths = nodes.parents(), nodes.depths()
    lengths = depths[leaves] + 1
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.empty(indptr[-1], dtype=np.int64)
    at, node = indptr[1:] - 1, leaves.copy()
    while (open_ := node >= 0).any():
        indices[at[open_]] = node[open_]
        at, node = at - 1, np.where(open_, parents[node], -1)
    return csr_matrix((np.ones(len(indices), dtype=np.intp), indices, indptr), shape=(len(X), len(nodes)))
