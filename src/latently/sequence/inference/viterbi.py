"""The most probable path of each sequence."""

from collections.abc import Callable

import numpy as np

from latently import compiled
from latently.sequence.inference.chain import Array, Chain, ImpossibleSequence, Ints, LogDensity, log_forward
from latently.sequence.inference.threads import packs, side_by_side

ROWS = 8192
"""About as many rows as a thread works on together: whole sequences, or one that is longer."""


Decode = Callable[[int, int, Ints, Ints, Array], None]
"""Finds the paths of the sequences from row a to b, of these lengths; fills paths and log joint probabilities."""


def best_paths(chain: Chain, density: LogDensity, lengths: Ints) -> tuple[Array, Ints]:
    """Log joint probability (S,) of each sequence with its best path, and the paths (n,).

    Of paths that are equally probable it is the one with the lowest last state, of those the one with the lowest
    state before that, and so on.
    """
    log_start, log_A = chain.logs
    log_At = np.ascontiguousarray(log_A.T)

    def decode(a: int, b: int, sizes: Ints, path: Ints, logs: Array) -> None:
        if chain.width:
            compiled.sequence.paths.viterbi(density(a, b), sizes, log_start, log_A, log_At, chain.width, path, logs)
        else:
            with_pointers(density(a, b), sizes, log_start, log_A, path, logs)

    logs, path = in_groups(decode, lengths)
    for s in np.flatnonzero(np.isneginf(logs)).tolist():
        end = int(lengths[: s + 1].sum())
        raise ImpossibleSequence(s, log_forward(chain, density(end - int(lengths[s]), end))[1])
    return logs, path


def with_pointers(
    L: Array, lengths: Ints, log_start: Array, moves: Array, path: Ints, logs: Array, inputs: Array | None = None
) -> None:
    """Fill paths and log joint probabilities, by pointers from each step to the one before.

    Parameters
    ----------
    L
        Log densities (n, K).
    lengths
        Length of each sequence.
    log_start, moves
        Log probabilities of the first state, and of transitions (K, K); or coefficients (K, K, p) of the inputs.
    path, logs
        Where the paths (n,) and log probabilities (S,) go.
    inputs
        Inputs (n, p) of the rows, if transitions depend on them.
    """
    pointers = np.empty((int(lengths.max()), L.shape[1]), dtype=np.uint16)
    compiled.sequence.paths.viterbi_of_many(L, lengths, log_start, moves, pointers, path, logs, inputs)


def in_groups(decode: Decode, lengths: Ints) -> tuple[Array, Ints]:
    """Log joint probabilities (S,) and paths (n,) of all sequences, some of them at a time, side by side."""
    ends = np.cumsum(lengths)
    path, logs = np.empty(int(ends[-1]), dtype=np.int64), np.empty(len(lengths))

    def one(group: tuple[int, int]) -> None:
        first, last = group
        a, b = int(ends[first] - lengths[first]), int(ends[last - 1])
        decode(a, b, lengths[first:last], path[a:b], logs[first:last])

    side_by_side(one, packs(lengths, ROWS))
    return logs, path
