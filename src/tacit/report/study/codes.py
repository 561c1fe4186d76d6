"""Values that stand for a missing one, such as -999: found by being repeated, at an end, and far from the rest."""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_WORDS: Final = frozenset({"", "?", "-", "--", ".", "na", "n/a", "nan", "null", "nil", "#n/a", "missing", "<na>"})
_BOUNDS: Final = (65535, 32767, -32768, 2147483647, -2147483648, 1e10, 1e20, 1e30, -1e10, -1e20, -1e30)
_MOST = 3


def suspected_words(levels: list[str]) -> list[str]:
    """Give the levels that say that a value is missing.

    Examples
    --------
    >>> suspected_words(["yes", "no", "N/A", "?"])
    ['N/A', '?']
    """
    return [level for level in levels if level.strip().lower() in _WORDS]


def suspected_codes(x: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Give the numbers of a column that look like codes for missing, with how probable that is.

    Examples
    --------
    >>> suspected_codes(np.r_[np.linspace(20, 60, 50), [-999.0] * 4])[0]["value"]
    -999
    """
    values, counts = np.unique(x[~np.isnan(x)], return_counts=True)
    found: list[dict[str, Any]] = []
    while len(found) < _MOST and len(values) > 3:
        ends = [(_probability(values, counts, at), at) for at in (0, len(values) - 1)]
        chance, at = max(ends)
        if chance < 0.5:
            break
        found.append({"value": _plain(values[at]), "count": int(counts[at]), "probability": chance})
        values, counts = np.delete(values, at), np.delete(counts, at)
    return found


def _probability(values: NDArray[np.float64], counts: NDArray[np.int64], at: int) -> float:
    """Chance that the value at an end of the column is a code; zero unless it is repeated and apart."""
    rest, weights = np.delete(values, at), np.delete(counts, at)
    count, total = int(counts[at]), int(weights.sum())
    if count < 2 or total < 10:
        return 0.0
    mass = np.cumsum(weights) / total
    low, high = (float(rest[np.searchsorted(mass, level)]) for level in (0.05, 0.95))
    span = max(high - low, 1e-12 * max(abs(high), 1e-300))
    apart = float(np.abs(rest - values[at]).min()) / span
    usual = _is_usual(float(values[at]), rest)
    if apart < (0.5 if usual else 2.0) or (not usual and count < 3):
        return 0.0
    score = (2.0 if usual else -0.5) + 1.5 * math.log(2 * apart) + 0.5 * math.log(count)
    return float(1 / (1 + math.exp(-score)))


def _is_usual(value: float, rest: NDArray[np.float64]) -> bool:
    """Whether people write this number for "missing": 9, 99, -999, 77, 88, bounds of types, 0 among positives."""
    if value in _BOUNDS:
        return True
    if value == 0:
        return bool(rest.min() > 0)
    whole = abs(value)
    digits = str(int(whole)) if whole == int(whole) and whole < 1e12 else str(whole).replace(".", "")
    return set(digits) == {"9"} or (len(digits) > 1 and set(digits) in ({"7"}, {"8"})) or value in (-1, -7, -8)


def _plain(value: float) -> int | float:
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)
