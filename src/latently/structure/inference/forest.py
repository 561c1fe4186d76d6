"""Trees of labelled nodes, all of them in one compiled call."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently import compiled
from latently.structure.inference.layout import Layout, Marginals, check_countable
from latently.structure.inference.ranked import ranked
from latently.structure.protocol import Array, Ints


@dataclass(frozen=True, eq=False)
class Forest:
    """Items that are trees; `first` of an edge is the parent, which comes before its children."""

    layout: Layout

    @cached_property
    def links(self) -> tuple[Ints, Ints]:
        """(N,) parent of each node, -1 for roots, and the kind of the edge to it."""
        parent, kind = np.full(self.layout.n_nodes, -1, dtype=np.int64), np.zeros(self.layout.n_nodes, dtype=np.int64)
        parent[self.layout.second] = self.layout.first
        kind[self.layout.second] = self.layout.kind
        return parent, kind

    def decode(self, U: Array, P: Array) -> Ints:
        """(N,) the best labels, by max-product."""
        labels = np.empty(len(U), dtype=np.int64)
        pointers = np.empty(U.shape, dtype=np.int32)
        compiled.structure.forest.max_product(U, *self.links, P, np.empty_like(U), pointers, labels)
        return labels

    def marginals(self, U: Array, P: Array, weights: Array) -> Marginals:
        """Log partition functions and marginals, by sum-product."""
        nodes, pairs, logs = np.empty_like(U), np.zeros_like(P), np.empty(len(U))
        weight = np.repeat(weights, self.layout.lengths)
        scratch = np.empty_like(U), np.empty_like(U)
        compiled.structure.forest.sum_product(U, *self.links, P, weight, *scratch, nodes, pairs, logs)
        return Marginals(logs[self.layout.starts], nodes, pairs)

    def scaled(self, U: Array, P: Array, truth: Ints, costs: Array, floor: Array) -> Ints:
        """(N,) labels with the largest loss * (1 + score - floor), by the best labels for every number of errors."""
        check_countable(costs, truth)
        labels, counted = np.empty(len(U), dtype=np.int64), costs.max(axis=1) > 0
        compiled.structure.forest.best_by_errors(U, self.layout.lengths, *self.links, P, truth, counted, floor, labels)
        return labels

    def best(self, U: Array, P: Array, k: int) -> list[NDArray[Any]]:
        """The k best labels of each item."""
        return ranked(Forest, self.layout, U, P, k)
