"""The map of the rows, and the ways to colour it."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from latently.report.charts_parts import PALETTE, SEQUENCE, Chart, Tip, chart
from latently.report.figures import number

MISSING, OTHER = "missing", "other"
_ROW = {"kind": "row"}  # what a click shows
_QUIET = {MISSING: "var(--faint)", OTHER: "var(--faint)"}
_CLEAR, _FAINT, _UNPICKED = 0.85, 0.3, 0.06  # opacity of points
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"]


def map_chart(section: dict[str, Any]) -> Chart:
    """Draw the rows, near each other where they are alike; `colours` tells by what they can be coloured."""
    points, columns = section["points"], section["columns"]
    data = {name: points[name] for name in ("row", "x", "y", "cluster", "doubt", "anomaly")}
    data |= {f"c{place}": values for place, values in enumerate(columns.values())}
    return chart(
        _spec(section["x_title"], section["y_title"]), data, _tips(columns), colours=_modes(section), pick=_ROW
    )


def apart_chart(section: dict[str, Any]) -> Chart:
    """Draw the rows along the axes that tell the clusters apart; the rest of each row is in the map's data."""
    found = section["discriminant"]
    data = {"x": found["x"], "y": found["y"], "at": list(range(len(found["x"])))}
    spec = _spec(found["x_title"], found["y_title"])
    return chart(spec, data, _tips(section["columns"]), colours=_modes(section), joins="map", pick=_ROW)


def tsne_chart(section: dict[str, Any]) -> Chart:
    """Draw the rows as t-SNE places them, those of little trust faint; the rest of each row is in the map's data."""
    found = section["tsne"]
    at = {row: place for place, row in enumerate(section["points"]["row"])}
    data = {name: found[name] for name in ("x", "y", "trust")}
    data |= {"at": [at[row] for row in found["rows"]]}
    spec = _spec(None, None)
    for axis in "xy":
        spec["encoding"][axis]["axis"]["grid"] = False  # its axes mean nothing
    faint = {"test": {"and": [{"param": "pick"}, {"field": "trust", "lt": found["faint"]}]}, "value": _FAINT}
    clear = {"param": "pick", "value": _CLEAR}
    spec["encoding"]["opacity"] = {"condition": [faint, clear], "value": _UNPICKED}
    tips = [*_tips(section["columns"]), ("trust", "trust in this place", "percent")]
    return chart(spec, data, tips, colours=_modes(section), joins="map", pick=_ROW)


def _modes(section: dict[str, Any]) -> list[dict[str, Any]]:
    modes = [_clusters(section["points"]["cluster"]), _shares("doubt"), _shares("anomaly")]
    columns = enumerate(section["columns"].items())
    return modes + [_column(f"c{place}", name, values) for place, (name, values) in columns]


def _tips(columns: dict[str, Any]) -> list[Tip]:
    tips = [("row", "row", "number"), ("cluster", "cluster", "number")]
    tips += [(name, name, "percent") for name in ("doubt", "anomaly")]
    return tips + [(f"c{place}", name, "value") for place, name in enumerate(columns)]


def _spec(x_title: str | None, y_title: str | None) -> dict[str, Any]:
    axes = {}
    for axis, title in (("x", x_title), ("y", y_title)):
        quiet = {"labels": False, "ticks": False, "domain": False, "tickCount": 6}
        scale = {"zero": False, "nice": False, "padding": 12}
        axes[axis] = {"field": axis, "type": "quantitative", "title": title, "axis": quiet, "scale": scale}
    zoom = {"type": "interval", "zoom": "wheel![event.shiftKey]"}
    pick = {"type": "point", "fields": ["colour"]}
    return {
        "height": 440,
        "params": [
            {"name": "view", "select": zoom, "bind": "scales"},
            {"name": "pick", "select": pick, "bind": "legend"},
        ],
        "mark": {"type": "point", "filled": True, "size": 42, "strokeWidth": 0},
        "encoding": {
            **axes,
            "color": {"field": "colour", "type": "nominal"},
            "shape": {"field": "colour", "type": "nominal"},
            "opacity": {"condition": {"param": "pick", "value": _CLEAR}, "value": _UNPICKED},
        },
    }


def _mode(field: str, label: str, domain: Sequence[str], shapes: bool, **how: Any) -> dict[str, Any]:
    """Describe a way to colour; `domain` has the labels in order and `how` tells the page which row gets which."""
    loud = [name for name in domain if name not in _QUIET]
    colours = SEQUENCE if how.get("edges") else PALETTE
    given = {name: colours[place % len(colours)] for place, name in enumerate(loud)} | _QUIET
    marks = {name: _SHAPES[place % len(_SHAPES)] for place, name in enumerate(loud)} if shapes else {}
    return {
        "field": field,
        "label": label,
        "domain": list(domain),
        "range": [given[name] for name in domain],
        "shapes": [marks.get(name, "circle") for name in domain],
        **how,
    }


def _clusters(labels: Sequence[int]) -> dict[str, Any]:
    return _mode("cluster", "cluster", [str(k) for k in sorted(set(labels))], True)


def _shares(field: str) -> dict[str, Any]:
    edges = [0.2, 0.4, 0.6, 0.8]
    names = ["0 to 20 %", "20 to 40 %", "40 to 60 %", "60 to 80 %", "80 to 100 %"]
    return _mode(field, field, names, False, edges=edges)


def _column(field: str, label: str, values: Sequence[Any]) -> dict[str, Any]:
    seen = [value for value in values if value is not None]
    gone = [MISSING] if len(seen) < len(values) else []
    if seen and all(isinstance(value, int | float) and not isinstance(value, bool) for value in seen):
        edges = _fifths(seen)
        return _mode(field, label, [*_ranges(edges), *gone], False, edges=edges)
    counts = Counter(str(value) for value in seen)
    top = [name for name, _ in counts.most_common(len(PALETTE))]
    others = [OTHER] if len(counts) > len(top) else []
    # a level that is called like one of ours would take its colour: it is shown among them
    domain = list(dict.fromkeys([*(name for name in top if name not in _QUIET), *others, *gone]))
    return _mode(field, label, domain or [MISSING], True)


def _fifths(values: Sequence[float]) -> list[float]:
    """Cut where a fifth of the rows lie between; fewer cuts where values repeat."""
    ordered = sorted(values)
    cuts = [ordered[len(ordered) * i // 5] for i in range(1, 5)]
    return sorted(cut for cut in set(cuts) if cut > ordered[0]) or [ordered[-1]]


def _ranges(edges: Sequence[float]) -> list[str]:
    middle = [f"{number(a)} to {number(b)}" for a, b in pairwise(edges)]
    names = [f"below {number(edges[0])}", *middle, f"{number(edges[-1])} and above"]
    # edges that look alike when written short are written whole
    return names if len(set(names)) == len(names) else [f"from {edge!r}" for edge in (float("-inf"), *edges)]
