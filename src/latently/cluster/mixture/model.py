"""The mixture over a table as the engine sees it: expect and update."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from latently.data.sources.chunks import Chunk
from latently.distributions import Distribution, Parts
from latently.distributions.components.base import Block
from latently.distributions.components.constraints import WeightLimits
from latently.distributions.components.slab import LOG_ZERO, Ints, Slab, joined, safe_log
from latently.learn.engine.protocol import Array, Statistics


@dataclass(frozen=True, eq=False)
class MixtureParams:
    """Weights (K,) of the components, and the parameters of every block."""

    weights: Array
    parts: tuple[Any, ...]

    def permuted(self, order: Ints) -> Self:
        """The same mixture with its components in another order."""
        return replace(self, weights=self.weights[order], parts=tuple(p.permuted(order) for p in self.parts))


@dataclass(frozen=True, eq=False)
class MixtureSums(Statistics):
    """Weight (K,) of the rows in each component, and the statistics of every block."""

    weight: Array
    parts: Parts

    def permuted(self, order: Ints) -> Self:
        """The same statistics with the components in another order."""
        records: tuple[Any, ...] = self.parts.parts  # of the blocks, which all have an entry per component
        parts = Parts(tuple(record.permuted(order) for record in records))
        return replace(self, weight=self.weight[order], parts=parts)


@dataclass(frozen=True, eq=False)
class MixtureModel:
    """Maximum a posteriori mixture, whose components are products of blocks of columns.

    Parameters
    ----------
    blocks
        What the columns are.
    pseudo
        (K,) rows that each component is given before any data: a Dirichlet prior of 1 + pseudo.
    limits
        What the weights may be; None for anything.
    labelled
        Whether a last column of the table holds the component of rows where it is known, NaN elsewhere.
    """

    blocks: tuple[Block, ...]
    pseudo: Array
    limits: WeightLimits | None = None
    labelled: bool = False

    def expect(self, params: MixtureParams, chunk: Chunk) -> MixtureSums:
        """Expected statistics of the rows of a chunk."""
        slab = Slab(np.asarray(chunk.X, dtype=np.float64), chunk.memo)
        joint = self.joint(params, slab)
        if self.labelled:
            _keep_to(joint, slab.X[:, -1])
        norms = normalise(joint)
        if chunk.weights is not None:
            joint *= chunk.weights
        bound = float(norms.sum() if chunk.weights is None else norms @ chunk.weights)
        return self.sums(params, slab, joint, chunk.total_weight, bound)

    def sums(self, params: MixtureParams, slab: Slab, R: Array, rows: float, bound: float) -> MixtureSums:
        """Statistics with given (weighted) responsibilities R (K, n)."""
        pairs = zip(self.blocks, params.parts, strict=True)
        parts = Parts(tuple(block.expect(theta, slab, R) for block, theta in pairs))
        return MixtureSums(rows, bound, R.sum(axis=1), parts)

    def joint(self, params: MixtureParams, slab: Slab) -> Array:
        """(K, n) log p(x_i, component k)."""
        out = np.repeat(safe_log(params.weights)[:, None], len(slab.X), axis=1)
        for block, theta in zip(self.blocks, params.parts, strict=True):
            block.log_density(theta, slab, out)
        return out

    def log_joint(self, params: MixtureParams, X: Array) -> Array:
        """(n, K) log p(x_i, component k)."""
        return np.ascontiguousarray(self.joint(params, Slab(np.asarray(X, dtype=np.float64))).T)

    def scores(self, params: MixtureParams, X: Array) -> Array:
        """Gradients (n, P) of the log density of each row: in the logits of the weights, and in each block's vector."""
        slab = Slab(np.asarray(X, dtype=np.float64))
        R = self.joint(params, slab)
        normalise(R)
        free = len(params.weights) > 1 and self.limits is None
        weights = R.T - params.weights if free else np.zeros((len(X), 0))
        pairs = zip(self.blocks, params.parts, strict=True)
        return np.hstack([weights, *(block.scores(theta, slab, R) for block, theta in pairs)])

    def update(self, params: MixtureParams, stats: MixtureSums) -> MixtureParams:
        """Weights, and the parameters of every block."""
        weights = self.kept_weights(np.maximum(stats.weight, 0.0) + self.pseudo)
        triples = zip(self.blocks, params.parts, stats.parts.parts, strict=True)
        return MixtureParams(weights, tuple(block.update(*pair) for block, *pair in triples))

    def kept_weights(self, mass: Array) -> Array:
        """Weights that are best for the rows that each component has, inside their limits."""
        return mass / mass.sum() if self.limits is None else self.limits.best(mass)

    def log_prior(self, params: MixtureParams) -> float:
        """Log prior of weights and of every block."""
        own = float(self.pseudo @ safe_log(params.weights)) if self.pseudo.any() else 0.0
        return own + sum(b.log_prior(theta) for b, theta in zip(self.blocks, params.parts, strict=True))

    def rounding(self, params: MixtureParams) -> float:
        """Nats per row by which rounding may move the objective, beyond that of a sum over rows."""
        return sum(block.rounding(theta) for block, theta in zip(self.blocks, params.parts, strict=True))

    def n_parameters(self, params: MixtureParams) -> int:
        """Number of free parameters."""
        own = len(params.weights) - 1 if self.limits is None else self.limits.n_free()
        return own + sum(b.n_parameters(theta) for b, theta in zip(self.blocks, params.parts, strict=True))

    # talking to distributions

    def components(self, params: MixtureParams) -> list[Distribution]:
        """Each component as a distribution over the columns of the encoded table."""
        return [self._component(params, k) for k in range(len(params.weights))]

    def _component(self, params: MixtureParams, k: int) -> Distribution:
        pairs = zip(self.blocks, params.parts, strict=True)
        parts = [part for block, theta in pairs for part in block.distributions(theta, k)]
        return joined(parts)

    def from_components(self, given: Sequence[Distribution], weights: Array) -> MixtureParams:
        """Parameters from a distribution for each component."""
        return MixtureParams(
            weights, tuple(block.constrained(block.from_distributions(given)) for block in self.blocks)
        )


def normalise(joint: Array) -> Array:
    """Turn log joints (K, n) into responsibilities, in place; gives the log normalisers (n,)."""
    top = joint.max(axis=0)
    joint -= top
    np.exp(joint, out=joint)
    total = joint.sum(axis=0)
    joint /= total
    return np.asarray(top + np.log(total))


def _keep_to(joint: Array, labels: Array) -> None:
    """Leave rows whose component is known no other."""
    known = np.flatnonzero(~np.isnan(labels))
    own = labels[known].astype(np.intp)
    values = joint[own, known]
    joint[:, known] += 2 * LOG_ZERO
    joint[own, known] = values
