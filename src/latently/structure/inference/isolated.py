"""Nodes without edges: every label for itself."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from latently.structure.inference.layout import Layout, Marginals
from latently.structure.protocol import Array, Ints


@dataclass(frozen=True, eq=False)
class Isolated:
    """Items of one node each."""

    layout: Layout

    def decode(self, U: Array, P: Array) -> Ints:
        """(N,) the best labels."""
        return np.asarray(U.argmax(axis=1))

    def marginals(self, U: Array, P: Array, weights: Array) -> Marginals:
        """Log partition functions and marginals: a softmax."""
        logs = logsumexp(U, axis=1)
        return Marginals(logs, np.exp(U - logs[:, None]), np.zeros_like(P))

    def scaled(self, U: Array, P: Array, truth: Ints, costs: Array, floor: Array) -> Ints:
        """(N,) labels with the largest loss * (1 + score - floor)."""
        return np.asarray((costs * (1.0 + U - floor[:, None])).argmax(axis=1))

    def best(self, U: Array, P: Array, k: int) -> list[NDArray[Any]]:
        """The k best labels of each item."""
        order = np.argsort(-U, axis=1, kind="stable")[:, :k, None]
        possible = np.isfinite(np.take_along_axis(U, order[:, :, 0], axis=1))
        return [row[there] for row, there in zip(order, possible, strict=True)]
