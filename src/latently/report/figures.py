"""Numbers as people read them."""

import math
from typing import Any

CONVENTION = "Rows are counted from 0, as pandas does: row 0 is the first row of data."


def number(value: Any, digits: int = 4) -> str:
    """Write a number with so many digits that count, and spaces between thousands; four digits stand together.

    Examples
    --------
    >>> number(1234567), number(1950), number(0.123456), number(0.123456, 3), number(None), number(3.0)
    ('1\u202f234\u202f567', '1950', '0.1235', '0.123', '–', '3')
    """
    if value is None:
        return "–"
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e15):
        return _grouped(f"{int(value):,}")
    size = abs(value)
    if size < 1e-4 or size >= 1e7:
        return f"{value:.{digits - 1}g}"
    places = max(0, digits - 1 - math.floor(math.log10(size)))
    whole, _, part = f"{value:,.{places}f}".partition(".")
    part = part.rstrip("0")
    return _grouped(whole) + (f".{part}" if part else "")


def _grouped(whole: str) -> str:
    """Narrow spaces for commas; none in a number of four digits, which may be a year."""
    return whole.replace(",", "\u202f" if len(whole.lstrip("-")) > 5 else "")


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share as a percentage.

    Examples
    --------
    >>> percent(0.1234), percent(0.5), percent(0.00001), percent(0.9999999), percent(1.0), percent(0.0), percent(None)
    ('12.3 %', '50 %', '< 0.1 %', '> 99.9 %', '> 99.9 %', '0 %', '–')
    """
    if share is None:
        return "–"
    least = 10.0**-digits
    if 0 < 100 * share < least:
        return f"< {least:g} %"
    if 100 - least < 100 * share <= 100:
        return f"> {100 - least:g} %"
    text = f"{100 * share:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def interval(ends: Any, digits: int = 4) -> str:
    """Write an interval, its ends with so many digits that count.

    Examples
    --------
    >>> interval([0.25, 4]), interval(None)
    ('0.25 to 4', '')
    """
    return f"{number(ends[0], digits)} to {number(ends[1], digits)}" if ends else ""


def counted(n: int, thing: str) -> str:
    """Write how many of a thing there are.

    Examples
    --------
    >>> counted(1, "row"), counted(15000, "row")
    ('1 row', '15\u202f000 rows')
    """
    return f"{number(n)} {thing}{'' if n == 1 else 's'}"


def certainty(insight: dict[str, Any]) -> str:
    """Tell how sure an insight is: its probability, its interval, or nothing.

    Examples
    --------
    >>> certainty({"probability": 0.98}), certainty({"interval": [1, 2]}), certainty({})
    ('probability 98 %', '1 to 2', '')
    """
    told = []
    if insight.get("probability") is not None:
        told.append(f"probability {percent(insight['probability'])}")
    if insight.get("interval"):
        told.append(interval(insight["interval"]))
    return ", ".join(told)
