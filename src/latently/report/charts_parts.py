"""What charts have in common."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

Chart = dict[str, Any]
Tip = tuple[str, str, str]

# Told apart by most kinds of colour blindness, in the light dress and in the dark one.
PALETTE = [f"var(--c{i})" for i in range(1, 9)]
# From little to much.
SEQUENCE = [f"var(--s{i})" for i in range(1, 6)]


# Names that every JavaScript object has: as a group's name they would be taken for what is already there.
_TAKEN = {"__proto__", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toString"}
_TAKEN |= {"toLocaleString", "valueOf", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"}
_INVISIBLE = "\u200b"


def chart(spec: dict[str, Any], data: Mapping[str, Sequence[Any]], tips: Sequence[Tip], **more: Any) -> Chart:
    """Put together a specification, its columns of data, and what the pointer shows: (field, label, kind)."""
    made = {"spec": {"width": "container", **spec}, "data": data, "tips": [list(tip) for tip in tips], **more}
    safe: Chart = untaken(made)
    return safe


def untaken(node: Any) -> Any:
    """Set an invisible sign before every string that is a name of JavaScript's own.

    Examples
    --------
    >>> untaken({"data": ["wage", "constructor"]})
    {'data': ['wage', '\u200bconstructor']}
    """
    if isinstance(node, dict):
        return {key: untaken(value) for key, value in node.items()}
    if isinstance(node, list):
        return [untaken(value) for value in node]
    return _INVISIBLE + node if isinstance(node, str) and node in _TAKEN else node


def names_axis(limit: int) -> dict[str, Any]:
    """Give an axis for names: quiet, and cut at a number of pixels."""
    return {"labelLimit": limit, "domain": False, "ticks": False, "grid": False, "labelPadding": 6}


def ticks(values: Sequence[Any]) -> dict[str, Any]:
    """Give the format of an axis on which four digits stand together: 1950 may be a year.

    Examples
    --------
    >>> ticks([1950, 2000]), ticks([0.5, 20])
    ({'format': '~f'}, {})
    """
    sizes = [abs(value) for value in values if isinstance(value, int | float)]
    return {"format": "~f"} if sizes and 1000 <= max(sizes) < 10_000 else {}


def edge_type(values: Sequence[Any]) -> str:
    """Tell what an axis is for: numbers, moments in time, or else places in an order.

    Examples
    --------
    >>> edge_type([1, 2.5]), edge_type(["2024-01-01", "2024-01-02T10:00"]), edge_type(["a"])
    ('quantitative', 'temporal', 'ordinal')
    """
    if all(isinstance(value, int | float) for value in values):
        return "quantitative"
    try:
        for value in values:
            dt.datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return "ordinal"
    return "temporal"


def as_numbers(values: Sequence[Any]) -> list[float] | None:
    """Read strings that are all numbers; None if one is not."""
    try:
        return [float(value) for value in values]
    except (TypeError, ValueError):
        return None


def picks(kind: str, column: int | None, **how: Any) -> dict[str, Any]:
    """What a click shows: rows of the table, if the page carries this column."""
    return {} if column is None else {"pick": {"kind": kind, "column": column, **how}}


def levels(column: dict[str, Any], at: int | None = None) -> Chart:
    """Draw how many rows have each level, those not listed together at the end; `at` as in `histogram`."""
    listed = column["levels"]
    data = {"level": [item["level"] for item in listed], "rows": [item["count"] for item in listed]}
    if column.get("other"):
        data["level"].append("all others")
        data["rows"].append(column["other"])
    y = {"field": "level", "type": "nominal", "sort": None, "title": None, "axis": names_axis(180)}
    x = {"field": "rows", "type": "quantitative", "title": "rows", "axis": {"tickCount": 5}}
    return chart(
        {"height": 22 * len(data["level"]), "mark": {"type": "bar", "fill": "var(--c1)"}, "encoding": {"x": x, "y": y}},
        data,
        [("level", "level", "text"), ("rows", "rows", "number")],
        **picks("level", at, known=[item["level"] for item in listed]),
    )
