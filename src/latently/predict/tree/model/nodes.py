"""The nodes of a tree, in flat arrays."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.predict.tree.model.walk import Walk, make_walk

Array = NDArray[np.float64]
Places = NDArray[np.int64]
LEAF, THRESHOLD, GROUPS, VALUES = range(4)


@dataclass(frozen=True, eq=False)
class Nodes:
    """A tree: node 0 is the root, and the children of a node stand side by side.

    Attributes
    ----------
    kind : (n,) leaf, threshold (x <= threshold goes to the first child), two groups of categories, or a child for each
    feature : (n,) the column of the split, -1 for a leaf
    threshold : (n,) of a numeric split, else 0
    first : (n,) the first child, -1 for a leaf
    n_children : (n,)
    missing : (n,) place of the child that a missing value goes to; -1: all of them, by their weights
    list_start, list_len : (n,) part of `lists` with the categories that do not go to the child of the missing ones
    lists : codes of categories; the number of categories of a column stands for a missing value
    samples : (n,) rows of the fit
    weight : (n,) their weight
    impurity : (n,)
    value : (n, outputs, classes or 1) shares of the classes, or means
    n_categories : (d,) categories of the columns, 0 if a column is numeric
    """

    kind: NDArray[np.int8]
    feature: Places
    threshold: Array
    first: Places
    n_children: Places
    missing: Places
    list_start: Places
    list_len: Places
    lists: Places
    samples: Places
    weight: Array
    impurity: Array
    value: Array
    n_categories: Places

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """(n,) whether a node is a leaf."""
        return np.asarray(self.kind == LEAF)

    @property
    def is_fractional(self) -> bool:
        """Whether a missing value goes down several branches."""
        return bool((self.missing[~self.is_leaf] < 0).any())

    @property
    def is_plain(self) -> bool:
        """Whether every split is a threshold with a side for missing values."""
        return bool((self.kind <= THRESHOLD).all()) and not self.is_fractional

    @cached_property
    def walk(self) -> Walk | None:
        """The tree as rows pass through it, None if it is not plain; made by whoever grows it: no question waits."""
        if not self.is_plain:
            return None
        return make_walk(self.threshold, self.feature, self.first, self.missing, self.value, len(self.n_categories))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "walk"}

    def children(self, node: int) -> range:
        """The children of a node."""
        return range(int(self.first[node]), int(self.first[node] + self.n_children[node]))

    def parents(self) -> Places:
        """(n,) the parent of each node, -1 for the root."""
        out = np.full(len(self), -1, dtype=np.int64)
        for node in np.flatnonzero(~self.is_leaf):
            out[self.first[node] : self.first[node] + self.n_children[node]] = node
        return out

    def depths(self) -> Places:
        """(n,) distance from the root. Children always come after their parents."""
        out = np.zeros(len(self), dtype=np.int64)
        parents = self.parents()
        for node in range(1, len(self)):
            out[node] = out[parents[node]] + 1
        return out

    def gains(self) -> Array:
        """(n,) what a split takes from the weighted impurity, as a share of the weight of the root."""
        out = np.zeros(len(self))
        inner = np.flatnonzero(~self.is_leaf)
        below = np.concatenate([[0.0], np.cumsum(self.weight * self.impurity)])
        ends = self.first[inner] + self.n_children[inner]
        out[inner] = self.weight[inner] * self.impurity[inner] - (below[ends] - below[self.first[inner]])
        return np.asarray(out / self.weight[0])

    def importances(self, normalised: bool = True) -> Array:
        """(d,) gains by column."""
        inner = ~self.is_leaf
        total = np.bincount(self.feature[inner], self.gains()[inner], minlength=len(self.n_categories))
        return np.asarray(total / total.sum() if normalised and total.sum() > 0 else total, dtype=np.float64)

    def cut(self, leaves: NDArray[np.bool_]) -> "Nodes":
        """Give the tree with some nodes made leaves, and what was below them left out."""
        return self.leafed(leaves).taken(self.kept(leaves))

    def kept(self, leaves: NDArray[np.bool_]) -> Places:
        """Nodes that are left if some are made leaves."""
        kept = np.zeros(len(self), dtype=bool)
        kept[0] = True
        for node in range(len(self)):
            if kept[node] and not leaves[node] and self.kind[node] != LEAF:
                kept[self.first[node] : self.first[node] + self.n_children[node]] = True
        return np.flatnonzero(kept)

    def leafed(self, leaves: NDArray[np.bool_]) -> "Nodes":
        """Give the same nodes, some of them leaves."""
        gone = {
            "kind": LEAF,
            "feature": -1,
            "threshold": 0.0,
            "first": -1,
            "n_children": 0,
            "missing": 0,
            "list_len": 0,
        }
        changed: dict[str, Any] = {}
        for name, value in gone.items():
            changed[name] = getattr(self, name).copy()
            changed[name][leaves] = value
        return replace(self, **changed)

    def taken(self, kept: Places) -> "Nodes":
        """Give some of the nodes, families as a whole, in their order."""
        place = np.full(len(self) + 1, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        names = ("kind", "feature", "threshold", "first", "n_children", "missing", "list_start", "list_len")
        parts = {name: getattr(self, name)[kept] for name in (*names, "samples", "weight", "impurity", "value")}
        parts["first"] = place[parts["first"]]
        return replace(self, **parts)
