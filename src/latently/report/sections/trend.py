"""Trend and season of every column of numbers along time."""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.report.findings.finding import Finding
from latently.report.sections.change import changes, without_rescaled
from latently.report.series.calendar import dated, is_calendar, is_shared
from latently.report.series.cycle import clearest_cycle
from latently.report.series.decompose import ALARM, Parts, decompose, movement, wanders
from latently.report.series.panel import Panel, between_known, panel
from latently.report.series.spacing import Spacing, spacing
from latently.report.study.columns import Column
from latently.report.study.evidence import belief
from latently.report.study.study import Study, shown_moment
from latently.report.study.words import counted, cut, number, percent, short

_MOST_COLUMNS: Final = 6
_POINTS: Final = 500
_LOOKED_AT: Final = 1000  # moments by which the columns that move most are chosen
_TIMES: Final = 2.0  # how often as much a series without a steady trend must have become to be told
_WANDERS: Final = 0.8  # weight of such a change beside that of a trend
_FAINT: Final = 0.05  # strength of a season that is not worth a finding
_TOLD: Final = 4  # trends in a sentence
_NAMES: Final = {
    ("month", 12): [date(2000, month, 1).strftime("%B") for month in range(1, 13)],
    ("quarter", 4): ["the first quarter", "the second quarter", "the third quarter", "the fourth quarter"],
    ("day", 7): [date(1970, 1, day).strftime("%A") for day in range(1, 8)],
    ("hour", 24): [f"{hour}:00" for hour in range(24)],
}


@dataclass(frozen=True, eq=False)
class Trends:
    """What the columns of numbers do along time.

    Attributes
    ----------
    by
        The column that tells series apart; None if there is one series.
    n
        How many series there are; 0 if rows share moments and nothing tells them apart.
    parts
        An entry for each series and column that has a trend or a season, the strongest first.
    rests
        Of a single series: what trend and season leave of a column in each row, NaN where nothing is known.
    breaks
        Where the level, the trend or the variance of a column changes, the clearest first.
    """

    by: str | None
    n: int
    parts: list[dict[str, Any]]
    rests: dict[str, NDArray[np.float64]]
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
    seconds = time.raw if time.kind == "date" else dated(time.raw)
    moments, dates = (time.raw, False) if seconds is None else (seconds, True)
    found = panel(study.prepared.columns, time)
    if found is None:
        return Trends(None, 0, [], {}, [])
    numbers = [c for c in study.prepared.used if c.role == "numeric" and c.name != name]
    numbers = [c for c in numbers if not is_calendar(c.raw, time.raw, dates=time.kind == "date")]
    numbers = [c for c in numbers if found.by is None or not is_shared(c.raw, time.raw)]
    used = _most_moved(numbers, moments, dates, found)
    made, rests, broken = [], {}, []
    for group, every in found.series:
        for read in used:
            rows = between_known(read.raw, every)
            steps = spacing(moments[rows], dates=dates)
            if steps is None:
                continue
            column, wrong = without_rescaled(read, time, rows, group)
            broken += wrong
            parts = _found(column, rows, steps)
            if parts is None:
                continue
            broken += changes(column, time, rows, steps, parts, group)
            entry = _entry(column, time, rows, steps, parts, group, float(moments[rows[0]]))
            if entry["trend"]["found"] or entry["season"]["length"]:
                made.append(entry)
            if parts.p_trend >= ALARM and not parts.period:
                continue
            rest = np.full(study.prepared.rows, np.nan)
            rest[rows] = np.where(np.isnan(column.raw[rows]), np.nan, parts.rest[steps.places])
            rests[column.name] = rest
    made.sort(key=lambda entry: -max(entry["trend"]["strength"], entry["season"]["strength"]))
    by = None if found.by is None else cut(found.by.name)
    broken.sort(key=lambda entry: -entry["probability"])
    return Trends(by, found.n, made, rests if found.by is None else {}, broken)


def _most_moved(columns: list[Column], moments: NDArray[np.float64], dates: bool, found: Panel) -> list[Column]:
    """The columns with the strongest trends and seasons, by the longest series."""
    if len(columns) <= _MOST_COLUMNS or not found.series:
        return columns[:_MOST_COLUMNS]
    rows = found.series[0][1][-_LOOKED_AT:]
    steps = spacing(moments[rows], dates=dates)
    if steps is None:
        return columns[:_MOST_COLUMNS]
    even = [_even(column, rows, steps) for column in columns]
    sizes = np.array([0.0 if y is None else movement(y, steps.periods) for y in even])
    return [columns[j] for j in np.argsort(-sizes, kind="stable")[:_MOST_COLUMNS]]


