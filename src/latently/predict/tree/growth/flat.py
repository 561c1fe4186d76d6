"""Trees of many-way splits in flat arrays."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.predict.tree.growth.targets import Targets
from latently.predict.tree.model.answers import to_largest
from latently.predict.tree.model.nodes import LEAF, THRESHOLD, VALUES, Nodes

Array = NDArray[np.float64]
_SMALL: Final = 1e-6


def flat(table: Any, root: Any, targets: Targets) -> Nodes:
    """Give a tree of branches as nodes, the children of a node side by side."""
    order, firsts, parents = [root], [-1], [-1]
    for i, node in enumerate(order):  # grows while it is walked through
        if node.children:
            firsts[i] = len(order)
            order.extend(node.children)
            firsts.extend([-1] * len(node.children))
            parents.extend([i] * len(node.children))
    sums = np.array([node.stats for node in order])
    weight = sums.sum(axis=1) if table.is_class else sums[:, 0].copy()
    values = np.zeros((len(order), 1, sums.shape[1] if table.is_class else 1))
    for i in range(len(order)):  # an empty branch says what its parent says
        if weight[i] > _SMALL:
            stats = sums[i]
            values[i, 0] = stats / weight[i] if table.is_class else stats[1] / stats[0] + targets.centre[0]
        else:
            values[i] = values[parents[i]]
    inner = np.array([not node.is_leaf for node in order])
    wide = np.array([bool(table.n_categories[n.feature]) and table.rules.by_values for n in order]) & inner
    first = np.array(firsts, dtype=np.int64)
    n_children = np.array([len(node.children) for node in order], dtype=np.int64)
    nodes = Nodes(
        kind=np.where(wide, VALUES, np.where(inner, THRESHOLD, LEAF)).astype(np.int8),
        feature=np.where(inner, [node.feature for node in order], -1),
        threshold=np.where(inner & ~wide, [node.threshold for node in order], 0.0),
        first=first,
        n_children=n_children,
        missing=np.where(inner, -1, 0).astype(np.int64),
        list_start=np.zeros(len(order), dtype=np.int64),
        list_len=np.zeros(len(order), dtype=np.int64),
        lists=np.empty(0, dtype=np.int64),
        samples=np.array([len(node.rows) for node in order], dtype=np.int64),
        weight=np.where(weight > _SMALL, weight, 0.0),
        impurity=_impurities(table, sums, weight),
        value=values,
        n_categories=table.n_categories,
    )
    return nodes if table.rules.is_fractional else _sided(nodes)


def _impurities(table: Any, sums: Array, weight: Array) -> Array:
    safe = np.maximum(weight, 1e-300)
    if not table.is_class:
        return np.maximum(sums[:, 2] / safe - (sums[:, 1] / safe) ** 2, 0.0)
    shares = sums / safe[:, None]
    logs = np.log2(np.where(shares > 0, shares, 1.0))
    return np.asarray(-(shares * logs).sum(axis=1))


def _sided(nodes: Nodes) -> Nodes:
    """Send missing values to the largest branch, where those of the fit went."""
    return to_largest(nodes)
