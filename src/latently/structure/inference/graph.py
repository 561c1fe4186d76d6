"""Graphs of labelled nodes; those of one shape are worked on together."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.structure.inference import junction
from latently.structure.inference.junction import Elimination
from latently.structure.inference.layout import Layout, Marginals, check_countable
from latently.structure.inference.ranked import ranked
from latently.structure.protocol import Array, Ints

LARGEST = 1 << 20
"""Entries of the largest table that is made for one item."""
_TOGETHER = 1 << 21  # entries of a table of several items
_LISTED = 1 << 14  # outputs of an item that are all looked at


@dataclass(frozen=True, eq=False)
class Graphs:
    """Items that are graphs of any shape, of small width."""

    layout: Layout

    @cached_property
    def shapes(self) -> dict[Elimination, Ints]:
        """The different graphs, and the items that have each."""
        found: dict[tuple[int, junction.Edges], list[int]] = {}
        layout, starts = self.layout, self.layout.starts
        of_edge = layout.item_of_node()[layout.first] if len(layout.first) else np.empty(0, dtype=np.int64)
        order = np.argsort(of_edge, kind="stable")
        cuts = np.searchsorted(of_edge[order], np.arange(len(starts) + 1))
        for item, start in enumerate(starts):
            own = order[cuts[item] : cuts[item + 1]]
            edges = np.column_stack([layout.first[own] - start, layout.second[own] - start, layout.kind[own]])
            key = (int(layout.lengths[item]), tuple(map(tuple, edges.tolist())))
            found.setdefault(key, []).append(item)
        return {Elimination(*key): np.array(items) for key, items in found.items()}

    def _groups(self, K: int) -> Iterator[tuple[Elimination, Ints, Ints]]:
        """A graph, some items that have it, and their nodes (B, m)."""
        for graph, items in self.shapes.items():
            if K**graph.width > LARGEST:
                raise ValueError(
                    f"item {items[0]} is a graph of width {graph.width}: exact inference would need a table of "
                    f"{K}^{graph.width} entries, {LARGEST} at most; use fewer edges, or smaller graphs"
                )
            together = max(_TOGETHER // K**graph.width, 1)
            for begin in range(0, len(items), together):
                some = items[begin : begin + together]
                yield graph, some, self.layout.starts[some][:, None] + np.arange(graph.n_nodes)

    def decode(self, U: Array, P: Array) -> Ints:
        """(N,) the best labels, by elimination."""
        labels = np.empty(len(U), dtype=np.int64)
        for graph, _, nodes in self._groups(U.shape[1]):
            labels[nodes] = junction.decode(graph, U[nodes], P)
        return labels

    def marginals(self, U: Array, P: Array, weights: Array) -> Marginals:
        """Log partition functions and marginals, by a junction tree."""
        logs, marginals, pairs = np.empty(len(self.layout.lengths)), np.empty_like(U), np.zeros_like(P)
        for graph, items, nodes in self._groups(U.shape[1]):
            logs[items], marginals[nodes], more = junction.sums(graph, U[nodes], P, weights[items])
            pairs += more
        return Marginals(logs, marginals, pairs)

    def scaled(self, U: Array, P: Array, truth: Ints, costs: Array, floor: Array) -> Ints:
        """(N,) labels with the largest loss * (1 + score - floor): all outputs are looked at."""
        check_countable(costs, truth)
        labels = np.empty(len(U), dtype=np.int64)
        for graph, items, nodes in self._groups(U.shape[1]):
            outputs = _all_outputs(U.shape[1], graph.n_nodes, int(items[0]))
            spots = np.arange(graph.n_nodes)
            for item, own in zip(items, nodes, strict=True):
                scores = U[own][spots, outputs].sum(axis=1)
                for a, b, kind in graph.edges:
                    scores += P[kind, outputs[:, a], outputs[:, b]]
                loss = costs[own][spots, outputs].sum(axis=1)
                labels[own] = outputs[np.argmax(loss * (1.0 + scores - floor[item]))]
        return labels

    def best(self, U: Array, P: Array, k: int) -> list[NDArray[Any]]:
        """The k best labels of each item."""
        return ranked(Graphs, self.layout, U, P, k)


def _all_outputs(K: int, n_nodes: int, item: int) -> Ints:
    """Every output (K^m, m)."""
    if K**n_nodes > _LISTED:
        raise ValueError(
            f"rescale='slack' looks at all outputs of a graph, and item {item} has {K}^{n_nodes}, {_LISTED} at most: "
            "use rescale='margin', or labels that form a tree"
        )
    return np.stack(np.meshgrid(*[np.arange(K)] * n_nodes, indexing="ij"), axis=-1).reshape(-1, n_nodes)
