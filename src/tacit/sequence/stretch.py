"""One long sequence, forward and backward, cut into blocks that stay in cache.

One thread goes forward from the beginning while another goes backward from the end. They meet in the middle and go
on, each through what the other has prepared, and take the posteriors of a block as soon as they are through it. More
threads than two fill blocks and take posteriors side by side. What is computed is the same to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from tacit import compiled
from tacit.sequence.chain import Array, Chain, LogDensity, Mover
from tacit.sequence.parallel import n_workers, side_by_side


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
    """

    chain: Chain
    fill: Callable[[int, int, Array, Array], None]
    density: LogDensity
    each: Callable[[int, int, Array], Any]
    weights: Array | None = None

    @cached_property
    def mover(self) -> Mover:
        """The chain as the kernels take it."""
        return Mover(self.chain)

    @property
    def transition(self) -> Array:
        """Transitions (K, K)."""
        return self.mover.transition


@dataclass(frozen=True, eq=False)
class Swept:
    """Log-likelihoods (S,), expected first states (K,), transitions (K, K), visits (K,), results of each block."""

    log_likelihood: Array
    first: Array
    transitions: Array
    visits: Array
    results: list[Any]

    @classmethod
    def empty(cls, K: int, log_likelihood: Array) -> Self:
        """Nothing but log-likelihoods."""
        return cls(log_likelihood, np.zeros(K), np.zeros((K, K)), np.zeros(K), [])


def total(parts: list[Swept]) -> Swept:
    """Everything of all parts."""
    if len(parts) == 1:
        return parts[0]
    return Swept(
        np.concatenate([part.log_likelihood for part in parts]),
        np.sum([part.first for part in parts], axis=0),
        np.sum([part.transitions for part in parts], axis=0),
        np.sum([part.visits for part in parts], axis=0),
        [result for part in parts for result in part.results],
    )


class Spare:
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
        return Spare, ()


