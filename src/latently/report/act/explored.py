"""What a report remembers of its table: the columns as the model sees them, and what the model says of every row."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.report.act.new_rows import as_seen
from latently.report.study.columns import Column
from latently.report.study.filled import Filled, fill
from latently.report.study.model import Fitted
from latently.report.study.study import Study, memberships

Values = NDArray[np.float64]
Columns = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Explored:
    """The model of a report and its answers; kept in memory only.

    Attributes
    ----------
    row_numbers
        (n,) number of each row in the whole table.
    used
        The columns that the model sees.
    fitted
        The model; None if there was nothing to fit.
    groups
        The components of each cluster.
    labels
        (n,) cluster of each row, counted from 1.
    probability
        (n,) probability of that cluster.
    surprise
        (n,) minus the log density of each row, in nats.
    why_not
        Why there is no model.
    """

    row_numbers: NDArray[np.int64]
    used: tuple[Column, ...] = ()
    fitted: Fitted | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    labels: NDArray[np.int64] | None = None
    probability: Values | None = None
    surprise: Values | None = None
    why_not: str = ""

    def model(self) -> Fitted:
        """The model; the reason, as an error, if there is none."""
        if self.fitted is None:
            raise ValueError(f"this report has no model. {self.why_not}")
        return self.fitted

    def rows(self, reasons: dict[int, str]) -> Columns:
        """Answers for every row of the table, by the names of their columns; see `Report.rows`."""
        self.model()
        told = [reasons.get(int(row), "") for row in self.row_numbers]
        found: Columns = {"row": self.row_numbers, "cluster": self.labels, "probability": self.probability}
        found |= {"surprise": self.surprise, "reason": told}
        return found | self._imputed(set(found))

    def assign(self, table: Any) -> Columns:
        """Cluster, its probability and the surprise of new rows."""
        view = self.model().view
        X = as_seen(table, self.used)
        answers = [view.ask(X[part]) for part in view.batches(len(X))]
        shares = memberships(np.concatenate([answer.shares for answer in answers]), self.groups)
        surprise = -np.concatenate([answer.log_density for answer in answers])
        return {"cluster": shares.argmax(axis=1) + 1, "probability": shares.max(axis=1), "surprise": surprise}

    def _imputed(self, taken: set[str]) -> Columns:
        """Columns that have missing values, filled, with the ends of intervals or the probabilities of classes."""
        values = np.stack([column.seen for column in self.used], axis=1)
        gone = np.isnan(values)
        rows = np.flatnonzero(gone.any(axis=1))
        found: Columns = {}
        if len(rows):
            filled = fill(self.model(), self.used, values[rows])
            for j in np.flatnonzero(gone.any(axis=0)):
                for name, column in _filled(self.used[j], int(j), rows, filled).items():
                    found[_free(name, taken | set(found))] = column
        return found


def explored(study: Study, row_numbers: NDArray[np.int64] | None) -> Explored:
    """Keep of a study what a report needs to answer for rows.

    Parameters
    ----------
    study
        The table and its model.
    row_numbers
        Number of each row in the whole table; None if the table is the whole.
    """
    numbers = np.arange(study.prepared.rows) if row_numbers is None else row_numbers
    if study.fitted is None or study.separation is None or study.strange is None:
        return Explored(numbers, why_not=study.why_not)
    shares = study.memberships
    used = tuple(replace(column, notes=()) for column in study.prepared.used)
    groups = tuple(tuple(group) for group in study.separation.groups)
    answers = (shares.argmax(axis=1) + 1, shares.max(axis=1), -study.strange.log_density)
    return Explored(numbers, used, study.fitted, groups, *answers)


def _filled(column: Column, j: int, rows: NDArray[np.intp], filled: Filled) -> Columns:
    gone = np.isnan(column.raw[rows])
    at, n = rows[gone], len(column.raw)
    if column.role == "numeric":
        parts = [part[gone] for part in filled.numbers(j)]
        whole = column.raw.copy()
        whole[at] = parts[0]
        ends = {
            f"{column.name}_{side}": _spread(n, at, part) for side, part in zip(("low", "high"), parts[1:], strict=True)
        }
        return {column.name: whole, **ends}
    names, sure = filled.classes(j)
    texts = _texts(column)
    for row, name in zip(at, np.array(names, dtype=object)[gone], strict=True):
        texts[row] = name
    return {column.name: texts, f"{column.name}_probability": _spread(n, at, sure[gone])}


def _spread(n: int, at: NDArray[np.intp], values: Values) -> Values:
    out = np.full(n, np.nan)
    out[at] = values
    return out


def _texts(column: Column) -> list[Any]:
    if column.levels:
        return [None if np.isnan(v) else column.levels[int(v)] for v in column.raw]
    return [None if np.isnan(v) else v for v in column.raw.tolist()]


def _free(name: str, taken: set[str]) -> str:
    """A name that no other column has yet."""
    while name in taken:
        name += "_"
    return name
