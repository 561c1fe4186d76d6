"""Values that stand for a missing one, such as -999: found by being repeated, at an end, and far from the rest.

Conventional codes and impossible values are applied: taken as missing. All else is suggested and changes nothing.
"""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_WORDS: Final = frozenset({"", "?", "-", "--", ".", "na", "n/a", "nan", "null", "nil", "#n/a", "missing", "<na>"})
_BOUNDS: Final = (65535, 32767, -32768, 2147483647, -2147483648, 1e10, 1e20, 1e30, -1e10, -1e20, -1e30)
_MOST = 3
_YEAR: Final = 365.25 * 86400
_DAYS: Final = {"1900-01-01": -2208988800.0, "1970-01-01": 0.0, "9999-12-31": 253402214400.0}


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
    for side in (slice(None), slice(None, None, -1)):
        values, counts = values[side], counts[side]
        size, chance = _codes_at_start(values, counts)
        found += [
            {"value": _plain(v), "count": int(c), "probability": chance, "applied": _is_conventional(values[:size])}
            for v, c in zip(values[:size], counts[:size], strict=True)
        ]
        values, counts = values[size:], counts[size:]
    return sorted(found, key=lambda code: (-code["probability"], -code["count"]))


def suspected_dates(seconds: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Give the dates of a column that people write for "missing", repeated and apart from the rest.

    Examples
    --------
    >>> suspected_dates(np.r_[-2208988800.0, -2208988800.0, np.linspace(1.5e9, 1.6e9, 50)])[0]["value"]
    '1900-01-01'
    """
    found = []
    for text, at in _DAYS.items():
        rest = seconds[(seconds != at) & ~np.isnan(seconds)]
        count = int((seconds == at).sum())
        if count < 2 or len(rest) < 10:
            continue
        gap = max(float(rest.min()) - at, at - float(rest.max()))
        if gap > max(_YEAR, 0.5 * float(np.ptp(rest))):
            found.append({"value": text, "at": at, "count": count, "probability": 0.95, "applied": True})
    return found


def _codes_at_start(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[int, float]:
    """How many of the first values are codes, and how probable that is: codes such as -998 and -999 stand together."""
    tried = [(_probability(values, counts, size), size) for size in range(1, _MOST + 1) if size + 3 <= len(values)]
    chance, size = max(tried, default=(0.0, 0))
    return (size, chance) if chance >= 0.5 else (0, 0.0)


def _probability(values: NDArray[np.float64], counts: NDArray[np.int64], size: int) -> float:
    """Chance that the first values are codes; zero unless they are repeated, few, and apart from the rest."""
    rest, weights = values[size:], counts[size:]
    count, total = int(counts[:size].sum()), int(weights.sum())
    if counts[:size].min() < 2 or total < 10 or count > total:
        return 0.0
    order = np.argsort(rest)
    mass = np.cumsum(weights[order]) / total
    low, high = (float(rest[order][np.searchsorted(mass, level)]) for level in (0.05, 0.95))
    gap = abs(float(rest[0] - values[size - 1]))
    apart = gap / max(high - low, 1e-12 * max(abs(high), 1e-300))
    usual = any(_is_usual(float(value), rest) for value in values[:size])
    steps = gap / float(np.median(np.abs(np.diff(rest))))
    if apart < (0.5 if usual else 2.0) or steps < 3 or (not usual and count < 3 * size):
        return 0.0
    score = (2.0 if usual else -0.5) + 1.5 * math.log(2 * apart) + 0.5 * math.log(count) - 2.0 * (size - 1)
    return float(1 / (1 + math.exp(-score)))


def _is_conventional(values: NDArray[np.float64]) -> bool:
    """Whether there is hardly another reading: -99, -999, 9999, a bound of a type; 0 where nothing else is near it."""
    return any(value in (0, *_BOUNDS) or _is_nines(float(value)) for value in values)


def _is_nines(value: float) -> bool:
    digits = str(int(abs(value))) if float(value).is_integer() and abs(value) < 1e12 else ""
    return set(digits) == {"9"} and len(digits) >= (2 if value < 0 else 3)


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
