"""Breaks of columns along time, in words and as findings."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from latently.report.findings.finding import Finding
from latently.report.sections.along_time.words import rate, series_name
from latently.report.series.breaks import Break
from latently.report.series.decompose import Parts
from latently.report.series.line import Line
from latently.report.series.rescaled import rescaled
from latently.report.series.rising import TREND_ALARM
from latently.report.series.spacing import Spacing
from latently.report.study.evidence import belief
from latently.report.study.study import shown_moment
from latently.report.study.words import cut, number, percent, short

_MOST = 2
Entry = dict[str, Any]


def changes(line: Line, parts: Parts, found: Iterable[Break]) -> list[Entry]:
    """The breaks of one series of a column.

    Parameters
    ----------
    line
        The series.
    parts
        What it is made of.
    found
        Its breaks, season taken out; bends are left out where they may be the season of a single year.
    """
    return [_entry(line, parts, each) for each in found if each.kind != "trend" or not line.about_a_year]


def _entry(line: Line, parts: Parts, found: Break) -> Entry:
    row = int(line.rows[min(int(np.searchsorted(line.steps.places, found.at)), len(line.rows) - 1)])
    before, after = _own_unit(found, parts, line.steps)
    entry = {
        "column": cut(line.column.name),
        "group": line.group or None,
        "kind": found.kind,
        "row": row,
        "at": shown_moment(line.time, row),
        "before": before,
        "after": after,
        "effect": after / before if found.kind == "variance" else after - before,
        "probability": belief(found.p),
        "size": found.strength if found.kind == "variance" else float(np.sqrt(max(found.strength, 0.0))),
        "per": line.steps.rate[0],
        "scale": "multiplied" if parts.multiplied else "added",
        "beside_trend": parts.p_trend < TREND_ALARM,
    }
    return entry | {"text": _text(entry)}


def without_rescaled(line: Line) -> tuple[Line, list[Entry]]:
    """A series without moments that were written in another unit, and an entry about them.

    Parameters
    ----------
    line
        The series.
    """
    found = rescaled(line.column.raw[line.rows])
    if found is None:
        return line, []
    own, factor, p = line.rows[found[0]], found[1], found[2]
    size = f"{factor:.2g} times what" if factor > 1 else f"1/{1 / factor:.2g} of what"
    who = short(line.column.name) + (f" of {short(line.group)}" if line.group else "")
    first, last = (shown_moment(line.time, int(row)) for row in own[[0, -1]])
    probability = belief(min(p, 1.0))
    entry: Entry = {
        "column": cut(line.column.name),
        "group": line.group or None,
        "kind": "unit",
        "row": int(own[0]),
        "rows": own.tolist(),
        "at": first,
        "effect": factor,
        "probability": probability,
        "size": probability,
    }
    entry["text"] = f"From {first} to {last} {who} is about {size} the moments before and after suggest: another unit?"
    raw = line.column.raw.copy()
    raw[own] = np.nan
    return replace(line, column=replace(line.column, raw=raw)), [entry]


def _own_unit(found: Break, parts: Parts, steps: Spacing) -> tuple[float, float]:
    """Levels as the column has them, growth in a year (a share if parts are multiplied), standard deviations."""
    pair = np.array([found.before, found.after])
    if found.kind == "trend":
        pair = pair * steps.rate[1]
        pair = np.expm1(pair) if parts.multiplied else pair
    elif found.kind == "level" and parts.multiplied:
        pair = np.exp(pair)
    return float(pair[0]), float(pair[1])


def _text(entry: Entry) -> str:
    who, before, after = series_name(entry), entry["before"], entry["after"]
    if entry["kind"] == "variance":
        times = entry["effect"] if entry["effect"] > 1 else 1 / entry["effect"]
        return (
            f"From {entry['at']} on {who} moves {times:.1f} times {'more' if after > before else 'less'} at each step."
        )
    if entry["kind"] == "level" and entry["beside_trend"]:
        size = percent(abs(after / before - 1)) if entry["scale"] == "multiplied" else number(abs(after - before))
        return f"At {entry['at']} {who} steps {'up' if after > before else 'down'} by {size} beside its trend."
    if entry["kind"] == "level":
        verb = "rises" if after > before else "falls"
        return f"At {entry['at']} the level of {who} {verb} from {number(before)} to {number(after)}."
    shown = rate if entry["scale"] == "multiplied" else number
    return f"At {entry['at']} the growth of {who} changes from {shown(before)} to {shown(after)} a {entry['per']}."


def change_findings(found: dict[str, Any]) -> list[Finding]:
    """The series with the clearest breaks, each in one finding."""
    every = (found.get("trend") or {}).get("breaks", [])
    series = [list(same) for _, same in groupby(every, key=lambda entry: (entry["column"], entry["group"]))]
    series.sort(key=lambda entries: -max(entry["size"] for entry in entries))
    clearest = {entries[0]["column"]: entries for entries in reversed(series)}
    return [_finding(entries, found["column"]) for entries in series if clearest[entries[0]["column"]] is entries][
        :_MOST
    ]


def _finding(entries: list[Entry], time: str) -> Finding:
    first = max(entries, key=lambda entry: entry["size"])
    column = f"df.sort_values({time!r})[{first['column']!r}]"
    window = f"{column}.rolling(20).{'std' if first['kind'] == 'variance' else 'mean'}().plot()"
    measure = {"level": "difference", "trend": "growth", "variance": "ratio", "unit": "ratio"}[first["kind"]]
    return Finding(
        "change",
        " ".join(entry["text"] for entry in entries),
        "time",
        columns=(first["column"],),
        rows=tuple(row for entry in entries for row in entry.get("rows", [entry["row"]])),
        effect=first["effect"],
        measure=measure,
        probability=first["probability"],
        code=window,
        size=first["size"],
    )
