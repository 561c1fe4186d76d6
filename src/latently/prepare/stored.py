"""A preparation learnt from some rows, with its counts and scales taken from all of them by one pass."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from latently.data.schema.schema import Schema
from latently.data.sources.chunks import ChunkSource
from latently.data.tables.values import EXTREME, is_extreme
from latently.prepare.columns import NumericStep, Values, unit_of


def refuse_extremes(values: Values, schema: Schema) -> None:
    """Refuse numbers that cannot be squared."""
    wrong = is_extreme(values).any(axis=0)
    if wrong.any():
        column = schema.columns[int(np.argmax(wrong))]
        raise ValueError(f"{column.where} {EXTREME}")


@dataclass(frozen=True, eq=False)
class Tally:
    """What a pass counts of one column: missing values, outliers, and the moments and range of tame values."""

    missing: int
    outliers: int
    count: int
    mean: float
    squares: float
    low: float
    high: float

    @classmethod
    def of(cls, x: Values, step: NumericStep | None) -> Self:
        """Count in one chunk; a column that is not numeric has missing values alone."""
        lost = int(np.isnan(x).sum())
        if step is None or lost == len(x):
            return cls(lost, 0, 0, 0.0, 0.0, np.inf, -np.inf)
        straight, (low, high) = step.curve.apply(x), step.limits
        tame = step.tamed(straight)
        seen = tame[~np.isnan(tame)]
        beyond = int(((straight < low) | (straight > high)).sum())
        if not len(seen):
            return cls(lost, beyond, 0, 0.0, 0.0, np.inf, -np.inf)
        mean = float(seen.mean())
        squares = float(((seen - mean) ** 2).sum())
        return cls(lost, beyond, len(seen), mean, squares, float(seen.min()), float(seen.max()))

    def __add__(self, other: "Tally") -> "Tally":
        n = self.count + other.count
        gap = other.mean - self.mean
        mean = self.mean + gap * other.count / n if n else 0.0
        squares = self.squares + other.squares + (gap**2 * self.count * other.count / n if n else 0.0)
        low, high = min(self.low, other.low), max(self.high, other.high)
        return Tally(self.missing + other.missing, self.outliers + other.outliers, n, mean, squares, low, high)

    def scaled(self, step: NumericStep, scale: str) -> NumericStep:
        """The step with centre, unit and fill of all rows; medians stay those of the rows that were looked at."""
        if not self.count:
            return step
        centre, unit = step.centre, step.unit
        if scale == "standard":
            centre, unit = self.mean, unit_of(self.mean, float(np.sqrt(self.squares / self.count)))
        elif scale == "range":
            centre, unit = self.low, unit_of(self.low, self.high - self.low)
        fill = None if step.fill is None else (self.mean - centre) / unit
        return replace(step, centre=centre, unit=unit, fill=fill)


def refined(prep: Any, source: ChunkSource) -> tuple[dict[str, NumericStep], list[dict[str, Any]]]:
    """Steps and account of a preparation, with counts and scales of all rows of a source."""
    names, steps = prep.schema_.names, prep.steps_
    tallies: dict[str, Tally] = {}
    for chunk in source:
        values = np.asarray(chunk.X, dtype=np.float64)
        refuse_extremes(values, prep.schema_)
        for j, name in enumerate(names):
            new = Tally.of(values[:, j], steps.get(name))
            tallies[name] = tallies[name] + new if name in tallies else new
    better = {name: tallies[name].scaled(step, prep.scale) for name, step in steps.items()}
    records = zip(names, prep.account_, strict=True)
    return better, [_counted(record, tallies[name], better.get(name)) for name, record in records]


def _counted(record: Mapping[str, Any], tally: Tally, step: NumericStep | None) -> dict[str, Any]:
    found = {**record, "n_missing": tally.missing}
    if step is None:
        return found
    fill = None if step.fill is None else float(step.undo(np.array([step.fill]))[0])
    return found | {"n_outliers": tally.outliers, "centre": step.centre, "unit": step.unit, "fill": fill}
