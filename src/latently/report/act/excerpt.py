"""The rows that a report carries along: the first ones, those that findings are about, and a sample of the others."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.data.tables.column_view import ColumnView
from latently.report.act.numbering import identifying
from latently.report.reading.table import plain_cells
from latently.report.study.columns import Column
from latently.report.study.prepare import Prepared
from latently.report.study.words import cut, stamp

Contents = dict[str, Any]
HEAD: Final = 10
_CELLS, _ROWS, _COLUMNS = 24_000, 1000, 100
_TAKEN: Final = 2000  # cells of which it is said what stood there
_EACH: Final = 50  # rows of one finding


def excerpt(views: Sequence[ColumnView], prepared: Prepared, contents: Contents) -> Contents:
    """Pick rows of the table.

    Parameters
    ----------
    views
        The columns as they came.
    prepared
        The table as it was read.
    contents
        The report so far; rows are counted as in the whole table.

    Returns
    -------
    dict
        "columns", "row" (numbers), "head" (how many of them are the first rows), "values" (a list for each column),
        "taken" (what stood where the report took a value as missing: place of the column, place of the row, text) and
        "name" (the column that names the rows, or None).
    """
    kept, numbers, n = _columns(views, contents), prepared.row_numbers, prepared.rows
    rows = _rows(contents, numbers, n, min(_ROWS, _CELLS // len(kept)))
    named = identifying(contents["columns"], n)
    stood = [plain_cells(views[j], rows) for j in kept]
    values = [_values(prepared.columns[j], rows, cells) for j, cells in zip(kept, stood, strict=True)]
    return {
        "columns": [contents["columns"][j]["name"] for j in kept],
        "row": (rows if numbers is None else numbers[rows]).tolist(),
        "head": min(HEAD, n),
        "values": values,
        "taken": _taken(values, stood),
        "name": named if named in {contents["columns"][j]["name"] for j in kept} else None,
    }


def _values(column: Column, rows: NDArray[np.intp], stood: list[Any]) -> list[Any]:
    """Cells as the report read them: numbers and dates as such, None where it takes a value as missing."""
    raw = column.raw[rows].tolist()
    if column.levels:
        return [None if np.isnan(v) else cell for v, cell in zip(raw, stood, strict=True)]
    if column.moments:
        return [None if np.isnan(v) else stamp(v) for v in raw]
    return [None if np.isnan(v) else _number(v) for v in raw]


def _number(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) < 2**53 else float(f"{value:.7g}")


def _taken(values: list[list[Any]], stood: list[list[Any]]) -> list[list[Any]]:
    found = []
    for j, (seen, cells) in enumerate(zip(values, stood, strict=True)):
        pairs = enumerate(zip(seen, cells, strict=True))
        found += [[j, at, cut(cell)] for at, (value, cell) in pairs if value is None and cell is not None]
    return found[:_TAKEN]


def _columns(views: Sequence[ColumnView], contents: Contents) -> list[int]:
    """Places of the columns: all of them, or those that findings are about and the first of the others."""
    if len(views) <= _COLUMNS:
        return list(range(len(views)))
    told = {name for found in contents["insights"] for name in found["columns"]}
    ahead = [j for j, column in enumerate(contents["columns"]) if column["name"] in told][: _COLUMNS // 2]
    rest = [j for j in range(len(views)) if j not in set(ahead)]
    return sorted([*ahead, *rest[: _COLUMNS - len(ahead)]])


def _rows(contents: Contents, numbers: NDArray[np.int64] | None, n: int, most: int) -> NDArray[np.intp]:
    """Places of the rows: the first ones, then others in the order of the table."""
    most = max(most, HEAD)
    if n <= most:
        return np.arange(n)
    places = None if numbers is None else {int(row): at for at, row in enumerate(numbers)}
    wanted = dict.fromkeys([*range(HEAD), *_placed(_told(contents), places)])
    drawn = (contents.get("map") or {}).get("points", {}).get("row", [])
    step = max(len(drawn) // max(most - len(wanted), 1), 1)
    chosen = list(dict.fromkeys([*wanted, *_placed(drawn[::step], places)]))[:most]
    return np.array([*chosen[:HEAD], *sorted(chosen[HEAD:])], dtype=np.intp)


def _placed(rows: Iterable[int], places: dict[int, int] | None) -> Iterator[int]:
    return (row if places is None else places[row] for row in rows if places is None or row in places)


def _told(contents: Contents) -> Iterator[int]:
    """Rows that findings and the list of anomalies are about."""
    for found in contents["insights"]:
        yield from (found.get("rows") or [])[:_EACH]
    for row in (contents.get("anomalies") or {}).get("rows", []):
        yield row["row"]


def name_rows(contents: Contents) -> None:
    """Give the listed anomalies the name that the table has for them, if it has one."""
    table = contents["table"]
    if table["name"] is None:
        return
    names = dict(zip(table["row"], table["values"][table["columns"].index(table["name"])], strict=True))
    for row in (contents.get("anomalies") or {}).get("rows", []):
        row["name"] = names.get(row["row"])
