"""Single paths of a chain whose states have durations.

A path is the states over time, however many steps its last state still has before it. Where a state may follow itself
(a single state has to), several stays in a row are one run of the path; the probability of the path is the sum over
all ways to cut it into stays. With R_k(n) the probability of a run of n steps before another state, C_k(n) that of
n steps or more, and runs k_1, ..., k_m of n_1, ..., n_m steps,

    p(path) = pi_k1 R_k1(n_1) a_k1k2 R_k2(n_2) ... a_k(m-1)km C_km(n_m)

so that the probabilities of all paths sum to one.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from latently import compiled
from latently.sequence.inference.chain import Array, ImpossibleSequence, Ints, log_forward, parts_of
from latently.sequence.inference.forward_backward import smooth
from latently.sequence.model.durations import log_durations
from latently.sequence.model.semi_markov import SemiChain


@dataclass(frozen=True, eq=False)
class Runs:
    """Log probabilities of runs.

    Parameters
    ----------
    start, transition : (K,) and (K, K), of the first state and of the next one
    stay : (K, M) of a run of 1 to M steps that another state follows
    last : (K, M) of a run of 1 to M steps or more
    """

    start: Array
    transition: Array
    stay: Array
    last: Array

    def best(self, L: Array, n: int) -> tuple[Array, Ints]:
        """Log joint probabilities (n,) and paths (n, T) of the n best paths of one sequence, best first."""
        T, K = L.shape
        paths, logs = np.empty((n, T), dtype=np.int64), np.empty(n)
        codes = np.zeros((2, T, K, n), dtype=np.int64)
        enter = np.empty((T, K, n))
        compiled.sequence.runs.n_best(
            L, self.start, self.transition, self.stay, self.last, enter, codes[0], codes[1], paths, logs
        )
        there = logs > -np.inf
        return logs[there], paths[there]

    def path_log_prob(self, L: Array, path: Ints) -> float:
        """Log joint probability of a sequence and a given path."""
        begins = np.append(0, np.flatnonzero(np.diff(path)) + 1)
        states, sizes = path[begins], np.diff(np.append(begins, len(path)))
        if (sizes > self.stay.shape[1]).any():
            return -np.inf
        moves = self.transition[states[:-1], states[1:]].sum() + self.stay[states[:-1], sizes[:-1] - 1].sum()
        ends = self.start[states[0]] + self.last[states[-1], sizes[-1] - 1]
        return float(moves + ends + L[np.arange(len(path)), path].sum())


def runs_of(chain: SemiChain, length: int) -> Runs:
    """Probabilities of runs that are no longer than a sequence of this length."""
    start, A = chain.plain.logs
    p = [log_durations(part, chain.longest) for part in chain.durations]
    again = np.diagonal(A)
    M = length if np.isfinite(again).any() else min(length, chain.longest)
    pairs = [_renewed(row, a, M) for row, a in zip(p, again, strict=True)]
    return Runs(start, A, np.array([stay for stay, _ in pairs]), np.array([last for _, last in pairs]))


def _renewed(p: Array, again: float, M: int) -> tuple[Array, Array]:
    """Log R and log C (M,) of a state with log durations p (D,) that follows itself with log probability `again`."""
    reached = np.minimum(np.logaddexp.accumulate(p[::-1])[::-1], 0.0)
    reached[0] = 0.0  # every stay has a first step
    stay, last = (np.append(row, np.full(M, -np.inf))[:M] for row in (p, reached))
    if np.isneginf(again):
        return stay, last
    for n in range(1, M):
        m = np.arange(max(n - len(p), 0), n)  # where the first stay ends and the rest begins
        first = p[n - m - 1] + again
        stay[n] = np.logaddexp(stay[n], special.logsumexp(first + stay[m]))
        last[n] = np.logaddexp(last[n], special.logsumexp(first + last[m]))
    return stay, last


def per_state(chain: SemiChain, L: Array) -> Array:
    """Log densities (n, K) of the states from those of (state, steps left)."""
    return np.ascontiguousarray(L[:, :: chain.longest])


def decode(chain: SemiChain, L: Array, lengths: Ints, algorithm: str) -> tuple[Array, Ints]:
    """Log joint probability (S,) of each sequence with its path, and the paths (n,); see `PathMixin.decode`."""
    rows, runs = per_state(chain, L), runs_of(chain, int(lengths.max()))
    parts = parts_of(rows, lengths)
    if algorithm == "map":
        K, D = chain.plain.n_states, chain.longest
        posterior = smooth(chain, lambda a, b: L[a:b].copy(), lengths).posterior
        path = posterior.reshape(-1, K, D).sum(axis=2).argmax(axis=1)
        each = zip(parts, parts_of(path, lengths), strict=True)
        return np.array([runs.path_log_prob(*pair) for pair in each]), path
    logs, paths = np.empty(len(parts)), []
    for s, part in enumerate(parts):
        found, best = runs.best(part, 1)
        if not len(found):
            end = int(lengths[: s + 1].sum())
            raise ImpossibleSequence(s, log_forward(chain, L[end - len(part) : end])[1])
        logs[s] = found[0]
        paths.append(best[0])
    return logs, np.concatenate(paths)


def n_best(chain: SemiChain, L: Array, lengths: Ints, n: int) -> list[tuple[Array, Ints]]:
    """Log joint probabilities and paths of the n best paths of each sequence."""
    rows, runs = per_state(chain, L), runs_of(chain, int(lengths.max()))
    return [runs.best(part, n) for part in parts_of(rows, lengths)]
