"""Reduced-error pruning on rows that the tree was not grown from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latently.predict.tree.model.answers import paths_of
from latently.predict.tree.model.nodes import Nodes

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Errors:
    """What a prediction costs: one for a wrong class, the square for a number; summed over outputs."""

    targets: Array  # (n, outputs) codes of classes, -1 for one never seen, or numbers
    is_class: bool

    def of(self, value: Array, rows: NDArray[np.int64]) -> Array:
        """(rows,) cost of the value of a node."""
        if self.is_class:
            return np.asarray((self.targets[rows] != value.argmax(axis=1)).sum(axis=1), dtype=np.float64)
        return np.asarray(((self.targets[rows] - value[:, 0]) ** 2).sum(axis=1))


def leaves_for(nodes: Nodes, X: Array, errors: Errors, weights: Array | None = None) -> NDArray[np.bool_]:
    """(n,) the leaves that are left if the sub-tree whose removal helps most goes, again and again, until it hurts."""
    w = np.ones(len(X)) if weights is None else weights
    through = paths_of(nodes, X).tocsc()
    as_leaf = np.zeros(len(nodes))
    for node in range(len(nodes)):
        rows = through.indices[through.indptr[node] : through.indptr[node + 1]]
        as_leaf[node] = w[rows] @ errors.of(nodes.value[node], rows)
    return _chosen(nodes, as_leaf)


def _chosen(nodes: Nodes, as_leaf: Array) -> NDArray[np.bool_]:
    """The nodes to be leaves."""
    is_leaf, parents = nodes.is_leaf.copy(), nodes.parents()
    below = np.where(is_leaf, as_leaf, 0.0)
    for node in range(len(nodes) - 1, 0, -1):
        below[parents[node]] += below[node]
    alive = ~is_leaf
    while alive.any():
        helps = np.where(alive, below - as_leaf, -np.inf)
        best = int(helps.argmax())  # of equal ones the first, which is the highest in the tree
        if helps[best] < 0:
            break
        node, less = best, below[best] - as_leaf[best]
        while node >= 0:
            below[node] -= less
            node = int(parents[node])
        is_leaf[best] = True
        stack = [best]
        while stack:
            node = stack.pop()
            alive[node] = False
            stack.extend(nodes.children(node))
    return is_leaf
