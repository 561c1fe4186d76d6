"""Log probability of a sequence of symbols under a chain, some of them missing."""

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from latently.sequence.inference.chain import Array, Ints
from latently.sequence.markov.counts import BEGIN, MISSING, Context, windows

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
    return _carried(codes, (BEGIN,) * order, row)[0]


def next_symbol(codes: Ints, order: int, row: Rows) -> Array:
    """Distribution (V,) of the symbol after a sequence of codes; missing ones are summed over.

    Nothing before the last context that is known as a whole has a say.
    """
    padded = np.concatenate([np.full(order, BEGIN), codes])
    whole = [t for t in range(len(codes) + 1) if MISSING not in padded[t : t + order]]
    known = tuple(padded[whole[-1] : whole[-1] + order].tolist())
    total, belief = _carried(codes[whole[-1] :], known, row)
    if total == -np.inf:
        raise ValueError("this sequence is impossible under the chain, so that nothing can follow it")
    return np.asarray(np.sum([p * row(context) for context, p in belief.items()], axis=0))


def _carried(codes: Ints, begin: Context, row: Rows) -> tuple[float, dict[Context, float]]:
    """Log probability of a sequence after a context, and the probabilities of the contexts at its end."""
    belief: dict[Context, float] = {begin: 1.0}
    total = 0.0
    for code in codes.tolist():
        after: dict[Context, float] = defaultdict(float)
        for context, p in belief.items():
            next_ = row(context)
            for symbol in [code] if code != MISSING else np.flatnonzero(next_).tolist():
                after[(*context, symbol)[1:] if begin else ()] += p * float(next_[symbol])
        norm = sum(after.values())
        if norm <= 0:
            return -np.inf, {}
        total += float(np.log(norm))
        belief = {context: p / norm for context, p in after.items() if p > 0}
    return total, belief
