"""The rows that a report carries along: the first ones, those that findings are about, and a sample of the others."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.data.tables.column_view import ColumnView
from latently.report.act.numbering import identifying
from latently.report.reading.table import plain_cells

Contents = dict[str, Any]
HEAD: Final = 10
_CELLS, _ROWS, _COLUMNS = 24_000, 1000, 100
_EACH: Final = 50  # rows of one finding


def excerpt(views: Sequence[ColumnView], contents: Contents, numbers: NDArray[np.int64] | None) -> Contents:
    """Pick rows of the table, as they stood there.

    Parameters
    ----------
    views
        The columns as they came.
    contents
        The report so far; rows are counted as in the whole table.
    numbers
        (n,) number of each row in the whole; None if the table is the whole.

    Returns
    -------
    dict
        "columns", "row" (numbers), "head" (how many of them are the first rows), "values" (a list for each column)
        and "name" (the column that names the rows, or None).
    """
    kept = _columns(views, contents)
    n = len(views[0].data)
    rows = _rows(contents, numbers, n, min(_ROWS, _CELLS // len(kept)))
    named = identifying(contents["columns"], n)
    return {
        "columns": [contents["columns"][j]["name"] for j in kept],
        "row": (rows if numbers is None else numbers[rows]).tolist(),
        "head": min(HEAD, n),
        "values": [plain_cells(views[j], rows) for j in kept],
        "name": named if named in {contents["columns"][j]["name"] for j in kept} else None,
    }


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
