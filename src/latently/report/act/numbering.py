"""Rows by the numbers that they have in the whole table, and by what names them there."""

import re
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.report.sections.second_opinion import opinion

Contents = dict[str, Any]
_SECTIONS: Final = ("map", "anomalies", "missing", "dependencies", "target", "time", "clusters")
_VALUES: Final = ("columns", "series")  # hold what stood in the table
_NAMES: Final = re.compile(r"(^|[_\W])(name|title|label)([_\W]|$)", re.IGNORECASE)
_IDS: Final = re.compile(r"(^|[_\W])(id|key|uuid|guid|code|nr)([_\W]|$)|[a-z]Id$", re.IGNORECASE)
_DIFFERENT: Final = 0.9  # share of the values of a column that names rows which must differ


def numbered(contents: Contents, numbers: NDArray[np.int64] | None) -> Contents:
    """Sections in which rows have the numbers that they have in the whole table.

    Parameters
    ----------
    contents
        Sections of a report, in which rows are places in the table.
    numbers
        (n,) number of each row of the table in the whole; None if it is the whole.
    """
    if numbers is None:
        return contents
    told = contents | {name: _renumbered(contents.get(name), numbers) for name in _SECTIONS if name in contents}
    second = (told.get("anomalies") or {}).get("agreement")
    if second:
        second |= {name: numbers[second[name]].tolist() for name in ("disputed", "oddest")}
        second["text"] = opinion(second, [row["row"] for row in told["anomalies"]["rows"]])
    return told


def _renumbered(node: Any, numbers: NDArray[np.int64]) -> Any:
    if isinstance(node, list):
        return [_renumbered(inner, numbers) for inner in node]
    return {k: _entry(k, v, numbers) for k, v in node.items()} if isinstance(node, dict) else node


def _entry(key: str, value: Any, numbers: NDArray[np.int64]) -> Any:
    if key == "row" and isinstance(value, int):
        return int(numbers[value])
    if key in ("row", "rows") and _are_places(value):
        return numbers[value].tolist()
    return value if key in _VALUES else _renumbered(value, numbers)


def _are_places(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(each) is int for each in value)


def identifying(columns: list[dict[str, Any]], rows: int) -> str | None:
    """Tell which column names the rows: different nearly everywhere, and called like a name, a title or an id.

    Parameters
    ----------
    columns
        The section on columns.
    rows
        Number of rows.

    Examples
    --------
    >>> identifying([{"name": "film_title", "kind": "text", "distinct": 98, "missing": 0}], 100)
    'film_title'
    """
    able = [c for c in columns if c["kind"] in ("identifier", "text") and _is_different(c, rows)]
    for wanted in (_NAMES, _IDS):
        for column in able:
            if wanted.search(column["name"]):
                return str(column["name"])
    return next((str(c["name"]) for c in able if c["kind"] == "identifier"), None)


def _is_different(column: dict[str, Any], rows: int) -> bool:
    present = rows - column["missing"]
    return bool(present > rows / 2 and column["distinct"] >= _DIFFERENT * present)
