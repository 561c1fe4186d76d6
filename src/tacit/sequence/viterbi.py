"""The most probable path of each sequence."""

import numpy as np

from tacit import compiled
from tacit.sequence.chain import Array, Chain, ImpossibleSequence, Ints, LogDensity, log_forward
from tacit.sequence.parallel import packs, side_by_side

ROWS = 8192
"""About as many rows as a thread works on together: whole sequences, or one that is longer."""


def best_paths(chain: Chain, density: LogDensity, lengths: Ints) -> tuple[Array, Ints]:
    """Log joint probability (S,) of each sequence with its best path, and the paths (n,)."""
    ends, groups = np.cumsum(lengths), packs(lengths, ROWS)
    path, logs = np.empty(int(ends[-1]), dtype=np.int64), np.empty(len(lengths))
    log_start, log_A = chain.logs()
    log_At = np.ascontiguousarray(log_A.T)

    def decode(group: tuple[int, int]) -> None:
        first, last = group
        sizes, i, j = lengths[first:last], int(ends[first] - lengths[first]), int(ends[last - 1])
        L, found = density(i, j), (path[i:j], logs[first:last])
        if chain.width:
            compiled.hmm_paths.viterbi(L, sizes, log_start, log_A, log_At, chain.width, *found)
        else:
            pointers = np.empty((int(sizes.max()), chain.n_states), dtype=np.uint16)
            compiled.hmm_paths.viterbi_of_many(L, sizes, log_start, log_A, pointers, *found)

    side_by_side(decode, groups)
    for s in np.flatnonzero(np.isneginf(logs)).tolist():
        rows = density(int(ends[s] - lengths[s]), int(ends[s]))
        raise ImpossibleSequence(s, log_forward(chain, rows)[1])
    return logs, path
