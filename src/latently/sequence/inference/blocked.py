"""One long sequence, forward and backward, cut into blocks that stay in cache.

The blocks are worked on in the order of a `BlockScheduler`, by any number of threads. What is computed is the same to
the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from latently import compiled
from latently.sequence.inference.block_scheduler import Todo, Workspace, work_through
from latently.sequence.inference.chain import Array, Chain, LogDensity, Mover
from latently.sequence.inference.diagonal import DiagonalPlan, DiagonalSequence
from latently.sequence.inference.posteriors import ExpectedCounts, total


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be done with every row.

    Parameters
    ----------
    chain : start and transitions
    fill : called with first row, last row, b and top: fills b with densities over exp(top)
    density : gives log densities of rows, asked only where linear space is not enough
    each : called with first row, last row, and their (weighted) posteriors, which it must not keep; what it returns
        is collected
    weights : of each row (the same for all rows of a sequence), or None
    diagonal : a shorter way to do all of it with a long sequence, or None
    """

    chain: Chain
    fill: Callable[[int, int, Array, Array], None]
    density: LogDensity
    each: Callable[[int, int, Array], Any]
    weights: Array | None = None
    diagonal: DiagonalPlan | None = None

    @cached_property
    def mover(self) -> Mover:
        """The chain as the kernels take it."""
        return Mover(self.chain)

    @property
    def transition(self) -> Array:
        """Transitions (K, K)."""
        return self.mover.transition


class BufferPool:
    """Memory that is lent and given back, since fresh memory costs as much as a pass over it; copies are empty."""

    def __init__(self) -> None:
        self._sets: list[Any] = []

    def borrow(self, rows: int, K: int) -> Any:
        """Memory for so many rows: densities b, forward a and backward g (rows, K), tops and links (rows,)."""
        while self._sets:
            memory = self._sets.pop()
            if memory[0].shape[0] >= rows and memory[0].shape[1] == K:
                return memory
        return (*(np.empty((rows, K)) for _ in range(3)), np.empty(rows), np.empty(rows))

    def give_back(self, memory: Any) -> None:
        """Keep memory for the next one who asks."""
        self._sets.append(memory)

    def __reduce__(self) -> Any:
        return BufferPool, ()


