"""A small chart for each finding: one that the page has already, or two columns of the rows that it carries."""

from collections.abc import Iterator
from typing import Any, Final

from latently.report.charts_parts import Chart, chart, levels, names_axis

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
        made = made or _bars(found, contents)
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
    if name not in drawn:
        return None
    most = _TALL if name.startswith(("column-", "importance")) else _HEIGHT  # names need a line each
    return {"same": name, "height": min(most, drawn[name]["spec"].get("height", _HEIGHT))}


def _code(found: dict[str, Any], contents: dict[str, Any]) -> Chart | None:
    """A column with the values that stand for missing ones beside the others."""
    if found.get("finding") != "missing_code":
        return None
    column: dict[str, Any] = next((c for c in contents["columns"] if c["name"] == found["columns"][0]), {})
    if not column.get("levels"):
        return None
    codes = [{"level": str(code["value"]) or "(empty)", "count": code["count"]} for code in column.get("codes", [])]
    other = [level for level in column["levels"] if str(level["level"]) not in {code["level"] for code in codes}]
    return levels({**column, "levels": codes + other[: _BARS - len(codes)], "other": 0})


def _pair(found: dict[str, Any], contents: dict[str, Any]) -> Chart | None:
    """Two or three columns of the rows that the page carries, those that the finding is about set off."""
    table, kinds = contents.get("table") or {"columns": []}, kinds_of(contents)
    named = [name for name in found.get("columns") or [] if name in table["columns"] and name in kinds]
    places = [table["columns"].index(name) for name in named]
    rows = (found.get("rows") or [])[:_TOLD]
    if found.get("finding") == "missingness" and len(named) > 1:
        return {"pair": places[1::-1], "absent": True, "told": rows}
    if found.get("finding") in ("order", "anomaly", "drift") and places and kinds[named[0]] == "number":
        second = [p for p, name in zip(places[1:], named[1:], strict=True) if kinds[name] == "number"][:1]
        return {"pair": [*second, places[0]] if second else [-1, places[0]], "told": rows}
    if len(named) < 2 or found.get("finding") == "duplicates":
        return None
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


def _bars(found: dict[str, Any], contents: dict[str, Any]) -> Chart | None:
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
    return chart({"height": 60, "mark": mark, "encoding": {"x": x, "y": y}}, data, tips)


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
        "cells": {"mark": rect, "encoding": {"x": cells[0], "y": cells[1], "color": count}},
    }
