"""The targets of the rows of the fit, leaf by leaf: what quantiles are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LeafTargets:
    """Targets in the order of the leaves, each with its share of its leaf."""

    targets: Array  # (m,)
    shares: Array  # (m,)
    starts: NDArray[np.int64]  # (nodes + 1,) rows of node i, of leaves only, are starts[i] to stops[i]
    stops: NDArray[np.int64]

    @classmethod
    def of(cls, grown: Any, targets: Any, weights: Array | None) -> "LeafTargets | None":
        """Keep the targets of one output; None if rows were split among leaves or there are several outputs."""
        if targets.dense.shape[1] != 2 or grown.rows is None:
            return None
        rows = grown.rows
        w = np.ones(len(rows)) if weights is None else weights[rows]
        stops = grown.starts + grown.nodes.samples
        per_node = grown.nodes.weight
        shares = np.empty(len(rows))
        for node in np.flatnonzero(grown.nodes.is_leaf):
            part = slice(grown.starts[node], stops[node])
            shares[part] = w[part] / per_node[node]
        return cls(targets.dense[rows, 1] + targets.centre[0], shares, grown.starts, stops)


def quantiles(trees: Sequence[LeafTargets | None], leaves: Sequence[NDArray[np.int64]], levels: ArrayLike) -> Array:
    """(n, q) quantiles of the targets at the leaves of all trees, each tree counting the same."""
    q = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if ((q < 0) | (q > 1)).any():
        raise ValueError(f"quantiles must be between 0 and 1, got {q.tolist()}")
    out = np.empty((len(leaves[0]), len(q)))
    for i in range(len(out)):
        pairs = [_at(tree, int(leaf[i])) for tree, leaf in zip(trees, leaves, strict=True)]
        y, w = (np.concatenate(part) for part in zip(*pairs, strict=True))
        order = np.argsort(y, kind="stable")
        upto = np.cumsum(w[order])
        at = np.searchsorted(upto, q * upto[-1] * (1 - 1e-12))
        out[i] = y[order[at.clip(max=len(y) - 1)]]
    return out


def _at(tree: LeafTargets | None, leaf: int) -> tuple[Array, Array]:
    if tree is None:
        raise ValueError("the targets of the leaves are not known: the tree was grown with several outputs or shares")
    part = slice(tree.starts[leaf], tree.stops[leaf])
    return tree.targets[part], tree.shares[part]
