"""Chains of labelled nodes, through the kernels of hidden Markov chains."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently import compiled
from latently.sequence.inference.blocked import Job
from latently.sequence.inference.chain import Chain, n_best_paths
from latently.sequence.inference.forward_backward import forward_backward
from latently.sequence.inference.viterbi import in_groups, with_pointers
from latently.structure.inference.forest import Forest
from latently.structure.inference.layout import Layout, Marginals
from latently.structure.protocol import Array, Ints


@dataclass(frozen=True, eq=False)
class Chains:
    """Items that are chains: every node but the first has an edge from the one before."""

    layout: Layout

    def decode(self, U: Array, P: Array) -> Ints:
        """(N,) the best labels, by the Viterbi algorithm."""
        start, moves = np.zeros(U.shape[1]), np.ascontiguousarray(P[0])

        def decode(a: int, b: int, lengths: Ints, path: Ints, logs: Array) -> None:
            with_pointers(U[a:b], lengths, start, moves, path, logs)

        logs, path = in_groups(decode, self.layout.lengths)
        if np.isneginf(logs).any():
            item = int(np.argmin(logs))
            raise ValueError(f"item {item} has no possible output: forbidden transitions rule out all of its length")
        return path

    def marginals(self, U: Array, P: Array, weights: Array) -> Marginals:
        """Log partition functions and marginals, forward and backward."""
        K = U.shape[1]
        top = float(P[0].max()) + np.log(K)  # rows then sum to one at most: nothing grows along a long chain
        chain = Chain(np.full(K, 1.0 / K), np.exp(P[0] - top))
        nodes, weight = np.empty_like(U), np.repeat(weights, self.layout.lengths)

        def fill(start: int, stop: int, b: Array, tops: Array) -> None:
            b[:] = U[start:stop]
            compiled.sequence.forward_backward.exponentiate(b, chain.width, tops, np.empty(2048))

        def keep(start: int, stop: int, g: Array) -> None:
            nodes[start:stop] = g

        job = Job(chain, fill, lambda a, b: U[a:b].copy(), keep, weight)
        counts = forward_backward(job, self.layout.lengths)
        nodes /= np.maximum(nodes.sum(axis=1, keepdims=True), 1e-300)
        logs = counts.log_likelihood + np.log(K) + top * (self.layout.lengths - 1)
        return Marginals(logs, nodes, counts.transitions[None])

    def scaled(self, U: Array, P: Array, truth: Ints, costs: Array, floor: Array) -> Ints:
        """(N,) labels with the largest loss * (1 + score - floor)."""
        return Forest(self.layout).scaled(U, P, truth, costs, floor)

    def best(self, U: Array, P: Array, k: int) -> list[NDArray[Any]]:
        """The k best labels of each item, by the Viterbi algorithm with k paths."""
        start, moves = np.zeros(U.shape[1]), np.ascontiguousarray(P[0])  # scores, not logarithms of probabilities
        items = zip(self.layout.starts, self.layout.lengths, strict=True)
        return [n_best_paths(start, moves, U[a : a + m], k)[1] for a, m in items]
