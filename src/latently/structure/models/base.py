"""What the models of this package have in common: reading items and labels, and answering about them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from latently.data.tables.values import quote
from latently.structure.inference.layout import Layout, score_of
from latently.structure.models.items import flat_labels, missing_labels, split
from latently.structure.pairwise import MakeInference, Nodes, Shape
from latently.structure.protocol import Array, Ints

Labels = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Fixed:
    """What is the same in all outputs of a fit.

    Parameters
    ----------
    n_kinds
        Number of tables of pairs.
    n_nodes
        Nodes of every item, if that is fixed.
    edges
        (E, 2) edges of every item, if they are fixed.
    """

    n_kinds: int = 1
    n_nodes: int = 0
    edges: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Items:
    """Features of items as a model reads them.

    Parameters
    ----------
    rows
        (R, d) features, an array or compressed sparse rows.
    layout
        Nodes and edges.
    order
        (N,) where each node comes in what the user gave; None if in its place.
    flat
        Whether outputs are given back as one array, as they came.
    forms
        The shape of each output, where it is not flat; None if all are.
    """

    rows: Any
    layout: Layout
    order: Ints | None = None
    flat: bool = False
    forms: tuple[tuple[int, ...], ...] | None = None

    def of_one(self, item: int) -> tuple["Items", Ints]:
        """One of the items (without its features), and its nodes."""
        layout, nodes = self.layout.take(np.array([item]))
        order = None if self.order is None else self.order[nodes] - int(nodes.min())
        forms = None if self.forms is None else (self.forms[item],)
        return Items(None, layout, order, self.flat, forms), nodes


class PairwiseModel(ABC):
    """Base of the models; a subclass is a frozen dataclass of its options.

    A model has no state of its own: what it learns about the outputs (labels, edges) is in a `FittedModel`.
    """

    fit_intercept: bool
    reads_tables = False
    """Whether X is a table of one row for each item."""

    @abstractmethod
    def read(self, X: Any, lengths: Any, fixed: Fixed) -> Items:
        """Read features; `fixed` is what `learn_fixed` gave."""

    @property
    @abstractmethod
    def inference(self) -> MakeInference:
        """Makes the inference of a layout."""

    def labels(self, y: Any, items: Items) -> Labels:
        """(N,) labels of all nodes, in the order of the layout."""
        found = flat_labels(y, items.layout.lengths, items.flat)
        return found if items.order is None else found[items.order]

    def learn_fixed(self, y: Any) -> Fixed:
        """What is the same in all outputs."""
        return Fixed()

    @abstractmethod
    def probabilities(self, marginals: Array, items: Items) -> Any:
        """What `predict_proba` gives, of marginals (N, K) of all nodes."""

    def learn_classes(self, labels: Labels, known: NDArray[np.bool_]) -> Labels:
        """The different labels."""
        if not known.any():
            raise ValueError("y has no label at all: every one is missing")
        seen = labels[known]
        return np.unique(seen.astype(str) if seen.dtype.kind == "O" and isinstance(seen[0], str) else seen)

    def shape(self, n_columns: int, classes: Labels, fixed: Fixed) -> Shape:
        """How the weights are made up."""
        return Shape(n_columns, len(classes), fixed.n_kinds)

    def costs(self, loss: Any, classes: Labels) -> Array:
        """(K, K) costs of a loss, "hamming" or a matrix."""
        if isinstance(loss, str):
            return 1.0 - np.eye(len(classes))
        return checked_costs(loss, classes)

    def outputs(self, labels: Labels, items: Items) -> Any:
        """What is given back, of labels (N, ...) of all nodes in the order of the layout."""
        if items.order is not None:
            placed = np.empty_like(labels)
            placed[items.order] = labels
            labels = placed
        if items.flat:
            return labels
        found = split(labels, items.layout.lengths)
        if items.forms is None:
            return found
        return [own.reshape(*form, *own.shape[1:]) for own, form in zip(found, items.forms, strict=True)]


def checked_costs(loss: Any, classes: Labels) -> Array:
    """A matrix of costs: zero for the truth, never negative."""
    costs = np.asarray(loss, dtype=float)
    K = len(classes)
    if costs.shape != (K, K):
        raise ValueError(f"loss must be 'hamming' or a matrix ({K}, {K}) of costs, got one of shape {costs.shape}")
    if not np.isfinite(costs).all() or (costs < 0).any():
        i, j = np.argwhere(~(costs >= 0) | ~np.isfinite(costs))[0]
        raise ValueError(
            f"the loss of saying {classes[j]} where {classes[i]} is true is {costs[i, j]}: "
            "a loss must not be negative, and must be finite"
        )
    if np.diag(costs).any():
        i = int(np.argmax(np.diag(costs) != 0))
        raise ValueError(f"the loss of saying {classes[i]} where it is true is {costs[i, i]}, but must be 0")
    return costs


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A model, and what it has learnt about outputs.

    Parameters
    ----------
    model
        The model.
    classes
        (K,) the labels.
    n_features
        Columns of the features that the user gives.
    fixed
        What is the same in all outputs.
    """

    model: PairwiseModel
    classes: Labels
    n_features: int
    fixed: Fixed

    @property
    def shape(self) -> Shape:
        """How the weights are made up."""
        return self.shape_of(self.n_features)

    def shape_of(self, n_columns: int) -> Shape:
        """How the weights are made up, for so many columns (without the intercept)."""
        return self.model.shape(n_columns + self.model.fit_intercept, self.classes, self.fixed)

    def nodes(self, items: Items) -> Nodes:
        """The items, with a column of ones if there is an intercept."""
        rows = with_ones(items.rows) if self.model.fit_intercept else items.rows
        shape = self.shape_of(items.rows.shape[1])
        return Nodes(rows, items.layout, shape, self.model.inference)

    def encode(self, labels: Labels, layout: Layout) -> tuple[Ints, NDArray[np.bool_]]:
        """(N,) numbers of labels, and which are known; an error names the item with a label that is new."""
        missing = missing_labels(labels)
        seen = np.where(missing, self.classes[0], labels)
        seen = seen.astype(self.classes.dtype) if labels.dtype.kind == "O" else seen
        at = np.searchsorted(self.classes, seen).clip(max=len(self.classes) - 1)
        new = (self.classes[at] != seen) & ~missing
        if new.any():
            node = int(np.argmax(new))
            label, item = labels[node : node + 1].tolist()[0], int(layout.item_of_node()[node])
            raise ValueError(
                f"label {label!r} of item {item} was not there at the fit: the labels are "
                f"{quote(self.classes.tolist(), 10)}"
            )
        return at.astype(np.int64), ~missing

    def check_allowed(self, truth: Ints, known: NDArray[np.bool_], layout: Layout) -> None:
        """An error if a true output has a pair of labels that the model forbids."""
        shape = self.shape
        sure = known[layout.first] & known[layout.second]
        if shape.allowed is not None:
            bad = sure & ~shape.allowed[truth[layout.first], truth[layout.second]]
            if bad.any():
                self._refuse(int(layout.first[np.argmax(bad)]), int(layout.second[np.argmax(bad)]), truth, layout)
        if shape.allowed_first is not None:
            bad = known[layout.starts] & ~shape.allowed_first[truth[layout.starts]]
            if bad.any():
                self._refuse(None, int(layout.starts[np.argmax(bad)]), truth, layout)

    def _refuse(self, before: int | None, node: int, truth: Ints, layout: Layout) -> None:
        names = self.classes.tolist()
        pair = tuple(None if t is None else names[truth[t]] for t in (before, node))
        item = int(layout.item_of_node()[node])
        raise ValueError(f"item {item} of y has the forbidden transition {pair[0]!r} -> {pair[1]!r}")


