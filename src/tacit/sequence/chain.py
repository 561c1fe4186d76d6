"""What can be asked of a hidden chain, given log densities: the numpy side of the compiled kernels.

Nothing here knows what the observations are: a `Chain` and a function that gives log densities are enough.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit import compiled
from tacit.learn.reduce import n_threads

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
LogDensity = Callable[[int, int], Array]
"""Rows a to b of the (n, K) log densities, in memory that may be overwritten."""

BLOCK = 4096
"""Rows that are worked on together, so that they stay in cache."""

STRETCH = 4 * BLOCK
"""Rows that one thread works on; sums over stretches are taken in order, whatever the number of threads."""

SMALL = 12
"""Up to this many states, kernels are compiled for their exact number."""


class ImpossibleSequence(ValueError):
    """A sequence that has probability zero under the model."""

    def __init__(self, sequence: int, step: int) -> None:
        super().__init__(sequence, step)
        self.sequence, self.step = sequence, step

    def __str__(self) -> str:
        return (
            f"sequence {self.sequence} is impossible under the model: at step {self.step} no reachable state can "
            "give what is observed there (log-likelihood -inf)"
        )


@dataclass(frozen=True, eq=False)
class Chain:
    """Probabilities of the first state, (K,), and of the next state given one, (K, K)."""

    start: Array
    transition: Array

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.start)

    @property
    def width(self) -> tuple[int, ...]:
        """A tuple of as many zeros as there are states, for the kernels; empty if they are many."""
        return (0,) * self.n_states if self.n_states <= SMALL else ()

    @property
    def can_lose_states(self) -> bool:
        """Whether a transition is (nearly) impossible, so that an underflow may lose a state for good."""
        return bool(self.transition.min() < 1e-100)

    def logs(self) -> tuple[Array, Array]:
        """Log probabilities; -inf for zero."""
        with np.errstate(divide="ignore"):
            return np.log(self.start), np.log(self.transition)


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Posteriors (n, K), log-likelihoods (S,), expected first states (K,) and transitions (K, K)."""

    posterior: Array
    log_likelihood: Array
    first: Array
    transitions: Array


def first_rows(lengths: Ints) -> Ints:
    """Index of the first row of each sequence."""
    return np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)


def exponentiate(L: Array, width: tuple[int, ...]) -> Array:
    """Turn log densities into densities over the largest of each row, in place; the largest are returned."""
    top = np.empty(len(L))
    compiled.hmm.exponentiate(L, width, top, np.empty(2048))
    return top


def smooth(chain: Chain, density: LogDensity, lengths: Ints) -> Smoothed:
    """Forward and backward through all sequences."""
    posterior = np.empty((int(lengths.sum()), chain.n_states))

    def fill(start: int, stop: int, b: Array, top: Array) -> None:
        b[:] = density(start, stop)
        compiled.hmm.exponentiate(b, chain.width, top, np.empty(2048))

    def keep(start: int, stop: int, g: Array) -> None:
        posterior[start:stop] = g

    swept = sweep(chain, fill, density, lengths, keep)
    return Smoothed(posterior, swept.log_likelihood, swept.first, swept.transitions)


@dataclass(frozen=True, eq=False)
class Swept:
    """Log-likelihoods (S,), expected first states (K,), transitions (K, K), visits (K,), results of each block."""

    log_likelihood: Array
    first: Array
    transitions: Array
    visits: Array
    results: list[Any]


