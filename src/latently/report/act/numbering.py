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


def number_rows(contents: Contents, numbers: NDArray[np.int64] | None) -> None:
    """Give the rows that sections speak of the numbers that they have in the whole table.

    Parameters
    ----------
    contents
        The sections of a report; changed in place.
    numbers
        (n,) number of each row of the table in the whole; None if it is the whole.
    """
    if numbers is None:
        return
    for name in _SECTIONS:
        _renumber(contents.get(name), numbers)
    second = (contents.get("anomalies") or {}).get("agreement")
    if second:
        for name in ("disputed", "oddest"):
            second[name] = numbers[second[name]].tolist()
        second["text"] = opinion(second, [row["row"] for row in contents["anomalies"]["rows"]])


def _renumber(node: Any, numbers: NDArray[np.int64]) -> None:
    if isinstance(node, list):
        for inner in node:
            _renumber(inner, numbers)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "row" and isinstance(value, int):
                node[key] = int(numbers[value])
            elif key in ("row", "rows") and _are_places(value):
                node[key] = numbers[value].tolist()
            elif key not in _VALUES:
                _renumber(value, numbers)


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
