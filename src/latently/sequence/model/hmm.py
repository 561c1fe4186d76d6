"""The hidden Markov model as the engine sees it: expected counts of a chunk, and the update from them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from latently.data.sources.chunks import Chunk
from latently.distributions.components.slab import Slab
from latently.distributions.statistics import Additive
from latently.learn.engine.protocol import Statistics
from latently.sequence.emissions.base import Emission
from latently.sequence.inference.blocked import BufferPool, Job
from latently.sequence.inference.chain import Array, Chain, ImpossibleSequence, Ints, exponentiate, first_rows
from latently.sequence.inference.forward_backward import forward_backward
from latently.sequence.model.semi_markov import SemiRule
from latently.sequence.model.transitions import ChainRule


@dataclass(frozen=True, eq=False)
class Params:
    """The chain, and the parameters of the emissions."""

    chain: Chain
    theta: Any


@dataclass(frozen=True, eq=False)
class HmmStatistics(Statistics):
    """Expected first states (K,), transitions (K, K), visits (K,), and statistics of the emissions."""

    first: Array
    transitions: Array
    visits: Array
    emission: Additive


@dataclass(frozen=True, eq=False)
class HmmModel:
    """A hidden Markov model without its parameters.

    Parameters
    ----------
    emission : what the states emit
    rule : how the chain is learnt
    labels : (rows of the whole table,) known states, -1 where unknown; or None
    low_memory : whether to use memory of the order of sqrt(T) K instead of T K, and more time
    copies : how many states of the chain stand for one that labels name
    buffers : memory to work in, kept from one chunk to the next
    """

    emission: Emission
    rule: ChainRule | SemiRule
    labels: Ints | None = None
    low_memory: bool = False
    copies: int = 1
    buffers: BufferPool = field(default_factory=BufferPool)

    def log_density(self, params: Params, X: Array | Slab, start: int = 0) -> Array:
        """Log densities (n, K); -inf for states that contradict a label."""
        return mask(self.emission.log_density(params.theta, X), self.labels, start, self.copies)

    def fill(self, params: Params, slab: Slab, start: int, b: Array, top: Array) -> None:
        """Fill b (n, K) with densities over exp(top), and top (n,)."""
        if self.labels is None:
            self.emission.fill(params.theta, slab, params.chain.width, b, top)
        else:
            b[:] = self.log_density(params, slab, start)
            top[:] = exponentiate(b, params.chain.width)

    def density(self, params: Params, X: Array, start: int = 0) -> Callable[[int, int], Array]:
        """Give the function of rows that the algorithms ask for log densities."""
        return lambda a, b: self.log_density(params, X[a:b], start + a)

    def expect(self, params: Params, chunk: Chunk) -> HmmStatistics:
        """Forward and backward through the sequences of a chunk."""
        X, lengths, theta = as_doubles(chunk), lengths_of(chunk), params.theta
        slab = Slab(X, chunk.memo)

        def fill(i: int, j: int, b: Array, top: Array) -> None:
            self.fill(params, slab.part(i, j), chunk.start + i, b, top)

        def each(i: int, j: int, g: Array) -> Additive:
            return self.emission.expect(theta, slab.part(i, j), g)  # type: ignore[no-any-return]

        diagonal = None if self.labels is not None else self.emission.diagonal(theta, params.chain, slab)
        job = Job(params.chain, fill, self.density(params, X, chunk.start), each, chunk.weights, diagonal)
        try:
            found = forward_backward(job, lengths, little_memory=self.low_memory, buffers=self.buffers)
        except ImpossibleSequence as problem:
            row = chunk.start + int(lengths[: problem.sequence].sum()) + problem.step
            raise ImpossibleRow(row) from None
        weights = 1.0 if chunk.weights is None else chunk.weights[first_rows(lengths)]
        return HmmStatistics(
            chunk.total_weight,
            float((found.log_likelihood * weights).sum()),
            found.first,
            found.transitions,
            found.visits,
            reduce(add, found.results),
        )

    def update(self, params: Params, stats: HmmStatistics) -> Params:
        """Chain and emissions that are best for the expected counts."""
        chain = self.rule.update(params.chain, stats.first, stats.transitions)
        return Params(chain, self.emission.update(params.theta, stats.emission))

    def rounding(self, params: Params) -> float:
        """Nats per row by which rounding may move the objective, beyond that of a sum over rows."""
        return self.emission.block.rounding(params.theta)

    def log_prior(self, params: Params) -> float:
        """Log prior of chain and emissions."""
        return self.rule.log_prior(params.chain) + self.emission.log_prior(params.theta)

    def collapsed(self, params: Params) -> list[int]:
        """States that labels name which have shrunk onto a single value."""
        return sorted({k // self.copies for k in self.emission.collapsed(params.theta)})

    def n_parameters(self, params: Params) -> int:
        """Number of free parameters, as BIC counts them."""
        durations = 0 if isinstance(self.rule, ChainRule) else self.rule.n_duration_parameters(params.chain)
        return int(self.rule.n_parameters() + self.emission.n_parameters(params.theta) + durations)


class ImpossibleRow(ValueError):
    """A row of the whole table at which a sequence becomes impossible."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


def as_doubles(chunk: Chunk) -> Array:
    """The rows of a chunk as contiguous float64; converted once and kept."""
    if chunk.X.dtype == np.float64 and chunk.X.flags.c_contiguous:
        return np.asarray(chunk.X, dtype=np.float64)
    return chunk.memo.setdefault("doubles", np.ascontiguousarray(chunk.X, dtype=np.float64))  # type: ignore[no-any-return]


def lengths_of(chunk: Chunk) -> Ints:
    """Lengths of the sequences of a chunk; rows that stand alone are one sequence."""
    return np.array([chunk.n_rows]) if chunk.lengths is None else chunk.lengths


def mask(L: Array, labels: Ints | None, start: int, copies: int) -> Array:
    """Make states that contradict a label impossible: log densities (n, K) of -inf, in place."""
    if labels is not None:
        known = labels[start : start + len(L)]
        wrong = (known[:, None] >= 0) & (known[:, None] != np.arange(L.shape[1]) // copies)
        L[wrong] = -np.inf
    return L
