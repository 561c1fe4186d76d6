"""The columns that two tables share, as numbers: values, or places among the levels of the old table."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.report.reading.raw import RawColumn
from latently.report.reading.table import read_columns
from latently.report.study.words import number, stamp

Values = NDArray[np.float64]

# So many levels are told apart; further ones count as one.
LEVELS = 20
OTHER = "other"


@dataclass(frozen=True, eq=False)
class Shared:
    """Two tables as floats, (rows, columns), and what their common columns are."""

    names: list[str]
    kinds: list[str]
    levels: list[tuple[str, ...]]
    old: Values
    new: Values
    new_levels: list[list[str]]
    only_old: list[str]
    only_new: list[str]
    left_out: list[dict[str, str]]

    def both(self) -> Iterator[tuple[str, Values]]:
        """Give each table with its name."""
        yield "old", self.old
        yield "new", self.new

    def typical(self, j: int, x: Values) -> str | None:
        """Tell the middle value of a column, or its most frequent level."""
        seen = x[~np.isnan(x)]
        if not len(seen):
            return None
        if self.levels[j]:
            return self.levels[j][int(np.bincount(seen.astype(np.intp)).argmax())]
        middle = float(np.median(seen))
        return stamp(middle) if self.kinds[j] == "date" else number(middle)


def shared_columns(old: Any, new: Any) -> Shared:
    """Match the columns of two tables by name; an error if there is no pair.

    Examples
    --------
    >>> shared = shared_columns({"a": [1.0, 2.0], "b": ["x", "y"]}, {"b": ["x", "z"], "c": [0, 1]})
    >>> shared.names, shared.only_old, shared.only_new, shared.new_levels
    (['b'], ['a'], ['c'], [['z']])
    """
    first = {column.name: column for column in read_columns(old)}
    second = {column.name: column for column in read_columns(new)}
    pairs, left_out = [], []
    for name in (name for name in first if name in second):
        problem = _problem(first[name], second[name])
        if problem:
            left_out.append({"column": name, "text": problem})
        else:
            pairs.append((first[name], second[name]))
    if not pairs:
        raise ValueError("the tables have no column in common that can be compared: are the names the same?")
    coded = [_coded(a, b) for a, b in pairs]
    return Shared(
        names=[a.name for a, _ in pairs],
        kinds=[a.kind for a, _ in pairs],
        levels=[levels for levels, _, _, _ in coded],
        old=np.column_stack([x for _, x, _, _ in coded]),
        new=np.column_stack([x for _, _, x, _ in coded]),
        new_levels=[fresh for _, _, _, fresh in coded],
        only_old=[name for name in first if name not in second],
        only_new=[name for name in second if name not in first],
        left_out=left_out,
    )


def _problem(a: RawColumn, b: RawColumn) -> str | None:
    if a.kind != b.kind:
        return f"holds {a.kind}s in the old table and {b.kind}s in the new one"
    if np.isnan(a.values).all():
        return "has no values in the old table"
    # of both tables: which of two halves has fewer levels is chance, and must not decide what is compared
    if a.kind == "text" and _differ(len({*a.levels, *b.levels}), len(a.values) + len(b.values)):
        table = "" if _differ(len(a.levels), len(a.values)) else " of the new table"
        return f"is different in most rows{table}, so there is nothing to compare"
    return None


def _differ(levels: int, rows: int) -> bool:
    """Whether most rows have a level of their own."""
    return levels > max(LEVELS, 0.4 * rows)


def _coded(a: RawColumn, b: RawColumn) -> tuple[tuple[str, ...], Values, Values, list[str]]:
    """Levels, old values, new values, and levels that only the new table has.

    The levels that are told apart are the most frequent ones of both tables together: those of one table are rarer in
    any other.
    """
    if a.kind != "text":
        return (), a.values, b.values, []
    top = [level for level, _ in (_counts(a) + _counts(b)).most_common(LEVELS)]
    codes = {level: code for code, level in enumerate(top)}
    fresh = [level for level in b.levels if level not in set(a.levels)]
    return (*top, OTHER), _codes(a, codes), _codes(b, codes), fresh[:LEVELS]


def _counts(column: RawColumn) -> Counter[str]:
    counts = np.bincount(column.values[~np.isnan(column.values)].astype(np.intp), minlength=len(column.levels))
    return Counter(dict(zip(column.levels, counts.tolist(), strict=True)))


def _codes(column: RawColumn, codes: dict[str, int]) -> Values:
    table = np.array([*(codes.get(level, len(codes)) for level in column.levels), np.nan])
    return table[np.where(np.isnan(column.values), len(column.levels), column.values).astype(np.intp)]
