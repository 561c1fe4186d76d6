"""Labelled graphs and small grids."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.structure.inference.graph import Graphs
from latently.structure.inference.layout import Layout
from latently.structure.models.base import Fixed, Items, PairwiseModel
from latently.structure.models.items import stacked
from latently.structure.pairwise import MakeInference
from latently.structure.protocol import Ints


@dataclass(frozen=True)
class GraphModel(PairwiseModel):
    """A label for every node of a graph, with a score for each pair of labels along an edge; inference is exact.

    An item is a pair (features (m, d), edges (M, 2)), or a grid (height, width, d), whose cells have edges to the cells
    to the right and below, each with a table of its own. An edge leads from its first node to its second.

    The best labels and the marginals are found by elimination of the nodes one by one, which is exact. It needs a table
    of K^width entries, where the width is about the smaller side of a grid plus one: grids up to 15 cells wide with two
    labels. Wider graphs are an error.

    Parameters
    ----------
    fit_intercept
        Whether features get a column of ones.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.structure import StructuredSVM
    >>> y = [np.array([[0, 0, 1], [0, 0, 1], [0, 0, 1]]), np.array([[1, 1, 1], [1, 1, 1], [0, 0, 0]])]
    >>> noisy = [2.0 * grid[:, :, None] - 1 for grid in y]
    >>> noisy[0][1, 1] = 0.2
    >>> StructuredSVM(GraphModel(), C=10.0, random_state=0).fit(noisy, y).predict(noisy)[0]
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 1]])
    """

    fit_intercept: bool = True

    def read(self, X: Any, lengths: Any, fixed: Fixed) -> Items:
        """Nodes and edges of all graphs."""
        if lengths is not None:
            raise ValueError("GraphModel reads a list of graphs: there are no lengths")
        graphs = [_graph(item, i) for i, item in enumerate(X)]
        rows, found = stacked([features for features, _, _ in graphs], None)
        starts = np.cumsum(found) - found
        for i, ((_, own, _), m) in enumerate(zip(graphs, found, strict=True)):
            if len(own) and (own.min() < 0 or own.max() >= m or (own[:, 0] == own[:, 1]).any()):
                raise ValueError(f"item {i} of X has edges between nodes that are not there: nodes are 0 to {m - 1}")
        first, second = np.vstack([own + a for (_, own, _), a in zip(graphs, starts, strict=True)]).T
        kind = np.concatenate([kinds for _, _, kinds in graphs])
        if kind.max(initial=0) >= fixed.n_kinds:
            raise ValueError("X has grids, but the labels in y are not those of grids (height, width)")
        forms = tuple(
            np.shape(item)[:-1] if _is_grid(item) else (m,) for item, m in zip(X, found.tolist(), strict=True)
        )
        return Items(rows, Layout(found, first, second, kind, fixed.n_kinds), forms=forms)

    @property
    def inference(self) -> MakeInference:
        """Elimination."""
        return Graphs

    def learn_fixed(self, y: Any) -> Fixed:
        """Two tables of pairs for grids, whose labels have two axes, and one for graphs."""
        return Fixed(2 if np.ndim(y[0]) == 2 else 1)

    def probabilities(self, marginals: Any, items: Items) -> Any:
        """Marginals of the labels of each node."""
        return self.outputs(marginals, items)


def _is_grid(item: Any) -> bool:
    return not isinstance(item, tuple) and np.ndim(item) == 3


def _graph(item: Any, i: int) -> tuple[Any, Ints, Ints]:
    """Features, edges and their kinds."""
    if _is_grid(item):
        height, width, d = np.shape(item)
        cells = np.arange(height * width).reshape(height, width)
        across = np.column_stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()])
        down = np.column_stack([cells[:-1].ravel(), cells[1:].ravel()])
        kinds = np.repeat([0, 1], [len(across), len(down)])
        return np.reshape(item, (height * width, d)), np.vstack([across, down]), kinds
    if not isinstance(item, tuple) or len(item) != 2:
        raise ValueError(f"item {i} of X must be a pair (features, edges), or a grid (height, width, features)")
    features, edges = item
    edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    return features, edges, np.zeros(len(edges), dtype=np.int64)
