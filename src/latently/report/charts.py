"""Charts of a report as Vega-Lite specifications: plain dicts, columns of data, and what the pointer shows.

Strings from the data are values of fields and never part of a specification's expressions; what the pointer shows
is listed as (field, label, kind) and written by the page as text. Colours are CSS variables, so that one drawing
serves the light dress, the dark one and paper.
"""

from collections.abc import Iterator
from typing import Any

from latently.report.charts_findings import finding_charts
from latently.report.charts_map import apart_chart, map_chart, tsne_chart
from latently.report.charts_parts import (
    PALETTE,
    SEQUENCE,
    Chart,
    chart,
    edge_type,
    levels,
    names_axis,
    picks,
    ticks,
)
from latently.report.charts_time import MOST as MOST_SERIES
from latently.report.charts_time import time_charts, trend_charts
from latently.report.figures import number, percent


def charts(contents: dict[str, Any]) -> dict[str, Chart]:
    """Make every chart of a report, by the name of its place in the page.

    Examples
    --------
    >>> column = {"name": "age", "kind": "numeric", "histogram": {"edges": [0, 1, 2], "counts": [3, 4]}}
    >>> list(charts({"columns": [column]}))
    ['column-0']
    """
    drawn = dict(_all(contents))
    return drawn | dict(finding_charts(contents, drawn))


def made(contents: dict[str, Any], name: str) -> dict[str, Any]:
    """Give a section that could be made; an empty dict for one that is absent or was left out."""
    section = contents.get(name) or {}
    return {} if "skipped" in section else section


def _all(contents: dict[str, Any]) -> Iterator[tuple[str, Chart]]:
    for place, column in enumerate(contents.get("columns", [])):
        if column.get("histogram"):
            yield f"column-{place}", histogram(column, _place(contents, column["name"]))
        elif column.get("levels"):
            yield f"column-{place}", levels(column, _place(contents, column["name"]))
    if made(contents, "map"):
        yield "map", map_chart(contents["map"])
    if made(contents, "map").get("discriminant"):
        yield "apart", apart_chart(contents["map"])
    if made(made(contents, "map"), "tsne"):
        yield "tsne", tsne_chart(contents["map"])
    if made(contents, "selection").get("table"):
        yield "selection", criterion(contents["selection"])
    dependencies = made(contents, "dependencies")
    # one pair is told in words, and so is that there is none
    if dependencies.get("count", 1) and len(dependencies.get("matrix", {}).get("columns", [])) > 2:
        yield "dependencies", heat_map(contents["dependencies"]["matrix"], _sentences(contents))
    if any(pattern["columns"] for pattern in made(contents, "missing").get("patterns", [])):
        yield "missing", patterns(contents["missing"]["patterns"], contents.get("table"))
    target = made(contents, "target")
    if target.get("importance"):
        yield "importance", importance(target["importance"], _place(contents, target.get("name", "")))
    if target.get("calibration", {}).get("predicted"):
        yield "calibration", calibration(target["calibration"])
    time = made(contents, "time")
    moment = _place(contents, time.get("column", ""))
    parts = time.get("trend", {}).get("parts", [])
    yield from trend_charts(parts, moment)
    if time.get("series") and not _is_drawn(time, parts):
        yield from time_charts(time, moment)


def _is_drawn(time: dict[str, Any], parts: list[dict[str, Any]]) -> bool:
    """Whether the charts of the trends show all there is to see: every series, without states or changes."""
    series = time["series"]
    whole = {part["column"] for part in parts[:MOST_SERIES] if not part["group"]}
    return set(series["columns"]) <= whole and len(set(series["state"])) < 2 and not time.get("changes")


def _place(contents: dict[str, Any], name: str) -> int | None:
    """Where a column stands among those of the rows that the page carries."""
    table = contents.get("table") or {"columns": []}
    return table["columns"].index(name) if name in table["columns"] else None


