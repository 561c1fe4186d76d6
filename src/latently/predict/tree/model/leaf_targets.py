"""The targets of the rows of the fit, leaf by leaf: what quantiles are made of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LeafTargets:
    """Targets in an order in which those of every node stand side by side: starts[i] to stops[i]."""

    targets: Array  # (m,)
    weights: Array  # (m,)
    starts: NDArray[np.int64]  # (nodes,)
    stops: NDArray[np.int64]  # (nodes,)

    @classmethod
    def of(cls, grown: Any, targets: Any, weights: Array | None) -> "LeafTargets | None":
        """Keep the targets of one output; None if rows were split among leaves or there are several outputs."""
        if targets.dense.shape[1] != 2 or grown.rows is None:
            return None
        rows = grown.rows
        w = np.ones(len(rows)) if weights is None else weights[rows]
        stops = grown.starts + grown.nodes.samples
        return cls(targets.dense[rows, 1] + targets.centre[0], w, grown.starts, stops)

    def taken(self, kept: NDArray[np.int64]) -> "LeafTargets":
        """Those of some of the nodes."""
        return replace(self, starts=self.starts[kept], stops=self.stops[kept])

    def at(self, node: int) -> tuple[Array, Array]:
        """Targets of a node, and their shares."""
        part = slice(self.starts[node], self.stops[node])
        return self.targets[part], self.weights[part] / self.weights[part].sum()


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
    return tree.at(leaf)