def sweep(
    chain: Chain,
    fill: Callable[[int, int, Array, Array], None],
    density: LogDensity,
    lengths: Ints,
    each: Callable[[int, int, Array], Any],
    weights: Array | None = None,
    memo: dict[str, Any] | None = None,
) -> Swept:
    """Forward and backward through all sequences, block by block where rows do not depend on each other.

    Parameters
    ----------
    chain
        Start and transitions.
    fill
        Called with first row, last row, b and top: fills b with densities over exp(top).
    density
        Gives log densities, asked only where linear space is not enough.
    lengths
        Length of each sequence.
    each
        Called with first row, last row, and their (weighted) posteriors, which it must not keep; what it returns is
        collected.
    weights
        Weight of each row (the same for all rows of a sequence), or None.
    memo
        Where to keep memory for the next time.
    """
    n, K, width = int(lengths.sum()), chain.n_states, chain.width
    b, a, g, top, link = _memory(n, K, memo)
    w = np.empty(0) if weights is None else weights
    A, logs = np.ascontiguousarray(chain.transition), np.empty(len(lengths))

    def filling(stretch: int) -> None:
        for i, j in _blocks(stretch, n):
            fill(i, j, b[i:j], top[i:j])

    def finishing(stretch: int) -> tuple[Array, Array, list[Any], Array, Array]:
        visits, counts, results = np.zeros(K), np.zeros((K, K)), []
        carry, head, first = np.zeros(K), np.empty(K), np.empty(0)
        for i, j in _blocks(stretch, n):
            compiled.hmm.posteriors(a[i:j], b[i:j], link[i:j], w[i:j], width, g[i:j], visits, counts, carry, head)
            first = head.copy() if i == stretch else first
            results.append(each(i, j, g[i:j]))
        return visits, counts, results, carry, first

    stretches = range(0, n, STRETCH)
    over_stretches(filling, stretches)
    compiled.hmm.both_ways_all(
        b, top, lengths, w, chain.start, A, np.ascontiguousarray(A.T), chain.can_lose_states, width, a, g, link, logs
    )
    parts = over_stretches(finishing, stretches)
    seams = sum((np.outer(p[3], q[4]) for p, q in pairwise(parts)), np.zeros((K, K)))
    counts = A * (sum(part[1] for part in parts) + seams)
    found = Swept(logs, np.zeros(K), counts, sum(part[0] for part in parts), [r for part in parts for r in part[2]])
    return _with_log_space(chain, density, lengths, each, weights, g, found)


def _blocks(stretch: int, n: int) -> list[tuple[int, int]]:
    stop = min(stretch + STRETCH, n)
    return [(i, min(i + BLOCK, stop)) for i in range(stretch, stop, BLOCK)]


def over_stretches(f: Callable[[int], Any], stretches: range) -> list[Any]:
    """Call f for each stretch, by threads if there are several and this is not a thread of a pool already."""
    workers = min(n_threads(), len(stretches))
    if workers < 2 or threading.current_thread() is not threading.main_thread():
        return [f(stretch) for stretch in stretches]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(f, stretches))


def _with_log_space(
    chain: Chain,
    density: LogDensity,
    lengths: Ints,
    each: Callable[[int, int, Array], Any],
    weights: Array | None,
    g: Array,
    found: Swept,
) -> Swept:
    """Add the sequences that linear space could not do."""
    starts, logs = first_rows(lengths), found.log_likelihood
    first, visits, results = g[starts].sum(axis=0), found.visits, list(found.results)
    for s in np.flatnonzero(np.isnan(logs)):
        i, j = int(starts[s]), int(starts[s] + lengths[s])
        weight = 1.0 if weights is None else float(weights[i])
        logs[s] = _smooth_in_logs(chain, density(i, j), int(s), weight, g[i:j], found.transitions)
        first = first + g[i]
        visits = visits + g[i:j].sum(axis=0)
        results.append(each(i, j, g[i:j]))
    return Swept(logs, first, found.transitions, visits, results)


def _memory(n: int, K: int, memo: dict[str, Any] | None) -> Any:
    """Three (n, K) and two (n,) arrays; kept in the memo, since fresh memory costs as much as a pass over it."""
    if memo is None or "hmm" not in memo or memo["hmm"][0].shape != (n, K):
        fresh = (np.empty((n, K)), np.empty((n, K)), np.empty((n, K)), np.empty(n), np.empty(n))
        if memo is None:
            return fresh
        memo["hmm"] = fresh
    return memo["hmm"]


def _smooth_in_logs(chain: Chain, L: Array, s: int, weight: float, g: Array, counts: Array) -> float:
    """Fill g with weighted posteriors and add to the counts, all in log space."""
    log_start, log_A = chain.logs()
    total, bad = compiled.hmm.log_smooth(L, log_start, chain.transition, log_A, weight, np.empty_like(L), g, counts)
    if bad >= 0:
        raise ImpossibleSequence(s, int(bad))
    g *= weight
    return float(total)


@dataclass(frozen=True, eq=False)
class Filtered:
    """Probabilities of the states given the rows so far, (n, K), and log-likelihoods (S,)."""

    belief: Array
    log_likelihood: Array
    impossible: tuple[tuple[int, int], ...]
    """Sequence and step of each sequence that cannot be; its beliefs from there on are NaN."""


