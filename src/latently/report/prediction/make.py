"""From a table to a task: which rows are learnt from, which are held back, and which columns take part."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from latently.report.prediction.alone import alone
from latently.report.prediction.task import Task
from latently.report.study.columns import Column
from latently.report.study.study import Skipped, Study
from latently.report.study.words import counted, short

Values = NDArray[np.float64]
MOST_ROWS: Final = 12_000
MOST_COLUMNS: Final = 60
_SCREENED: Final = 4000  # rows by which columns are chosen, if they are too many
_LEAST_ROWS, _LEAST_OF_CLASS = 40, 5
_HELD: Final = 0.35


def make_task(study: Study, name: str) -> Task:
    """Take the rows apart and make the features; the reason, as an error, if a column cannot be predicted."""
    column = next(c for c in study.prepared.columns if c.name == name)
    _check(column)
    y = column.raw if column.role == "numeric" else column.seen
    rows = _rows(study, column, y)
    cut_at = round(len(rows) * (1 - _HELD))
    learn, held_out = np.arange(cut_at), np.arange(cut_at, len(rows))
    classes = column.classes if column.role == "codes" else ()
    if classes:
        learn, held_out = _common(column, y[rows], learn, held_out)
    others = [c for c in study.prepared.columns if c.name != name]
    unread = tuple(c.name for c in others if c.kind in ("text", "identifier"))
    task = Task(name, (), y[rows], learn, held_out, classes, unread, study.time)
    task = task.with_features(_telling(task, others, rows), rows)
    if not task.features:
        raise Skipped("There is no other column to predict the target from.")
    return task


def _check(column: Column) -> None:
    name = short(column.name)
    if column.kind == "constant":
        only = f" ({short(column.levels[0])})" if column.levels else ""
        raise Skipped(f"Column {name} has one value only{only}: there is nothing to predict.")
    if column.kind in ("text", "identifier", "empty", "date") or column.role is None:
        raise Skipped(f"Column {name} is {column.kind}: a target must be a number or a category that varies.")


def _rows(study: Study, column: Column, y: Values) -> NDArray[np.int64]:
    """Rows with a target, shuffled; in the order of time if there is one, since rows are told by their neighbours."""
    rows = np.flatnonzero(~np.isnan(y))
    if len(rows) < _LEAST_ROWS:
        known = counted(len(rows), "row")
        raise Skipped(f"Column {short(column.name)} is known in {known}: at least {_LEAST_ROWS} are needed.")
    rows = study.prepared.rng(10).permutation(study.prepared.first(rows))[:MOST_ROWS]
    if study.time is None:
        return rows
    moments = next(c for c in study.prepared.columns if c.name == study.time).raw
    rows = np.sort(rows)
    return rows[np.argsort(moments[rows], kind="stable")]


def _common(
    column: Column, y: Values, learn: NDArray[np.int64], held_out: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of classes that are common enough to be learnt."""
    common = [k for k in range(len(column.classes)) if (y[learn] == k).sum() >= _LEAST_OF_CLASS]
    if len(common) < 2:
        raise Skipped(f"Column {short(column.name)} has fewer than two classes of at least {_LEAST_OF_CLASS} rows.")
    return learn[np.isin(y[learn], common)], held_out[np.isin(y[held_out], common)]


def _telling(task: Task, columns: Sequence[Column], rows: NDArray[np.int64]) -> list[Column]:
    """The columns that take part: all, or those that tell most alone, by one half of the rows about the other."""
    if len(columns) <= MOST_COLUMNS:
        return list(columns)
    learn = task.learn[:_SCREENED]
    halves = learn[: len(learn) // 2], learn[len(learn) // 2 :]
    loss = []
    for column in columns:
        features = task.with_features([column], rows).features
        loss.append(min((float(alone(task, f, *halves).mean()) for f in features), default=np.inf))
    best = np.sort(np.argsort(loss, kind="stable")[:MOST_COLUMNS])
    return [columns[j] for j in best if np.isfinite(loss[j])]
