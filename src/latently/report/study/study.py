"""Everything that the sections of a report are made from, computed once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latently.report.study.columns import MOST_LEVELS, Column
from latently.report.study.groups import Separation
from latently.report.study.model import Fitted
from latently.report.study.pairs.aspects import Aspect, classed, normal_scores, ranked
from latently.report.study.pairs.association import Pair, compare
from latently.report.study.prepare import Prepared
from latently.report.study.rows.order import (
    detrended,
    inflation_of_mean,
    innovations,
    memory,
    within,
    without_cycle,
)
from latently.report.study.rows.sorting import Sorting, sort_keys, stretches_of_groups
from latently.report.study.strange import Strangeness
from latently.report.study.words import number, short, stamp

Values = NDArray[np.float64]
_MOST_CLASSES = 60  # levels that tests of pairs see one by one; of more, those of the model


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
    time
        The column that orders the rows; None if they are in the order of the file.
    """

    prepared: Prepared
    fitted: Fitted | None = None
    separation: Separation | None = None
    strange: Strangeness | None = None
    why_not: str = ""
    time: str | None = None

    def model(self) -> tuple[Fitted, Separation, Strangeness]:
        """The model and its answers; the reason, as an error, if there is none."""
        if self.fitted is None or self.separation is None or self.strange is None:
            raise Skipped(self.why_not)
        return self.fitted, self.separation, self.strange

    @cached_property
    def memberships(self) -> Values:
        """(rows, clusters) probability of each cluster."""
        _, separation, strange = self.model()
        return memberships(strange.shares, separation.groups)

    @cached_property
    def aspects(self) -> list[Aspect]:
        """The columns of the sample as tests see them: numbers, dates and classes that vary."""
        sample = self.prepared.sample
        dates = [c for c in self.prepared.columns if c.kind == "date"]
        made = [aspect(column, sample) for column in (*self.prepared.used, *self.prepared.aside, *dates)]
        return [self.remembered(found) for found in made if found is not None]

    @cached_property
    def clocks(self) -> dict[Aspect, bool]:
        """Whether columns only rise, or only fall, along the rows; those that were asked about."""
        return {}

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Places in the sample in the order of time, or of the file."""
        sample = self.prepared.sample
        column = next((c for c in self.prepared.columns if c.name == self.time), None)
        return np.arange(len(sample)) if column is None else np.argsort(column.raw[sample], kind="stable")

    @cached_property
    def _sorting(self) -> Sorting | None:
        columns = self._sortable
        raw = [c.raw[self.prepared.sample] for c in columns]
        return None if self.time is not None else sort_keys(raw, [bool(c.levels) for c in columns])

    @property
    def _sortable(self) -> list[Column]:
        return [c for c in self.prepared.columns if c.kind in ("numeric", "ordinal", "categorical")]

    @property
    def sort_keys(self) -> tuple[str, ...]:
        """The columns by which the table is sorted, the first key first."""
        return () if self._sorting is None else tuple(self._sortable[j].name for j in self._sorting.keys)

    @property
    def named_keys(self) -> tuple[str, ...]:
        """Those of them that do not follow from the ones before."""
        return () if self._sorting is None else tuple(self._sortable[j].name for j in self._sorting.named)

    @cached_property
    def stretches(self) -> NDArray[np.int64] | None:
        """Stretches of a table that is sorted, by columns or by its clusters, within which the order means nothing."""
        if self._sorting is not None:
            return self._sorting.stretches
        if self.time is not None or self.separation is None or len(self.separation.groups) == 1:
            return None
        return stretches_of_groups(self.memberships[self.prepared.sample].argmax(axis=1))

    def remembered(self, aspect: Aspect) -> Aspect:
        """A column of the sample, with how far its rows resemble the rows before."""
        lines = [aspect.spots[:, k].astype(float) for k in range(aspect.width)]
        lines = lines if aspect.scores is None else [aspect.scores, *lines]
        found = [self._memory(self._in_order(line, aspect)) for line in lines]
        clear = [each for each in found if each is not None]
        if not clear:
            return aspect
        fresh = None
        if aspect.scores is not None:
            fresh = np.zeros(len(aspect.codes))
            line = self._in_order(aspect.scores, aspect)
            line = line if self.time is None else without_cycle(line)  # rows of a design repeat themselves too
            fresh[self.order] = normal_scores(innovations(line))
        return replace(aspect, memory=max(clear, key=lambda each: float(each @ each)), fresh=fresh)

    def _memory(self, line: Values) -> Values | None:
        """How far rows resemble the rows before; a file that is sorted, by whatever, has independent rows."""
        found = memory(line)
        if found is None or self.time is not None:
            return found
        return None if memory(detrended(line)) is None else found

    def compare(self, a: Aspect, b: Aspect) -> Pair:
        """Test whether two columns are independent; against what orders the rows, by what it leaves of the other."""
        orders = [self._is_clock(each) or each.name in self.sort_keys for each in (a, b)]
        if all(each.name in self.sort_keys for each in (a, b)):
            return compare(a, b, share=1.0)
        if orders == [True, False]:
            return compare(a, b, share=self._share_along(b, a))
        return compare(a, b, share=self._share_along(a, b) if orders == [False, True] else None)

    def _is_clock(self, aspect: Aspect) -> bool:
        """Whether a column only rises, or only falls, along the rows."""
        if aspect not in self.clocks:
            self.clocks[aspect] = aspect.scores is not None and self._only_moves_on(aspect.scores, aspect.codes >= 0)
        return self.clocks[aspect]

    def _only_moves_on(self, scores: Values, seen: NDArray[np.bool_]) -> bool:
        steps = np.diff(scores[self.order][seen[self.order]])
        return bool((steps >= 0).all() or (steps <= 0).all())

    def _share_along(self, aspect: Aspect, clock: Aspect) -> float:
        """Rows of a column that are worth an independent one for a change along a clock."""
        if aspect.memory is None:
            return 1.0
        lines = [aspect.scores] if aspect.scores is not None else list(aspect.spots.T.astype(float))
        stretches = np.where(clock.codes < 0, clock.width, clock.codes).astype(np.int64)
        left = [within(np.where(aspect.codes < 0, np.nan, line), stretches)[self.order] for line in lines]
        if self.stretches is not None:
            left = [within(line, self.stretches) for line in left]
        return max(inflation_of_mean(line) for line in left)

    def _in_order(self, line: Values, aspect: Aspect) -> Values:
        x = np.where(aspect.codes < 0, np.nan, line)[self.order]
        return x if self.stretches is None else within(x, self.stretches)


def memberships(shares: Values, groups: Sequence[tuple[int, ...]]) -> Values:
    """(n, clusters) probability of each cluster, from the (n, K) probability of each component."""
    each = [shares[:, list(group)].sum(axis=1) for group in groups]
    return np.asarray(np.clip(np.stack(each, axis=1), 0.0, 1.0))  # rounding may have gone beyond


def aspect(column: Column, sample: NDArray[np.int64]) -> Aspect | None:
    """A column of the sample as tests see it; None if it does not vary."""
    if column.kind == "date" or column.role == "numeric":
        return ranked(column.name, column.raw[sample], stamp if column.kind == "date" else number)
    if column.model is None:
        return None
    if column.kind == "categorical" and MOST_LEVELS < len(column.levels) <= _MOST_CLASSES:
        return classed(column.name, column.raw[sample], column.levels, ordered=False)
    ordered = column.kind in ("ordinal", "numeric")
    return classed(column.name, column.model[sample], column.classes, ordered=ordered)


def shown(column: Column, value: float) -> str:
    """A value of the model's table, a score or a code, as a reader knows it."""
    if np.isnan(value):
        return "missing"
    if column.role == "numeric" and column.curve is not None:
        return number(float(column.curve.undo(np.array(value))))
    return short(column.classes[int(value)])


def shown_moment(column: Column, row: int) -> str:
    """A moment of the column of time, with all its digits."""
    value = column.raw[row]
    if np.isnan(value):
        return "missing"
    if column.kind == "date":
        return stamp(float(value))
    return short(column.levels[int(value)]) if column.levels else f"{value:.10g}"
