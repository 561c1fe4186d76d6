"""Counts of symbols after contexts: the statistics of a Markov chain, which add and subtract."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from latently.distributions.statistics import Additive
from latently.sequence.inference.chain import Array, Ints, first_rows

BEGIN = -1
"""Stands in a context for what is before the first symbol."""
MISSING = -2
"""Code of a missing symbol."""

Context = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ContextCounts(Additive):
    """Counts (V,) of the next symbol after each context, for contexts of every length up to the order."""

    n_symbols: int
    table: Mapping[Context, Array] = field(default_factory=dict)

    def _combine(self, other: Self, sign: int) -> Self:
        V = max(self.n_symbols, other.n_symbols)
        table = {context: _padded(row, V) for context, row in self.table.items()}
        for context, row in other.table.items():
            table[context] = table.get(context, np.zeros(V)) + sign * _padded(row, V)
        if any((row < -1e-9).any() for row in table.values()):
            raise ValueError("more was forgotten than was ever learnt: forget only what was learnt before")
        kept = {c: np.maximum(row, 0.0) for c, row in table.items() if (row > 1e-12).any()}
        return type(self)(V, kept)

    def row(self, context: Context) -> Array | None:
        """Counts after a context, or None if it was never seen."""
        return self.table.get(context)


def _padded(row: Array, V: int) -> Array:
    return np.pad(row, (0, V - len(row)))


def windows(codes: Ints, lengths: Ints, order: int) -> Ints:
    """Each symbol with the `order` symbols before it, (n, order + 1); BEGIN before the first of a sequence."""
    n = len(codes)
    rows = np.full((n, order + 1), BEGIN, dtype=np.int64)
    step = np.arange(n) - np.repeat(first_rows(lengths), lengths)
    for back in range(order + 1):
        inside = step >= back
        rows[inside, order - back] = codes[np.flatnonzero(inside) - back]
    return rows


def count(codes: Ints, lengths: Ints, order: int, n_symbols: int) -> ContextCounts:
    """Count every window without a missing symbol, for contexts of length 0 to `order`."""
    table: dict[Context, Array] = {}
    whole = windows(codes, lengths, order)
    for length in range(order + 1):
        rows = whole[:, order - length :]
        rows = rows[(rows != MISSING).all(axis=1)]
        found, counts = np.unique(rows, axis=0, return_counts=True)
        for window, number in zip(found.tolist(), counts.tolist(), strict=True):
            row = table.setdefault(tuple(window[:-1]), np.zeros(n_symbols))
            row[window[-1]] += number
    return ContextCounts(n_symbols, table)


def probabilities(
    counts: ContextCounts, context: Context, smoothing: str | None, prior: float, discount: float
) -> Array:
    """Distribution (V,) of the next symbol after a context; shorter contexts help out where this one is rare."""
    V, row = counts.n_symbols, counts.row(context)
    if not context:
        base = np.zeros(V) if row is None else row
        total = base.sum() + prior * V
        return (base + prior) / total if total > 0 else np.full(V, 1 / V)
    if smoothing is None and prior > 0:
        base = np.zeros(V) if row is None else row
        return np.asarray((base + prior) / (base.sum() + prior * V))
    shorter = probabilities(counts, context[1:], smoothing, prior, discount)
    if row is None:
        return shorter
    if smoothing is None:
        return np.asarray(row / row.sum())
    seen = row > 0
    if smoothing == "interpolation":  # Witten and Bell: as much weight for shorter contexts as there are novelties
        return np.asarray((row + seen.sum() * shorter) / (row.sum() + seen.sum()))
    return _back_off(row, seen, shorter, discount)


def _back_off(row: Array, seen: Any, shorter: Array, discount: float) -> Array:
    """Take a discount off each symbol that was seen, and give it to those that were not."""
    left = shorter[~seen].sum()
    if seen.all() or left <= 0:
        return np.asarray(row / row.sum())
    taken = np.minimum(discount, row) * seen
    kept = (row - taken) / row.sum()
    return np.asarray(np.where(seen, kept, taken.sum() / row.sum() * shorter / left))
