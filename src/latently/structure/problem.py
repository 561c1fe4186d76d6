"""Items of nodes and pairs with their true labels, as the algorithms see them."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from latently.structure.inference.isolated import Isolated
from latently.structure.inference.layout import score_of, unconnected
from latently.structure.pairwise import Nodes
from latently.structure.protocol import Array, Ints, Planes

_GUESSES = 20  # steps of the first guess


@dataclass(frozen=True, eq=False)
class PairwiseProblem:
    """Items with their true labels.

    Parameters
    ----------
    nodes
        The items.
    truth
        (N,) true labels, as numbers; where they are not known, a guess.
    known
        (N,) which labels are known; None if all.
    costs
        (K, K) what it costs to say the second label where the first is true.
    rescale
        "margin" or "slack".
    """

    nodes: Nodes
    truth: Ints
    known: NDArray[np.bool_] | None
    costs: Array
    rescale: str = "margin"

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.nodes.layout.lengths)

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.nodes.shape.size

    def take(self, items: Ints) -> "PairwiseProblem":
        """The problem of some items."""
        nodes = self.nodes.layout.take(items)[1]
        known = None if self.known is None else self.known[nodes]
        return replace(self, nodes=self.nodes.take(items), truth=self.truth[nodes], known=known)

    @cached_property
    def _costs(self) -> Array:
        """(N, K) what each label of each node costs: nothing where the true one is not known."""
        costs = self.costs[self.truth]
        if self.known is not None:
            costs[~self.known] = 0.0
        return costs

    # margins

    def violated(self, w: Array) -> Planes:
        """The planes of the outputs that violate the margin most."""
        layout, inference = self.nodes.layout, self.nodes.inference
        U, P = self.nodes.scores(w)
        if self.rescale == "slack":
            floor = score_of(layout, U, P, self.truth)
            labels = inference.scaled(U, P, self.truth, self._costs, floor)
        else:
            labels = inference.decode(U + self._costs, P)
        losses = np.add.reduceat(self._costs[np.arange(len(labels)), labels], layout.starts)
        directions = self.nodes.differences(self.truth, labels)
        if self.rescale == "slack":
            directions = sparse.diags(losses) @ directions
        return Planes(losses, sparse.csr_matrix(directions))

    # likelihood

    @property
    def is_complete(self) -> bool:
        """Whether all labels are known."""
        return self.known is None

    def observed(self, w: Array, weights: Array) -> tuple[float, Array]:
        """Scores of the true labels, summed, and their gradient; labels that are not known are summed out."""
        if self.known is None:
            total = self.nodes.gradient(*self.nodes.counts(self.truth, weights))
            return float(total @ w), total
        U, P = self.nodes.scores(w)
        return self._summed(self._clamped(U), P, weights)

    def expected(self, w: Array, weights: Array) -> tuple[float, Array]:
        """Log partition functions, summed, and their gradient."""
        return self._summed(*self.nodes.scores(w), weights)

    def _summed(self, U: Array, P: Array, weights: Array) -> tuple[float, Array]:
        found = self.nodes.inference.marginals(U, P, weights)
        each = np.repeat(weights, self.nodes.layout.lengths)[:, None]
        return float(weights @ found.log_partition), self.nodes.gradient(found.nodes * each, found.pairs)

    def log_likelihoods(self, w: Array) -> Array:
        """(n,) log p(y | x) of each item, labels that are not known summed out."""
        U, P = self.nodes.scores(w)
        ones = np.ones(self.n_items)
        free = self.nodes.inference.marginals(U, P, ones).log_partition
        if self.known is None:
            return score_of(self.nodes.layout, U, P, self.truth) - free
        return self.nodes.inference.marginals(self._clamped(U), P, ones).log_partition - free

    def _clamped(self, U: Array) -> Array:
        """Scores with -inf for every label but the known ones."""
        assert self.known is not None
        clamped = np.where(self.known[:, None], -np.inf, U)
        at = np.flatnonzero(self.known)
        clamped[at, self.truth[at]] = U[at, self.truth[at]]
        return clamped

    # latent labels

    def completed(self, w: Array | None) -> "PairwiseProblem":
        """The same items, with the best labels where they are not known."""
        if self.known is None:
            return self
        w = self._first_guess() if w is None else w
        U, P = self.nodes.scores(w)
        return replace(self, truth=self.nodes.inference.decode(self._clamped(U), P))

    def _first_guess(self) -> Array:
        """Weights of the nodes alone, by a few steps up the likelihood of the labels that are known."""
        assert self.known is not None
        alone = Isolated(unconnected(len(self.truth)))
        K = self.nodes.shape.n_labels
        nodes = replace(self.nodes, shape=replace(self.nodes.shape, allowed=None, allowed_first=None))
        w = np.zeros(self.size)
        for _ in range(_GUESSES):
            U, _ = nodes.scores(w)
            gaps = -alone.marginals(U, np.empty((0, K, K)), np.ones(len(U))).nodes
            gaps[np.arange(len(U)), self.truth] += 1.0
            gaps[~self.known] = 0.0
            gradient = nodes.gradient(gaps, np.zeros((nodes.shape.n_kinds, K, K)))
            change, _ = nodes.scores(gradient)
            curvature = 0.5 * float((change[self.known] ** 2).sum())
            w += gradient * (float(gradient @ gradient) / max(curvature, 1e-300))
        return w
