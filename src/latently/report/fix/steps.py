"""What there is to mend in a table: steps as plain data, each with its evidence and how often it acts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.report.findings.spelling import variants
from latently.report.reading.raw import Written
from latently.report.study.columns import Column
from latently.report.study.prepare import Prepared
from latently.report.study.rows.repeats import LOG_CHANCE, chance_of_pairs, telling
from latently.report.study.words import counted, cut, percent

Step = dict[str, Any]


def steps(prepared: Prepared, insights: list[dict[str, Any]], *, from_text: bool) -> list[Step]:
    """List what there is to mend, in the order in which it is to be done.

    Parameters
    ----------
    prepared
        The table.
    insights
        The findings.
    from_text
        Whether the table was read from a file of text, in which dates have no type.

    Returns
    -------
    list
        Each has "step" ("number", "date", "code", "duplicates" or "spelling"), "column" (None for rows), "rows" (in how
        many it acts), "text" (the evidence) and what the step needs.
    """
    columns = prepared.columns
    written = [made for column in columns if (made := _written(column, from_text)) is not None]
    codes = [_code(column, code) for column in columns for code in column.codes]
    return [*written, *codes, *_duplicates(prepared, insights), *_spellings(prepared, insights)]


def _written(column: Column, from_text: bool) -> Step | None:
    """Dates and numbers that are text."""
    if column.written is None and not (from_text and column.kind == "date"):
        return None
    about = column.written or Written("date", int((~column.missing).sum()))
    what = "dates" if about.kind == "date" else "numbers written as text"
    notes = "; ".join(note for note in column.notes if note != what)
    text = f"{what} in {counted(about.rows, 'row')}" + (f"; {notes}" if notes else "")
    how: Step = {"day_first": about.day_first} if about.kind == "date" else {"decimal": about.decimal}
    step = {"step": about.kind, "column": column.name, "rows": about.rows, "text": text}
    return step | how | {"words": [*about.words, *about.unread]}


def _code(column: Column, code: dict[str, Any]) -> Step:
    stands = "stands for a missing value" if code["applied"] else "may stand for a missing value"
    often = f"in {counted(code['count'], 'row')}, probability {percent(min(code['probability'], 0.999))}"
    text = f"{code['value']!r} {stands} ({often})"
    step = {"step": "code", "column": column.name, "rows": code["count"], "text": text, "value": code["value"]}
    return step | {"applied": bool(code["applied"])}


def _duplicates(prepared: Prepared, insights: list[dict[str, Any]]) -> list[Step]:
    compared = telling(prepared.columns)
    count = int(prepared.copies.sum()) if prepared.copies is not None else _few_copies(compared, insights)
    if not count:
        return []
    ignore = [column.name for column in prepared.columns if column not in compared]
    text = f"{counted(count, 'row')} repeat another row exactly"
    return [{"step": "duplicates", "column": None, "rows": count, "text": text, "ignore": ignore}]


def _few_copies(compared: list[Column], insights: list[dict[str, Any]]) -> int:
    """Copies that a finding tells of, too few for models to look at each row once; none that chance may bring."""
    found = next((f for f in insights if f["finding"] == "duplicates" and not f["columns"]), None)
    if found is None or chance_of_pairs([column.raw for column in compared]) >= LOG_CHANCE:
        return 0
    return int(found["effect"])


def _spellings(prepared: Prepared, insights: list[dict[str, Any]]) -> list[Step]:
    told = {name for found in insights if found["finding"] == "spelling" for name in found["columns"]}
    named = [column for column in prepared.columns if cut(column.name) in told and column.levels]
    kept = slice(None) if prepared.copies is None else ~prepared.copies
    return [made for column in named if (made := _spelling(column, column.raw[kept]))["rows"]]


def _spelling(column: Column, raw: NDArray[np.float64]) -> Step:
    """The rarer spellings of each category, and the one that is most common; copies of rows are gone by then."""
    counts = np.bincount(raw[~np.isnan(raw)].astype(np.intp), minlength=len(column.levels)).tolist()
    there = [(level, count) for level, count in zip(column.levels, counts, strict=True) if count]
    groups = variants([level for level, _ in there], [count for _, count in there])
    size = dict(there)
    changes = {other: group[0] for group in groups for other in group[1:]}
    rows = sum(size[level] for level in changes)
    what = "1 category is" if len(groups) == 1 else f"{len(groups)} categories are"
    text = f"{what} spelt in several ways, in {counted(rows, 'row')}"
    return {"step": "spelling", "column": column.name, "rows": rows, "text": text, "changes": changes}
