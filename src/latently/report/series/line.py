"""A column along time: one series of a table."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latently.report.series.spacing import Spacing
from latently.report.study.columns import Column

Rows = NDArray[np.int64]
_KNOWN = 0.5  # share of the places
_MONTHS = 12.5  # steps of a year


@dataclass(frozen=True, eq=False)
class Line:
    """A column along time: one series.

    Attributes
    ----------
    column, time
        The column, and the one that orders the rows.
    rows
        Its rows in the order of time.
    steps
        Their places.
    begin
        The first moment.
    group
        What the series is called; "" if there is one.
    """

    column: Column
    time: Column
    rows: Rows
    steps: Spacing
    begin: float
    group: str

    @property
    def about_a_year(self) -> bool:
        """Whether a year would be as long as the series, or nearly, and its season could be taken for bends."""
        year, n = self.steps.per_year, int(self.steps.places[-1]) + 1
        return year is not None and year > _MONTHS and n < 2 * year


def even(column: Column, rows: Rows, steps: Spacing) -> NDArray[np.float64] | None:
    """A column at even steps; None if too little of it is known.

    Parameters
    ----------
    column
        The column.
    rows
        Its rows in the order of time.
    steps
        Their places.
    """
    y = np.full(int(steps.places[-1]) + 1, np.nan)
    y[steps.places] = column.raw[rows]
    return y if (~np.isnan(y)).sum() >= _KNOWN * len(y) else None
