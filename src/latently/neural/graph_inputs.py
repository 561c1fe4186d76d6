"""Graphs as they are given: nodes of one graph, or a list of graphs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latently.data.tables.matrix import as_matrix
from latently.learn.estimator.classes import read_labels
from latently.learn.estimator.table import note_columns
from latently.neural.inputs import Array, plain
from latently.neural.networks.graph import normalised_adjacency


class Nodes(NamedTuple):
    """Features (n, d) of nodes, and their adjacency (n, n), or None."""

    features: Any
    adjacency: Any


def is_graph_list(X: Any) -> bool:
    """Whether X is a list of graphs, each a pair of features and adjacency.

    Examples
    --------
    >>> is_graph_list([(np.ones((3, 2)), np.eye(3))]), is_graph_list([[1.0, 2.0]])
    (True, False)
    """
    return isinstance(X, list) and bool(X) and all(isinstance(one, tuple) and len(one) == 2 for one in X)


def one_graph(X: Any, adjacency: Any) -> Nodes:
    """Features and adjacency of one graph, given as a pair or apart."""
    if isinstance(X, tuple):
        if len(X) != 2:
            raise ValueError(f"a graph is a pair (features, adjacency), got {len(X)} parts")
        return Nodes(plain(X[0]), plain(X[1]))
    return Nodes(plain(X), plain(adjacency))


def graph_list(estimator: Any, X: Any, *, reset: bool) -> tuple[list[Array], list[Any]]:
    """Features and normalised adjacency of each graph, checked; an error names the graph."""
    tables = []
    for i, (features, _) in enumerate(X):
        tables.append(np.asarray(as_matrix(plain(features), name=f"graph {i}"), dtype=np.float64))
        note_columns(estimator, tables[-1], reset=reset and i == 0)
    adjacencies = [
        normalised_adjacency(plain(A), len(rows), f"graph {i}")
        for i, ((_, A), rows) in enumerate(zip(X, tables, strict=True))
    ]
    return tables, adjacencies


def labelled_nodes(y: Any, train_mask: Any, n_nodes: int, who: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Which nodes have a label, by a mask (n,) of truth values (None for all), and the labels of those.

    Examples
    --------
    >>> labelled_nodes([2, 0, 3], [True, False, True], 3, "model")
    (array([0, 2]), array([2, 3]))
    """
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None.")
    mask = np.ones(n_nodes, dtype=bool) if train_mask is None else np.asarray(plain(train_mask))
    if mask.shape != (n_nodes,) or mask.dtype != bool:
        raise ValueError(
            f"train_mask must be {n_nodes} truth values, one for each node; got {mask.dtype} of {mask.shape}"
        )
    if not mask.any():
        raise ValueError("no node has a label: train_mask must be true for at least one")
    given = np.asarray(plain(y))
    if len(given) != n_nodes:
        raise ValueError(f"y has {len(given)} labels for {n_nodes} nodes: give one for each")
    at = np.flatnonzero(mask)
    return at, read_labels(given[at], who)
