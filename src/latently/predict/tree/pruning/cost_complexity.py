"""Cost-complexity pruning: the weakest links of Breiman and others."""

import numpy as np
from numpy.typing import NDArray

from latently.predict.tree.model.nodes import Nodes

Array = NDArray[np.float64]


def _sequence(nodes: Nodes) -> list[tuple[float, float, NDArray[np.bool_]]]:
    """Alpha, total impurity of the leaves, and the nodes that are leaves, from the whole tree to the root."""
    risk = nodes.weight * nodes.impurity / nodes.weight[0]  # of each node as a leaf
    is_leaf = nodes.is_leaf.copy()
    parents = nodes.parents()
    below, n_leaves = risk * is_leaf, is_leaf.astype(np.float64)  # of the leaves under each node
    for node in range(len(nodes) - 1, 0, -1):
        below[parents[node]] += below[node]
        n_leaves[parents[node]] += n_leaves[node]
    alive = ~is_leaf
    found = [(0.0, float(below[0]), is_leaf.copy())]
    while alive[0]:
        inner = np.flatnonzero(alive)
        strength = (risk[inner] - below[inner]) / np.maximum(n_leaves[inner] - 1, 1)
        weakest = int(inner[np.argmin(strength)])
        alpha = max(float(strength.min()), 0.0)
        less, fewer = below[weakest] - risk[weakest], n_leaves[weakest] - 1
        node = weakest
        while node >= 0:
            below[node] -= less
            n_leaves[node] -= fewer
            node = int(parents[node])
        is_leaf[weakest] = True
        _bury(nodes, weakest, alive)
        found.append((alpha, float(below[0]), is_leaf.copy()))
    return found


def _bury(nodes: Nodes, node: int, alive: NDArray[np.bool_]) -> None:
    stack = [node]
    while stack:
        node = stack.pop()
        if alive[node]:
            alive[node] = False
            stack.extend(nodes.children(node))


def path(nodes: Nodes) -> tuple[Array, Array]:
    """Give the alphas at which something goes, and the total impurity of the leaves from there on."""
    alphas: list[float] = []
    impurities: list[float] = []
    for alpha, impurity, _ in _sequence(nodes):
        if alphas and alpha <= alphas[-1] + 1e-12:
            impurities[-1] = impurity
        else:
            alphas.append(alpha)
            impurities.append(impurity)
    return np.array(alphas), np.array(impurities)


def leaves_at(nodes: Nodes, alpha: float) -> NDArray[np.bool_]:
    """(n,) the leaves of the smallest tree that minimises impurity of the leaves + alpha * number of leaves."""
    leaves = nodes.is_leaf
    for strength, _, is_leaf in _sequence(nodes):
        if strength > alpha:
            break
        leaves = is_leaf
    return leaves
