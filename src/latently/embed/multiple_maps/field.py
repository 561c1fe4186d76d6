"""The cost of several maps and its gradient, as the descent of t-SNE takes them."""

import numpy as np

from latently import compiled
from latently.geometry.distances import Array
from latently.learn.engine.blocks import for_blocks


class MapsField:
    """KL(P || Q) with q_ij proportional to sum_m pi_im pi_jm / (1 + |y_im - y_jm|^2).

    A state is one matrix (n, M d + M): the coordinates of all maps, then the logits whose softmax are the shares pi of
    a point in the maps.

    Parameters
    ----------
    P
        (n, n) symmetric, sum 1, with zeros on the diagonal.
    n_maps, n_components
        M maps with d columns each.
    """

    factor = 4.0

    def __init__(self, P: Array, n_maps: int, n_components: int) -> None:
        self.P, self.n_maps, self.n_components = np.ascontiguousarray(P), n_maps, n_components
        self.attraction = self.repelled = np.zeros((0, 0))

    @property
    def n_placed(self) -> int:
        """How many columns are coordinates."""
        return self.n_maps * self.n_components

    def state(self, maps: Array, logits: Array) -> Array:
        """One matrix of maps (M, n, d) and logits (n, M)."""
        return np.concatenate([maps.transpose(1, 0, 2).reshape(len(logits), -1), logits], axis=1)

    def maps(self, state: Array) -> Array:
        """The maps (M, n, d)."""
        cut = state[:, : self.n_placed].reshape(len(state), self.n_maps, self.n_components)
        return np.ascontiguousarray(cut.transpose(1, 0, 2))

    def shares(self, state: Array) -> Array:
        """The shares (n, M): above zero, sum 1 for each point."""
        logits = state[:, self.n_placed :]
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def compute(self, state: Array) -> float:
        """Fill both parts of the gradient; gives the sum of similarities, which divides the second."""
        Y, shares = self.maps(state), self.shares(state)
        pull, push, mass = np.empty_like(Y), np.empty_like(Y), np.empty(len(state))
        pull_shares, push_shares = np.empty_like(shares), np.empty_like(shares)

        def fill(start: int, stop: int) -> None:
            compiled.embed.multiple_maps.forces(
                Y, shares, self.P, start, stop, pull, push, pull_shares, push_shares, mass
            )

        for_blocks(len(state), fill)
        self.attraction = self.state(pull, -0.5 * through_softmax(shares, pull_shares))
        self.repelled = self.state(push, -0.5 * through_softmax(shares, push_shares))
        return max(float(mass.sum()), np.finfo(float).tiny)

    def divergence(self, state: Array, total: float) -> float:
        """The cost, if similarities sum to `total`."""
        Y, shares, out = self.maps(state), self.shares(state), np.empty(len(state))

        def fill(start: int, stop: int) -> None:
            similar = np.empty((stop - start, len(out)))
            compiled.embed.multiple_maps.similarities(Y, shares, start, stop, similar)
            compiled.embed.multiple_maps.divergence(similar, self.P, start, stop, out)

        for_blocks(len(state), fill)
        return float(out.sum() + np.log(total) * self.P.sum())


def through_softmax(shares: Array, gradient: Array) -> Array:
    """The gradient with the logits, given that with the shares."""
    return np.asarray(shares * (gradient - (shares * gradient).sum(axis=1, keepdims=True)))
