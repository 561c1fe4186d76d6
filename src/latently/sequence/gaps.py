"""Log probability of a sequence of symbols under a chain, some of them missing."""

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from latently.sequence.chain import Array, Ints
from latently.sequence.counts import BEGIN, MISSING, Context, windows

Rows = Callable[[Context], Array]
"""Distribution (V,) of the next symbol after a context."""


def log_probability(codes: Ints, order: int, row: Rows) -> float:
    """Log probability of a sequence of codes; missing ones are summed over."""
    if (codes == MISSING).any():
        return _with_gaps(codes, order, row)
    found, counts = np.unique(windows(codes, np.array([len(codes)]), order), axis=0, return_counts=True)
    total = 0.0
    with np.errstate(divide="ignore"):
        for window, number in zip(found.tolist(), counts.tolist(), strict=True):
            total += number * float(np.log(row(tuple(window[:-1]))[window[-1]]))
    return total


def _with_gaps(codes: Ints, order: int, row: Rows) -> float:
    """Carry a belief about the context through the gaps."""
    belief: dict[Context, float] = {(BEGIN,) * order: 1.0}
    total = 0.0
    for code in codes.tolist():
        after: dict[Context, float] = defaultdict(float)
        for context, p in belief.items():
            next_ = row(context)
            for symbol in [code] if code != MISSING else np.flatnonzero(next_).tolist():
                after[(*context, symbol)[1:] if order else ()] += p * float(next_[symbol])
        norm = sum(after.values())
        if norm <= 0:
            return -np.inf
        total += float(np.log(norm))
        belief = {context: p / norm for context, p in after.items() if p > 0}
    return total
