"""How two columns go together, in a sentence with the size of the effect."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latently.report.study.columns import Column
from latently.report.study.pairs.aspects import RARER, Aspect
from latently.report.study.pairs.association import Pair, clearest_cell, rank_correlation
from latently.report.study.words import number, percent, short

Values = NDArray[np.float64]
_RATIO = 1.1  # below which a ratio says less than a difference
_LINE = 0.4  # correlation from which on it says more than shares do
_LEAST = 5  # rows of a class that is told
_WHEN = re.compile(r"date|time|year|yr|month|week|day|hour|age|trend", re.IGNORECASE)


@dataclass(frozen=True)
class Told:
    """A sentence without its full stop, and the effect that it prints."""

    text: str
    effect: float
    measure: str


def told(a: Aspect, b: Aspect, pair: Pair, columns: dict[str, Column], sample: NDArray[np.int64]) -> Told:
    """Say how two columns go together.

    Parameters
    ----------
    a, b
        The columns as tests see them.
    pair
        Their test.
    columns
        The columns by name.
    sample
        The rows that the tests looked at.
    """
    r = rank_correlation(a, b) if a.is_graded and b.is_graded and pair.correlation is not None else 0.0
    if r and (pair.by_rank or abs(r) >= _LINE):
        a, b = (b, a) if _is_when(columns[a.name]) else (a, b)
        text = f"{short(a.name)} {'rises' if r > 0 else 'falls'} with {short(b.name)} (rank correlation {r:.2f})"
        return Told(text, r, "correlation")
    number_by_class = next((sides for sides in ((a, b), (b, a)) if _are_number_and_class(*sides, columns)), None)
    if number_by_class is not None:
        x, group = number_by_class
        found = _medians(columns[x.name], columns[x.name].raw[sample], group)
        return _shares(a, b, pair) if found is None else found
    return _shares(a, b, pair)


def _is_when(column: Column) -> bool:
    """Whether a column says when, by its kind or its name: others rise with it, not it with them."""
    return column.kind == "date" or bool(_WHEN.fullmatch(column.name))


def _are_number_and_class(x: Aspect, group: Aspect, columns: dict[str, Column]) -> bool:
    by = columns[group.name]
    return columns[x.name].role == "numeric" and by.role != "numeric" and by.kind != "date"


def _medians(column: Column, x: Values, group: Aspect) -> Told | None:
    """The classes in which a number is largest and smallest, by its median."""
    parts = [x[(group.codes == k) & ~np.isnan(x)] for k in range(group.width)]
    kept = [k for k, part in enumerate(parts) if len(part) >= _LEAST and group.labels[k] != RARER]
    middles = {k: float(np.median(parts[k])) for k in kept}
    if len(middles) < 2:
        return None
    high, low = max(middles, key=middles.__getitem__), min(middles, key=middles.__getitem__)
    top, bottom = middles[high], middles[low]
    if top == bottom:
        return None
    is_ratio = np.nanmin(x) >= 0 and bottom > 0 and top / bottom >= _RATIO
    effect = top / bottom if is_ratio else top - bottom
    size = f"{effect:.3g} times as much" if is_ratio else f"a difference of {number(effect)}"
    where, there = short(group.labels[high]), short(group.labels[low])
    text = (
        f"{short(column.name)} differs by {short(group.name)}: its median is {number(top)} for {where} "
        f"and {number(bottom)} for {there} ({size})"
    )
    return Told(text, effect, "ratio" if is_ratio else "difference")


def _shares(a: Aspect, b: Aspect, pair: Pair) -> Told:
    """The class that is more common where the other column is of a class than elsewhere."""
    i, j = clearest_cell(pair, a, b)
    table = pair.table
    if a.width > b.width:  # of a column with few classes the share is easier to picture
        a, b, i, j, table = b, a, j, i, table.T
    here = table[i, j] / max(table[:, j].sum(), 1.0)
    rest = np.delete(table, j, axis=1)
    elsewhere = rest[i].sum() / max(rest.sum(), 1.0)
    share = "all" if here == 1 else percent(here)
    text = (
        f"{short(a.name)} is {short(a.labels[i])} in {share} of the rows where {short(b.name)} is "
        f"{short(b.labels[j])}, and in {percent(elsewhere)} of the others"
    )
    return Told(text, float(here - elsewhere), "difference")
