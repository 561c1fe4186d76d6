"""Series in the order of time, with the states behind them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from latently.report.charts_parts import PALETTE, Chart, as_numbers, chart, edge_type, ticks

# So many columns are drawn, one below the other.
MOST = 6
_INK = "var(--ink)"


@dataclass(frozen=True)
class _Axis:
    """The axis of time: where the points are on it, and of what kind it is."""

    at: Sequence[Any]
    kind: str

    def channel(self, field: str) -> dict[str, Any]:
        scale: dict[str, Any] = {"nice": False} | ({"zero": False} if self.kind == "quantitative" else {})
        axis = {"tickCount": 6, "grid": False, **ticks(self.at)}
        return {"field": field, "type": self.kind, "title": None, "axis": axis, "scale": scale}


def time_charts(section: dict[str, Any], column: int | None = None) -> Iterator[tuple[str, Chart]]:
    """Draw each column over time, and the doubt about the state; `column` is where the page's rows have the time."""
    series = section["series"]
    axis = _axis(series["at"])
    changes = _changes(section, series["at"], axis)
    bands = _bands(axis.at, series["state"])
    shown, pick = list(series["columns"].items())[:MOST], _pick(column)
    for place, (name, values) in enumerate(shown):
        layers = [*_background(axis, bands, legend=place == 0), *_line(axis, name, zero=False), *changes]
        yield f"time-{place}", _chart(150, layers, name, values, axis, series) | pick
    if len(set(series["state"])) < 2:
        return
    layers = [*_background(axis, bands, legend=not shown), *_line(axis, "doubt", zero=True), *changes]
    yield "time-doubt", _chart(80, layers, "doubt of the state", series["doubt"], axis, series) | pick


def trend_charts(parts: list[dict[str, Any]], column: int | None = None) -> Iterator[tuple[str, Chart]]:
    """Draw each series with its trend, and with trend and season together; `column` as in `time_charts`."""
    for place, part in enumerate(parts[:MOST]):
        series = part["series"]
        axis = _axis(series["at"])
        title = part["column"] + (f" ({part['group']})" if part["group"] else "")
        lines = [_smooth(axis, field, label) for field, label in (("fitted", "trend and season"), ("trend", "trend"))]
        data = {"at": axis.at, "name": series["at"], **{key: series[key] for key in ("value", "trend", "fitted")}}
        tips = [
            ("name", "at", "text"),
            ("value", title, "value"),
            ("trend", "trend", "value"),
            ("fitted", "with season", "value"),
        ]
        layers = [*lines, *_line(axis, title, zero=False)]
        yield f"trend-{place}", chart({"height": 170, "layer": layers}, data, tips, **_pick(column))


def _pick(column: int | None) -> dict[str, Any]:
    """What a click shows: the rows of that moment, if the page carries the column of time."""
    return {} if column is None else {"pick": {"kind": "at", "column": column}}


def _smooth(axis: _Axis, field: str, label: str) -> dict[str, Any]:
    y = {"field": field, "type": "quantitative", "scale": {"zero": False}}
    mark = {"type": "line", "strokeWidth": 2.5, "opacity": 0.8, "tooltip": None}
    scale = {"domain": ["trend", "trend and season"], "range": ["var(--c2)", "var(--c1)"]}
    legend = {"orient": "top", "title": None, "symbolType": "stroke", "symbolStrokeWidth": 2.5}
    colour = {"datum": label, "type": "nominal", "scale": scale, "legend": legend}
    return {"mark": mark, "encoding": {"x": axis.channel("at"), "y": y, "color": colour}}


def _chart(
    height: int, layers: list[Any], name: str, values: Sequence[Any], axis: _Axis, series: dict[str, Any]
) -> Chart:
    data = {"at": axis.at, "name": series["at"], "value": values, "state": series["state"]}
    tips = [("name", "at", "text"), ("value", name, "value"), ("state", "state", "number")]
    return chart({"height": height, "layer": layers}, data, tips)


def _axis(at: Sequence[str]) -> _Axis:
    numbers = as_numbers(at)
    if numbers is not None:
        return _Axis(numbers, "quantitative")
    if edge_type(at) == "temporal":
        return _Axis(at, "temporal")
    return _Axis(list(range(len(at))), "quantitative")


def _changes(section: dict[str, Any], names: Sequence[str], axis: _Axis) -> list[dict[str, Any]]:
    """Lines where the changes are; one that is not among the points shown is left to the table."""
    places = dict(zip(names, axis.at, strict=True))
    found = [{"at": places[change["at"]]} for change in section.get("changes", []) if change["at"] in places]
    rule = {"type": "rule", "stroke": "var(--c6)", "strokeWidth": 1.5, "strokeDash": [5, 3], "tooltip": None}
    return [{"data": {"values": found}, "mark": rule, "encoding": {"x": axis.channel("at")}}] if found else []


def _bands(at: Sequence[Any], states: Sequence[int]) -> list[dict[str, Any]]:
    """Runs of one state: from, to, and which."""
    starts = [0, *(i for i, (a, b) in enumerate(pairwise(states), 1) if a != b), len(states)]
    return [{"from": at[a], "to": at[min(b, len(at) - 1)], "band": states[a]} for a, b in pairwise(starts) if b > a]


def _background(axis: _Axis, bands: list[dict[str, Any]], *, legend: bool) -> list[dict[str, Any]]:
    """Which state it is; nothing if there is one state."""
    states = sorted({band["band"] for band in bands})
    if len(states) < 2:
        return []
    scale = {"domain": states, "range": [PALETTE[i % len(PALETTE)] for i in range(len(states))]}
    shown = {"orient": "top", "title": "state", "symbolOpacity": 0.5} if legend else None
    colour = {"field": "band", "type": "nominal", "scale": scale, "legend": shown}
    encoding = {"x": axis.channel("from"), "x2": {"field": "to"}, "color": colour}
    mark = {"type": "rect", "opacity": 0.16, "tooltip": None}
    return [{"data": {"values": bands}, "mark": mark, "encoding": encoding}]


def _line(axis: _Axis, title: str, *, zero: bool) -> list[dict[str, Any]]:
    """Draw a line, and the point of it that is nearest to the pointer."""
    y = {"field": "value", "type": "quantitative", "title": title, "scale": {"zero": zero}}
    y["axis"] = {"tickCount": 4, "titleLimit": 130}
    encoding = {"x": axis.channel("at"), "y": y}
    near = {"type": "point", "on": "pointerover", "nearest": True, "encodings": ["x"], "clear": "pointerout"}
    dot = {"condition": {"param": "near", "empty": False, "value": 1}, "value": 0}
    return [
        {"mark": {"type": "line", "stroke": _INK, "strokeWidth": 1.2, "tooltip": None}, "encoding": encoding},
        {
            "params": [{"name": "near", "select": near}],
            "mark": {"type": "point", "filled": True, "fill": _INK, "size": 50},
            "encoding": {**encoding, "opacity": dot},
        },
    ]
