"""Numbers as people write them: with currency, percent, thousands separators, decimal commas."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_SIGNS: Final = "$€£¥₹₩₽₺฿₫₪₴₦"
_CODES: Final = "USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|KRW|RUB|TRY|US\\$|R\\$"
_MONEY: Final = rf"(?:[{_SIGNS}]|{_CODES})"
_AROUND: Final = re.compile(
    rf"^(?P<open>\()?(?P<sign>[+\-−])?\s*(?P<before>{_MONEY})?\s*(?P<inner>[+\-−])?"
    rf"(?P<digits>[\d.,'\u00a0\u202f ]*\d[\d.,]*(?:[eE][+\-]?\d+)?)\s*(?P<after>{_MONEY}|%)?(?P<close>\))?$"
)
_POINT: Final = re.compile(
    r"^(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?:[ \u00a0\u202f']\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+\-]?\d+)?$"
)
_COMMA: Final = re.compile(
    r"^(?:\d{1,3}(?:\.\d{3})+|\d{1,3}(?:[ \u00a0\u202f']\d{3})+|\d+)?(?:,\d*)?(?:[eE][+\-]?\d+)?$"
)
_CODE: Final = re.compile(r"^0\d+$")
_BETWEEN: Final = re.compile(r"[ \u00a0\u202f']")


@dataclass(frozen=True)
class Numerals:
    """How the numbers of a column are written.

    Attributes
    ----------
    values
        The number behind each text.
    notes
        What was read, in words.
    decimal
        The decimal sign.
    """

    values: dict[str, float]
    notes: tuple[str, ...]
    decimal: str = "."


def read_numerals(texts: Iterable[str]) -> Numerals | None:
    """Read texts as numbers, all in one style; None if some are not, or if they are codes such as 02134.

    Parameters
    ----------
    texts
        The different texts of a column.

    Examples
    --------
    >>> read_numerals(["$1,200.50", "$80"]).values
    {'$1,200.50': 1200.5, '$80': 80.0}
    >>> read_numerals(["1.234,5", "7,25"]).values
    {'1.234,5': 1234.5, '7,25': 7.25}
    >>> read_numerals(["02134", "90210"]) is None
    True
    """
    given = [text for text in texts if text.strip()]
    stripped = {text: text.strip() for text in given}
    if not given or any(_CODE.match(text) for text in stripped.values()):
        return None
    plain = _plain(stripped)
    if plain is not None:
        return Numerals(plain, ("numbers written as text",))
    parts = {text: _AROUND.match(inner) for text, inner in stripped.items()}
    found = {text: part for text, part in parts.items() if part is not None}
    if len(found) < len(given):
        return None
    digits = {text: part["digits"].strip() for text, part in found.items()}
    style = _style(set(digits.values()))
    if style is None:
        return None
    values = {text: _signed(found[text], _number(digits[text], style)) for text in given}
    percent = [text for text, part in found.items() if part["after"] == "%"]
    if percent and len(percent) < len(given):
        return None  # 5 and 5 % are not the same unit
    return Numerals(values, _notes(found, digits, style, bool(percent)), style)


def is_numeral(text: str) -> bool:
    """Whether a text by itself may be a number, in any style.

    Parameters
    ----------
    text
        What a cell holds.

    Examples
    --------
    >>> is_numeral("$1,200.50"), is_numeral("02134"), is_numeral("see note")
    (True, False, False)
    """
    part = _AROUND.match(text.strip()) if len(text) < 60 else None
    if part is None or _CODE.match(text.strip()):
        return False
    return _style({part["digits"].strip()}) is not None


def _plain(texts: dict[str, str]) -> dict[str, float] | None:
    """Numbers as Python reads them, but for its underscores."""
    if any("_" in inner for inner in texts.values()):
        return None
    try:
        return {text: float(inner) for text, inner in texts.items()}
    except ValueError:
        return None


def _style(digits: set[str]) -> str | None:
    """Which sign is the decimal one: the point, unless only the comma can be."""
    if all(_POINT.match(each) for each in digits):
        return "."
    return "," if all(_COMMA.match(each) for each in digits) else None


def _number(digits: str, style: str) -> float:
    plain = _BETWEEN.sub("", digits)
    return float(plain.replace(",", "") if style == "." else plain.replace(".", "").replace(",", "."))


def _signed(part: re.Match[str], value: float) -> float:
    down = (part["sign"] in ("-", "−")) != (part["inner"] in ("-", "−"))
    brackets = part["open"] is not None and part["close"] is not None  # as in books of account
    return -value if down or brackets else value


def _notes(found: dict[str, re.Match[str]], digits: dict[str, str], style: str, percent: bool) -> tuple[str, ...]:
    money = sorted(
        {sign for part in found.values() for sign in (part["before"], part["after"]) if sign and sign != "%"}
    )
    notes = [f"amounts in {' and '.join(money)}"] if money else []
    notes += ["percentages"] if percent else []
    if style == ",":
        notes.append("the comma is the decimal sign")
    elif any("," in each or _BETWEEN.search(each) for each in digits.values()):
        notes.append("with separators of thousands")
    return ("numbers written as text", *notes)
