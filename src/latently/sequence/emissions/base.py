"""What the states of a hidden Markov model emit: components side by side, one for each state or shared by several."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latently import compiled
from latently.distributions import Distribution
from latently.distributions.components.base import Block
from latently.distributions.components.slab import LOG_ZERO, Slab, joined
from latently.distributions.unconstrained import Directions, Reader
from latently.sequence.inference.chain import Array, Chain, Ints
from latently.sequence.inference.diagonal import DiagonalPlan


@dataclass(frozen=True, eq=False)
class Emission:
    """The emissions of all K states: configuration and priors, without the parameters, which are passed in.

    Parameters
    ----------
    block : the components
    owner : (K,) which component a state has
    learn : whether they are learnt
    """

    block: Block
    owner: Ints
    learn: bool = True

    @property
    def size(self) -> int:
        """Number of components."""
        return int(self.owner.max()) + 1

    def log_density(self, theta: Any, X: Array | Slab) -> Array:
        """Log density (n, K) of each row in each state; missing entries are marginalised out."""
        slab = as_slab(X)
        out = np.zeros((self.size, len(slab.X)))
        self.block.log_density(theta, slab, out)
        if out.min(initial=0.0) < LOG_ZERO / 2:
            out[out < LOG_ZERO / 2] = -np.inf
        return np.ascontiguousarray(out[self.owner].T)

    def fill(self, theta: Any, slab: Slab, width: tuple[int, ...], b: Array, top: Array) -> None:
        """Fill b (n, K) with densities over exp(top), and top (n,)."""
        b[:] = self.log_density(theta, slab)
        compiled.sequence.forward_backward.exponentiate(b, width, top, np.empty(2048))

    def diagonal(self, theta: Any, chain: Chain, X: Array | Slab) -> DiagonalPlan | None:
        """Give the rows to `diagonal`, if that can do a long sequence of these emissions."""
        return None

    def expect(self, theta: Any, X: Array | Slab, g: Array) -> Any:
        """Statistics of the rows, weighted for each state by g (n, K)."""
        return self.block.expect(theta, as_slab(X), self.by_component(g))

    def by_component(self, g: Array) -> Array:
        """(components, n) weights of rows, from those of the states (n, K)."""
        if self.size == len(self.owner):
            return np.ascontiguousarray(g.T[np.argsort(self.owner)])
        shared = np.zeros((self.size, len(g)))
        np.add.at(shared, self.owner, g.T)
        return shared

    def update(self, theta: Any, stats: Any) -> Any:
        """Parameters that are best for these statistics, under the prior."""
        return self.block.update(theta, stats) if self.learn else theta

    def log_prior(self, theta: Any) -> float:
        """Log prior density of the parameters, up to a constant."""
        return self.block.log_prior(theta) if self.learn else 0.0

    def n_parameters(self, theta: Any) -> int:
        """Number of free parameters."""
        return self.block.n_parameters(theta) if self.learn else 0

    def collapsed(self, theta: Any) -> list[int]:
        """States that have shrunk onto a single value, as far as they are let."""
        found = self.block.collapsed(theta) if self.learn else []
        return np.flatnonzero(np.isin(self.owner, found)).tolist()

    def reseed(self, theta: Any, state: int, X: Array) -> Any:
        """Give a state new parameters, around these rows."""
        return self.block.reseed(theta, int(self.owner[state]), X)

    def sample(self, theta: Any, states: Ints, rng: np.random.RandomState) -> Array:
        """Draw a row (n, d) for each of the given states."""
        return self.block.sample(theta, self.owner[states], rng)

    # what the states are

    def distributions(self, theta: Any) -> list[Distribution]:
        """Give the distribution of each state."""
        found = [joined(self.block.distributions(theta, e)) for e in range(self.size)]
        return [found[e] for e in self.owner]

    def means(self, theta: Any) -> Array:
        """Means (K, d) of the states."""
        return np.array([part.mean for part in self.distributions(theta)])

    def variances(self, theta: Any) -> Array:
        """Variances (K, d) of the states' columns."""
        return np.array([part.variance for part in self.distributions(theta)])

    # parameters without constraints

    def pack(self, theta: Any) -> Array:
        """Parameters as a vector (P,)."""
        return self.block.pack(theta)

    def unpack(self, theta: Any, reader: Reader) -> Any:
        """Parameters from the next numbers of such a vector, in the shape of these."""
        return self.block.unpack(theta, reader)

    def gradient(self, theta: Any, X: Array, g: Array) -> Array:
        """Gradient (P,) of the expected log density of some rows, whose states have probabilities g (n, K).

        By Fisher's identity that is the gradient of the log-likelihood, with missing entries and hidden states taken
        into account by the expectations in the statistics.
        """
        return self.block.without_prior().gradient(theta, self.expect(theta, X, np.ascontiguousarray(g)))

    def directions(self, theta: Any) -> Directions:
        """In which directions the vector is free to move; what is not learnt is fixed."""
        return self.block.directions(theta).if_learnt(self.learn)


def as_slab(X: Array | Slab) -> Slab:
    """Rows as components take them."""
    return X if isinstance(X, Slab) else Slab(X)
