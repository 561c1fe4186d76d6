"""Columns of strings that are numbers or dates, but for words for missing and a few odd cells."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from latently.data.tables.values import quote
from latently.report.reading.codes import suspected_words
from latently.report.reading.dates import is_date, read_dates
from latently.report.reading.numerals import is_numeral, read_numerals
from latently.report.reading.raw import RawColumn, Written, number_column, text_column
from latently.report.study.words import cut

_LONGEST: Final = 60  # characters of a number or date
_ODD: Final = 0.05  # share of the rows that may hold something else than a number or a date
_LEAST: Final = 10  # different numbers or dates
_MOST: Final = 50  # different odd texts beside them
_LOOK: Final = 200  # texts that are looked at before all are
_HAS_DIGIT: Final = re.compile(r"^[^<>≤≥~]*\d")
_STARTS_WITH_ZERO: Final = re.compile(r"^0\d")


def read_texts(name: str, texts: Sequence[str | None], numbers: NDArray[np.int64] | None = None) -> RawColumn:
    """Read strings as numbers or dates if they are that, but for words for missing and a few odd cells.

    Parameters
    ----------
    name
        The column's name.
    texts
        (n,) strings, None where missing.
    numbers
        Numbers of the rows in the whole table; their places if None.

    Examples
    --------
    >>> column = read_texts("price", [f"{k}.5" for k in range(40)] + ["see note"])
    >>> column.kind, column.written.unread, column.written.places
    ('number', ('see note',), (40,))
    """
    strings = _Strings(name, texts, numbers)
    different, words = _different_texts(texts)
    if not different:
        return text_column(name, texts)
    if max(map(len, different)) < _LONGEST:
        column = _as_numbers(strings, different, words) or _as_dates(strings, different, words)
        if column is not None:
            return column
    return _with_odd(strings, different, words) or text_column(name, texts)


@dataclass(frozen=True)
class _Strings:
    """A column of strings, None where missing, and the numbers of its rows in the whole table."""

    name: str
    texts: Sequence[str | None]
    numbers: NDArray[np.int64] | None

    def values(self, known: dict[str, float]) -> NDArray[np.float64]:
        """What the strings are; NaN for those that are not known."""
        return np.array([math.nan if text is None else known.get(text, math.nan) for text in self.texts])

    def places(self, wrong: Sequence[str]) -> tuple[int, ...]:
        """Rows that hold one of these strings."""
        named = set(wrong)
        return tuple(place for place, text in enumerate(self.texts) if text in named) if named else ()

    def rows(self, places: Sequence[int]) -> str:
        """The first rows by their numbers."""
        return ", ".join(str(p if self.numbers is None else self.numbers[p]) for p in places[:5])


def _different_texts(texts: Sequence[str | None]) -> tuple[list[str], list[str]]:
    """The different texts in their order, and apart from them the words for missing."""
    different = [text for text in dict.fromkeys(texts) if text is not None]
    words = set(suspected_words([text for text in different if len(text) < 10]))
    return [text for text in different if text not in words], sorted(words)


def _as_numbers(strings: _Strings, different: list[str], words: list[str], odd: Sequence[str] = ()) -> RawColumn | None:
    """A column of strings that are numbers, apart from words for missing and odd cells."""
    found = read_numerals(different)
    if found is None:
        return None
    column = number_column(strings.name, strings.values(found.values))
    places = strings.places(odd)
    notes = (*column.notes, *found.notes, *_odd(strings, odd, places, "number"), *_taken(words))
    rows = int((~np.isnan(column.values)).sum())
    written = Written("number", rows, tuple(words), decimal=found.decimal, unread=tuple(odd), places=places)
    return replace(column, notes=notes, written=written)


def _as_dates(strings: _Strings, different: list[str], words: list[str], odd: Sequence[str] = ()) -> RawColumn | None:
    """A column of strings that are dates, apart from words for missing and odd cells."""
    found = read_dates(different)
    if found is None:
        return None
    values = strings.values(found.values)
    wrong = (*found.impossible, *odd)
    places = strings.places(wrong)
    told = _odd(strings, odd, places, "date") if odd else _impossible(strings, wrong, places)
    rows = int((~np.isnan(values)).sum())
    written = Written(
        "date",
        rows,
        tuple(words),
        day_first=found.day_first,
        formats=found.formats,
        unread=wrong,
        places=places,
    )
    return RawColumn(strings.name, "date", values, notes=(*found.notes, *told, *_taken(words)), written=written)


def _with_odd(strings: _Strings, different: list[str], words: list[str]) -> RawColumn | None:
    """A column of numbers or dates in which a few cells hold something else; None if it is none."""
    for looks, read in ((is_numeral, _as_numbers), (is_date, _as_dates)):
        apart = _apart(different, looks)
        if apart is None:
            continue
        usual, odd = apart
        shown = sum(text is not None and text not in words for text in strings.texts)
        if len(strings.places(odd)) <= _ODD * shown and not _are_labels(usual, odd):
            return read(strings, usual, words, odd)
    return None


def _apart(different: list[str], looks: Callable[[str], bool]) -> tuple[list[str], list[str]] | None:
    """The texts that look right, and the others; None if there are too many of these."""
    if sum(map(looks, different[:_LOOK])) < 0.5 * len(different[:_LOOK]):
        return None
    usual = [text for text in different if looks(text)]
    right = set(usual)
    odd = [text for text in different if text not in right]
    return (usual, odd) if 0 < len(odd) <= min(len(usual), _MOST) and len(usual) >= _LEAST else None


def _are_labels(usual: list[str], odd: list[str]) -> bool:
    """Whether these are no amounts but labels: whole numbers beside one like "12b", or any beside one like "02"."""
    whole = all(text.strip().isdigit() for text in usual)
    return any(map((_HAS_DIGIT if whole else _STARTS_WITH_ZERO).match, odd))


def _taken(words: Sequence[str]) -> list[str]:
    return [f"{cut(word)!r} taken as missing" for word in words]


def _odd(strings: _Strings, odd: Sequence[str], places: Sequence[int], what: str) -> list[str]:
    """What to say of cells that hold something else."""
    if not odd:
        return []
    return [f"{quote(map(cut, odd), 3)} (row {strings.rows(places)}) is no {what}: taken as missing"]


def _impossible(strings: _Strings, wrong: Sequence[str], places: Sequence[int]) -> list[str]:
    """What to say of texts that look like dates and are none."""
    if not wrong:
        return []
    return [f"there is no such day as {quote(wrong, 3)} (row {strings.rows(places)}): taken as missing"]
