"""A long sequence whose states, few in number, emit Gaussians with diagonal covariances, and never die out.

That is what `part` does in general, in one compiled call for each block.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latently import compiled
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.statistics import Moments
from latently.sequence.inference.block_scheduler import Todo, Workspace
from latently.sequence.inference.chain import Array, Chain
from latently.sequence.inference.posteriors import ExpectedCounts

ROWS = 8192
"""Rows of a block: what one walk leaves of it stays in cache until its posteriors are taken."""

TINY = 1e-230
"""Factors below this are an underflow that matters."""


@dataclass(frozen=True, eq=False)
class DiagonalPlan:
    """Chain, emissions, and all rows of the data, none of which has a missing entry."""

    chain: Chain
    theta: GaussianParams
    X: Array

    @classmethod
    def applies(cls, chain: Chain, theta: GaussianParams) -> bool:
        """Whether this way is open to these parameters."""
        return (
            len(chain.width) == len(theta.means)
            and chain.n_states == len(theta.means)
            and not chain.can_lose_states
            and not theta.is_matrix
        )


def diagonal_moments(theta: GaussianParams, weight: Array, first: Array, second: Array) -> Moments:
    """Moments of complete rows, in the shape that the components' own have."""
    by_column = np.repeat(weight[:, None], first.shape[1], axis=1)
    return Moments(by_column, theta.means, first, second if theta.kind == "diag" else second.sum(axis=1))


class DiagonalSequence:
    """The blocks of a sequence, and what has been found out about each.

    Parameters
    ----------
    plan
        What to go through.
    place, n
        First row, and number of rows.
    size
        Rows of a block, a multiple of the rows of a tile.
    memory
        For at least n rows in whole tiles, and K + 1 states.
    """

    def __init__(self, plan: DiagonalPlan, place: int, n: int, size: int, memory: Any) -> None:
        K, d, tile = plan.chain.n_states, plan.X.shape[1], compiled.sequence.diagonal.TILE
        self._X, self._size, self.n_blocks = plan.X[place : place + n], size, -(-n // size)
        self._memory, self._span = [array.reshape(-1) for array in memory], size * (K + 1)
        A = np.ascontiguousarray(plan.chain.transition)
        self._theta = plan.theta
        self._model = (plan.theta.diagonal, A, np.ascontiguousarray(A.T), (0.0,) * K)
        # where to start at each block, forward or backward, and the rows at their edges
        self._entries, self._ends = np.zeros((2, self.n_blocks + 1, K)), np.zeros((2, self.n_blocks + 1, K))
        self._entries[0, 0], self._ends[0, -1] = plan.chain.start, 1.0
        self._sums, self._logs = np.empty((self.n_blocks, 2 + K + 2 * d, K)), np.empty((self.n_blocks, 4))
        self._workspace = Workspace(self._span)
        self._scratch = (3 * K + 1 + d) * tile

    def step(self, block: int, todo: Todo) -> None:
        """Do something with a block."""
        span = slice(block * self._span, (block + 1) * self._span)
        X = self._X[block * self._size : (block + 1) * self._size]
        b, p, g = (array[span] for array in self._memory)
        without_constraints = self._workspace.borrow() if todo.uses_up else None
        if without_constraints is not None:
            p, g = (without_constraints, g) if todo.forward else (p, without_constraints)
        compiled.sequence.diagonal.pass_block(
            *todo, block, X, *self._model, b, p, g, self._entries, self._ends, np.empty(self._scratch), self._sums,
            self._logs,
        )  # fmt: skip
        if without_constraints is not None:
            self._workspace.give_back(without_constraints)

    def expected_counts(self, weight: float) -> ExpectedCounts | None:
        """All that was found, weighted; None if something underflows."""
        logs = self._logs[:, :2].sum()
        if not (self._logs[:, 2:].min() > TINY and np.isfinite(logs)):
            return None
        K, d = len(self._model[1]), self._X.shape[1]
        sums = self._sums.sum(axis=0)
        sums *= weight
        visits, first, second = sums[0], sums[2 + K : 2 + K + d].T, sums[2 + K + d :].T
        moments = diagonal_moments(self._theta, visits, first, second)
        return ExpectedCounts(np.array([logs]), weight * self._sums[0, 1], sums[2 : 2 + K].T, visits, [moments])
