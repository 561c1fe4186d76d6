"""Breaks of columns along time, in words and as findings."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.report.findings.finding import Finding
from latently.report.series.breaks import Break, breaks
from latently.report.series.decompose import ALARM, Parts
from latently.report.series.rescaled import rescaled
from latently.report.series.spacing import Spacing
from latently.report.study.columns import Column
from latently.report.study.evidence import belief
from latently.report.study.study import shown_moment
from latently.report.study.words import cut, number, percent, short

_MOST = 2


def changes(
    column: Column, time: Column, rows: NDArray[np.int64], steps: Spacing, parts: Parts, group: str
) -> list[dict[str, Any]]:
    """The breaks of one series of a column, season taken out.

    Parameters
    ----------
    column, time
        The column, and the one that orders the rows.
    rows
        The rows of the series in the order of time.
    steps
        Their places.
    parts
        What the column is made of.
    group
        The name of the series; "" if there is one.
    """
    whole = parts.trend + parts.rest
    found = breaks(whole, rises=parts.p_trend < ALARM)
    return [_entry(each, column, time, rows, steps, parts, group) for each in found]


def _entry(
    found: Break,
    column: Column,
    time: Column,
    rows: NDArray[np.int64],
    steps: Spacing,
    parts: Parts,
    group: str,
) -> dict[str, Any]:
    row = int(rows[min(int(np.searchsorted(steps.places, found.at)), len(rows) - 1)])
    before, after = _own_unit(found, parts, steps)
    entry = {
        "column": cut(column.name),
        "group": group or None,
        "kind": found.kind,
        "row": row,
        "at": shown_moment(time, row),
        "before": before,
        "after": after,
        "effect": after / before if found.kind == "variance" else after - before,
        "probability": belief(found.p),
        "per": "year" if steps.per_year else steps.unit,
        "scale": "multiplied" if parts.multiplied else "added",
        "beside_trend": parts.p_trend < ALARM,
    }
    return entry | {"text": _text(entry)}


def without_rescaled(
    column: Column, time: Column, rows: NDArray[np.int64], group: str
) -> tuple[Column, list[dict[str, Any]]]:
    """A column without moments that were written in another unit, and an entry about them."""
    found = rescaled(column.raw[rows])
    if found is None:
        return column, []
    own, factor, p = rows[found[0]], found[1], found[2]
    size = f"{factor:.2g} times what" if factor > 1 else f"1/{1 / factor:.2g} of what"
    who = short(column.name) + (f" of {short(group)}" if group else "")
    first, last = (shown_moment(time, int(row)) for row in own[[0, -1]])
    entry: dict[str, Any] = {
        "column": cut(column.name),
        "group": group or None,
        "kind": "unit",
        "row": int(own[0]),
        "at": first,
    }
    entry |= {"rows": own.tolist(), "effect": factor, "probability": belief(min(p, 1.0))}
    entry["text"] = f"From {first} to {last} {who} is about {size} the moments before and after suggest: another unit?"
    raw = column.raw.copy()
    raw[own] = np.nan
    return replace(column, raw=raw), [entry]


def _own_unit(found: Break, parts: Parts, steps: Spacing) -> tuple[float, float]:
    """Levels as the column has them, growth in a year (a share if parts are multiplied), standard deviations."""
    pair = np.array([found.before, found.after])
    if found.kind == "trend":
        pair = pair * (steps.per_year or 1.0)
        pair = np.expm1(pair) if parts.multiplied else pair
    elif found.kind == "level" and parts.multiplied:
        pair = np.exp(pair)
    return float(pair[0]), float(pair[1])


def _text(entry: dict[str, Any]) -> str:
    who = short(entry["column"]) + (f" of {short(entry['group'])}" if entry["group"] else "")
    before, after = entry["before"], entry["after"]
    if entry["kind"] == "variance":
        times = entry["effect"] if entry["effect"] > 1 else 1 / entry["effect"]
        return f"From {entry['at']} on {who} varies {times:.1f} times as {'much' if after > before else 'little'}."
    if entry["kind"] == "level" and entry["beside_trend"]:
        size = percent(abs(after / before - 1)) if entry["scale"] == "multiplied" else number(abs(after - before))
        return f"At {entry['at']} {who} steps {'up' if after > before else 'down'} by {size} beside its trend."
    if entry["kind"] == "level":
        verb = "rises" if after > before else "falls"
        return f"At {entry['at']} the level of {who} {verb} from {number(before)} to {number(after)}."
    shown = percent if entry["scale"] == "multiplied" and min(before, after) >= 0 else number
    return f"At {entry['at']} the growth of {who} changes from {shown(before)} to {shown(after)} a {entry['per']}."


def change_findings(found: dict[str, Any]) -> list[Finding]:
    """The clearest breaks, each in one sentence."""
    every = sorted((found.get("trend") or {}).get("breaks", []), key=lambda entry: -entry["probability"])
    return [_finding(entry, found["column"]) for entry in every[:_MOST]]


def _finding(entry: dict[str, Any], time: str) -> Finding:
    column = f"df.sort_values({time!r})[{entry['column']!r}]"
    window = f"{column}.rolling(20).{'std' if entry['kind'] == 'variance' else 'mean'}().plot()"
    measure = {"level": "difference", "trend": "growth", "variance": "ratio", "unit": "ratio"}[entry["kind"]]
    return Finding(
        "change",
        entry["text"],
        "time",
        columns=(entry["column"],),
        rows=tuple(entry.get("rows", [entry["row"]])),
        effect=entry["effect"],
        measure=measure,
        probability=entry["probability"],
        code=window,
        size=entry["probability"],
    )
