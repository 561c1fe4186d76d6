"""What is missing: where, together with what, whether it depends on other columns, and what it probably was."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.report.findings.finding import Finding
from latently.report.study.columns import Column
from latently.report.study.evidence import belief
from latently.report.study.filled import fill
from latently.report.study.pairs.aspects import Aspect
from latently.report.study.pairs.association import Pair, compare
from latently.report.study.study import Study
from latently.report.study.words import counted, cut, listed, percent, short

ALARM = 0.004  # chance of a false alarm over all tests
_PATTERNS, _DEPENDS, _CELLS = 12, 40, 50
_LEAST = 5
_PURE = 0.005  # share of the rows that may be exceptions
_MUCH, _NAMED = 0.2, 3
_STORIES = 2  # findings on missing values
MOST_COLUMNS = 150  # columns whose missing values are tested: all pairs of them are


def missing(study: Study) -> dict[str, Any]:
    """Describe the missing values of the table.

    Parameters
    ----------
    study
        The table and its model.
    """
    columns = study.prepared.columns
    absent = np.stack([column.missing for column in columns], axis=1)
    cells, rows = int(absent.sum()), len(absent)
    gone = _that_vary(study)
    tested = _most_telling(gone)
    depends, untested = _depends(study, tested), len(gone) - len(tested)
    return {
        "text": _text(cells, absent.size, int((~absent.any(axis=1)).sum()), rows, depends) + _left_out(untested),
        "cells": cells,
        "share": cells / absent.size,
        "complete_rows": int((~absent.any(axis=1)).sum()),
        "patterns": _patterns(columns, absent) if cells else [],
        "depends": depends,
        "most": _most(columns, absent),
        "untested": untested,
        "imputed": _imputed(study) if study.fitted is not None else [],
    }


def _text(cells: int, all_cells: int, complete: int, rows: int, depends: list[dict[str, Any]]) -> str:
    if cells == 0:
        return "Nothing is missing."
    start = (
        f"{percent(cells / all_cells)} of the values are missing; {percent(complete / rows)} of the rows are complete."
    )
    if depends:
        names = list(dict.fromkeys(entry["column"] for entry in depends))
        return f"{start} Whether {listed(names)} is missing depends on other columns: it is not random."
    return f"{start} No sign was found that what is missing depends on other columns."


def _left_out(untested: int) -> str:
    if not untested:
        return ""
    return f" {counted(untested, 'more column')} with missing values {'was' if untested == 1 else 'were'} not tested."


def _most(columns: tuple[Column, ...], absent: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """The columns of which a fifth or more is missing, the emptiest first."""
    shares = absent.mean(axis=0)
    order = [j for j in np.argsort(-shares, kind="stable") if shares[j] >= _MUCH][:_NAMED]
    return [{"column": cut(columns[j].name), "share": float(shares[j])} for j in order]


def _patterns(columns: tuple[Column, ...], absent: NDArray[np.bool_]) -> list[dict[str, Any]]:
    packed = np.packbits(absent, axis=1)
    keys, counts = np.unique(packed, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_PATTERNS]
    made = []
    for i in order:
        gone = np.unpackbits(keys[i], count=absent.shape[1]).astype(bool)
        names = [cut(column.name) for column, is_gone in zip(columns, gone, strict=True) if is_gone]
        made.append({"columns": names, "rows": int(counts[i]), "share": float(counts[i] / len(absent))})
    return made


def _that_vary(study: Study) -> dict[str, NDArray[np.bool_]]:
    """The columns of which enough is missing for a test, and not too much, with where it is."""
    sample = study.prepared.sample
    gone = {c.name: c.missing[sample] for c in study.prepared.columns if c.kind not in ("empty", "constant")}
    return {name: g for name, g in gone.items() if _LEAST <= g.sum() <= len(g) - _LEAST}


def _depends(study: Study, gone: dict[str, NDArray[np.bool_]]) -> list[dict[str, Any]]:
    """Columns whose missing values go with values of others, or with theirs; corrected for the number of tests."""
    marks = {name: study.remembered(_mark(name, g)) for name, g in gone.items()}
    pairs = [(name, other, False) for name in marks for other in study.aspects if other.name != name]
    names = list(marks)
    pairs += [(a, marks[b], True) for i, a in enumerate(names) for b in names[i + 1 :]]
    limit = ALARM / max(len(pairs), 1)
    found = [(name, other, absent, _compared(study, marks[name], other)) for name, other, absent in pairs]
    kept = sorted((f for f in found if f[3].p <= limit), key=lambda f: (f[3].p, -f[3].strength))
    return [_told(name, other, absent, pair, len(pairs)) for name, other, absent, pair in kept[:_DEPENDS]]


def _compared(study: Study, mark: Aspect, other: Aspect) -> Pair:
    """By all rows, as strong as can be, if a column says exactly where another is missing: no memory brings that."""
    if _is_pure(mark, other):
        return replace(compare(mark, other, share=1.0), strength=1.0)
    return study.compare(mark, other)


def _is_pure(mark: Aspect, other: Aspect) -> bool:
    """Whether each value of a column, of which most repeat, is either always with a missing one or never."""
    seen = other.values >= 0
    gone = np.bincount(other.values[seen], weights=mark.codes[seen])
    rows = np.bincount(other.values[seen], minlength=len(gone))
    mixed = np.minimum(gone, rows - gone).sum()
    alone = rows[(rows < _LEAST) & (gone > 0)].sum()
    return bool(len(rows) > 1 and mixed <= _PURE * seen.sum() and alone <= gone.sum() / 2 and rows.mean() >= 2)


def _most_telling(gone: dict[str, NDArray[np.bool_]]) -> dict[str, NDArray[np.bool_]]:
    """The columns, if there are many those of which nearest to half is missing: tests see most in them."""
    far = np.array([abs(g.mean() - 0.5) for g in gone.values()])
    kept = set(np.argsort(far, kind="stable")[:MOST_COLUMNS].tolist())
    return {name: g for at, (name, g) in enumerate(gone.items()) if at in kept}


def _mark(name: str, gone: NDArray[np.bool_]) -> Aspect:
    return Aspect(name, gone.astype(np.intp), ("there", "missing"), gone - gone.mean())


def _told(name: str, other: Aspect, absent: bool, pair: Pair, tests: int) -> dict[str, Any]:
    column, on = short(name), short(other.name)
    rates = pair.table[1] / np.maximum(pair.table.sum(axis=0), 1.0)
    if absent:
        verb = "together" if rates[1] > rates[0] else "in turns"
        text = f"{column} and {on} are missing {verb}"
    else:
        most, least = int(rates.argmax()), int(rates.argmin())
        text = (
            f"{column} is missing in {percent(float(rates[most]))} of the rows where {on} is "
            f"{short(other.labels[most])}, and "
            f"in {percent(float(rates[least]))} where it is {short(other.labels[least])}"
        )
    return {
        "column": cut(name),
        "on": cut(other.name),
        "probability": belief(pair.p, tests),
        "text": text,
        "absent": absent,
        "strength": pair.strength,
    }


def _imputed(study: Study) -> list[dict[str, Any]]:
    """What the model expects for some of the missing values, with intervals that hold with 90 %."""
    values = study.prepared.values
    spots = _spots(study.prepared.used, values)
    if not spots:
        return []
    rows = np.unique([row for row, _ in spots])
    place = {int(row): at for at, row in enumerate(rows)}
    filled = fill(study.model()[0], study.prepared.used, values[rows])
    names = [cut(name) for name in study.prepared.names]
    return [{"row": row, "column": names[j]} | filled.cell(place[row], j) for row, j in spots]


def _spots(used: tuple[Column, ...], values: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Some missing values of every column, in rows of which something is known."""
    gone = np.isnan(values)
    known = ~gone.all(axis=1)
    with_missing = [j for j in range(len(used)) if (gone[:, j] & known).any()]
    each = max(_CELLS // max(len(with_missing), 1), 1)
    spots = [(int(row), j) for j in with_missing for row in np.flatnonzero(gone[:, j] & known)[:each]]
    return spots[:_CELLS]


def missing_findings(found: dict[str, Any]) -> list[Finding]:
    """The strongest dependence with what else is missing by it, and the strongest of other columns likewise."""
    left = sorted(found["depends"], key=lambda entry: -entry["strength"] * (0.5 if entry["absent"] else 1.0))
    stories: list[_Story] = []
    while left and len(stories) < _STORIES:
        stories.append(_story(left))
        left = [entry for entry in left if not entry["absent"] and entry["column"] not in stories[-1].told]
    return [_finding(stories[0], found["most"], _columns(left, "column")), *(_finding(each) for each in stories[1:])]


@dataclass(frozen=True)
class _Story:
    """The strongest dependence of what is missing, and the columns that are missing by it or with it."""

    entry: dict[str, Any]
    others: list[str]

    @property
    def told(self) -> list[str]:
        """The columns of which it says what goes with their missing values."""
        return [*(self.entry[end] for end in _ends(self.entry)), *self.others]


def _story(entries: list[dict[str, Any]]) -> _Story:
    first = entries[0]
    own = [first[end] for end in _ends(first)]
    shared = [entry for entry in entries if _shares(entry, first)]
    return _Story(first, [name for name in _columns(shared, *_ends(first)) if name not in own])


def _ends(entry: dict[str, Any]) -> tuple[str, ...]:
    return ("column", "on") if entry["absent"] else ("column",)


def _shares(entry: dict[str, Any], first: dict[str, Any]) -> bool:
    """Whether a dependence is on the same column as the first, or of the same columns that are missing together."""
    if first["absent"]:
        return bool(entry["absent"] and {entry["column"], entry["on"]} & {first["column"], first["on"]})
    return bool(not entry["absent"] and entry["on"] == first["on"])


def _columns(entries: list[dict[str, Any]], *ends: str) -> list[str]:
    return list(dict.fromkeys(entry[end] for entry in entries for end in ends))


def _finding(story: _Story, most: Sequence[dict[str, Any]] = (), rest: Sequence[str] = ()) -> Finding:
    first, others = story.entry, story.others
    more = ""
    if others and first["absent"]:
        more = f", with {listed(others, 5)} too"
    elif others:
        more = f"; whether {listed(others, 5)} {'is' if len(others) == 1 else 'are'} missing goes with it too"
    more += f"; {listed(rest)} {'is' if len(rest) == 1 else 'are'} not missing at random either" if rest else ""
    shares = [f"{short(entry['column'])} ({percent(entry['share'])})" for entry in most]
    gaps = f" Much is missing of {listed(shares)}." if shares else ""
    columns = (first["column"], first["on"], *others, *rest, *(entry["column"] for entry in most))
    return Finding(
        "missingness",
        f"Missing values are not random: {first['text']}{more}.{gaps}",
        "missing",
        columns=tuple(dict.fromkeys(columns)),
        effect=first["strength"],
        measure="correlation",
        probability=first["probability"],
    )
