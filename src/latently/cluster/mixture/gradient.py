"""A mixture over a table as a vector without constraints, in which L-BFGS looks for the optimum."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from latently.cluster.mixture.model import MixtureModel, MixtureParams, MixtureSums
from latently.data.sources.chunks import Chunk
from latently.distributions.unconstrained import Reader
from latently.learn.engine.protocol import Array


@dataclass(frozen=True, eq=False)
class UnconstrainedMixture:
    """The model for `latently.learn.engine.gradient`: numbers in units in which they are alike.

    Parameters
    ----------
    model
        Of which blocks, and under which prior.
    near, stats
        Parameters and their statistics, which the units are taken from.
    """

    model: MixtureModel
    near: MixtureParams
    stats: MixtureSums

    @cached_property
    def unit(self) -> Array:
        """About how far each number may move: one over the root of its share of the information."""
        weights = 1 / np.sqrt(np.maximum(self.stats.weight * (1 - self.near.weights), 1.0))
        triples = zip(self.model.blocks, self.near.parts, self.stats.parts.parts, strict=True)
        return np.concatenate([weights, *(block.step_sizes(theta, stats) for block, theta, stats in triples)])

    def expect(self, params: MixtureParams, chunk: Chunk) -> MixtureSums:
        """Expected statistics of the rows of a chunk."""
        return self.model.expect(params, chunk)

    def update(self, params: MixtureParams, stats: MixtureSums) -> MixtureParams:
        """Weights, and the parameters of every block."""
        return self.model.update(params, stats)

    def log_prior(self, params: MixtureParams) -> float:
        """Log prior of weights and of every block."""
        return self.model.log_prior(params)

    def rounding(self, params: MixtureParams) -> float:
        """Nats per row by which rounding may move the objective."""
        return self.model.rounding(params)

    def pack(self, params: MixtureParams) -> Array:
        """Logarithms of the weights, then the numbers of every block, in their units."""
        logits = np.log(np.maximum(params.weights, np.finfo(float).tiny))
        pairs = zip(self.model.blocks, params.parts, strict=True)
        return np.concatenate([logits, *(block.pack(theta) for block, theta in pairs)]) / self.unit

    def unpack(self, like: MixtureParams, vector: Array) -> MixtureParams:
        """Parameters from such a vector."""
        reader = Reader(vector * self.unit)
        logits = reader.take(like.weights.shape)
        pairs = zip(self.model.blocks, like.parts, strict=True)
        parts = tuple(block.unpack(theta, reader) for block, theta in pairs)
        return MixtureParams(self.model.kept_weights(np.exp(logits - logits.max())), parts)

    def gradient(self, params: MixtureParams, stats: MixtureSums) -> Array:
        """Gradient of the log-likelihood and the log prior in the vector."""
        mass = stats.weight + self.model.pseudo
        logits = mass - params.weights * mass.sum() if self.model.limits is None else np.zeros_like(mass)
        triples = zip(self.model.blocks, params.parts, stats.parts.parts, strict=True)
        return np.concatenate([logits, *(block.gradient(theta, s) for block, theta, s in triples)]) * self.unit


def check_free(model: MixtureModel) -> None:
    """See that nothing but fixed numbers is in the way of a gradient."""
    tight = [block.names[0] for block in model.blocks if not block.only_fixed]
    if tight:
        raise ValueError(f"method='gradient' takes no bounds or tied, such as those of column {tight[0]!r}: use 'em'")
    if model.limits is not None and not model.limits.allowed.fixed.all():
        raise ValueError("method='gradient' takes weights that are all fixed or all free: use 'em'")
