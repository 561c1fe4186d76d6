"""Spellings of one category: case, blanks, dots, known short forms and slips of a key."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

import numpy as np

from latently.report.findings.finding import Finding
from latently.report.findings.rows.row_numbers import RowNumbers
from latently.report.study.columns import Column
from latently.report.study.words import counted, cut, short

_MOST_LEVELS: Final = 300
_LONG: Final = 5  # letters, from which a slip of one key is more likely than another word
_RARE, _COMMON = 0.02, 20  # a slip is so rare beside the right spelling, which is so common
_LETTERED: Final = re.compile(r"[\s_-]\w$")  # one of several, such as "ward b", in which a letter is no slip
_ALIASES: Final = (
    ("us", "usa", "unitedstates", "unitedstatesofamerica"),
    ("uk", "gb", "gbr", "unitedkingdom", "greatbritain"),
    ("uae", "unitedarabemirates"),
    ("y", "yes"),
    ("n", "no"),
    ("m", "male"),
    ("f", "female"),
)
_STANDS_FOR: Final = {alias: group[-1] for group in _ALIASES for alias in group}


def spellings(columns: tuple[Column, ...], numbers: RowNumbers | None = None) -> list[Finding]:
    """Find levels that are spellings of one category, a finding for each column.

    Parameters
    ----------
    columns
        The columns of a table.
    numbers
        What its rows are called; their places, if None.

    Examples
    --------
    >>> from latently.report.reading.table import read_columns
    >>> from latently.report.study.columns import judge
    >>> lands = ["USA"] * 60 + ["us"] * 5 + ["U.S."] * 2 + ["Canada"] * 40
    >>> print(spellings(tuple(map(judge, read_columns({"land": lands}))))[0].text)
    land spells one category in more than one way: 'USA' (60 rows) and 'us' (5), 'U.S.' (2).
    """
    numbers = numbers or RowNumbers()
    found = [_spelling(column, numbers) for column in columns if column.kind == "categorical"]
    return [each for each in found if each is not None]


def variants(levels: list[str], counts: list[int]) -> list[list[str]]:
    """Groups of levels that are spellings of one, the most common first.

    Examples
    --------
    >>> variants(["red", "Red ", "blue", "grey"], [50, 3, 20, 8])
    [['red', 'Red ']]
    """
    if not levels or len(levels) > _MOST_LEVELS:
        return []
    groups: dict[str, list[int]] = {}
    for at, level in enumerate(levels):
        groups.setdefault(_plain(level), []).append(at)
    for short_form in [key for key in groups if len(key) == 1]:
        if (long := _STANDS_FOR.get(short_form.casefold())) in groups:
            groups[long] += groups.pop(short_form)
    keys = list(groups)
    sizes = {key: sum(counts[at] for at in groups[key]) for key in keys}
    lettered = {_plain(level) for level in levels if _LETTERED.search(level.strip())}
    for rare, common in _slips([key for key in keys if key not in lettered], sizes):
        if rare in groups and common in groups:
            groups[common] += groups.pop(rare)
    found = [sorted(places, key=lambda at: -counts[at]) for places in groups.values() if len(places) > 1]
    return [[levels[at] for at in places] for places in found]


def _plain(level: str) -> str:
    """A level without case, accents, blanks and points; what a known short form stands for."""
    bare = unicodedata.normalize("NFKD", level.strip()).casefold()
    if len(bare) < 2:
        return level.strip()
    parts = re.sub(r"(?<=[^\W\d])[\s.,'_-]+(?=[^\W\d])|\.$", "", bare)  # between letters, or a point at the end
    key = "".join(sign for sign in parts if not unicodedata.combining(sign))
    return _STANDS_FOR.get(key, key)


def _slips(keys: list[str], sizes: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Rare levels that are one key away from a common one."""
    common = [key for key in keys if sizes[key] >= _COMMON and len(key) >= _LONG]
    for right in common:
        for wrong in keys:
            if 0 < sizes[wrong] <= _RARE * sizes[right] and _is_slip(wrong, right):
                yield wrong, right


def _is_slip(wrong: str, right: str) -> bool:
    """Whether letters differ in one place: one more, one less, another one, or two that changed places."""
    if wrong[0] != right[0] or abs(len(wrong) - len(right)) > 1 or wrong == right or not wrong.isalpha():
        return False
    start = next((i for i, (a, b) in enumerate(zip(wrong, right, strict=False)) if a != b), min(len(wrong), len(right)))
    a, b = wrong[start:], right[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and len(b) > 1 and a[2:] == b[2:])


def _spelling(column: Column, numbers: RowNumbers) -> Finding | None:
    seen = column.raw[~column.missing].astype(np.intp)
    counts = np.bincount(seen, minlength=len(column.levels)).tolist()
    there = [at for at, count in enumerate(counts) if count]
    levels = [column.levels[at] for at in there]
    if _are_numbers(levels):
        return None
    found = variants(levels, [counts[at] for at in there])
    if not found:
        return None
    size = dict(zip(levels, (counts[at] for at in there), strict=True))
    said = "; ".join(_said(group, size) for group in found[:3])
    more = f"; {len(found) - 3} more" if len(found) > 3 else ""
    what = "one category" if len(found) == 1 else f"{len(found)} categories"
    others = {level for group in found for level in group[1:]}
    places = np.flatnonzero(np.isin(column.raw, [column.levels.index(level) for level in others]))
    return Finding(
        "spelling",
        f"{short(column.name)} spells {what} in more than one way: {said}{more}.",
        "columns",
        (cut(column.name),),
        numbers.all(places[:1000]),
        len(places),
        "rows",
        size=0.8 + 0.2 * len(places) / max(len(seen), 1),
    )


def _are_numbers(levels: list[str]) -> bool:
    return all(level.strip().lstrip("+-").replace(".", "", 1).isdigit() for level in levels)


def _said(group: list[str], size: dict[str, int]) -> str:
    first, *others = group
    rest = ", ".join(f"{short(level)!r} ({size[level]})" for level in others[:4])
    return f"{short(first)!r} ({counted(size[first], 'row')}) and {rest}"