def forward(chain: Chain, density: LogDensity, lengths: Ints) -> Filtered:
    """Forward only: no look-ahead."""
    b = density(0, int(lengths.sum()))
    top = exponentiate(b, chain.width)
    a, logs = np.empty_like(b), np.empty(len(lengths))
    A = np.ascontiguousarray(chain.transition)
    compiled.hmm.forward(b, top, lengths, chain.start, A, chain.can_lose_states, chain.width, a, logs)
    impossible = []
    for s, first in enumerate(first_rows(lengths)):
        if np.isnan(logs[s]):
            la, bad = log_forward(chain, density(int(first), int(first + lengths[s])))
            stop = len(la) if bad < 0 else bad
            scaled = np.exp(la[:stop] - la[:stop].max(axis=1, keepdims=True))
            a[first : first + stop] = scaled / scaled.sum(axis=1, keepdims=True)
            a[first + stop : first + len(la)] = np.nan
            logs[s] = -np.inf if bad >= 0 else np.logaddexp.reduce(la[-1])
            if bad >= 0:
                impossible.append((s, bad))
    return Filtered(a, logs, tuple(impossible))


def log_forward(chain: Chain, L: Array) -> tuple[Array, int]:
    """Log forward rows of one sequence, and the first impossible row or -1."""
    la = np.empty_like(L)
    log_start, log_A = chain.logs()
    return la, int(compiled.hmm.log_forward(L, log_start, chain.transition, log_A, la))


def viterbi(chain: Chain, L: Array, lengths: Ints) -> tuple[Array, Ints]:
    """Log joint probability of each sequence with its best path, and the path (n,)."""
    log_start, log_A = chain.logs()
    pointers = np.empty(L.shape, dtype=np.uint16)
    path, logs = np.empty(len(L), dtype=np.int64), np.empty(len(lengths))
    compiled.hmm_paths.viterbi(L, lengths, log_start, log_A, chain.width, pointers, path, logs)
    return logs, path


def n_best(chain: Chain, L: Array, n: int) -> tuple[Array, Ints]:
    """Log joint probabilities (n,) and paths (n, T) of the n best paths of one sequence, best first."""
    T, K = L.shape
    log_start, log_A = chain.logs()
    paths, logs = np.empty((n, T), dtype=np.int64), np.empty(n)
    pointers = np.empty((T, K, n), dtype=np.int32)
    compiled.hmm_paths.n_best(L, log_start, log_A, np.empty((2, K, n)), pointers, paths, logs)
    there = logs > -np.inf
    return logs[there], paths[there]


def sample_paths(chain: Chain, L: Array, n: int, rng: np.random.RandomState) -> Ints:
    """Paths (n, T) of one sequence, drawn from their posterior."""
    la, bad = log_forward(chain, L)
    if bad >= 0:
        raise ImpossibleSequence(0, bad)
    paths = np.empty((n, len(L)), dtype=np.int64)
    compiled.hmm_paths.sample_back(la, chain.logs()[1], rng.uniform(size=paths.shape), paths)
    return paths


def path_log_prob(chain: Chain, L: Array, lengths: Ints, path: Ints) -> Array:
    """Log joint probability of each sequence and a given path."""
    log_start, log_A = chain.logs()
    starts = first_rows(lengths)
    terms = L[np.arange(len(L)), path]
    steps = log_A[path[:-1], path[1:]]
    steps[starts[1:] - 1] = 0.0  # no transition from one sequence to the next
    terms[1:] += steps
    terms[starts] += log_start[path[starts]]
    return np.asarray(np.add.reduceat(terms, starts))


def walk(chain: Chain, n: int, rng: np.random.RandomState, state: int | None = None) -> Ints:
    """A path of n states drawn from the chain, from a given first state if there is one."""
    path = np.empty(n, dtype=np.int64)
    start = chain.start if state is None else np.eye(chain.n_states)[state]
    compiled.hmm_paths.walk(_cdf(start), _cdf(chain.transition), rng.uniform(size=n), path)
    return path


def _cdf(p: Array) -> Array:
    steps = np.cumsum(p, axis=-1)
    return np.asarray(steps / steps[..., -1:])


def stationary(transition: Array) -> Array:
    """Distribution that the transitions leave as it is; the mean over time if there are several classes.

    Examples
    --------
    >>> stationary(np.array([[0.9, 0.1], [0.3, 0.7]]))
    array([0.75, 0.25])
    """
    K = len(transition)
    system = np.vstack([transition.T - np.eye(K), np.ones(K)])
    found, _, rank, _ = np.linalg.lstsq(system, np.append(np.zeros(K), 1.0), rcond=None)
    if rank < K:
        raise ValueError(
            "the chain has several closed classes of states, so that it has no single stationary distribution"
        )
    found = np.maximum(found, 0.0)
    return np.asarray(found / found.sum())
