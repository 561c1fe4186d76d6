"""Symbols of any kind: reading sequences of them, and renaming their codes."""

from typing import Any

import numpy as np

from tacit.sequence.chain import Ints
from tacit.sequence.counts import ContextCounts


def as_symbols(X: Any, lengths: Any) -> tuple[Any, Ints]:
    """Symbols of all sequences, (n,), and the length of each.

    Examples
    --------
    >>> as_symbols(["ab", "bba"], None)[1]
    array([2, 3])
    """
    if lengths is None and isinstance(X, list | tuple) and len(X) > 0 and _is_sequence(X[0]):
        parts = [list(part) if isinstance(part, str) else np.ravel(part).tolist() for part in X]
        sizes = np.array([len(part) for part in parts], dtype=np.int64)
        values = np.array([v for part in parts for v in part], dtype=object)
    else:
        values = np.asarray(X).ravel()
        sizes = np.array([len(values)] if lengths is None else lengths)
    if len(values) == 0 or (sizes < 1).any():
        raise ValueError("every sequence needs at least one symbol: found an empty one")
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError("inf is no symbol: replace it, or make it NaN if the symbol is missing")
    if sizes.sum() != len(values):
        raise ValueError(f"lengths sum to {int(sizes.sum())} but there are {len(values)} symbols: they must be equal")
    return values, sizes


def _is_sequence(first: Any) -> bool:
    """Whether the first of a list is a sequence itself: a longer string, or a list that is no single row."""
    if isinstance(first, str):
        return len(first) > 1
    return isinstance(first, list | tuple | np.ndarray) and np.size(first) != 1


def renamed(counts: ContextCounts, old: Any, new: Any) -> ContextCounts:
    """Counts with the codes of another list of symbols, which holds all of the old ones."""
    if len(old) == len(new) and (old == new).all():
        return counts
    place = np.searchsorted(new, old)

    def code(c: int) -> int:
        return int(place[c]) if c >= 0 else c

    table = {}
    for context, row in counts.table.items():
        wide = np.zeros(len(new))
        wide[place] = row
        table[tuple(code(c) for c in context)] = wide
    return ContextCounts(len(new), table)
