"""What trees say about rows: leaves, paths, values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from latently import compiled
from latently.data.sources.chunks import Chunk
from latently.predict.rows import CHUNK_ROWS, RowSource, row_by_row
from latently.predict.tree.model.nodes import LEAF, Nodes

Array = NDArray[np.float64]


NODE: Final = np.dtype([("threshold", np.float64), ("feature", np.uint32), ("first", np.uint32)])
"""A node as rows pass through it, of one piece since memory is what they wait for."""
_VISITS: Final = 1 << 17  # rows times trees of a chunk


@dataclass(frozen=True, eq=False)
class Packed:
    """Trees behind each other, for rows that pass through all of them."""

    trees: tuple[Nodes, ...]
    roots: NDArray[np.uint64]
    nodes: NDArray[Any]  # of the type NODE; a leaf leads to itself
    values: Array  # (nodes, outputs * classes)
    is_plain: bool
    shape: tuple[int, int]

    @classmethod
    def of(cls, trees: Sequence[Nodes]) -> "Packed":
        """Pack trees."""
        sizes = np.array([len(tree) for tree in trees])
        roots = np.cumsum(sizes) - sizes
        leaf = _joined([tree.kind for tree in trees]) == LEAF
        nodes = np.empty(len(leaf), dtype=NODE)
        own = np.arange(len(leaf))
        nodes["first"] = np.where(leaf, own, _joined([tree.first for tree in trees]) + np.repeat(roots, sizes))
        nodes["feature"] = np.where(leaf, 0, _joined([tree.feature for tree in trees]))
        nodes["threshold"] = np.where(leaf, np.inf, _joined([tree.threshold for tree in trees]))
        shape = trees[0].value.shape[1:]
        values = _joined([tree.value.reshape(len(tree), -1) for tree in trees])
        return cls(tuple(trees), roots.astype(np.uint64), nodes, values, all(tree.is_plain for tree in trees), shape)

    def mean(self, X: Array) -> Array:
        """(n, outputs, classes or 1) mean of the values of all trees."""
        most = min(max(_VISITS // len(self.trees), 2048), CHUNK_ROWS)
        if len(X) <= most:
            total = _add_chunk(self, Chunk(X, None, 0))
        else:
            total = row_by_row(RowSource(X, most), partial(_add_chunk, self))
        return (total / len(self.trees)).reshape(len(X), *self.shape)


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _add_chunk(packed: Packed, chunk: Chunk) -> Array:
    X = np.asarray(chunk.X, dtype=np.float64)
    out = np.zeros((len(X), packed.values.shape[1]))
    if packed.is_plain and not np.isnan(X.min()):
        compiled.tree.walk.add_values(X, packed.roots, packed.nodes, packed.values, out)
        return out
    for tree in packed.trees:
        out += values_of(tree, X)
    return out


def _arrays(nodes: Nodes) -> tuple[Any, ...]:
    return (
        nodes.feature, nodes.kind, nodes.threshold, nodes.first, nodes.missing, nodes.list_start, nodes.list_len,
        nodes.lists, nodes.n_categories,
    )  # fmt: skip


def leaves_of(nodes: Nodes, X: Array) -> NDArray[np.int64]:
    """(n,) the leaf of each row; of a row that belongs to several, the one with the largest branches on its way."""
    return np.asarray(row_by_row(X, partial(_leaves_chunk, to_largest(nodes)))[:, 0])


def _leaves_chunk(nodes: Nodes, chunk: Chunk) -> NDArray[np.int64]:
    out = np.empty((len(chunk.X), 1), dtype=np.int64)
    compiled.tree.walk.leaves(chunk.X, np.zeros(1, dtype=np.int64), *_arrays(nodes), out)
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
        out = np.empty((len(X), 1), dtype=np.int64)
        compiled.tree.walk.leaves(X, np.zeros(1, dtype=np.int64), *_arrays(nodes), out)
        return np.asarray(table[out[:, 0]])
    total = np.zeros((len(X), table.shape[1]))
    feature, kind, threshold, first, missing, list_start, list_len, lists, n_categories = _arrays(nodes)
    compiled.tree.walk.spread(
        X, 0, feature, kind, threshold, first, nodes.n_children, missing, list_start, list_len, lists, n_categories,
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
