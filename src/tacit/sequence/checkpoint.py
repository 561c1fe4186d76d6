"""Forward and backward in little memory: only every so many rows are kept, and what lies between is done twice."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from tacit import compiled
from tacit.sequence.chain import Array, Chain, Ints, LogDensity, first_rows
from tacit.sequence.sweep import Swept, sweep

Fill = Callable[[int, int, Array, Array], None]
Each = Callable[[int, int, Array], Any]


def checkpointed_sweep(
    chain: Chain, fill: Fill, density: LogDensity, lengths: Ints, each: Each, weights: Array | None = None
) -> Swept:
    """Do what `sweep` does, in memory of the order of sqrt(T) K for each sequence.

    A sequence where linear space underflows is done by `sweep`, which needs all of its rows.
    """
    K = chain.n_states
    logs, first, results = np.empty(len(lengths)), np.zeros(K), []
    counts, visits = np.zeros((K, K)), np.zeros(K)
    for s, (start, length) in enumerate(zip(first_rows(lengths).tolist(), lengths.tolist(), strict=True)):
        weight = 1.0 if weights is None else float(weights[start])
        found = _one(chain, fill, start, length, weight, each)
        if found is None:
            found = _plain(chain, fill, density, start, length, weights, each)
        logs[s] = found.log_likelihood[0]
        first, counts, visits = first + found.first, counts + found.transitions, visits + found.visits
        results += found.results
    return Swept(logs, first, counts, visits, results)


def _plain(
    chain: Chain, fill: Fill, density: LogDensity, start: int, length: int, weights: Array | None, each: Each
) -> Swept:
    return sweep(
        chain,
        lambda i, j, b, top: fill(start + i, start + j, b, top),
        lambda i, j: density(start + i, start + j),
        np.array([length]),
        lambda i, j, g: each(start + i, start + j, g),
        None if weights is None else weights[start : start + length],
    )


def _one(chain: Chain, fill: Fill, start: int, length: int, weight: float, each: Each) -> Swept | None:
    """One sequence; None if it underflows."""
    size = max(int(np.ceil(np.sqrt(length))), 1)
    edges = [*range(start, start + length, size), start + length]
    entries = _entries(chain, fill, edges)
    if entries is None:
        return None
    A, At = np.ascontiguousarray(chain.transition), np.ascontiguousarray(chain.transition.T)
    K = chain.n_states
    counts, visits, total, results = np.zeros((K, K)), np.zeros(K), 0.0, []
    ahead: Array | None = None  # b g of the first row of the block after
    for block in range(len(edges) - 2, -1, -1):
        i, j = edges[block], edges[block + 1]
        b, a, g, top, link = (np.empty(shape) for shape in [(j - i, K)] * 3 + [(j - i,)] * 2)
        fill(i, j, b, top)
        end = np.ones(K) if ahead is None else chain.transition @ ahead
        log = compiled.hmm.both_ways(
            b, top, entries[block], end / end.max(), A, At, chain.can_lose_states, weight, chain.width, a, g, link
        )
        if np.isnan(log):
            return None
        total += log
        last, head, moves = a[-1].copy(), np.empty(K), np.zeros((K, K))
        w = np.full(j - i, weight)
        compiled.hmm.posteriors(a, b, link, w, chain.width, g, visits, moves, np.zeros(K), head)
        counts += A * moves
        if ahead is not None:
            across = last[:, None] * A * ahead
            counts += weight * across / across.sum()
        ahead = head / head.max()
        results.append(each(i, j, g))
    return Swept(np.array([total]), g[0].copy(), counts, visits, results)


def _entries(chain: Chain, fill: Fill, edges: list[int]) -> list[Array] | None:
    """Distribution of the state at the first row of each block, given all rows before it."""
    A, K = np.ascontiguousarray(chain.transition), chain.n_states
    entries = [chain.start]
    for i, j in pairwise(edges[:-1]):
        b, top, a, logs = np.empty((j - i, K)), np.empty(j - i), np.empty((j - i, K)), np.empty(1)
        fill(i, j, b, top)
        compiled.hmm.forward(b, top, np.array([j - i]), entries[-1], A, chain.can_lose_states, chain.width, a, logs)
        if np.isnan(logs[0]):
            return None
        entries.append(a[-1] @ A)
    return entries
