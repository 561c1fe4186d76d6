"""The table that a model sees: scores and codes, with missing values; and which rows are looked at where."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.data import Column as SchemaColumn
from latently.data import Schema
from latently.report.study.columns import Column
from latently.report.study.pairs.communality import most_shared
from latently.report.study.rows.repeats import repeated, telling

Values = NDArray[np.float64]
MOST_COLUMNS: Final = 60
FAR: Final = 4.5
FEW_FAR: Final = 0.02


@dataclass(frozen=True, eq=False)
class Prepared:
    """All columns, those that the model sees, and a sample of the rows.

    Attributes
    ----------
    columns
        All columns of the table.
    used
        Those that the model sees.
    rows
        Number of rows.
    sample
        Places of the rows that models and tests look at, in rising order; of copies, the first.
    seed
        Seed of whatever is random.
    repeats
        How many rows repeat an earlier one exactly.
    copies
        (rows,) which of them are taken for copies; None if the repeats may be chance.
    aside
        Labels: columns of classes that the model does not see, since they may be the only reason for clusters.
    row_numbers
        (rows,) number of each row in the whole table; None if this is the whole.
    """

    columns: tuple[Column, ...]
    used: tuple[Column, ...]
    rows: int
    sample: NDArray[np.int64]
    seed: int
    repeats: int = 0
    copies: NDArray[np.bool_] | None = None
    aside: tuple[Column, ...] = ()
    row_numbers: NDArray[np.int64] | None = None

    def set_aside(self, names: Collection[str]) -> "Prepared":
        """The same table, some columns of which the model does not see."""
        kept, gone = ([c for c in self.used if (c.name in names) is out] for out in (False, True))
        return replace(self, used=tuple(kept), aside=(*self.aside, *gone))

    @property
    def is_sampled(self) -> bool:
        """Whether the sample is not the whole, copies left out."""
        return len(self.sample) < self.distinct

    @property
    def distinct(self) -> int:
        """Number of rows, copies left out."""
        return self.rows if self.copies is None else int(self.rows - self.copies.sum())

    def first(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of some rows that are not copies."""
        return rows if self.copies is None else rows[~self.copies[rows]]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that the model sees."""
        return tuple(column.name for column in self.used)

    @cached_property
    def values(self) -> Values:
        """(rows, used) scores and codes; NaN where missing."""
        out = np.empty((self.rows, len(self.used)))
        for j, column in enumerate(self.used):
            out[:, j] = column.model
        return out

    @cached_property
    def numeric(self) -> NDArray[np.intp]:
        """Places of the columns of scores."""
        return np.flatnonzero([column.role == "numeric" for column in self.used])

    @cached_property
    def coded(self) -> NDArray[np.intp]:
        """Places of the columns of codes."""
        return np.flatnonzero([column.role == "codes" for column in self.used])

    @cached_property
    def schema(self) -> Schema:
        """What the columns are to a mixture."""
        return Schema(tuple(_described(column) for column in self.used))

    @cached_property
    def spread(self) -> Values:
        """(rows, used) values with numbers spread by their least step, so that no density or tail chases ties."""
        out, rng = self.values.copy(), self.rng(1)
        for j in self.numeric:
            column = self.used[j]
            out[:, j] = column.curve.apply(column.raw + column.step() * rng.uniform(-0.5, 0.5, self.rows))
        return out

    @cached_property
    def tame(self) -> Values:
        """(sample, used) spread values; scores that are far out count as missing, if they are few."""
        out = self.spread[self.sample]
        for j in self.numeric:
            out[:, j] = _tamed(out[:, j])
        return out

    def rng(self, purpose: int) -> np.random.Generator:
        """Random numbers for a purpose, the same at every call."""
        return np.random.default_rng([self.seed, purpose])


def _tamed(z: Values) -> Values:
    """Scores without those that are far out, if these are few: a fit would spend a component on them."""
    far = np.abs(z) > FAR
    return np.where(far, np.nan, z) if far.mean() <= FEW_FAR else z


def _described(column: Column) -> Any:
    if column.role == "numeric":
        return SchemaColumn(column.name, "numeric")
    return SchemaColumn(column.name, "categorical", tuple(range(len(column.classes))))


def prepare(columns: list[Column], rows: int, max_rows: int, seed: int, label: str | None = None) -> Prepared:
    """Choose the columns and the rows that models look at.

    Parameters
    ----------
    columns
        All columns.
    rows
        Number of rows.
    max_rows
        Largest sample.
    seed
        Seed of the sample and of all that follows.
    label
        A column that is to be predicted: if it holds classes, the model does not see it.
    """
    repeats, copies = repeated([column.raw for column in telling(columns)]) if rows else (0, None)
    sample = np.arange(rows) if copies is None else np.flatnonzero(~copies)
    if len(sample) > max_rows:
        sample = np.sort(np.random.default_rng([seed, 0]).choice(sample, max_rows, replace=False))
    fit = [column for column in columns if column.role is not None]
    labels = [column for column in fit if column.name == label and column.role == "codes"]
    used = most_shared([column for column in fit if column not in labels], sample, MOST_COLUMNS)
    return Prepared(tuple(columns), tuple(used), rows, sample, seed, repeats, copies, tuple(labels))
