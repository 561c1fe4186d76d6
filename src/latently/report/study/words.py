"""Numbers, shares, dates and strings as a reader wants to see them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

LONGEST: Final = 200


def cut(text: Any) -> str:
    """Give a string of at most 200 characters.

    Examples
    --------
    >>> len(cut("x" * 10_000))
    200
    """
    whole = str(text)
    return whole if len(whole) <= LONGEST else whole[: LONGEST - 1] + "…"


def number(value: float) -> str:
    """Give a number with four digits.

    Examples
    --------
    >>> number(1234.5678), number(0.00012345), number(1e9), number(3.0)
    ('1235', '0.0001234', '1e+09', '3')
    """
    size = abs(value)
    return f"{value:.0f}" if 1000 <= size < 1e7 else f"{value:.4g}"


def percent(share: float) -> str:
    """Give a share in percent; no rounding makes it look complete.

    Examples
    --------
    >>> percent(0.123), percent(0.9999), percent(0.0004), percent(1.0), percent(1.25)
    ('12 %', 'over 99 %', 'under 0.1 %', 'over 99 %', '125 %')
    """
    if share == 0.0:
        return "0 %"
    if share < 0.001:
        return "under 0.1 %"
    if 0.995 < share < 1.005:
        return "over 99 %"
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"


def often(share: float) -> str:
    """Give a share of rows with a digit more near the top, where it counts; all and none in words.

    Examples
    --------
    >>> often(0.8), often(0.976), often(1.0), often(0.0)
    ('80 %', '97.6 %', 'all of them', 'none of them')
    """
    if share in (0.0, 1.0):
        return "all of them" if share else "none of them"
    return f"{100 * share:.1f} %" if 0.95 < share < 0.9995 else percent(share)


def stamp(seconds: float) -> str:
    """Give seconds since 1970 as a date, with the time unless it is midnight.

    Examples
    --------
    >>> stamp(86400.0), stamp(90000.0)
    ('1970-01-02', '1970-01-02T01:00:00')
    """
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return number(seconds)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    return text.removesuffix("T00:00:00")


def listed(names: Sequence[str], most: int = 3) -> str:
    """Give names as a list in a sentence.

    Examples
    --------
    >>> listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a and b', 'a, b, c and 2 more')
    """
    shown = [short(name) for name in names]
    if not shown:
        return ""
    if len(shown) > most:
        return f"{', '.join(shown[:most])} and {len(shown) - most} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def short(name: Any, most: int = 60) -> str:
    """Give a name or level that fits into a sentence."""
    text = str(name)
    return text if len(text) <= most else text[: most - 1] + "…"


def is_given(text: str, name: str) -> bool:
    """Whether a sentence speaks of the rows in which a column has some value.

    Examples
    --------
    >>> text = "sex is female in 45 % of the rows where class is 1st, and in 33 % of the others."
    >>> is_given(text, "class"), is_given(text, "sex")
    (True, False)
    """
    return f" where {short(name)} is " in text


def counted(n: int, noun: str) -> str:
    """Give a count with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
