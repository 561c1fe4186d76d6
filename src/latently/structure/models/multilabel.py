"""Several labels for each row, with scores of pairs of them."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.metrics import mutual_info_score

from latently.structure.inference.graph import Graphs
from latently.structure.inference.layout import Layout
from latently.structure.models.base import Fixed, Items, Labels, PairwiseModel
from latently.structure.pairwise import MakeInference, Shape
from latently.structure.protocol import Ints


@dataclass(frozen=True)
class MultilabelModel(PairwiseModel):
    """Any number of labels for each row: w . Psi(x, y) = sum over labels in y of x . W[:, l], and of pairs of labels.

    X is a table, y an indicator matrix (n, L) of 0 and 1. Inference is exact: for trees of labels in the time that it
    takes to look at each edge once, for all pairs by looking at all 2^L outputs (L up to 19).

    Parameters
    ----------
    edges
        Which pairs of labels have a score: "tree" (the spanning tree with the most mutual information in y, of Chow
        and Liu), "full" (all), "none", or a list of pairs of columns.
    fit_intercept
        Whether features get a column of ones.

    Examples
    --------
    >>> from latently.structure import StructuredSVM
    >>> X = [[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [-1.0, -1.0]]
    >>> y = [[1, 0], [0, 1], [1, 1], [0, 0]]
    >>> StructuredSVM(MultilabelModel(), C=10.0, random_state=0).fit(X, y).predict([[3.0, 0.1], [3.0, 3.0]])
    array([[1, 0],
           [1, 1]])
    """

    edges: Any = "tree"
    fit_intercept: bool = True
    reads_tables = True

    def read(self, X: Any, lengths: Any, fixed: Fixed) -> Items:
        """Rows of a table; every label is a node."""
        n, L, E = X.shape[0], fixed.n_nodes, len(fixed.edges)
        starts = np.repeat(np.arange(n) * L, E)
        first, second = np.tile(fixed.edges.T, n)
        kind = np.tile(np.arange(E), n)
        return Items(X, Layout(np.full(n, L, dtype=np.int64), first + starts, second + starts, kind, E))

    @property
    def inference(self) -> MakeInference:
        """Elimination of the labels, for all rows together."""
        return Graphs

    def learn_fixed(self, y: Any) -> Fixed:
        """The labels, and which pairs have a table."""
        indicators = _indicators(y)
        pairs = self._pairs(indicators).reshape(-1, 2)
        return Fixed(len(pairs), indicators.shape[1], pairs)

    def _pairs(self, indicators: Ints) -> Ints:
        L = indicators.shape[1]
        if not isinstance(self.edges, str):
            pairs = np.asarray(self.edges, dtype=np.int64).reshape(-1, 2)
            if len(pairs) and (pairs.min() < 0 or pairs.max() >= L or (pairs[:, 0] == pairs[:, 1]).any()):
                raise ValueError(f"edges must be pairs of different labels from 0 to {L - 1}, got {pairs.tolist()}")
            return pairs
        if self.edges == "tree":
            return chow_liu(indicators)
        if self.edges in ("full", "none"):
            return np.array(list(combinations(range(L), 2) if self.edges == "full" else ()), dtype=np.int64)
        raise ValueError(f"edges must be 'tree', 'full', 'none' or pairs of labels, got {self.edges!r}")

    def learn_classes(self, labels: Labels, known: Any) -> Labels:
        """Not there, and there."""
        return np.array([0, 1])

    def labels(self, y: Any, items: Items) -> Labels:
        """(n L,) indicators."""
        found, n = _indicators(y), len(items.layout.lengths)
        if len(found) != n:
            raise ValueError(f"X has {n} items, but y has {len(found)}")
        if found.shape[1] * n != items.layout.n_nodes:
            raise ValueError(f"y has {found.shape[1]} labels, but there were {items.layout.n_nodes // n} at the fit")
        return found.ravel()

    def shape(self, n_columns: int, classes: Labels, fixed: Fixed) -> Shape:
        """A column of weights for each label that is there, and a table for each pair."""
        L = fixed.n_nodes
        basis = np.zeros((L, 2, L))
        basis[np.arange(L), 1, np.arange(L)] = 1.0
        return Shape(n_columns, 2, fixed.n_kinds, basis.reshape(2 * L, L))

    def outputs(self, labels: Labels, items: Items) -> Any:
        """(n, L) indicators."""
        return labels.reshape(len(items.layout.lengths), -1)

    def probabilities(self, marginals: Any, items: Items) -> Any:
        """(n, L) probabilities that labels are there."""
        return self.outputs(marginals[:, 1], items)


def _indicators(y: Any) -> Ints:
    """A checked indicator matrix."""
    found = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    if found.ndim != 2 or not np.isin(found, (0, 1)).all():
        raise ValueError("y must be an indicator matrix (n, labels) of 0 and 1 for MultilabelModel")
    return found.astype(np.int64)


def chow_liu(indicators: Ints) -> Ints:
    """(L - 1, 2) the spanning tree of labels with the most mutual information; fewer edges where there is none.

    Examples
    --------
    >>> chow_liu(np.array([[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0]]))
    array([[0, 1]])
    """
    L = indicators.shape[1]
    information = np.zeros((L, L))
    for i, j in combinations(range(L), 2):
        shared = mutual_info_score(indicators[:, i], indicators[:, j])
        information[i, j] = shared if shared > 1e-12 else 0.0
    return np.column_stack(minimum_spanning_tree(-information).nonzero()).astype(np.int64)
