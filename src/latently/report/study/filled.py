"""Missing values as the model expects them, in the units of the table."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.report.study.columns import Column
from latently.report.study.model import Fitted
from latently.report.study.study import shown

Values = NDArray[np.float64]
LEVEL: Final = 0.9  # probability of the intervals


@dataclass(frozen=True, eq=False)
class Filled:
    """Some rows as the model would fill them.

    Attributes
    ----------
    used
        The columns that the model sees.
    means
        (n, used) scores and codes, missing ones as the model expects them.
    low, high
        (n, used) ends of the intervals of missing scores.
    chances
        By the place of a column of codes: (n, classes) probabilities.
    """

    used: tuple[Column, ...]
    means: Values
    low: Values
    high: Values
    chances: dict[int, Values]

    def numbers(self, j: int) -> tuple[Values, Values, Values]:
        """(n,) expected value and ends of the interval of a column of numbers, within what the column holds."""
        column = self.used[j]
        if column.curve is None:
            raise ValueError(f"{column.name!r} is no column of numbers")
        ends = [column.curve.undo(side[:, j]) for side in (self.low, self.high)]
        bottom, top = np.nanmin(column.raw), np.nanmax(column.raw)
        low, high = (np.clip(end, bottom, top) for end in (np.minimum(*ends), np.maximum(*ends)))
        return np.clip(column.curve.undo(self.means[:, j]), low, high), low, high

    def classes(self, j: int) -> tuple[list[str], Values]:
        """(n,) the most probable class of a column of codes, and its probability."""
        best = self.chances[j].argmax(axis=1)
        sure = np.minimum(self.chances[j][np.arange(len(best)), best], 1.0)
        return [shown(self.used[j], float(code)) for code in best], np.asarray(sure)

    def cell(self, at: int, j: int) -> dict[str, Any]:
        """The expected value of one cell and its interval; of categories the most probable one and its probability."""
        here = [at]
        chances = {place: each[here] for place, each in self.chances.items()}
        one = Filled(self.used, self.means[here], self.low[here], self.high[here], chances)
        if self.used[j].role == "numeric":
            value, low, high = (float(part[0]) for part in one.numbers(j))
            return {"value": value, "interval": [low, high], "probability": None}
        names, sure = one.classes(j)
        return {"value": names[0], "interval": None, "probability": float(sure[0])}


def fill(fitted: Fitted, used: tuple[Column, ...], values: Values) -> Filled:
    """Fill rows of the model's table.

    Parameters
    ----------
    fitted
        The model.
    used
        The columns that it sees.
    values
        (n, used) scores and codes, NaN where missing.
    """
    low, high = fitted.mixture.impute_interval(values, LEVEL)
    shares = np.concatenate([fitted.view.ask(values[part]).shares for part in fitted.view.batches(len(values))])
    chances = {j: shares @ table for j, table in fitted.view.tables.items()}
    return Filled(used, fitted.mixture.impute_mean(values), low, high, chances)
