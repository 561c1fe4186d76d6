"""Labelled trees, and classes that form a hierarchy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.structure.inference.forest import Forest
from latently.structure.inference.isolated import Isolated
from latently.structure.inference.layout import Layout
from latently.structure.models.base import Fixed, Items, Labels, PairwiseModel
from latently.structure.models.items import stacked
from latently.structure.models.multiclass import MulticlassModel, one_node_each
from latently.structure.pairwise import MakeInference, Shape
from latently.structure.protocol import Array, Ints


@dataclass(frozen=True)
class TreeModel(PairwiseModel):
    """A label for every node of a tree, with a score for each pair of a node and its parent; or a hierarchy of classes.

    Without `hierarchy`, an item is a pair (features (m, d), parents (m,)) with -1 as the parent of the root, and y has
    a label for every node. With it, X is a table and y a class for each row: w . Psi(x, y) is the sum of x . W[:, c]
    over y and its ancestors c, so that classes learn from their relatives, and the loss of an answer is the number of
    steps from the true class to it in the hierarchy.

    Parameters
    ----------
    hierarchy
        The parent of every class, None for the top; groups that are no class themselves are parents only.
    fit_intercept
        Whether features get a column of ones.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.structure import StructuredSVM
    >>> parents = np.array([-1, 0, 0])
    >>> X = [(np.array([[0.0], [1.0], [-1.0]]), parents), (np.array([[0.0], [-1.0], [1.0]]), parents)]
    >>> y = [["root", "up", "down"], ["root", "down", "up"]]
    >>> model = StructuredSVM(TreeModel(), C=10.0, random_state=0).fit(X, y)
    >>> model.predict([(np.array([[0.0], [2.0], [2.0]]), parents)])
    [array(['root', 'up', 'up'], dtype='<U4')]
    """

    hierarchy: Mapping[Any, Any] | None = None
    fit_intercept: bool = True

    @property
    def reads_tables(self) -> bool:  # type: ignore[override]
        """Whether X is a table of one row for each item."""
        return self.hierarchy is not None

    def read(self, X: Any, lengths: Any, fixed: Fixed) -> Items:
        """Trees, their nodes in an order where parents come first; or rows of a table."""
        if self.hierarchy is not None:
            return one_node_each(X)
        pairs = list(X)
        for i, item in enumerate(pairs):
            if not isinstance(item, tuple) or len(item) != 2:
                raise ValueError(f"item {i} of X must be a pair (features, parents)")
        rows, found = stacked([features for features, _ in pairs], None)
        orders, parents = zip(
            *(_parents_first(p, int(m), i) for i, ((_, p), m) in enumerate(zip(pairs, found, strict=True))), strict=True
        )
        starts = np.cumsum(found) - found
        order = np.concatenate([own + a for own, a in zip(orders, starts, strict=True)])
        parent = np.concatenate([np.where(p >= 0, p + a, -1) for p, a in zip(parents, starts, strict=True)])
        second = np.flatnonzero(parent >= 0)
        layout = Layout(found, parent[second], second, np.zeros(len(second), dtype=np.int64), 1)
        return Items(rows[order], layout, order)

    @property
    def inference(self) -> MakeInference:
        """Max-product and sum-product."""
        return Forest if self.hierarchy is None else Isolated

    def labels(self, y: Any, items: Items) -> Labels:
        """(N,) labels of all nodes, in the order of the layout."""
        return super().labels(y, items) if self.hierarchy is None else MulticlassModel().labels(y, items)

    def learn_fixed(self, y: Any) -> Fixed:
        """One table of pairs; none in a hierarchy."""
        return Fixed(int(self.hierarchy is None))

    def shape(self, n_columns: int, classes: Labels, fixed: Fixed) -> Shape:
        """A column of weights for each label (and each group of a hierarchy), and a table of pairs."""
        basis = None if self.hierarchy is None else self._ancestors(classes)
        return Shape(n_columns, len(classes), fixed.n_kinds, basis)

    def costs(self, loss: Any, classes: Labels) -> Array:
        """Steps in the hierarchy, or errors."""
        if self.hierarchy is None or not isinstance(loss, str):
            return super().costs(loss, classes)
        up = self._ancestors(classes)
        depth, shared = up.sum(axis=1), up @ up.T
        return np.asarray(depth[:, None] + depth - 2 * shared)

    def _ancestors(self, classes: Labels) -> Array:
        """(K, V) which classes and groups each class is part of."""
        assert self.hierarchy is not None
        paths = [self._path(label) for label in classes.tolist()]
        names = {name: i for i, name in enumerate(dict.fromkeys(name for path in paths for name in path))}
        table = np.zeros((len(classes), len(names)))
        for row, path in zip(table, paths, strict=True):
            row[[names[name] for name in path]] = 1.0
        return table

    def _path(self, label: Any) -> list[Any]:
        assert self.hierarchy is not None
        path, at = [], label
        while at is not None:
            if at in path:
                raise ValueError(f"the hierarchy has a cycle at {at!r}")
            if at not in self.hierarchy:
                raise ValueError(f"the hierarchy does not say what the parent of {at!r} is: None for the top")
            path.append(at)
            at = self.hierarchy[at]
        return path

    def probabilities(self, marginals: Any, items: Items) -> Any:
        """Marginals of the labels of each node, or (n, K) of the classes."""
        return self.outputs(marginals, items)


def _parents_first(parents: Any, m: int, item: int) -> tuple[Ints, Ints]:
    """An order of the nodes in which parents come first, and the parents as places in it."""
    given = np.asarray(parents)
    if given.shape != (m,):
        raise ValueError(f"item {item} of X has {m} nodes, but parents of shape {given.shape}")
    if (given == -1).sum() != 1 or ((given < -1) | (given >= m)).any():
        raise ValueError(f"item {item} of X must have one root, with parent -1, and parents from 0 to {m - 1}")
    order, place = [int(np.argmax(given == -1))], np.full(m, -1, dtype=np.int64)
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(given.tolist()):
        children.setdefault(parent, []).append(node)
    for at in order:  # grows while it is walked through
        place[at] = np.count_nonzero(place >= 0)
        order.extend(children.get(at, ()))
    if len(order) != m:
        raise ValueError(f"item {item} of X is no tree: its parents form a cycle")
    found = given[order]
    return np.array(order), np.where(found >= 0, place[found], -1)
