"""Exact inference in graphs by elimination: one table for each node and the neighbours that it still has.

Many graphs of one shape are done together: tables have the items as their first axis, then one axis for each node of
the clique, in the order of elimination.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from latently.structure.protocol import Array, Ints

Edges = tuple[tuple[int, int, int], ...]
"""First node, second node and kind of each edge."""


@dataclass(frozen=True)
class Elimination:
    """A graph and the order in which its nodes are summed out, always one with the fewest neighbours."""

    n_nodes: int
    edges: Edges

    @cached_property
    def cliques(self) -> list[tuple[int, ...]]:
        """For each step the node that is eliminated, and the neighbours it has then, in their order."""
        near: dict[int, set[int]] = {v: set() for v in range(self.n_nodes)}
        for a, b, _ in self.edges:
            near[a].add(b)
            near[b].add(a)
        found = []
        while near:
            node = min(near, key=lambda v: (len(near[v]), v))
            others = near.pop(node)
            found.append((node, *others))
            for v in others:
                near[v].discard(node)
            for a, b in combinations(others, 2):
                near[a].add(b)
                near[b].add(a)
        place = {clique[0]: i for i, clique in enumerate(found)}
        return [(clique[0], *sorted(clique[1:], key=place.__getitem__)) for clique in found]

    @cached_property
    def place(self) -> dict[int, int]:
        """The step in which each node is eliminated."""
        return {clique[0]: i for i, clique in enumerate(self.cliques)}

    @property
    def width(self) -> int:
        """Nodes in the largest clique."""
        return max(map(len, self.cliques))

    @cached_property
    def edges_of(self) -> list[list[tuple[int, int, int]]]:
        """For each step the edges whose score enters there."""
        found: list[list[tuple[int, int, int]]] = [[] for _ in self.cliques]
        for edge in self.edges:
            found[min(self.place[edge[0]], self.place[edge[1]])].append(edge)
        return found


def _spread(table: NDArray[Any], axes: tuple[int, ...], clique: tuple[int, ...]) -> NDArray[Any]:
    """A table with an axis for every node of a clique, of length one where it has none."""
    sizes = iter(table.shape[1:])
    return table.reshape(table.shape[0], *(next(sizes) if v in axes else 1 for v in clique))


def _local(graph: Elimination, step: int, U: Array, P: Array) -> Array:
    """Scores of the node of a step and of the edges that enter there, U (B, m, K)."""
    clique = graph.cliques[step]
    table = _spread(U[:, clique[0]], clique[:1], clique)
    for a, b, kind in graph.edges_of[step]:
        pair = P[kind] if a == clique[0] else P[kind].T
        table = table + _spread(pair[None], (clique[0], b if a == clique[0] else a), clique)
    return table


def _upward(graph: Elimination, U: Array, P: Array, reduce: Any) -> tuple[list[Array], list[Array]]:
    """Tables of all steps, with what was eliminated before, and the messages they send on."""
    tables, messages = [_local(graph, step, U, P) for step in range(graph.n_nodes)], list[Array]()
    for step, clique in enumerate(graph.cliques):
        messages.append(reduce(tables[step]))
        if len(clique) > 1:
            after = graph.place[clique[1]]
            tables[after] = tables[after] + _spread(messages[step], clique[1:], graph.cliques[after])
    return tables, messages


def decode(graph: Elimination, U: Array, P: Array) -> Ints:
    """(B, m) the best labels."""
    tables, _ = _upward(graph, U, P, lambda table: table.max(axis=1))
    labels = np.empty(U.shape[:2], dtype=np.int64)
    rows = np.arange(len(U))
    for step in range(graph.n_nodes - 1, -1, -1):
        node, *others = graph.cliques[step]
        known = tuple(labels[:, v] for v in others)
        shape = (len(U),) + (U.shape[2],) * len(graph.cliques[step])
        table = np.moveaxis(np.broadcast_to(tables[step], shape), 1, -1)
        labels[:, node] = table[(rows, *known)].argmax(axis=1)
    return labels


def sums(graph: Elimination, U: Array, P: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Log partition functions (B,), marginals (B, m, K), and expected pairs (E, K, K) times the weights."""
    tables, messages = _upward(graph, U, P, lambda table: logsumexp(table, axis=1))
    total, nodes, pairs = np.zeros(len(U)), np.empty_like(U), np.zeros_like(P)
    beliefs: dict[int, Array] = {}
    for step in range(graph.n_nodes - 1, -1, -1):
        clique = graph.cliques[step]
        if len(clique) == 1:
            total += messages[step]
            beliefs[step] = np.exp(tables[step] - messages[step][:, None])
        else:
            beliefs[step] = _downward(graph, step, tables[step], messages[step], beliefs)
        others = tuple(range(2, len(clique) + 1))
        nodes[:, clique[0]] = beliefs[step].sum(axis=others)
        for a, b, kind in graph.edges_of[step]:
            axis = 1 + clique.index(b if a == clique[0] else a)
            joint = beliefs[step].sum(axis=tuple(i for i in others if i != axis))
            expected = np.tensordot(weights, joint, axes=1)
            pairs[kind] += expected if a == clique[0] else expected.T
    return total, nodes, pairs


def _downward(graph: Elimination, step: int, table: Array, message: Array, beliefs: dict[int, Array]) -> Array:
    """Probabilities of the labels of a clique, from those of the clique that it has sent its message to."""
    clique = graph.cliques[step]
    after = graph.place[clique[1]]
    outer = graph.cliques[after]
    summed = tuple(1 + i for i, v in enumerate(outer) if v not in clique)
    above = beliefs[after].sum(axis=summed)  # (B, K, ...) of the neighbours
    with np.errstate(invalid="ignore"):
        given = np.exp(table - message[:, None])  # of the node, given its neighbours
    return np.asarray(np.where(above[:, None] > 0, given, 0.0) * above[:, None])
