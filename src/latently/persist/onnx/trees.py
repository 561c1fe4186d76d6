"""The graphs of decision trees and random forests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.persist.onnx.graph import Graph
from latently.persist.onnx.inputs import encoded
from latently.persist.onnx.models import give_labels
from latently.predict.tree.model.nodes import GROUPS, LEAF, THRESHOLD, Nodes

Array = NDArray[np.float64]
_SUM: Final = 1
_AT_MOST, _EQUAL, _MEMBER = 0, 4, 6
Place = tuple[int, bool]  # of a node or of a leaf, and whether it is one


@dataclass
class _Ensemble:
    """Trees behind each other, as the operator `TreeEnsemble` reads them; each gives the place of its leaf."""

    feature: list[int] = field(default_factory=list)
    mode: list[int] = field(default_factory=list)
    split: list[float] = field(default_factory=list)
    true: list[Place] = field(default_factory=list)
    false: list[Place] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)  # 1 if a missing value goes to the true side
    members: list[float] = field(default_factory=list)  # sets of categories, a NaN behind each
    tree: list[int] = field(default_factory=list)  # of each leaf
    roots: list[int] = field(default_factory=list)

    def split_at(self, feature: int, mode: int, split: float, missing: bool) -> int:
        """Add a node without children."""
        self.feature.append(feature)
        self.mode.append(mode)
        self.split.append(split)
        self.missing.append(int(missing))
        self.true.append((0, True))
        self.false.append((0, True))
        return len(self.feature) - 1

    def leaf(self) -> Place:
        """Add a leaf of the tree that grows."""
        self.tree.append(len(self.roots))
        return len(self.tree) - 1, True


def tree_classifier(graph: Graph, model: Any) -> None:
    """`label` and `probabilities`; of several outputs `label_0`, `label_1`, and so on."""
    _give_classes(graph, model, [_smoothed(model)])


def forest_classifier(graph: Graph, model: Any) -> None:
    """`label` and `probabilities`; of several outputs `label_0`, `label_1`, and so on."""
    _give_classes(graph, model, [_smoothed(tree) for tree in model.estimators_])


def _smoothed(tree: Any) -> Nodes:
    """Nodes of a tree with the values that it answers with."""
    values: Array | None = tree._smoothed()
    nodes: Nodes = tree.nodes_
    return nodes if values is None else replace(nodes, value=values)


def tree_regressor(graph: Graph, model: Any) -> None:
    """`prediction`, (rows, outputs)."""
    if getattr(model, "linear_", None) is not None:
        raise TypeError("a tree with linear models at its leaves cannot be written as ONNX: use leaf='mean'")
    _give_means(graph, model, [model.nodes_])


def forest_regressor(graph: Graph, model: Any) -> None:
    """`prediction`, (rows, outputs)."""
    _give_means(graph, model, [tree.nodes_ for tree in model.estimators_])


def _give_classes(graph: Graph, model: Any, trees: Sequence[Nodes]) -> None:
    many = model.n_outputs_ > 1
    classes = model.classes_ if many else [model.classes_]
    means = _means(graph, model, trees)
    for place, names in enumerate(classes):
        shares = graph.columns(graph.add("Gather", means, np.int64(place), axis=1), np.arange(len(names)))
        mark = f"_{place}" if many else ""
        give_labels(graph, shares, np.asarray(names), name=f"label{mark}")
        graph.give(f"probabilities{mark}", shares, np.float64, len(names))


def _give_means(graph: Graph, model: Any, trees: Sequence[Nodes]) -> None:
    means = graph.add("Squeeze", _means(graph, model, trees), np.array([2]))
    graph.give("prediction", means, np.float64, model.n_outputs_)


def _means(graph: Graph, model: Any, trees: Sequence[Nodes]) -> str:
    """(rows, outputs, classes or 1) values of the leaves, averaged over the trees."""
    if any(tree.is_fractional for tree in trees):
        raise TypeError(
            "a tree that sends missing values down several branches cannot be written as ONNX: fit it with "
            "missing='side'"
        )
    ensemble = _Ensemble()
    order = [tree.value[_grown(ensemble, tree)] for tree in trees]
    X = encoded(graph, model, unseen=True, missing=True)
    leaves = graph.add("Cast", _tree_ensemble(graph, X, ensemble), to=7)
    values = graph.add("Gather", np.concatenate(order), leaves, axis=0)  # (rows, trees, outputs, classes or 1)
    return graph.add("ReduceMean", values, np.array([1]), keepdims=0)


def _grown(ensemble: _Ensemble, nodes: Nodes) -> list[int]:
    """Add a tree; give its leaves in the order in which they were added."""
    start = len(ensemble.feature)
    leaves: list[int] = []

    def place(node: int) -> Place:
        if nodes.kind[node] == LEAF:
            leaves.append(node)
            return ensemble.leaf()
        chain = [ensemble.split_at(*asked) for asked in _questions(ensemble, nodes, node)]
        queue.append((node, chain))
        return chain[0], False

    queue: list[tuple[int, list[int]]] = []
    if nodes.kind[0] == LEAF:  # the operator wants a node at the root
        chain = [ensemble.split_at(0, _AT_MOST, 0.0, False)]
        leaves += [0, 0]
        ensemble.true[chain[0]], ensemble.false[chain[0]] = ensemble.leaf(), ensemble.leaf()
    else:
        place(0)
    while queue:
        node, chain = queue.pop()
        for (true, false), at in zip(_sides(nodes, node, len(chain)), chain, strict=True):
            ensemble.true[at] = place(true)
            ensemble.false[at] = (at + 1, False) if false is None else place(false)
    ensemble.roots.append(start)
    return leaves


def _questions(ensemble: _Ensemble, nodes: Nodes, node: int) -> Iterator[tuple[int, int, float, bool]]:
    """What a node asks, one question after the other: column, mode, number, and whether a missing value says yes."""
    feature, aside = int(nodes.feature[node]), int(nodes.missing[node])
    if nodes.kind[node] == THRESHOLD:
        yield feature, _AT_MOST, float(nodes.threshold[node]), aside == 0
    elif nodes.kind[node] == GROUPS:
        ensemble.members += [*map(float, _members(nodes, node)), np.nan]
        yield feature, _MEMBER, 0.0, False
    else:
        for code in _asked(nodes, node):
            yield feature, _EQUAL, float(code), False


def _members(nodes: Nodes, node: int) -> NDArray[np.int64]:
    """Categories that do not go where a missing value goes."""
    start = int(nodes.list_start[node])
    return nodes.lists[start : start + int(nodes.list_len[node])]


def _asked(nodes: Nodes, node: int) -> list[int]:
    """Codes whose child is not that of a missing value, which all others go to."""
    return [code for code in range(int(nodes.n_children[node])) if code != nodes.missing[node]]


def _sides(nodes: Nodes, node: int, size: int) -> list[tuple[int, int | None]]:
    """The children on the true and the false side of each question; None for the next question."""
    first, aside = int(nodes.first[node]), int(nodes.missing[node])
    if nodes.kind[node] == THRESHOLD:
        return [(first, first + 1)]
    if nodes.kind[node] == GROUPS:
        return [(first + 1 - aside, first + aside)]
    children: list[int | None] = [None] * (size - 1)
    return list(zip([first + code for code in _asked(nodes, node)], [*children, first + aside], strict=True))


def _tree_ensemble(graph: Graph, X: str, ensemble: _Ensemble) -> str:
    """(rows, trees) the place of the leaf that a row ends in."""
    from onnx import numpy_helper

    def tensor(values: Sequence[float], dtype: Any = np.float64) -> Any:
        return numpy_helper.from_array(np.array(values, dtype=dtype))

    members = {"membership_values": tensor(ensemble.members)} if ensemble.members else {}
    return graph.add(
        "TreeEnsemble",
        X,
        domain="ai.onnx.ml",
        aggregate_function=_SUM,
        n_targets=len(ensemble.roots),
        tree_roots=ensemble.roots,
        nodes_featureids=ensemble.feature,
        nodes_modes=tensor(ensemble.mode, np.uint8),
        nodes_splits=tensor(ensemble.split),
        nodes_truenodeids=[place for place, _ in ensemble.true],
        nodes_trueleafs=[int(leaf) for _, leaf in ensemble.true],
        nodes_falsenodeids=[place for place, _ in ensemble.false],
        nodes_falseleafs=[int(leaf) for _, leaf in ensemble.false],
        nodes_missing_value_tracks_true=ensemble.missing,
        leaf_targetids=ensemble.tree,
        leaf_weights=tensor(range(len(ensemble.tree))),
        **members,
    )
