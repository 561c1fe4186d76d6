"""How labelled nodes hang together: which belong to an item, and which pairs of them have a score."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from latently.structure.protocol import Array, Ints


@dataclass(frozen=True, eq=False)
class Layout:
    """Nodes of all items, one item after the other, and the edges between them.

    Parameters
    ----------
    lengths
        (n,) number of nodes of each item.
    first, second
        (M,) nodes of each edge, counted over all items.
    kind
        (M,) which table of scores an edge has.
    n_kinds
        Number of tables.
    """

    lengths: Ints
    first: Ints
    second: Ints
    kind: Ints
    n_kinds: int

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all items."""
        return int(self.lengths.sum())

    @property
    def starts(self) -> Ints:
        """(n,) first node of each item."""
        return np.cumsum(self.lengths) - self.lengths

    def item_of_node(self) -> Ints:
        """(N,) the item that each node belongs to."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def take(self, items: Ints) -> tuple["Layout", Ints]:
        """The layout of some items, and their nodes (in the order of those items)."""
        lengths, starts = self.lengths[items], self.starts[items]
        own = np.cumsum(lengths) - lengths
        nodes = np.repeat(starts - own, lengths) + np.arange(int(lengths.sum()))
        if not len(self.first):
            return Layout(lengths, self.first, self.second, self.kind, self.n_kinds), nodes
        place = np.full(self.n_nodes, -1, dtype=np.int64)
        place[nodes] = np.arange(len(nodes))
        kept = place[self.first] >= 0
        edges = (place[self.first[kept]], place[self.second[kept]], self.kind[kept])
        return Layout(lengths, *edges, self.n_kinds), nodes


def unconnected(n: int) -> Layout:
    """Items of one node each, without edges."""
    none = np.empty(0, dtype=np.int64)
    return Layout(np.ones(n, dtype=np.int64), none, none, none, 0)


@dataclass(frozen=True, eq=False)
class Marginals:
    """What sums over all outputs give.

    Parameters
    ----------
    log_partition
        (n,) logarithm of the sum of exp(score) over all outputs of each item.
    nodes
        (N, K) probabilities of the labels of each node.
    pairs
        (E, K, K) expected number of pairs of labels, by kind of edge, times the weights of the items.
    """

    log_partition: Array
    nodes: Array
    pairs: Array


class Inference(Protocol):
    """Exact inference for one kind of layout; U (N, K) are scores of nodes, P (E, K, K) of pairs."""

    @property
    def layout(self) -> Layout:
        """Nodes and edges."""

    def decode(self, U: Array, P: Array) -> Ints:
        """(N,) the best labels."""

    def marginals(self, U: Array, P: Array, weights: Array) -> Marginals:
        """Log partition functions and marginals."""

    def scaled(self, U: Array, P: Array, truth: Ints, costs: Array, floor: Array) -> Ints:
        """(N,) labels of the outputs with the largest loss * (1 + score - floor); costs (N, K), floor (n,)."""

    def best(self, U: Array, P: Array, k: int) -> list[NDArray[Any]]:
        """The k best labels (at most k, m) of each item, best first."""


def score_of(layout: Layout, U: Array, P: Array, labels: Ints) -> Array:
    """(n,) the score of each item with these labels."""
    found = U[np.arange(len(labels)), labels]
    if len(layout.first):
        np.add.at(found, layout.second, P[layout.kind, labels[layout.first], labels[layout.second]])
    return np.add.reduceat(found, layout.starts) if len(layout.lengths) else np.empty(0)


def is_hamming(costs: Array, truth: Ints) -> bool:
    """Whether every wrong label costs one, or none does: what slack rescaling can count."""
    counted = costs.max(axis=1)
    whole = np.isin(counted, (0.0, 1.0)).all()
    expected = np.repeat(counted[:, None], costs.shape[1], axis=1)
    expected[np.arange(len(truth)), truth] = 0.0
    return bool(whole and np.array_equal(expected, costs))


def check_countable(costs: Array, truth: Ints) -> None:
    """An error if the loss is not a number of errors."""
    if not is_hamming(costs, truth):
        raise ValueError(
            "rescale='slack' with connected nodes needs loss='hamming', a number of errors: "
            "use rescale='margin', or drop the costs"
        )
