"""Trend and season of every column of numbers along time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.report.sections.change import changes, without_rescaled
from latently.report.sections.trend_words import part_text
from latently.report.series.breaks import breaks
from latently.report.series.calendar import dated, is_calendar, is_measured, is_shared
from latently.report.series.cycle import clearest_cycle
from latently.report.series.decompose import ALARM, Parts, decompose, movement
from latently.report.series.line import Line, even
from latently.report.series.panel import Panel, between_known, panel
from latently.report.series.phases import phase
from latently.report.series.rising import TREND_ALARM, wanders
from latently.report.series.spacing import Spacing, spacing
from latently.report.study.columns import Column
from latently.report.study.evidence import belief
from latently.report.study.study import Study, shown_moment
from latently.report.study.words import cut

Values = NDArray[np.float64]
Rows = NDArray[np.int64]

_MOST_COLUMNS: Final = 12
_MOST_OF_MANY: Final = 6  # columns of each of many series
_TOGETHER: Final = 2  # so many series are tested as if each were alone
_POINTS: Final = 500
_LOOKED_AT: Final = 1000  # moments by which the columns that move most are chosen
_TIMES: Final = 2.0  # how often as much a series without a steady trend must have become to be told
_WANDERS: Final = 0.8  # weight of such a change beside that of a trend


@dataclass(frozen=True, eq=False)
class Trends:
    """What the columns of numbers do along time.

    Attributes
    ----------
    by
        The column that tells series apart; None if there is one series.
    n
        How many series there are; 0 if rows share moments and nothing tells them apart.
    looked_at
        How many of them are looked at.
    parts
        An entry for each series and column that has a trend or a season, the strongest first.
    rests
        Of a single series: what trend and season leave of a column in each row, NaN where nothing is known.
    breaks
        Where the level, the trend or the variance of a column changes, the column with the clearest first.
    """

    by: str | None
    n: int
    looked_at: int
    parts: list[dict[str, Any]]
    rests: dict[str, Values]
    breaks: list[dict[str, Any]]


def trends(study: Study, name: str) -> Trends:
    """Take the columns of numbers apart along time.

    Parameters
    ----------
    study
        The table.
    name
        The column that orders the rows.
    """
    time = next(c for c in study.prepared.columns if c.name == name)
    found = panel(study.prepared.columns, time)
    if found is None:
        return Trends(None, 0, 0, [], {}, [])
    made, rests, broken = [], {}, []
    series = _taken_apart(_lines(study, time, found))
    for line, parts, wrong in series:
        rises = parts.p_trend < TREND_ALARM
        seen = breaks(parts.trend + parts.rest, rises=rises, tests=max(len(series) / _TOGETHER, 1.0))
        parts = parts if seen.rises else replace(parts, p_trend=1.0)
        broken.append(wrong + changes(line, parts, seen.found))
        entry = _entry(line, parts)
        if entry["trend"]["found"] or entry["season"]["length"]:
            made.append(entry)
        if found.by is None and (seen.rises or parts.period):
            rests[line.column.name] = _in_rows(line, parts.rest, study.prepared.rows)
    made.sort(key=lambda entry: -max(entry["trend"]["strength"], entry["season"]["strength"]))
    broken.sort(key=lambda entries: -max((entry["size"] for entry in entries), default=0.0))
    return Trends(
        None if found.by is None else cut(found.by.name), found.n, len(found.series), made, rests, list(chain(*broken))
    )


def _taken_apart(lines: Iterable[Line]) -> list[tuple[Line, Parts, list[dict[str, Any]]]]:
    """Each series without what was written in another unit, its parts, and entries about the former."""
    made = []
    for read in lines:
        line, wrong = without_rescaled(read)
        y = even(line.column, line.rows, line.steps)
        if y is not None:
            made.append((line, decompose(y, line.steps.periods), wrong))
    # growth in a year, or in part of one, may be its season
    p = _raised(np.array([1.0 if line.about_a_year else parts.p_trend for line, parts, _ in made]))
    return [(line, replace(parts, p_trend=float(q)), wrong) for (line, parts, wrong), q in zip(made, p, strict=True)]


def _raised(p: Values) -> Values:
    """P-values raised for their number: a share of false ones (Benjamini and Hochberg)."""
    order = np.argsort(p)
    often = np.maximum(len(p) / _TOGETHER / np.arange(1, len(p) + 1), 1.0)
    out = np.empty_like(p)
    out[order] = np.minimum.accumulate((p[order] * often)[::-1])[::-1]
    return np.minimum(out, 1.0)


def _lines(study: Study, time: Column, found: Panel) -> Iterator[Line]:
    """The series of the columns that move most; what all groups share is one series."""
    seconds = time.raw if time.kind == "date" else dated(time.raw)
    moments, dates = (time.raw, False) if seconds is None else (seconds, True)
    numbers = [c for c in study.prepared.used if c.role == "numeric" and c.name != time.name]
    numbers = [c for c in numbers if not is_calendar(c.raw, time.raw, dates=time.kind == "date")]
    shared = [c for c in numbers if found.by is not None and is_shared(c.raw, time.raw)]
    numbers = [c for c in numbers if c not in shared or is_measured(c.raw, time.raw)]
    used = _most_moved(numbers, moments, dates, found)
    whole = [("", _one_of_each(time))] if shared else []
    for group, every in [*found.series, *whole]:
        for column in used:
            rows = between_known(column.raw, every)
            steps = spacing(moments[rows], dates=dates)
            if steps is not None and (column in shared) == (not group and found.by is not None):
                yield Line(column, time, rows, steps, float(moments[rows[0]]), group)


def _one_of_each(time: Column) -> Rows:
    """A row of each moment, in the order of time."""
    return np.array([row for row in np.unique(time.raw, return_index=True)[1] if not time.missing[row]], dtype=np.int64)


def _most_moved(columns: list[Column], moments: Values, dates: bool, found: Panel) -> list[Column]:
    """The columns with the strongest trends and seasons, by the longest series."""
    most = _MOST_COLUMNS if found.by is None else _MOST_OF_MANY
    if len(columns) <= most or not found.series:
        return columns[:most]
    rows = found.series[0][1][-_LOOKED_AT:]
    steps = spacing(moments[rows], dates=dates)
    if steps is None:
        return columns[:most]
    values = [even(column, rows, steps) for column in columns]
    sizes = np.array([0.0 if y is None else movement(y, steps.periods) for y in values])
    return [columns[j] for j in np.argsort(-sizes, kind="stable")[:most]]


def _in_rows(line: Line, rest: Values, n: int) -> Values:
    out = np.full(n, np.nan)
    out[line.rows] = np.where(np.isnan(line.column.raw[line.rows]), np.nan, rest[line.steps.places])
    return out


def _entry(line: Line, parts: Parts) -> dict[str, Any]:
    entry = {
        "column": cut(line.column.name),
        "group": line.group or None,
        "unit": line.steps.unit,
        "period": parts.period,
        "scale": "multiplied" if parts.multiplied else "added",
        "trend": _trend(parts, line.steps),
        "calendar": parts.period in line.steps.periods,
        "season": _season(line, parts) if parts.period else _cycle(parts),
        "series": _shown(line, parts),
    }
    return entry | {"text": part_text(entry)}


def _trend(parts: Parts, steps: Spacing) -> dict[str, Any]:
    """Growth in a year, or in a step: a share if parts are multiplied, an amount if they are added."""
    steady = parts.p_trend < TREND_ALARM
    ends = _ends(parts)
    far = not steady and min(ends) > 0 and max(ends) >= _TIMES * min(ends) and wanders(parts.trend + parts.rest)
    line = np.polynomial.Polynomial.fit(np.arange(len(parts.trend)), parts.trend + parts.rest, 1).convert()
    per, often = steps.rate
    change = float(line.coef[1]) * often
    return {
        "found": steady or far,
        "steady": steady,
        "strength": parts.trend_strength * (1.0 if steady else _WANDERS) if steady or far else 0.0,
        "growth": float(np.expm1(change)) if parts.multiplied else change,
        "ends": ends,
        "per": per,
        "probability": belief(parts.p_trend) if steady else None,
    }


def _ends(parts: Parts) -> list[float]:
    """Level of the first and of the last tenth, in the column's own unit; 0 if values below zero have no ratio."""
    y = parts.trend + parts.rest
    if not parts.multiplied and y.min() <= 0:
        return [0.0, 0.0]
    tenth = max(len(y) // 10, 1)
    ends = np.array([y[:tenth].mean(), y[-tenth:].mean()])
    return [float(end) for end in (np.exp(ends) if parts.multiplied else ends)]


def _season(line: Line, parts: Parts) -> dict[str, Any]:
    high, low = int(parts.cycle.argmax()), int(parts.cycle.argmin())
    size = float(np.ptp(parts.cycle))
    return {
        "length": parts.period,
        "strength": parts.season_strength,
        "probability": belief(parts.p_season),
        "high": phase(line.steps, parts.period, line.begin, high),
        "low": phase(line.steps, parts.period, line.begin, low),
        "years": parts.period / line.steps.per_year if line.steps.per_year else None,
        "size": float(np.expm1(size)) if parts.multiplied else size,
    }


def _cycle(parts: Parts) -> dict[str, Any]:
    """What comes again without keeping to steps of the same length."""
    found = clearest_cycle(parts.trend + parts.rest)
    nothing = {"length": 0, "strength": 0.0, "probability": None, "high": None, "low": None, "size": 0.0, "years": None}
    if found is None or found.p >= ALARM:
        return nothing
    return nothing | {"length": found.length, "strength": found.strength, "probability": belief(found.p)}


def _shown(line: Line, parts: Parts) -> dict[str, Any]:
    """Values, trend, and trend with season, at some of the moments, in the column's own unit."""
    some = np.arange(0, len(line.rows), -(-len(line.rows) // _POINTS))
    places, rows = line.steps.places[some], line.rows[some]
    both = parts.trend + parts.season
    undo = np.exp if parts.multiplied else np.asarray
    return {
        "at": [shown_moment(line.time, int(row)) for row in rows],
        "value": [None if np.isnan(v) else float(f"{v:.6g}") for v in line.column.raw[rows]],
        "trend": [float(f"{v:.6g}") for v in undo(parts.trend[places])],
        "fitted": [float(f"{v:.6g}") for v in undo(both[places])],
    }
