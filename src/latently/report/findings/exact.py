"""Columns that follow exactly from another: copies, the same in other units, and columns that another one fixes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from latently.report.findings.luck import log_chance
from latently.report.study.columns import Column
from latently.report.study.words import cut, listed, number, short

Ints = NDArray[np.int64]
Relation = Literal["copy", "unit", "function", "determines"]
_KINDS: Final = ("numeric", "ordinal", "categorical", "date", "text")
_FIRST: Final = 1000  # rows that are looked at before all of them
MOST_COLUMNS: Final = 150
_ALARM: Final = 1e-4  # chance over all pairs that luck alone leaves as few exceptions
_EXCEPTIONS: Final = 0.005
_SHUFFLES: Final = 10
_MOST_STRETCHES: Final = 4  # of a number, that are classes of another column
_FEW: Final = 0.1  # exceptions for each that a shuffled column would leave
_LEAST_VALUES: Final = 10  # of two numbers that are a function of each other


@dataclass(frozen=True)
class Exact:
    """That one column follows from another.

    Attributes
    ----------
    source, target
        The column that fixes, and the one that is fixed.
    relation
        "copy" (one value for each value, both ways), "unit" (a line), "function" (always rising, or falling) or
        "determines" (one way alone).
    rows
        Rows that are exceptions.
    of
        How many rows were looked at.
    text
        How, in words.
    """

    source: str
    target: str
    relation: Relation
    rows: tuple[int, ...]
    of: int
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        names = {"source": cut(self.source), "target": cut(self.target)}
        return names | {"relation": self.relation, "rows": list(self.rows), "of": self.of, "text": self.text}


@dataclass(frozen=True, eq=False)
class _Coded:
    """A column of the sample as places among its sorted values, -1 where missing."""

    column: Column
    values: NDArray[np.float64]
    codes: Ints
    size: int

    @property
    def is_number(self) -> bool:
        return not self.column.levels and self.column.kind in ("numeric", "date")

    def shown(self, value: float) -> str:
        """A value as a reader knows it."""
        return self.column.levels[int(value)] if self.column.levels else number(value)

    @cached_property
    def may_fix(self) -> bool:
        """Whether values repeat so often that fixing another column means something."""
        whole = not self.is_number or bool((np.diff(self.values[self.codes >= 0]) % 1 == 0).all())
        return 2 <= self.size <= (self.codes >= 0).sum() / 2 and whole


def exact_relations(columns: tuple[Column, ...], sample: Ints) -> list[Exact]:
    """Find columns that follow from another one.

    Parameters
    ----------
    columns
        The columns of a table.
    sample
        Rows to look at.

    Examples
    --------
    >>> from latently.report.reading.table import read_columns
    >>> from latently.report.study.columns import judge
    >>> city, land = ["Rome", "Milan", "Lyon", "Paris"] * 25, ["Italy", "Italy", "France", "France"] * 25
    >>> found = exact_relations(tuple(map(judge, read_columns({"city": city, "land": land}))), np.arange(100))
    >>> [(each.source, each.target, each.relation) for each in found]
    [('city', 'land', 'determines')]
    """
    coded = [made for made in (_coded(c, sample) for c in columns if c.kind in _KINDS) if made is not None]
    coded = coded[:MOST_COLUMNS]
    first = np.random.default_rng(0).permutation(len(sample))[:_FIRST]
    head = [(c, c.codes[first]) for c in coded]
    limit = float(np.log(_ALARM / max(len(head) * (len(head) - 1), 1)))
    found = []
    for i, (a, a_head) in enumerate(head):
        for b, b_head in head[i + 1 :]:
            found += _between(a, b, a_head, b_head, first, sample, limit)
    return found


def _coded(column: Column, sample: Ints) -> _Coded | None:
    x = column.raw[sample]
    seen = ~np.isnan(x)
    different, places = np.unique(x[seen], return_inverse=True)
    if len(different) < 2:
        return None
    codes = np.full(len(x), -1, dtype=np.int64)
    codes[seen] = places
    return _Coded(column, x, codes, len(different))


def _between(a: _Coded, b: _Coded, a_head: Ints, b_head: Ints, first: Ints, sample: Ints, limit: float) -> list[Exact]:
    """What two columns fix of each other; a copy or a unit is told once, as one of the column with the shorter name."""
    if len(b.column.name) < len(a.column.name):
        a, b, a_head, b_head = b, a, b_head, a_head
    if a.is_number and b.is_number and (line := _line(a, b, first)) is not None:
        return [line]
    found = [
        relation
        for source, target, s, t in ((a, b, a_head, b_head), (b, a, b_head, a_head))
        if _may_determine(source, target, s, t) and (relation := _determined(source, target, sample, limit)) is not None
    ]
    if len(found) == 2 and not found[0].rows and not found[1].rows:
        one, other = found[0].source, found[0].target
        same = a.size == b.size and np.array_equal(a.values, b.values, equal_nan=True) and a.is_number == b.is_number
        how = "repeats" if same and a.column.levels == b.column.levels else "says the same as"
        return [Exact(one, other, "copy", (), found[0].of, f"{short(other)} {how} {short(one)}")]
    return found[:1]


def _may_determine(a: _Coded, b: _Coded, a_head: Ints, b_head: Ints) -> bool:
    """Whether one column may fix another, by some of the rows."""
    if not a.may_fix or b.size > a.size:
        return False
    both = (a_head >= 0) & (b_head >= 0)
    if both.sum() < 10:
        return False
    last = np.zeros(a.size, dtype=np.int64)
    last[a_head[both]] = b_head[both]
    return bool((last[a_head[both]] == b_head[both]).mean() > 0.97)


def _determined(a: _Coded, b: _Coded, sample: Ints, limit: float) -> Exact | None:
    """Whether each value of one column goes with one value of the other, beyond what luck would bring."""
    both = np.flatnonzero((a.codes >= 0) & (b.codes >= 0))
    x, y = a.codes[both], b.codes[both]
    places, counts, main = _cells(x, y, b.size)
    wrong = both[~main[places]]
    if len(wrong) > _EXCEPTIONS * len(both) or not _surprises(x, y, b.size, len(wrong), limit):
        return None
    if len(wrong) and (counts[~main].max() > 2 or len(both) / main.sum() < 8):
        return None  # a value of its own, or too few rows for each value to call others exceptions
    one, other = short(a.column.name), short(b.column.name)
    but = f" in all but {len(wrong)} of {len(both)} rows" if len(wrong) else ""
    how = None if but else _by_stretches(a, b, x, y)
    text = f"{one} fixes {other}: {how or f'each {one} has one {other}{but}'}"
    rows = tuple(int(row) for row in sample[wrong])
    return Exact(a.column.name, b.column.name, "determines", rows, len(both), text)


def _by_stretches(a: _Coded, b: _Coded, x: Ints, y: Ints) -> str | None:
    """How a column of classes is cut out of a number, in words; None if its classes are no stretches of it."""
    if a.column.kind not in ("numeric", "ordinal") or not b.column.levels or not 2 <= b.size <= _MOST_STRETCHES:
        return None
    values, first = np.unique(x, return_index=True)
    classes = y[first]
    starts = np.flatnonzero(np.diff(classes, prepend=-1))
    if len(starts) != len(np.unique(classes)):
        return None
    seen, named = (np.unique(each.values[each.codes >= 0]) for each in (a, b))
    ends = [*(starts[1:] - 1), len(values) - 1]
    parts = [(a.shown(seen[values[i]]), a.shown(seen[values[j]])) for i, j in zip(starts, ends, strict=True)]
    spans = [f"from {low} to {high}" if low != high else f"at {low}" for low, high in parts]
    spans[0], spans[-1] = f"up to {parts[0][1]}", f"from {parts[-1][0]}"
    labels = [short(b.shown(named[k])) for k in classes[starts]]
    told = [f"{label} {span}" for label, span in zip(labels, spans, strict=True)]
    return f"it is {listed(told, _MOST_STRETCHES)}"


def _cells(x: Ints, y: Ints, size: int) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """The pair of values of each row, how many rows each pair has, and whether it is the main one of a value."""
    cells, places, counts = np.unique(x * size + y, return_inverse=True, return_counts=True)
    owners = cells // size
    order = np.lexsort((counts, owners))
    main = np.zeros(len(cells), dtype=bool)
    main[order[np.r_[owners[order][1:] != owners[order][:-1], True]]] = True
    return places, counts, main


def _surprises(x: Ints, y: Ints, size: int, wrong: int, limit: float) -> bool:
    """Whether a shuffled column would leave far more exceptions: one that hardly varies is fixed by everything."""
    other = len(y) - int(np.bincount(y).max())  # exceptions to its most common value, the most that luck can leave
    if log_chance(wrong, other) > limit:
        return False
    rng, left = np.random.default_rng(0), []
    for _ in range(_SHUFFLES):
        _, counts, main = _cells(x, rng.permutation(y), size)
        left.append(int(counts[~main].sum()))
    expected = float(np.mean(left))
    return log_chance(wrong, expected) <= limit and wrong <= _FEW * expected


def _line(a: _Coded, b: _Coded, first: Ints) -> Exact | None:
    """Whether a number is a line of another, up to rounding, or always rises or falls with it."""
    if min(a.size, b.size) < _LEAST_VALUES:
        return None
    some = first[(a.codes[first] >= 0) & (b.codes[first] >= 0)]
    if len(some) < 20 or not _follows(a.values[some], b.values[some]):
        return None
    both = (a.codes >= 0) & (b.codes >= 0)
    x, y = a.values[both], b.values[both]
    names = short(a.column.name), short(b.column.name)
    if (text := _unit(x, y, *names)) is not None:
        if a.column.kind != b.column.kind:  # a number that counts the moments of a date
            text = f"{names[1]} rises evenly with {names[0]}"
        return Exact(a.column.name, b.column.name, "unit", (), len(x), text)
    if a.size == b.size and _is_monotone(a.codes[both], b.codes[both]):
        text = f"{names[1]} always {'rises' if y[x.argmax()] > y[x.argmin()] else 'falls'} with {names[0]}"
        return Exact(a.column.name, b.column.name, "function", (), len(x), text)
    return None


def _follows(x: NDArray[np.float64], y: NDArray[np.float64]) -> bool:
    """A quick look: whether the order of one gives that of the other."""
    order = np.argsort(x, kind="stable")
    steps = np.diff(y[order][:: max(len(x) // 50, 1)])
    return bool((steps >= 0).all() or (steps <= 0).all())


def _unit(x: NDArray[np.float64], y: NDArray[np.float64], one: str, other: str) -> str | None:
    spread, centre = x.std(), x.mean()
    if not spread > 0 or not y.std() > 0:
        return None
    rate = float((x - centre) @ (y - y.mean()) / ((x - centre) @ (x - centre)))
    rest = np.abs(y - y.mean() - rate * (x - centre)).max()
    round_x, round_y = (float(np.diff(np.unique(v)).min()) for v in (x, y))
    allowed = 0.6 * (round_y + abs(rate) * round_x) if min(spread / round_x, y.std() / round_y) > 20 else 0.0
    if rest > max(min(allowed, 0.02 * y.std()), 1e-9 * np.abs(y).max()):
        return None
    rate = _round(rate, x - centre, y - y.mean(), max(allowed, rest))
    offset = float(y.mean() - rate * centre)
    if abs(rate - 1) < 1e-9 and abs(offset) < 1e-9 * np.abs(y).max():
        return f"{other} repeats {one}"
    plus = "" if abs(offset) < 1e-3 * y.std() else f" {'+' if offset > 0 else '-'} {number(abs(offset))}"
    if rate == -1:
        return f"{other} is {number(offset)} - {one}"
    times = "" if rate == 1 else f"{number(rate)} × "
    return f"{other} is {times}{one}{plus}"


def _round(rate: float, x: NDArray[np.float64], y: NDArray[np.float64], allowed: float) -> float:
    """The roundest rate that leaves no more than rounding does."""
    rates = (float(f"{rate:.{digits}g}") for digits in (1, 2, 3))
    return next((each for each in rates if np.abs(y - each * x).max() <= allowed), rate)


def _is_monotone(a: Ints, b: Ints) -> bool:
    return bool((a == b).all() or (a == b.max() - b).all())