def _found(column: Column, rows: NDArray[np.int64], steps: Spacing) -> Parts | None:
    """The parts of a column; None if too little of it is known."""
    y = _even(column, rows, steps)
    return None if y is None else decompose(y, steps.periods)


def _even(column: Column, rows: NDArray[np.int64], steps: Spacing) -> NDArray[np.float64] | None:
    """A column at even steps; None if too little of it is known."""
    y = np.full(int(steps.places[-1]) + 1, np.nan)
    y[steps.places] = column.raw[rows]
    return y if (~np.isnan(y)).sum() >= 0.5 * len(y) else None


def _entry(
    column: Column, time: Column, rows: NDArray[np.int64], steps: Spacing, parts: Parts, group: str, begin: float
) -> dict[str, Any]:
    entry = {
        "column": cut(column.name),
        "group": group or None,
        "unit": steps.unit,
        "period": parts.period,
        "scale": "multiplied" if parts.multiplied else "added",
        "trend": _trend(parts, steps),
        "season": _season(parts, steps, begin),
        "series": _shown(column, time, rows, steps, parts),
    }
    return entry | {"text": _text(entry)}


def _trend(parts: Parts, steps: Spacing) -> dict[str, Any]:
    """Growth in a year, or in a step: a share if parts are multiplied, an amount if they are added."""
    steady = parts.p_trend < ALARM
    ends = _ends(parts)
    far = not steady and min(ends) > 0 and max(ends) >= _TIMES * min(ends) and wanders(parts.trend + parts.rest)
    line = np.polynomial.Polynomial.fit(np.arange(len(parts.trend)), parts.trend + parts.rest, 1).convert()
    change = float(line.coef[1]) * (steps.per_year or 1.0)
    return {
        "found": steady or far,
        "steady": steady,
        "strength": parts.trend_strength * (1.0 if steady else _WANDERS) if steady or far else 0.0,
        "growth": float(np.expm1(change)) if parts.multiplied else change,
        "ends": ends,
        "per": "year" if steps.per_year else steps.unit,
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


def _season(parts: Parts, steps: Spacing, begin: float) -> dict[str, Any]:
    if not parts.period:
        return _cycle(parts)
    first = _first_place(steps, parts.period, begin)
    names = _names(steps.unit, parts.period)
    high, low = int(parts.cycle.argmax()), int(parts.cycle.argmin())
    size = float(np.ptp(parts.cycle))
    return {
        "length": parts.period,
        "strength": parts.season_strength,
        "probability": belief(parts.p_season),
        "high": names[(first + high) % parts.period] if names else None,
        "low": names[(first + low) % parts.period] if names else None,
        "size": float(np.expm1(size)) if parts.multiplied else size,
    }


def _cycle(parts: Parts) -> dict[str, Any]:
    """What comes again without keeping to steps of the same length."""
    found = clearest_cycle(parts.trend + parts.rest)
    nothing = {"length": 0, "strength": 0.0, "probability": None, "high": None, "low": None, "size": 0.0}
    if found is None or found.p >= ALARM:
        return nothing
    return nothing | {"length": found.length, "strength": found.strength, "probability": belief(found.p)}


def _names(unit: str, period: int) -> list[str] | None:
    """What the places of a calendar's cycle are called; the days of a year by their month."""
    if (unit, period) == ("day", 365):
        return [(date(2001, 1, 1) + timedelta(days=day)).strftime("%B") for day in range(365)]
    return _NAMES.get((unit, period))


def _first_place(steps: Spacing, period: int, seconds: float) -> int:
    """Where in the calendar's cycle a series begins."""
    if steps.unit in ("year", "step"):
        return 0
    moment = np.datetime64(int(seconds), "s")
    month = int(moment.astype("datetime64[M]").astype(int)) % 12
    if (steps.unit, period) == ("day", 365):
        return int((moment.astype("datetime64[D]") - moment.astype("datetime64[Y]")).astype(int)) % period
    days, hours = int(moment.astype("datetime64[D]").astype(int)), int(moment.astype("datetime64[h]").astype(int))
    return {"month": month, "quarter": month // 3, "day": days, "hour": hours}.get(steps.unit, 0) % period


def _text(entry: dict[str, Any]) -> str:
    trend, season = entry["trend"], entry["season"]
    said = [_growth(entry)] if trend["found"] else []
    if entry["period"]:
        peak = f", highest in {season['high']} and lowest in {season['low']}" if season["high"] else ""
        high = percent(season["size"]) if entry["scale"] == "multiplied" else number(season["size"])
        said.append(
            f"has a season of {counted(entry['period'], entry['unit'])}{peak} ({high} between them, "
            f"strength {season['strength']:.2f})"
        )
    elif season["length"]:
        about = f"{season['length']:.2g} {entry['unit']}s"
        said.append(f"has a cycle of about {about} ({percent(season['strength'])} of its variance)")
    return f"{_who(entry)} {' and '.join(said)}."


def _who(entry: dict[str, Any]) -> str:
    return short(entry["column"]) + (f" of {short(entry['group'])}" if entry["group"] else "")


def _growth(entry: dict[str, Any]) -> str:
    trend = entry["trend"]
    if not trend["steady"]:
        start, end = trend["ends"]
        size = f"{end / start:.2g} times as much" if end > start else f"{start / end:.2g} times less"
        return f"goes from {number(start)} to {number(end)} without a steady trend ({size})"
    verb = "grows" if trend["growth"] > 0 else "falls"
    size = percent(abs(trend["growth"])) if entry["scale"] == "multiplied" else number(abs(trend["growth"]))
    return f"{verb} by {size} a {trend['per']}"


def _shown(column: Column, time: Column, rows: NDArray[np.int64], steps: Spacing, parts: Parts) -> dict[str, Any]:
    """Values, trend, and trend with season, at some of the moments, in the column's own unit."""
    some = np.arange(0, len(rows), -(-len(rows) // _POINTS))
    places = steps.places[some]
    both = parts.trend + parts.season
    undo = np.exp if parts.multiplied else np.asarray
    return {
        "at": [shown_moment(time, int(row)) for row in rows[some]],
        "value": [None if np.isnan(v) else float(f"{v:.6g}") for v in column.raw[rows[some]]],
        "trend": [float(f"{v:.6g}") for v in undo(parts.trend[places])],
        "fitted": [float(f"{v:.6g}") for v in undo(both[places])],
    }


def trend_findings(found: dict[str, Any]) -> list[Finding]:
    """The strongest seasons, each in one sentence, and the trends of all other columns together."""
    parts: list[dict[str, Any]] = found["trend"]["parts"]
    strongest = sorted(parts, key=lambda entry: -entry["season"]["strength"])
    by_column = {entry["column"]: entry for entry in reversed(strongest) if entry["season"]["strength"] >= _FAINT}
    seasonal = [entry for entry in strongest if by_column.get(entry["column"]) is entry][:2]
    rising = [entry for entry in parts if entry["trend"]["found"] and entry not in seasonal]
    made = [_finding(entry, found) for entry in seasonal]
    return made + ([_rising(rising, found)] if rising else [])


def _rising(entries: list[dict[str, Any]], found: dict[str, Any]) -> Finding:
    """Columns that grow or fall: the strongest trend with its effect, the others in the same sentence."""
    said = [f"{_who(entry)} {_growth(entry)}" for entry in entries[:_TOLD]]
    left = len(entries) - _TOLD
    more = f"; {left} more {'has' if left == 1 else 'have'} a trend" if left > 0 else ""
    plain = [entry | {"season": entry["season"] | {"probability": None}} for entry in entries[:1]]
    columns = tuple(dict.fromkeys(entry["column"] for entry in entries))
    return replace(_finding(plain[0], found), text=f"{'; '.join(said)}{more}.{_others(found)}", columns=columns)


def _finding(entry: dict[str, Any], found: dict[str, Any]) -> Finding:
    seasonal = entry["season"]["probability"] is not None
    part = entry["season" if seasonal else "trend"]
    return Finding(
        "season" if seasonal else "trend",
        entry["text"] + _others(found),
        "time",
        columns=(entry["column"],),
        effect=part["strength"],
        measure="share of the variance",
        probability=part["probability"],
        code=f"df.sort_values({found['column']!r}).plot(x={found['column']!r}, y={entry['column']!r})",
        size=part["strength"],
    )


def _others(found: dict[str, Any]) -> str:
    trend = found["trend"]
    return "" if trend["by"] is None else f" The table holds {trend['n']} series ({short(trend['by'])})."
