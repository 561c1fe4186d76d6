"""Forward and backward through all sequences: posteriors, expected transitions, and what is asked of each row.

Short sequences are done in groups that stay in cache from beginning to end; a long one by `part`.
"""

from dataclasses import dataclass

import numpy as np

from latently import compiled
from latently.sequence.inference.blocked import BufferPool, Job, blocked_forward_backward, diagonal_forward_backward
from latently.sequence.inference.chain import Array, Chain, ImpossibleSequence, Ints, LogDensity, first_rows
from latently.sequence.inference.diagonal import ROWS
from latently.sequence.inference.posteriors import ExpectedCounts, total
from latently.sequence.inference.threads import even_blocks, packs, side_by_side

CACHED = 1 << 17
"""Numbers in an array of rows and states that is worked on together."""


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Posteriors (n, K), log-likelihoods (S,), expected first states (K,) and transitions (K, K)."""

    posterior: Array
    log_likelihood: Array
    first: Array
    transitions: Array


def smooth(chain: Chain, density: LogDensity, lengths: Ints) -> Smoothed:
    """Forward and backward through all sequences."""
    posterior = np.empty((int(lengths.sum()), chain.n_states))

    def fill(start: int, stop: int, b: Array, top: Array) -> None:
        b[:] = density(start, stop)
        compiled.sequence.forward_backward.exponentiate(b, chain.width, top, np.empty(2048))

    def keep(start: int, stop: int, g: Array) -> None:
        posterior[start:stop] = g

    expected_counts = forward_backward(Job(chain, fill, density, keep), lengths)
    return Smoothed(posterior, expected_counts.log_likelihood, expected_counts.first, expected_counts.transitions)


def forward_backward(
    job: Job, lengths: Ints, *, little_memory: bool = False, buffers: BufferPool | None = None
) -> ExpectedCounts:
    """Forward and backward through all sequences.

    Parameters
    ----------
    job
        The chain, and what is to be done with each row.
    lengths
        Length of each sequence.
    little_memory
        Use memory of the order of sqrt(T) K for each sequence, and go forward twice.
    buffers
        Where memory is kept for the next time.
    """
    most = max(min(16_384, CACHED // job.chain.n_states), 1024)
    groups = [(s, s + 1) for s in range(len(lengths))] if little_memory else packs(lengths, most)
    starts, buffers = first_rows(lengths), BufferPool() if buffers is None else buffers

    def one(group: tuple[int, int]) -> ExpectedCounts:
        first, last = group
        places, sizes = starts[first:last], lengths[first:last]
        if not little_memory and (len(sizes) > 1 or sizes[0] <= most):
            found: ExpectedCounts | None = _short_sequences(job, places, sizes, buffers)
        elif job.diagonal is not None and not little_memory:
            weight = 1.0 if job.weights is None else float(job.weights[places[0]])
            found = diagonal_forward_backward(job.diagonal, int(places[0]), int(sizes[0]), ROWS, buffers, weight)
        else:
            block = int(np.ceil(np.sqrt(sizes[0]))) if little_memory else even_blocks(int(sizes[0]), 2 * most)
            found = blocked_forward_backward(job, int(places[0]), int(sizes[0]), block, buffers, keep=not little_memory)
        if found is None:
            found = ExpectedCounts.empty(job.chain.n_states, np.array([np.nan]))
        return _in_logs(found, job, places, sizes, first)

    return total(side_by_side(one, groups))


def _short_sequences(job: Job, places: Ints, lengths: Ints, buffers: BufferPool) -> ExpectedCounts:
    """Sequences that begin at these rows; NaN for the log-likelihoods of those that need log space."""
    i, j = int(places[0]), int(places[-1] + lengths[-1])
    K, width, starts = job.chain.n_states, job.chain.width, places - i
    memory = buffers.borrow(j - i, K)
    b, a, g, top, link = (array[: j - i] for array in memory)
    w = np.empty(0) if job.weights is None else job.weights[i:j]
    logs, safe = np.empty(len(lengths)), np.empty(len(lengths), dtype=np.bool_)
    job.fill(i, j, b, top)
    job.mover.forward(b, top, lengths, job.chain.start, a, logs)
    job.mover.backward(b, lengths, w, np.ones(K), g, link, safe)
    logs[~safe] = np.nan
    for s in np.flatnonzero(np.isnan(logs)).tolist():
        rows = slice(starts[s], starts[s] + lengths[s])
        a[rows] = g[rows] = 0.0
    visits, moves = np.zeros(K), np.zeros((K, K))
    compiled.sequence.forward_backward.posteriors(a, b, link, w, width, g, visits, moves)
    found = ExpectedCounts(logs, g[starts].sum(axis=0), job.transition * moves, visits, [job.each(i, j, g)])
    buffers.give_back(memory)
    return found


def _in_logs(found: ExpectedCounts, job: Job, places: Ints, lengths: Ints, number: int) -> ExpectedCounts:
    """Add the sequences that linear space could not do; `number` is that of the first one."""
    logs, parts = found.log_likelihood, [found]
    undone = np.flatnonzero(np.isnan(logs)).tolist()
    if not undone:
        return found
    log_start, log_A = job.chain.logs
    for s in undone:
        i, j = int(places[s]), int(places[s] + lengths[s])
        weight = 1.0 if job.weights is None else float(job.weights[i])
        L, moves = job.density(i, j), np.zeros_like(job.transition)
        g = np.empty_like(L)
        logs[s], bad = compiled.sequence.log_space.log_smooth(
            L, log_start, job.transition, log_A, weight, np.empty_like(L), g, moves
        )
        if bad >= 0:
            raise ImpossibleSequence(number + s, int(bad))
        g *= weight
        parts.append(ExpectedCounts(np.empty(0), g[0].copy(), moves, g.sum(axis=0), [job.each(i, j, g)]))
    return total(parts)
