"""What is to be predicted from what, rows to learn from and rows held back apart."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latently.data import Schema
from latently.data.schema.column import Column as SchemaColumn
from latently.report.prediction.features import Feature, features_of
from latently.report.study.columns import Column

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Task:
    """A column to predict.

    Attributes
    ----------
    name
        The column.
    features
        What it is predicted from.
    y
        (n,) numbers, or codes of classes.
    learn, held_out
        Places of the rows to learn from, and of those that judge.
    classes
        Names of the classes; none if it is a number.
    unread
        Columns of text and identifiers, whose values are left out.
    clock
        The column that orders the rows; None if they are in no order.
    """

    name: str
    features: tuple[Feature, ...]
    y: Values
    learn: NDArray[np.int64]
    held_out: NDArray[np.int64]
    classes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    clock: str | None = None

    @cached_property
    def X(self) -> Values:  # noqa: N802 the field's letter for inputs
        """(n, features) the inputs."""
        return np.column_stack([feature.values for feature in self.features])

    @cached_property
    def owners(self) -> tuple[str, ...]:
        """The columns that it is predicted from."""
        return tuple(dict.fromkeys(feature.owner for feature in self.features))

    @property
    def schema(self) -> Schema:
        """What the inputs are to a tree."""
        return Schema(tuple(_described(j, feature) for j, feature in enumerate(self.features)))

    def places(self, owners: Collection[str]) -> list[int]:
        """Places of the features of some columns."""
        return [j for j, feature in enumerate(self.features) if feature.owner in owners]

    def with_features(self, columns: Sequence[Column], rows: NDArray[np.int64]) -> "Task":
        """The task with what some columns are to a model in its rows."""
        made = [f for c in columns for f in features_of(c, rows, is_clock=c.name == self.clock)]
        return replace(self, features=tuple(made))

    def only(self, owners: Collection[str]) -> "Task":
        """The same task with the features of some columns."""
        return replace(self, features=tuple(f for f in self.features if f.owner in owners))

    def without(self, owners: Collection[str]) -> "Task":
        """The same task without the features of some columns."""
        return self.only([owner for owner in self.owners if owner not in owners])


def _described(j: int, feature: Feature) -> SchemaColumn:
    if feature.classes:
        return SchemaColumn(f"x{j}", "categorical", tuple(range(feature.classes)))
    return SchemaColumn(f"x{j}", "numeric")
