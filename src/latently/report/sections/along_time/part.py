"""What a series is made of, as the section of time has it."""

from typing import Any, Final

import numpy as np

from latently.report.sections.along_time.words import part_text
from latently.report.series.cycle import clearest_cycle
from latently.report.series.decompose import ALARM, Parts
from latently.report.series.line import Line
from latently.report.series.phases import phase
from latently.report.series.rising import TREND_ALARM, wanders
from latently.report.series.spacing import Spacing
from latently.report.study.evidence import belief
from latently.report.study.study import shown_moment
from latently.report.study.words import cut

_POINTS: Final = 500
_TIMES: Final = 2.0  # how often as much a series without a steady trend must have become to be told
_WANDERS: Final = 0.8  # weight of such a change beside that of a trend


def part_entry(line: Line, parts: Parts) -> dict[str, Any]:
    """An entry about a series: its trend, its season, and both along time.

    Parameters
    ----------
    line
        The series.
    parts
        What it is made of.
    """
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
        "of_all": float(np.std(parts.season) / np.std(parts.trend + parts.season + parts.rest)),
        "probability": belief(parts.p_season),
        "high": phase(line.steps, parts.period, line.begin, high),
        "low": phase(line.steps, parts.period, line.begin, low),
        "years": parts.period / line.steps.per_year if line.steps.per_year else None,
        "size": float(np.expm1(size)) if parts.multiplied else size,
    }


def _cycle(parts: Parts) -> dict[str, Any]:
    """What comes again without keeping to steps of the same length."""
    found = clearest_cycle(parts.trend + parts.rest)
    nothing = {
        "length": 0,
        "strength": 0.0,
        "probability": None,
        "high": None,
        "low": None,
        "size": 0.0,
        "years": None,
        "of_all": 1.0,
    }
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