class Stretch:
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
        From `Spare`.
    kept
        First and last block that has memory of its own in b, in a and in g; the others use that of the nearest.
    """

    def __init__(self, job: Job, place: int, n: int, size: int, memory: Any, kept: list[tuple[int, int]]) -> None:
        self.job, self.kept, self._memory, self._size = job, kept, memory, size
        self.edges = [(i, min(i + size, place + n)) for i in range(place, place + n, size)]
        # distribution of the first state of each block, given all rows before it
        self.entries = [job.chain.start]
        # what the first row of a block says about its state, together with all rows after it
        self.heads: dict[int, Array] = {}

    def _rows(self, block: int) -> tuple[Array, Array, Array, Array, Array, Array]:
        """Memory of a block: b, a, g, top, link, and the weights of its rows."""
        i, j = self.edges[block]
        places = [min(max(block, first), last) * self._size for first, last in self.kept]
        in_b, in_a, in_g = (slice(place, place + j - i) for place in places)
        b, a, g, top, link = self._memory
        weights = np.empty(0) if self.job.weights is None else self.job.weights[i:j]
        return b[in_b], a[in_a], g[in_g], top[in_b], link[in_g], weights

    def fill(self, block: int) -> None:
        """Densities of a block."""
        b, _, _, top, _, _ = self._rows(block)
        self.job.fill(*self.edges[block], b, top)

    def forward(self, block: int) -> float:
        """Forward through a block; the log-likelihood, NaN where an underflow matters."""
        job, logs = self.job, np.empty(1)
        b, a, _, top, _, _ = self._rows(block)
        size, entry = np.array([len(b)]), self.entries[block]
        job.mover.forward(b, top, size, entry, a, logs)
        if block + 1 == len(self.entries):
            after = a[-1] @ job.transition
            self.entries.append(after / after.sum())
        return float(logs[0])

    def backward(self, block: int) -> bool:
        """Backward through a block; whether no underflow matters."""
        job, safe = self.job, np.empty(1, dtype=np.bool_)
        b, _, g, _, link, w = self._rows(block)
        size, ahead = np.array([len(b)]), self.heads.get(block + 1)
        end = np.ones(len(job.transition)) if ahead is None else job.transition @ ahead
        job.mover.backward(b, size, w, end / end.max(), g, link, safe)
        head = b[0] * g[0]
        self.heads[block] = head / head.max()
        return bool(safe[0])

    def finish(self, block: int) -> Swept:
        """Posteriors of a block, and what is asked of its rows."""
        job, K = self.job, len(self.job.transition)
        b, a, g, _, link, w = self._rows(block)
        last, visits, moves = a[-1].copy(), np.zeros(K), np.zeros((K, K))
        compiled.hmm.posteriors(a, b, link, w, job.chain.width, g, visits, moves)
        moves *= job.transition
        if block + 1 < len(self.edges):
            across = last[:, None] * job.transition * self.heads[block + 1]
            moves += (w[0] if len(w) else 1.0) * across / across.sum()
        first = g[0].copy() if block == 0 else np.zeros(K)
        return Swept(np.empty(0), first, moves, visits, [job.each(*self.edges[block], g)])


def sweep_stretch(job: Job, place: int, n: int, size: int, spare: Spare, *, keep: bool) -> Swept | None:
    """Forward and backward through the n rows from `place` on, which are one sequence; None if that underflows.

    Without `keep`, densities and forward rows are computed a second time on the way back, and only those of one block
    are in memory.
    """
    last = -(-n // size) - 1
    half = (last + 1) // 2
    if not keep:
        way, kept = _there_and_back, [(0, 0)] * 3
    elif n_workers(last + 1) > 2:
        way, kept = _in_phases, [(0, last)] * 3
    else:
        way, kept = _from_both_ends, [(0, last), (0, half), (max(half - 1, 0), last)]
    memory = spare.borrow(n if keep else size, job.chain.n_states)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = way(Stretch(job, place, n, size, memory, kept))
    spare.give_back(memory)
    return found


def _there_and_back(stretch: Stretch) -> Swept | None:
    blocks, logs, parts = range(len(stretch.edges)), 0.0, []
    for block in blocks:
        stretch.fill(block)
        logs += stretch.forward(block)
    for block in reversed(blocks):
        if block != blocks[-1]:
            stretch.fill(block)
            stretch.forward(block)
        if np.isnan(logs) or not stretch.backward(block):
            return None
        parts.append(stretch.finish(block))
    return replace(total(parts[::-1]), log_likelihood=np.array([logs]))


def _from_both_ends(stretch: Stretch) -> Swept | None:
    blocks = range(len(stretch.edges))
    half = len(blocks) // 2
    logs, safe, parts = np.zeros(len(blocks)), np.ones(len(blocks), dtype=np.bool_), dict[int, Swept]()

    def forward(these: range, *, met: bool) -> None:
        for block in these:
            if not met:
                stretch.fill(block)
            logs[block] = stretch.forward(block)
            if met:
                parts[block] = stretch.finish(block)

    def backward(these: range, *, met: bool) -> None:
        for block in reversed(these):
            if not met:
                stretch.fill(block)
            safe[block] = stretch.backward(block)
            if met:
                parts[block] = stretch.finish(block)

    side_by_side(
        lambda way: way(), [lambda: forward(blocks[:half], met=False), lambda: backward(blocks[half:], met=False)]
    )
    side_by_side(
        lambda way: way(), [lambda: forward(blocks[half:], met=True), lambda: backward(blocks[:half], met=True)]
    )
    if np.isnan(logs).any() or not safe.all():
        return None
    return replace(total([parts[block] for block in blocks]), log_likelihood=np.array([sum(logs.tolist())]))


def _in_phases(stretch: Stretch) -> Swept | None:
    blocks = range(len(stretch.edges))

    def forward() -> Any:
        return sum((stretch.forward(block) for block in blocks), 0.0)

    def backward() -> Any:
        return all(stretch.backward(block) for block in reversed(blocks))

    side_by_side(stretch.fill, blocks)
    logs, safe = side_by_side(lambda way: way(), [forward, backward])
    if np.isnan(logs) or not safe:
        return None
    parts = side_by_side(stretch.finish, blocks)
    return replace(total(parts), log_likelihood=np.array([logs]))
