"""What trees say about rows: leaves, paths, values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from latently import compiled
from latently.data.sources.chunks import Chunk
from latently.predict.rows import row_by_row
from latently.predict.tree.model.nodes import Nodes

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Packed:
    """Trees behind each other, for rows that pass through all of them."""

    trees: tuple[Nodes, ...]
    roots: NDArray[np.int64]
    steps: NDArray[np.int32]  # feature, -1 for a leaf
    thresholds: Array
    first: NDArray[np.int32]  # first child, or the row of a leaf in values
    values: Array  # (leaves, outputs * classes)
    is_plain: bool
    shape: tuple[int, int]

    @classmethod
    def of(cls, trees: Sequence[Nodes]) -> "Packed":
        """Pack trees; their nodes are put in the order in which rows pass through them."""
        sizes = np.array([len(tree) for tree in trees])
        roots = np.cumsum(sizes) - sizes
        leaf = np.concatenate([tree.is_leaf for tree in trees])
        offset = np.repeat(roots, sizes)
        first = np.concatenate([tree.first for tree in trees]) + offset
        first[leaf] = np.arange(leaf.sum())
        shape = trees[0].value.shape[1:]
        values = np.concatenate([tree.value[tree.is_leaf].reshape(-1, shape[0] * shape[1]) for tree in trees])
        steps = np.concatenate([tree.feature for tree in trees]).astype(np.int32)
        thresholds = np.concatenate([tree.threshold for tree in trees])
        plain = all(tree.is_plain for tree in trees)
        return cls(tuple(trees), roots, steps, thresholds, first.astype(np.int32), values, plain, shape)

    def mean(self, X: Array) -> Array:
        """(n, outputs, classes or 1) mean of the values of all trees."""
        total = row_by_row(X, partial(_add_chunk, self))
        return np.asarray(total / len(self.trees)).reshape(len(X), *self.shape)


def _add_chunk(packed: Packed, chunk: Chunk) -> Array:
    X = np.asarray(chunk.X, dtype=np.float64)
    out = np.zeros((len(X), packed.values.shape[1]))
    if packed.is_plain and not np.isnan(X).any():
        compiled.tree.walk.add_values(
            X, 0, len(X), packed.roots, packed.steps, packed.thresholds, packed.first, packed.values, out
        )
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
