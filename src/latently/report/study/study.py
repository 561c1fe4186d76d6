"""Everything that the sections of a report are made from, computed once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latently.report.study.association import Aspect, classed, ranked
from latently.report.study.columns import Column
from latently.report.study.groups import Separation
from latently.report.study.model import Fitted
from latently.report.study.prepare import Prepared
from latently.report.study.strange import Strangeness
from latently.report.study.words import number, short, stamp

Values = NDArray[np.float64]


class Skipped(Exception):
    """A section cannot be made; the message says why and what to do."""


@dataclass(frozen=True, eq=False)
class Study:
    """A table, the model of it and what the model says of every row.

    Attributes
    ----------
    prepared
        The table.
    fitted
        The model; None if there is nothing to fit.
    separation
        Which of its components are clusters.
    strange
        What is strange about every row.
    why_not
        Why there is no model.
    """

    prepared: Prepared
    fitted: Fitted | None = None
    separation: Separation | None = None
    strange: Strangeness | None = None
    why_not: str = ""

    def model(self) -> tuple[Fitted, Separation, Strangeness]:
        """The model and its answers; the reason, as an error, if there is none."""
        if self.fitted is None or self.separation is None or self.strange is None:
            raise Skipped(self.why_not)
        return self.fitted, self.separation, self.strange

    @cached_property
    def memberships(self) -> Values:
        """(rows, clusters) probability of each cluster."""
        _, separation, strange = self.model()
        return np.stack([strange.shares[:, list(group)].sum(axis=1) for group in separation.groups], axis=1)

    @cached_property
    def aspects(self) -> list[Aspect]:
        """The columns of the sample as tests see them: numbers, dates and classes that vary."""
        sample = self.prepared.sample
        dates = [c for c in self.prepared.columns if c.kind == "date"]
        made = [aspect(column, sample) for column in (*self.prepared.used, *dates)]
        return [found for found in made if found is not None]


def aspect(column: Column, sample: NDArray[np.int64]) -> Aspect | None:
    """A column of the sample as tests see it; None if it does not vary."""
    if column.kind == "date" or column.role == "numeric":
        return ranked(column.name, column.raw[sample])
    if column.model is None:
        return None
    ordered = column.kind in ("ordinal", "numeric")
    return classed(column.name, column.model[sample], column.classes, ordered=ordered)


def shown(column: Column, value: float) -> str:
    """A value of the model's table, a score or a code, as a reader knows it."""
    if np.isnan(value):
        return "missing"
    if column.role == "numeric" and column.curve is not None:
        return number(float(column.curve.undo(np.array(value))))
    return short(column.classes[int(value)])


def shown_raw(column: Column, row: int) -> str:
    """A value of the table as it came, as a reader knows it."""
    value = column.raw[row]
    if np.isnan(value):
        return "missing"
    if column.kind == "date":
        return stamp(float(value))
    return short(column.levels[int(value)]) if column.levels else number(float(value))
