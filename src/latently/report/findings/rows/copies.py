"""Rows that repeat another one, exactly or in all columns but one."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from latently.report.findings.code import names
from latently.report.findings.finding import Finding
from latently.report.findings.rows.row_numbers import RowNumbers
from latently.report.study.columns import Column
from latently.report.study.prepare import Prepared
from latently.report.study.rows.repeats import LOG_CHANCE, chance_of_pairs, near_pairs, telling
from latently.report.study.words import cut, listed, percent, short

_LISTED: Final = 1000
_THERE: Final = 0.5  # share of the columns with a value
_MOST_CELLS: Final = 2_000_000


def copies(prepared: Prepared) -> list[Finding]:
    """The rows that are copies, and those that differ from another one in a single column.

    Parameters
    ----------
    prepared
        The table.
    """
    columns = telling(prepared.columns)
    told = _are_told(columns, prepared.rows)
    rows = np.flatnonzero(told if prepared.copies is None else told & ~prepared.copies)
    small = len(rows) >= 20 and len(rows) * len(columns) <= _MOST_CELLS
    values = [column.raw[rows] for column in columns] if small else []
    pairs = near_pairs(values)
    near = [(int(rows[a]), int(rows[b]), j) for a, b, j in pairs]
    few = [pair[1] for pair in near if pair[2] < 0]
    gone = np.array(few, dtype=np.int64) if prepared.copies is None else np.flatnonzero(prepared.copies & told)
    sure = prepared.copies is not None or chance_of_pairs(values) < LOG_CHANCE
    numbers = RowNumbers(prepared.row_numbers)
    others = [(numbers(a), numbers(b), j) for a, b, j in near if j >= 0]
    found = [_exact(prepared, gone, sure, numbers), _near(columns, others, prepared.rows)]
    return [each for each in found if each is not None]


def _are_told(columns: list[Column], rows: int) -> NDArray[np.bool_]:
    """The rows of which enough is there to call them the same: empty ones are alike by what they lack."""
    there = np.zeros(rows)
    for column in columns:
        there += ~column.missing
    return there >= _THERE * len(columns)


def _exact(prepared: Prepared, rows: NDArray[np.int64], sure: bool, numbers: RowNumbers) -> Finding | None:
    if not len(rows):
        return None
    are = "row repeats" if len(rows) == 1 else "rows repeat"
    share = len(rows) / max(prepared.rows, 1)
    used = "" if prepared.copies is None else "; models and tests look at each row once"
    apart = [short(column.name) for column in prepared.columns if column.kind == "identifier"]
    how = f"in all but {listed(apart)}" if apart else "exactly"
    return Finding(
        "duplicates",
        f"{len(rows)} {are} another row {how} ({percent(share)}){used}.",
        "columns",
        rows=numbers.all(rows[:_LISTED]),
        effect=len(rows),
        measure="rows",
        code=_duplicated(telling(prepared.columns), prepared.columns),
        size=0.6 + share if sure else 0.3,
    )


def _duplicated(columns: list[Column], everything: tuple[Column, ...]) -> str:
    if len(columns) == len(everything):
        return "df[df.duplicated(keep=False)]"
    left_out = tuple(column.name for column in everything if column not in columns)
    return f"df[df.drop(columns={names(left_out)}).duplicated(keep=False)]" if len(left_out) <= 8 else ""


def _near(columns: list[Column], pairs: list[tuple[int, int, int]], n: int) -> Finding | None:
    """Rows that agree in everything but one column, in a table where chance brings none."""
    if not pairs:
        return None
    old, new, j = pairs[0]
    are = "row differs" if len(pairs) == 1 else "rows differ"
    where = short(columns[j].name)
    listed = tuple(row for a, b, _ in pairs[:_LISTED] for row in (a, b))
    return Finding(
        "duplicates",
        f"{len(pairs)} {are} from another one in a single column: rows {old} and {new} in {where} alone.",
        "columns",
        tuple(dict.fromkeys(cut(columns[j].name) for _, _, j in pairs)),
        listed,
        len(pairs),
        "rows",
        code=f"df.iloc[{list(listed[:20])}]",
        size=0.4 + len(pairs) / n,
    )
