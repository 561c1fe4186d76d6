"""A small chart for each finding: one that the page has already, or two columns of the rows that it carries."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from latently.report.charts_parts import Chart, chart, edge_type, levels, names_axis, picks, ticks
from latently.report.study.words import cut, is_given

_HEIGHT: Final = 150
_TALL: Final = 260
_MANY: Final = 15  # levels that an axis can show
_TOLD: Final = 50  # rows that are set off
_BARS: Final = 8
_NUMBERS: Final = ("numeric", "date")
_CLASSES: Final = ("categorical", "ordinal")
_INTO: Final = {
    "target": "importance",
    "states": "time-0",
    "change": "time-0",
    "trend": "trend-0",
    "season": "trend-0",
}


def finding_charts(contents: dict[str, Any], drawn: dict[str, Chart]) -> Iterator[tuple[str, Chart]]:
    """Draw each finding.

    Parameters
    ----------
    contents
        The dict of a report.
    drawn
        The charts of its sections, by name.
    """
    columns = {column["name"]: place for place, column in enumerate(contents.get("columns", []))}
    for place, found in enumerate(contents.get("insights", [])):
        made = _same(found, columns, drawn) or _code(found, contents) or _pair(found, contents)
        made = made or _bars(found, contents, place)
        if made is not None:
            yield f"finding-{place}", made


def _same(found: dict[str, Any], columns: dict[str, int], drawn: dict[str, Chart]) -> Chart | None:
    """A chart of a section, drawn small; its data are in the page but once."""
    kind, named = found.get("finding"), found.get("columns") or []
    name = _INTO.get(str(kind), "")
    if kind == "clusters":
        name = "apart" if "apart" in drawn else "map"
    if kind == "spelling" or (kind in ("identifier", "redundant") and len(named) == 1):
        name = f"column-{columns.get(named[0])}" if named else ""
    if kind == "clusters" and name not in drawn:  # of one column, which needs no map
        name = f"column-{columns.get(named[0])}" if named else ""
    if name not in drawn:
        return None
    most = _TALL if name.startswith(("column-", "importance")) else _HEIGHT  # names need a line each
    return {"same": name, "height": min(most, drawn[name]["spec"].get("height", _HEIGHT))}


def _code(found: dict[str, Any], contents: dict[str, Any]) -> Chart | None:
    """A column with the values that stand for missing ones beside the others."""
    if found.get("finding") != "missing_code":
        return None
    column: dict[str, Any] = next((c for c in contents["columns"] if c["name"] == found["columns"][0]), {})
    if column.get("histogram"):
        table = contents.get("table") or {"columns": []}
        at = table["columns"].index(column["name"]) if column["name"] in table["columns"] else None
        return _number_code(column, at)
    if not column.get("levels"):
        return None
    codes = [{"level": str(code["value"]) or "(empty)", "count": code["count"]} for code in column.get("codes", [])]
    other = [level for level in column["levels"] if str(level["level"]) not in {code["level"] for code in codes}]
    return levels({**column, "levels": codes + other[: _BARS - len(codes)], "other": 0})


def _number_code(column: dict[str, Any], at: int | None) -> Chart | None:
    """The distribution of a number, and how often each code stands where on its axis."""
    edges, codes = column["histogram"]["edges"], [code for code in column.get("codes", []) if _is_number(code["value"])]
    if edge_type(edges) != "quantitative" or not codes:
        return None
    bars = [
        {"from": a, "to": b, "rows": n}
        for (a, b), n in zip(pairwise(edges), column["histogram"]["counts"], strict=True)
    ]
    data = {"code": [code["value"] for code in codes], "rows": [code["count"] for code in codes]}
    y = {"field": "rows", "type": "quantitative", "title": "rows"}
    x = {
        "type": "quantitative",
        "title": cut(column["name"]),
        "scale": {"zero": False},
        "axis": {"tickCount": 6, **ticks(edges)},
    }
    bar = {"type": "rect", "fill": "var(--c1)", "tooltip": None}
    spans = {"x": {**x, "field": "from"}, "x2": {"field": "to"}, "y": y, "y2": {"datum": 0}}
    dot = {"type": "point", "filled": True, "fill": "var(--c2)", "size": 90}
    layers = [
        {"data": {"values": bars}, "mark": bar, "encoding": spans},
        {"mark": dot, "encoding": {"x": {**x, "field": "code"}, "y": y}},
    ]
    tips = [("code", "code", "value"), ("rows", "rows", "number")]
    return chart({"height": _HEIGHT, "layer": layers}, data, tips, **picks("code", at))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _pair(found: dict[str, Any], contents: dict[str, Any]) -> Chart | None:
    """Two or three columns of the rows that the page carries, those that the finding is about set off."""
    table, kinds = contents.get("table") or {"columns": []}, kinds_of(contents)
    named = [name for name in found.get("columns") or [] if name in table["columns"] and name in kinds]
    places = [table["columns"].index(name) for name in named]
    rows = (found.get("rows") or [])[:_TOLD]
    if found.get("finding") == "missingness" and len(named) > 1:
        return {"pair": places[1::-1], "absent": True, "told": rows}
    if found.get("finding") == "order" and places and kinds[named[0]] != "date":
        return {"pair": [-1, places[0]], "told": rows}
    if found.get("finding") in ("anomaly", "drift") and places and kinds[named[0]] == "number":
        second = [p for p, name in zip(places[1:], named[1:], strict=True) if kinds[name] == "number"][:1]
        return {"pair": [*second, places[0]] if second else [-1, places[0]], "told": rows}
    if len(named) < 2 or found.get("finding") == "duplicates":
        return None
    if found["text"].startswith("At equal ") and len(places) == 3:
        return {"pair": [places[2], places[0], places[1]], "told": rows}
    if is_given(found["text"], named[0]):  # the bars of shares are those of the rows that the sentence speaks of
        places[:2] = places[1::-1]
    # a reversal is named by its columns, and by the one of its groups at the end
    third = places[-1:] if found.get("finding") == "reversal" and named[-1] == found["columns"][-1] else []
    return {"pair": places[:2] + [place for place in third if place not in places[:2]], "told": rows}


def kinds_of(contents: dict[str, Any]) -> dict[str, str]:
    """What an axis for each column is: "number", "date" or "level"; text with many values has none."""
    kinds = {}
    for column in contents.get("columns", []):
        if column["kind"] in _NUMBERS:
            kinds[column["name"]] = "date" if column["kind"] == "date" else "number"
        elif column["kind"] in _CLASSES or (column.get("distinct", 0) <= _MANY and column["kind"] != "empty"):
            kinds[column["name"]] = "level"
    return kinds


def _bars(found: dict[str, Any], contents: dict[str, Any], place: int) -> Chart | None:
    """How many rows a finding is about, beside all others."""
    rows = contents.get("source", {}).get("rows_used", 0)
    part = found.get("effect") if found.get("measure") == "rows" else len(found.get("rows") or [])
    if not part or part > rows:
        return None
    data: dict[str, list[Any]] = {"what": ["these rows", "all others"], "rows": [int(part), int(rows - part)]}
    y = {"field": "what", "type": "nominal", "title": None, "axis": names_axis(120), "scale": {"domain": data["what"]}}
    x = {"field": "rows", "type": "quantitative", "title": "rows", "axis": {"tickCount": 4}}
    mark = {"type": "bar", "fill": "var(--c1)"}
    tips = [("what", "which", "text"), ("rows", "rows", "number")]
    pick = {"pick": {"kind": "told", "finding": place}} if found.get("rows") else {}
    return chart({"height": 60, "mark": mark, "encoding": {"x": x, "y": y}}, data, tips, **pick)


def pair_specs() -> dict[str, Any]:
    """Specifications for two columns by what their axes are; the page fills in data, titles and types."""
    two = {"domain": ["no", "yes"], "range": ["var(--c1)", "var(--c2)"]}
    colour = {"field": "told", "type": "nominal", "scale": two, "legend": None}
    size = {"condition": {"test": {"field": "told", "equal": "yes"}, "value": 90}, "value": 22}
    axis = {"tickCount": 4, "titleLimit": 220, "labelLimit": 110}
    free = {"type": "quantitative", "scale": {"zero": False, "nice": False, "padding": 8}, "axis": axis}
    named = {"type": "nominal", "axis": {**names_axis(110), "titleLimit": 220}}
    x, y = {"field": "x", **free}, {"field": "y", **free}
    point = {"type": "point", "filled": True, "opacity": 0.55}
    bar = {"type": "bar", "cornerRadius": 2, "stroke": "var(--card)", "strokeWidth": 1}
    share: dict[str, Any] = {
        "aggregate": "count",
        "stack": "normalize",
        "type": "quantitative",
        "title": "share of the rows",
    }
    share["axis"] = {"format": "%", "tickCount": 4}
    part = {"field": "x", "type": "nominal", "legend": {"orient": "top"}}
    tick = {"type": "tick", "opacity": 0.5, "thickness": 2}
    scale = {"type": "quantize", "range": [f"var(--s{i})" for i in range(1, 6)]}
    count = {"aggregate": "count", "type": "quantitative", "scale": scale, "legend": None}
    points = {"height": 190, "mark": point, "encoding": {"x": x, "y": y, "color": colour, "size": size}}
    ticks = {"mark": tick, "encoding": {"x": x, "y": {"field": "y", **named}, "color": colour}}
    cells = {"field": "x", **named}, {"field": "y", **named}
    rect = {"type": "rect", "stroke": "var(--card)", "strokeWidth": 1}
    return {
        "points": points,
        "ticks": ticks,
        "shares": {"mark": bar, "encoding": {"x": share, "y": {"field": "y", **named}, "color": part}},
        "cells": {"mark": rect, "encoding": {"x": cells[0], "y": cells[1], "color": count}},
    }