def histogram(column: dict[str, Any], at: int | None = None) -> Chart:
    """Draw how many rows fall between any two edges; `at` is where the rows of the page have the column."""
    edges, counts = column["histogram"]["edges"], column["histogram"]["counts"]
    kind = edge_type(edges)
    scale = {"nice": False} | ({"zero": False} if kind == "quantitative" else {})
    x = {"field": "from", "type": kind, "title": None, "axis": {"tickCount": 6, "grid": False, **ticks(edges)}}
    x["scale"] = scale
    y = {"field": "rows", "type": "quantitative", "title": "rows"}
    mark = {"type": "rect", "fill": "var(--c1)", "stroke": "var(--card)", "strokeWidth": 1}
    return chart(
        {"height": 150, "mark": mark, "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"datum": 0}}},
        {"from": edges[:-1], "to": edges[1:], "rows": counts},
        [("from", "from", "number"), ("to", "to", "number"), ("rows", "rows", "number")],
        **picks("range", at, last=edges[-1]),
    )


def criterion(selection: dict[str, Any]) -> Chart:
    """Draw the criterion of every model that was compared, a line for each family."""
    table = selection["table"]
    families = list(dict.fromkeys(line["model"] for line in table))
    data = {name: [line[name] for line in table] for name in ("model", "components", "criterion", "chosen")}
    sizes = sorted(set(data["components"]))
    x = {"field": "components", "type": "quantitative", "title": "components", "axis": {"values": sizes, "format": "d"}}
    y = {"field": "criterion", "type": "quantitative", "title": selection["criterion"], "scale": {"zero": False}}
    colours = [PALETTE[i % len(PALETTE)] for i in range(len(families))]
    scale = {"domain": families, "range": colours}
    colour = {"field": "model", "type": "nominal", "scale": scale, "title": None, "legend": {"orient": "top"}}
    ring = {"type": "point", "size": 260, "stroke": "var(--ink)", "strokeWidth": 2, "fill": "transparent"}
    layers = [
        {"mark": {"type": "line"}, "encoding": {"color": colour}},
        {"mark": {"type": "point", "filled": True, "size": 60, "tooltip": True}, "encoding": {"color": colour}},
        {"transform": [{"filter": {"field": "chosen", "equal": True}}], "mark": ring},
    ]
    tips = [("model", "model", "text"), ("components", "components", "number"), ("criterion", "criterion", "number")]
    return chart({"height": 260, "encoding": {"x": x, "y": y}, "layer": layers}, data, tips)


def _sentences(contents: dict[str, Any]) -> list[list[str]] | None:
    """What is said of pairs of columns; None if the page carries no rows to show with it."""
    pairs = contents["dependencies"].get("pairs", [])
    return [[pair["a"], pair["b"], pair["text"]] for pair in pairs] if contents.get("table") else None


def heat_map(matrix: dict[str, Any], texts: list[list[str]] | None = None) -> Chart:
    """Draw the strength of dependence between any two columns; `texts` say how they go together."""
    columns = matrix["columns"]
    cells = [(a, b, row[j]) for a, row in zip(columns, matrix["values"], strict=True) for j, b in enumerate(columns)]
    cells = [cell for cell in cells if cell[0] != cell[1]]
    data = dict(zip(("a", "b", "strength"), map(list, zip(*cells, strict=True)), strict=True)) if cells else {}
    scale = {"type": "quantize", "domain": [0, 1], "range": SEQUENCE}
    legend = {"orient": "top", "title": "strength", "format": ".1f"}
    colour = {"field": "strength", "type": "quantitative", "scale": scale, "legend": legend}
    # the order is given by a domain: a list to sort by would become an expression with the names in it
    base = {"type": "nominal", "title": None, "scale": {"domain": columns}}
    x = {**base, "field": "a", "axis": {**names_axis(170), "labelAngle": -45, "labelOverlap": "parity"}}
    y = {**base, "field": "b", "axis": names_axis(170)}
    return chart(
        {
            "height": len(columns) * max(18, min(44, 420 // max(len(columns), 1))),
            "mark": {"type": "rect", "stroke": "var(--card)", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "color": colour},
        },
        data,
        [("a", "column", "text"), ("b", "column", "text"), ("strength", "strength", "number")],
        **({} if texts is None else {"pick": {"kind": "pair", "fields": ["a", "b"], "texts": texts}}),
    )


def patterns(found: list[dict[str, Any]], table: dict[str, Any] | None = None) -> Chart:
    """Draw which columns are missing together, the most frequent pattern on top; `table` has rows to show."""
    columns = list(dict.fromkeys(name for pattern in found for name in pattern["columns"]))[:30]
    labels = [f"{place}.  {percent(pattern['share'])}" for place, pattern in enumerate(found, 1)]
    pairs = [(label, pattern, name) for label, pattern in zip(labels, found, strict=True) for name in columns]
    data = {
        "pattern": [label for label, _, _ in pairs],
        "column": [name for _, _, name in pairs],
        "state": ["missing" if name in pattern["columns"] else "present" for _, pattern, name in pairs],
        "rows": [pattern["rows"] for _, pattern, _ in pairs],
    }
    scale = {"domain": ["missing", "present"], "range": ["var(--c2)", "var(--line)"]}
    x: dict[str, Any] = {"field": "column", "type": "nominal", "sort": None, "title": None}
    x["axis"] = {**names_axis(170), "labelAngle": -45, "orient": "top"}
    y = {"field": "pattern", "type": "nominal", "sort": None, "title": "share of rows", "axis": names_axis(90)}
    colour = {"field": "state", "type": "nominal", "scale": scale, "legend": {"orient": "bottom", "title": None}}
    return chart(
        {
            "height": 28 * len(found),
            "mark": {"type": "rect", "stroke": "var(--card)", "strokeWidth": 3, "cornerRadius": 4},
            "encoding": {"x": x, "y": y, "color": colour},
        },
        data,
        [("column", "column", "text"), ("state", "in these rows", "text"), ("rows", "rows", "number")],
        **({"pick": {"kind": "pattern", "patterns": _gone(labels, found, table["columns"])}} if table else {}),
    )


def _gone(labels: list[str], found: list[dict[str, Any]], columns: list[str]) -> dict[str, list[int]]:
    """Places of the columns that are missing in each pattern, by its label."""
    names = [[columns.index(name) for name in pattern["columns"] if name in columns] for pattern in found]
    return dict(zip(labels, names, strict=True))


def importance(gains: list[dict[str, Any]], at: int | None = None) -> Chart:
    """Draw what each column adds to the prediction, with its interval; `at` is the place of the target."""
    data = {
        "column": [gain["column"] for gain in gains],
        "gain": [gain["gain"] for gain in gains],
        "low": [(gain.get("interval") or [gain["gain"]])[0] for gain in gains],
        "high": [(gain.get("interval") or [gain["gain"]])[-1] for gain in gains],
    }
    y = {"field": "column", "type": "nominal", "sort": None, "title": None, "axis": names_axis(180)}
    title = "rise of the loss when the column is shuffled"
    x = {"field": "gain", "type": "quantitative", "title": title, "axis": {"tickCount": 6}}
    ends = {"x": {"field": "low", "type": "quantitative", "title": title}, "x2": {"field": "high"}}
    layers = [
        {"mark": {"type": "bar", "fill": "var(--c1)", "opacity": 0.75}, "encoding": {"x": x}},
        {"mark": {"type": "rule", "stroke": "var(--ink)", "strokeWidth": 1.5}, "encoding": ends},
    ]
    tips = [(name, name, "text" if name == "column" else "number") for name in data]
    pick = {} if at is None else {"pick": {"kind": "pair", "fields": ["column"], "with": at}}
    return chart({"height": 28 * len(gains), "encoding": {"y": y}, "layer": layers}, data, tips, **pick)


def calibration(curve: dict[str, Any]) -> Chart:
    """Draw what was predicted against what was seen; the diagonal is what ought to be."""
    data = {name: curve[name] for name in ("predicted", "observed", "count")}
    both = [*curve["predicted"], *curve["observed"]]
    # probabilities have the unit interval for a frame; numbers have their own range
    low, high = (0.0, 1.0) if min(both) >= 0 and max(both) <= 1 else (min(both), max(both))
    axes = {
        axis: {"field": name, "type": "quantitative", "title": name, "scale": {"domain": [low, high], "nice": True}}
        for axis, name in (("x", "predicted"), ("y", "observed"))
    }
    size = {"field": "count", "type": "quantitative", "legend": None, "scale": {"range": [40, 260]}}
    ideal = {"data": {"values": [{"predicted": v, "observed": v} for v in (low, high)]}, "encoding": axes}
    layers = [
        {**ideal, "mark": {"type": "line", "stroke": "var(--faint)", "strokeDash": [4, 4], "tooltip": None}},
        {"mark": {"type": "line", "stroke": "var(--c1)", "tooltip": None}, "encoding": axes},
        {"mark": {"type": "point", "filled": True, "fill": "var(--c1)"}, "encoding": {**axes, "size": size}},
    ]
    return chart({"height": 280, "layer": layers}, data, [(name, name, "number") for name in data])


def described(name: str, contents: dict[str, Any]) -> str:
    """Say in one sentence what a chart shows, for those who do not see it."""
    source = contents.get("source", {})
    place = name.removeprefix("column-")
    if place != name:
        return f"Distribution of the column {contents['columns'][int(place)]['name']}."
    if name.startswith("finding-"):
        return f"Chart of finding {int(name.removeprefix('finding-')) + 1}."
    if name.startswith("trend-"):
        return "A series, its trend, and trend and season together."
    if name.startswith("time-"):
        return "Values in the order of time; the background tells the states."
    told = {
        "map": f"Map of {number(source.get('rows_used'))} rows: near each other is alike.",
        "apart": "The same rows along the directions in which the clusters differ most.",
        "tsne": "The same rows as t-SNE places them: neighbours are kept together; what is faint is not to be trusted.",
        "selection": "The criterion of each model that was compared; the one chosen has a ring.",
        "dependencies": "Strength of dependence between any two columns, as in the table below.",
        "missing": "Which columns are missing together, as in the table below.",
        "importance": "What each column adds to the prediction, as in the table below.",
        "calibration": "What was predicted against what was observed; on the diagonal they agree.",
    }
    return told[name]
