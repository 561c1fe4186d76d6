"""One series, or many in one table that a column of categories tells apart."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from latently.report.study.columns import Column

_MOST_GROUPS: Final = 12
LEAST: Final = 12  # moments of a series
_MOST_ROWS: Final = 100_000
_MOST_REPEATED: Final = 0.05  # share of the rows of a series that may repeat a moment


@dataclass(frozen=True, eq=False)
class Panel:
    """The rows of a table as series.

    Attributes
    ----------
    by
        The column that tells series apart; None if there is one series.
    n
        How many series there are.
    series
        Name and rows of each that is looked at, the longest first, rows in the order of time.
    left_out
        Rows of a single series whose moment another row has already.
    """

    by: Column | None
    n: int
    series: list[tuple[str, NDArray[np.int64]]]
    left_out: int = 0


def panel(columns: tuple[Column, ...], time: Column, rows: NDArray[np.int64] | None = None) -> Panel | None:
    """Find the series of a table; None if many rows share moments and no column tells them apart.

    Parameters
    ----------
    columns
        All columns of the table.
    time
        The one that orders the rows.
    rows
        Those that count; all if None.
    """
    rows = np.flatnonzero(~time.missing) if rows is None else rows[~time.missing[rows]]
    rows = rows[np.argsort(time.raw[rows], kind="stable")][:_MOST_ROWS]
    first = rows[np.unique(time.raw[rows], return_index=True)[1]]
    if len(first) == len(rows):
        return _alone(rows, 0)
    for column in columns:
        if column.kind in ("categorical", "ordinal") and column is not time and _tells_apart(column, time, rows):
            return _grouped(column, rows)
    return _alone(first, len(rows) - len(first)) if len(rows) - len(first) <= _MOST_REPEATED * len(rows) else None


def _alone(rows: NDArray[np.int64], left_out: int) -> Panel:
    return Panel(None, 1, [("", rows)] if len(rows) >= LEAST else [], left_out)


def _tells_apart(column: Column, time: Column, rows: NDArray[np.int64]) -> bool:
    pairs = np.column_stack([column.raw[rows], time.raw[rows]])
    pairs = pairs[~np.isnan(pairs[:, 0])]
    return len(pairs) > 0.9 * len(rows) and len(np.unique(pairs, axis=0)) == len(pairs)


def _grouped(column: Column, rows: NDArray[np.int64]) -> Panel:
    codes = column.raw[rows]
    known = np.unique(codes[~np.isnan(codes)]).astype(int)
    found = [(column.levels[code], rows[codes == code]) for code in known]
    long = sorted((pair for pair in found if len(pair[1]) >= LEAST), key=lambda pair: -len(pair[1]))
    return Panel(column, len(known), long[:_MOST_GROUPS])


def between_known(x: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of a series from the first known value to the last: what was not measured yet does not stand still.

    Examples
    --------
    >>> between_known(np.array([np.nan, 1.0, np.nan, 2.0, np.nan]), np.arange(5))
    array([1, 2, 3])
    """
    known = np.flatnonzero(~np.isnan(x[rows]))
    return rows[known[0] : known[-1] + 1] if len(known) else rows[:0]
