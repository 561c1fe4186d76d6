"""Rows that dwarf all others in a column: a sum of the whole among its parts, a code, another unit.

In columns that span orders of magnitude the largest number is often several times the next. A gap is told if it is too
wide for normal logarithms, and for a power law: there the largest logarithms are apart by exponential steps, the i-th
by 1/i of the first (Renyi), as the steps below the gap show.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from latently.report.findings.finding import Finding
from latently.report.findings.rows.gap import gap
from latently.report.findings.rows.row_numbers import RowNumbers
from latently.report.study.columns import Column
from latently.report.study.words import cut, listed, number, short

_LEAST_ROWS: Final = 20
_MOST: Final = 3  # rows that are told together
_GAP: Final = 2.0  # times the next largest
_SHARE: Final = 0.2  # of the sum of the column
_ALARM: Final = 0.02  # chance of a false alarm over all columns, with logarithms that are normal or a power law's
_QUARTILES: Final = 1.349  # distance of the quartiles of a normal distribution
_STEPS: Final = 20  # below the gap, with which it is compared
_SIZE, _GROWTH = 0.6, 0.1  # of the finding, and what each doubling of the gap adds


@dataclass(frozen=True)
class _Top:
    """The largest numbers of a column, how many times the next one they are, and that next one."""

    column: Column
    rows: tuple[int, ...]
    times: float
    following: float


def dominant(columns: tuple[Column, ...], rows: NDArray[np.int64], numbers: RowNumbers) -> list[Finding]:
    """Find the rows, at most three, that are far ahead of all others in a column, or in several.

    Parameters
    ----------
    columns
        The columns of a table.
    rows
        Rows to look at.
    numbers
        What they are called.
    """
    able = [column for column in columns if column.kind == "numeric" and not column.levels]
    tops = [top for column in able if (top := _top(column, rows, len(able))) is not None]
    together: dict[frozenset[int], list[_Top]] = {}
    for top in sorted(tops, key=lambda top: -top.times):
        together.setdefault(frozenset(top.rows), []).append(top)
    best = max(together.values(), key=lambda group: sum(np.log(top.times) for top in group), default=[])
    return [_finding(best, numbers)] if best else []


def _top(column: Column, rows: NDArray[np.int64], tests: int) -> _Top | None:
    there = rows[~np.isnan(column.raw[rows])]
    x = column.raw[there]
    if len(x) < _LEAST_ROWS or x.min() < 0:
        return None
    size = min(len(x) // 2, _MOST + _STEPS + 1)
    first = np.argpartition(-x, size)[:size]
    first = first[np.argsort(-x[first], kind="stable")]
    if x[first[-1]] <= 0:
        return None
    times = [float(gap(x[first], np.arange(size) >= m)) for m in range(1, _MOST + 1)]
    m = int(np.argmax(times)) + 1
    if times[m - 1] < _GAP or x[first[:m]].sum() < _SHARE * x.sum() or not _is_wide(x, x[first], m, tests):
        return None
    return _Top(column, tuple(int(row) for row in there[first[:m]]), times[m - 1], float(x[first[m]]))


def _is_wide(x: NDArray[np.float64], largest: NDArray[np.float64], m: int, tests: int) -> bool:
    """Whether the gap below the first m of the largest numbers is too wide for the tail of the others."""
    steps = -np.diff(np.log(largest)) * np.arange(1, len(largest))
    low, high = np.quantile(np.log(x[x > 0]), [0.25, 0.75])
    rate = -ndtri(m / (len(x) + 1)) * _QUARTILES / max(high - low, 1e-12)
    power = (1 + steps[m - 1] / max(steps[m:].sum(), 1e-12)) ** -len(steps[m:])
    return bool(max(np.exp(-steps[m - 1] * rate), power) * _MOST * tests <= _ALARM)


def _finding(tops: list[_Top], numbers: RowNumbers) -> Finding:
    first, names = tops[0], [top.column.name for top in tops]
    values = listed(list(dict.fromkeys(number(float(first.column.raw[row])) for row in first.rows)))
    where = listed([numbers.named(row) for row in first.rows])
    several = len(first.rows) > 1
    times = number(float(f"{first.times:.2g}"))
    least = "at least " if several else ""
    text = (
        f"In {'rows' if several else 'row'} {where} {short(names[0])} is {values}, {least}{times} times the "
        f"next largest ({number(first.following)})"
    )
    also = f"; {'they are' if several else 'it is'} far ahead in {listed(names[1:])} too" if names[1:] else ""
    columns = tuple(map(cut, names))
    return Finding(
        "anomaly",
        f"{text}{also}.",
        "anomalies",
        columns,
        numbers.all(first.rows),
        first.times,
        "ratio",
        code=f"df.sort_values({columns[0]!r}, ascending=False).head()",
        size=_SIZE + _GROWTH * float(np.log2(first.times)),
    )