class BlockedSequence:
    """A long sequence, its blocks and memory, and the steps to be done with each block.

    Parameters
    ----------
    job
        What is to be done.
    place, n
        First row, and number of rows.
    size
        Rows of a block.
    memory
        From `BufferPool`, for n rows, or for the rows of one block, which all blocks then use.
    """

    def __init__(self, job: Job, place: int, n: int, size: int, memory: Any) -> None:
        self.job, self._memory = job, memory
        self.edges = [(i, min(i + size, place + n)) for i in range(place, place + n, size)]
        self._step = size if len(memory[0]) >= n else 0
        # distribution of the first state of each block, given all rows before it
        self._entries = [job.chain.start]
        # what the first row of a block says about its state, together with all rows after it
        self._heads: dict[int, Array] = {}
        self._workspace = Workspace(size, job.chain.n_states)
        self.logs, self.safe = np.zeros(len(self.edges)), np.ones(len(self.edges), dtype=np.bool_)
        self.parts: dict[int, ExpectedCounts] = {}

    def step(self, block: int, todo: Todo) -> None:
        """Do something with a block."""
        i, j = self.edges[block]
        rows = slice(block * self._step, block * self._step + j - i)
        b, a, g, top, link = (array[rows] for array in self._memory)
        without_constraints = self._workspace.borrow() if todo.uses_up else None
        if without_constraints is not None:
            a, g = (without_constraints[: j - i], g) if todo.forward else (a, without_constraints[: j - i])
        w = np.empty(0) if self.job.weights is None else self.job.weights[i:j]
        if todo.fill:
            self.job.fill(i, j, b, top)
        if todo.forward:
            self._forward(block, b, top, a)
        if todo.backward:
            self._backward(block, b, w, g, link)
        if todo.finish:
            self._finish(block, b, a, g, link, w)
        if without_constraints is not None:
            self._workspace.give_back(without_constraints)

    def _forward(self, block: int, b: Array, top: Array, a: Array) -> None:
        """Forward through a block; its log-likelihood is NaN where an underflow matters."""
        job, size = self.job, np.array([len(b)])
        job.mover.forward(b, top, size, self._entries[block], a, self.logs[block : block + 1])
        if block + 1 == len(self._entries):
            after = a[-1] @ job.transition
            self._entries.append(after / after.sum())

    def _backward(self, block: int, b: Array, w: Array, g: Array, link: Array) -> None:
        """Backward through a block."""
        job, size, ahead = self.job, np.array([len(b)]), self._heads.get(block + 1)
        end = np.ones(len(job.transition)) if ahead is None else job.transition @ ahead
        job.mover.backward(b, size, w, end / end.max(), g, link, self.safe[block : block + 1])
        head = b[0] * g[0]
        self._heads[block] = head / head.max()

    def _finish(self, block: int, b: Array, a: Array, g: Array, link: Array, w: Array) -> None:
        """Posteriors of a block, and what is asked of its rows."""
        job, K = self.job, len(self.job.transition)
        last, visits, moves = a[-1].copy(), np.zeros(K), np.zeros((K, K))
        compiled.sequence.forward_backward.posteriors(a, b, link, w, job.chain.width, g, visits, moves)
        moves *= job.transition
        if block + 1 < len(self.edges):
            across = last[:, None] * job.transition * self._heads[block + 1]
            moves += (w[0] if len(w) else 1.0) * across / across.sum()
        first = g[0].copy() if block == 0 else np.zeros(K)
        self.parts[block] = ExpectedCounts(np.empty(0), first, moves, visits, [job.each(*self.edges[block], g)])

    def expected_counts(self) -> ExpectedCounts | None:
        """All that was found; None if something underflows."""
        if np.isnan(self.logs).any() or not self.safe.all():
            return None
        found = total([self.parts[block] for block in range(len(self.edges))])
        return replace(found, log_likelihood=np.array([sum(self.logs.tolist())]))


def blocked_forward_backward(
    job: Job, place: int, n: int, size: int, buffers: BufferPool, *, keep: bool
) -> ExpectedCounts | None:
    """Forward and backward through the n rows from `place` on, which are one sequence; None if that underflows.

    Without `keep`, densities and forward rows are computed a second time on the way back, and only those of one block
    are in memory.
    """
    memory = buffers.borrow(n if keep else size, job.chain.n_states)
    part = BlockedSequence(job, place, n, size, memory)
    with np.errstate(divide="ignore", invalid="ignore"):
        if keep:
            work_through(len(part.edges), part.step)
        else:
            _there_and_back(part)
    buffers.give_back(memory)
    return part.expected_counts()


def _there_and_back(part: BlockedSequence) -> None:
    last = len(part.edges) - 1
    for block in range(last + 1):
        part.step(block, Todo(fill=True, forward=True))
    for block in range(last, -1, -1):
        again = block != last
        part.step(block, Todo(fill=again, forward=again, backward=True))
        part.step(block, Todo(finish=True))


def diagonal_forward_backward(
    plan: DiagonalPlan, place: int, n: int, size: int, buffers: BufferPool, weight: float
) -> ExpectedCounts | None:
    """What `blocked_forward_backward` does, for diagonal Gaussians."""
    tile = compiled.sequence.diagonal.TILE
    memory = buffers.borrow(-(-n // tile) * tile, plan.chain.n_states + 1)
    part = DiagonalSequence(plan, place, n, size, memory[:3])
    work_through(part.n_blocks, part.step)
    buffers.give_back(memory)
    return part.expected_counts(weight)
