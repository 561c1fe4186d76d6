"""Trend and season of every column of numbers along time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.report.sections.along_time.change import changes, without_rescaled
from latently.report.sections.along_time.part import part_entry
from latently.report.series.breaks import breaks
from latently.report.series.calendar import dated, is_calendar, is_measured, is_shared
from latently.report.series.decompose import Parts, decompose, movement
from latently.report.series.line import Line, even
from latently.report.series.panel import Panel, between_known, panel
from latently.report.series.rising import TREND_ALARM
from latently.report.series.spacing import spacing
from latently.report.study.columns import Column
from latently.report.study.study import Study
from latently.report.study.words import cut

Values = NDArray[np.float64]
Rows = NDArray[np.int64]

_MOST_COLUMNS: Final = 12
_MOST_OF_MANY: Final = 6  # columns of each of many series
_TOGETHER: Final = 2  # so many series are tested as if each were alone
_LOOKED_AT: Final = 1000  # moments by which the columns that move most are chosen
_LINE: Final = 0.5  # share of the variance of a year that a line must explain to be told


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
    left_out
        Rows of a single series that repeat a moment.
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
    left_out: int
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
    found = panel(study.prepared.columns, time, study.prepared.first(np.arange(study.prepared.rows)))
    if found is None:
        return Trends(None, 0, 0, 0, [], {}, [])
    made, rests, broken = [], {}, []
    series = _taken_apart(_lines(study, time, found))
    for line, parts, wrong in series:
        rises = parts.p_trend < TREND_ALARM
        seen = breaks(parts.trend + parts.rest, rises=rises, tests=max(len(series) / _TOGETHER, 1.0))
        parts = parts if seen.rises else replace(parts, p_trend=1.0)
        broken.append(wrong + changes(line, parts, seen.found))
        entry = part_entry(line, parts)
        if entry["trend"]["found"] or entry["season"]["length"]:
            made.append(entry)
        if found.by is None and (seen.rises or parts.period):
            rests[line.column.name] = _in_rows(line, parts.rest, study.prepared.rows)
    made.sort(key=lambda entry: -max(entry["trend"]["strength"], entry["season"]["strength"]))
    broken.sort(key=lambda entries: -max((entry["size"] for entry in entries), default=0.0))
    return Trends(
        None if found.by is None else cut(found.by.name),
        found.n,
        len(found.series),
        found.left_out,
        made,
        rests,
        list(chain(*broken)),
    )


def _taken_apart(lines: Iterable[Line]) -> list[tuple[Line, Parts, list[dict[str, Any]]]]:
    """Each series without what was written in another unit, its parts, and entries about the former."""
    made = []
    for read in lines:
        line, wrong = without_rescaled(read)
        y = even(line.column, line.rows, line.steps)
        if y is not None:
            made.append((line, decompose(y, line.steps.periods), wrong))
    p = _raised(np.array([1.0 if _may_be_a_season(line, parts) else parts.p_trend for line, parts, _ in made]))
    return [(line, replace(parts, p_trend=float(q)), wrong) for (line, parts, wrong), q in zip(made, p, strict=True)]


def _may_be_a_season(line: Line, parts: Parts) -> bool:
    """Whether what grows in a year, or in a part of one, is mostly something else than a line."""
    y = parts.trend + parts.rest
    return line.about_a_year and bool(np.corrcoef(y, np.arange(len(y)))[0, 1] ** 2 < _LINE)


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
