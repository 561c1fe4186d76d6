"""Slips of the decimal point: numbers that are 10, 100 or 1000 times what the rest of the column lets expect."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.report.findings.finding import Finding
from latently.report.findings.rows.gap import gap
from latently.report.findings.rows.row_numbers import RowNumbers
from latently.report.study.columns import Column
from latently.report.study.words import counted, cut, number, short

Values = NDArray[np.float64]
_NARROW: Final = 0.12  # standard deviation of decimal logarithms, up to which ten times is far out
_GAP: Final = 1.5  # times the furthest of the others
_MOST: Final = 2
_TIMES: Final = {1: "ten times", 2: "a hundred times", 3: "a thousand times"}
_PARTS: Final = {1: "a tenth of", 2: "a hundredth of", 3: "a thousandth of"}


def slips(columns: tuple[Column, ...], anomalies: dict[str, Any], numbers: RowNumbers) -> list[Finding]:
    """Find the strange rows that a shifted decimal point explains.

    Parameters
    ----------
    columns
        The columns of a table.
    anomalies
        The section on rows that do not belong.
    numbers
        What its rows are called.
    """
    rows = np.array([entry["row"] for entry in anomalies.get("rows", [])], dtype=np.int64)
    if not len(rows):
        return []
    logs = {c.name: _logs(c) for c in columns if c.kind == "numeric" and not c.levels and np.nanmin(c.raw) > 0}
    found = []
    for name, x in logs.items():
        told = _expected(x, [y for other, y in logs.items() if other != name], rows)
        powers = np.array([_powers(x - expected, rows, width) for expected, width in told])
        if len(powers):
            most = np.median(powers, axis=0)  # the number is at fault, not one of those that it is compared with
            found.append((name, [(int(row), int(k)) for row, k in zip(rows, most, strict=True) if abs(k) >= 1]))
    by_name = {c.name: c for c in columns}
    explained: set[int] = set()
    made = []
    for name, cells in found:  # a slip in one column throws others of its row off
        left = [cell for cell in cells if cell[0] not in explained]
        made += [_told(by_name[name], left, numbers)] if left else []
        explained |= {row for row, _ in cells}
    return made[:_MOST]


def _powers(off: Values, strange: NDArray[np.int64], width: float) -> Values:
    """By how many places the decimal point has slipped in the strange rows; 0 where it has not."""
    off = np.nan_to_num(off)
    power = np.rint(off[strange])
    slipped = (np.abs(power) > 0) & (np.abs(power) <= 3) & (np.abs(off[strange] - power) < 3 * width)
    inner = np.ones(len(off), dtype=np.bool_)
    inner[strange] = False
    wide = [
        bool(gap(np.abs(np.append(off[inner], each)), np.arange(inner.sum() + 1) < inner.sum()) >= _GAP)
        for each in off[strange]
    ]
    return np.where(slipped & wide, power, 0.0)


def _logs(column: Column) -> Values:
    return np.asarray(np.log10(column.raw))


def _expected(x: Values, others: list[Values], strange: NDArray[np.int64]) -> list[tuple[Values, float]]:
    """What is expected of each row and how far off it usually is: the middle, or lines of other columns."""
    usual = np.ones(len(x), dtype=bool)
    usual[strange] = False
    middle = float(np.nanmedian(x))
    if (width := _width(x - middle, usual)) <= _NARROW:
        return [(np.full(len(x), middle), width)]
    tried = []
    for y in others:
        both = usual & ~np.isnan(x) & ~np.isnan(y)
        if both.sum() < 20 or not y[both].std() > 0 or not x[both].std() > 0:
            continue
        if abs(np.corrcoef(x[both], y[both])[0, 1]) < 0.7:
            continue
        rate, start = np.polyfit(y[both], x[both], 1)
        tried.append((start + rate * y, _width(x - start - rate * y, usual)))
    return [each for each in tried if each[1] <= _NARROW]


def _width(rest: Values, usual: NDArray[np.bool_]) -> float:
    seen = rest[usual & ~np.isnan(rest)]
    return max(float(seen.std()), 1e-3) if len(seen) > 20 else np.inf


def _told(column: Column, cells: list[tuple[int, int]], numbers: RowNumbers) -> Finding:
    row, power = cells[0]
    size = (_TIMES if power > 0 else _PARTS)[abs(power)]
    value = float(column.raw[row])
    more = f" {counted(len(cells) - 1, 'other value')} like this." if len(cells) > 1 else ""
    text = (
        f"{short(column.name)} is {number(value)} in row {numbers.named(row)}, about {size} what the other rows let "
        f"expect: a slipped decimal point would explain it ({number(value / 10.0**power)} would fit).{more}"
    )
    rows = numbers.all(row for row, _ in cells)
    return Finding("anomaly", text, "anomalies", (cut(column.name),), rows, 10.0 ** abs(power), "ratio", size=0.9)
