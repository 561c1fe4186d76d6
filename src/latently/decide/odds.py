"""Beliefs as numbers, intervals or betting odds."""

import re
from typing import Any

import numpy as np

_ODDS = re.compile(r"\s*([\d.]+)\s*(?::|/|to|-)\s*([\d.]+)\s*(on|for|against)?\s*", re.IGNORECASE)


def as_interval(text: str, value: Any) -> tuple[float, float]:
    """Read a belief as an interval: a number, a pair, or odds such as "9:1" (for) or "9:1 against".

    Numbers outside 0 to 1 are let through: they are incoherent, and it is the book that shows it.

    Examples
    --------
    >>> as_interval("rain", "9:1"), as_interval("rain", "9:1 against"), as_interval("rain", (0.2, 0.4))
    ((0.9, 0.9), (0.1, 0.1), (0.2, 0.4))
    """
    if isinstance(value, str):
        chance = _from_odds(text, value)
        return chance, chance
    ends = np.asarray(value, dtype=np.float64)
    if ends.shape not in ((), (2,)):
        raise ValueError(f"the belief in {text!r} must be a number, a pair (low, high) or odds: {value!r}")
    if not np.all(np.isfinite(ends)):
        raise ValueError(f"the belief in {text!r} is {value!r}: it must be finite")
    low, high = (float(e) for e in np.broadcast_to(ends, 2))
    return low, high


def _from_odds(text: str, value: str) -> float:
    match = _ODDS.fullmatch(value)
    try:
        first, second = float(match[1]), float(match[2])  # type: ignore[index]
        if (match[3] or "").lower() == "against":  # type: ignore[index]
            first, second = second, first
        return first / (first + second)
    except (TypeError, ValueError, ZeroDivisionError):
        raise ValueError(f"the odds of {text!r} are {value!r}: write them as '9:1' (for) or '9:1 against'") from None
