"""Forward and backward through all sequences: posteriors and expected transitions."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tacit import compiled
from tacit.learn.reduce import n_threads
from tacit.sequence.chain import Array, Chain, ImpossibleSequence, Ints, LogDensity, first_rows

BLOCK = 4096
"""Rows that are worked on together, so that they stay in cache."""

STRETCH = 4 * BLOCK
"""Rows that one thread works on; sums over stretches are taken in order, whatever the number of threads."""


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
    total, bad = compiled.hmm_logs.log_smooth(
        L, log_start, chain.transition, log_A, weight, np.empty_like(L), g, counts
    )
    if bad >= 0:
        raise ImpossibleSequence(s, int(bad))
    g *= weight
    return float(total)