def with_ones(rows: Any) -> Any:
    """Rows with a column of ones at the end."""
    ones = np.ones((rows.shape[0], 1))
    if sparse.issparse(rows):
        return sparse.hstack([rows, ones], format="csr")
    return np.hstack([rows, ones])


@dataclass(frozen=True, eq=False)
class PairwiseDecoder:
    """Items that a fitted model is asked about."""

    fitted: FittedModel
    items: Items
    nodes: Nodes

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items.layout.lengths)

    def _outputs(self, labels: Ints) -> Any:
        return self.fitted.model.outputs(self.fitted.classes[labels], self.items)

    def decode(self, w: Array) -> Any:
        """The best output of each item."""
        return self._outputs(self.nodes.inference.decode(*self.nodes.scores(w)))

    def scores(self, w: Array) -> Array:
        """(n, K) scores of the classes, of models of classes; (n,) scores of the best outputs of others."""
        U, P = self.nodes.scores(w)
        if self.fitted.model.reads_tables and self.items.layout.n_nodes == self.n_items:
            return U
        return score_of(self.items.layout, U, P, self.nodes.inference.decode(U, P))

    def best(self, w: Array, k: int) -> tuple[list[list[Any]], list[Array]]:
        """The k best outputs of each item, and their scores."""
        U, P = self.nodes.scores(w)
        found = self.nodes.inference.best(U, P, k)
        outputs, scores = [], []
        for item, ranked in enumerate(found):
            alone, nodes = self.items.of_one(item)
            outputs.append([_single(self.fitted.model.outputs(self.fitted.classes[y], alone)) for y in ranked])
            scores.append(np.array([score_of(alone.layout, U[nodes], P, y)[0] for y in ranked]))
        return outputs, scores

    def probabilities(self, w: Array) -> Any:
        """Marginal probabilities of the labels of each node."""
        found = self.nodes.inference.marginals(*self.nodes.scores(w), np.ones(self.n_items)).nodes
        return self.fitted.model.probabilities(found, self.items)

    def accuracy(self, w: Array, y: Any, weights: Array | None) -> float:
        """Share of the nodes with the right label."""
        layout = self.items.layout
        truth, known = self.fitted.encode(self.fitted.model.labels(y, self.items), layout)
        labels = self.nodes.inference.decode(*self.nodes.scores(w))
        each = known * (1.0 if weights is None else np.repeat(weights, layout.lengths))
        return float(np.average(truth == labels, weights=each))


def _single(outputs: Any) -> Any:
    return outputs[0] if isinstance(outputs, list) or len(outputs) == 1 else outputs
