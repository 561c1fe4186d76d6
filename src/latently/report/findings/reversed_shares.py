"""Shares of a yes-no column that differ between two classes one way in all rows, and the other way within strata."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from latently.report.findings.code import name
from latently.report.findings.finding import Finding
from latently.report.study.evidence import belief
from latently.report.study.pairs.aspects import RARER, Aspect
from latently.report.study.words import counted, cut, short

Values = NDArray[np.float64]
ALARM: Final = 0.003  # chance of a false alarm over all tests
_TURNED: Final = 0.15  # chance over all tests that what is left within strata is on the other side by luck
_POOLED: Final = 0.01  # chance that a difference of shares in all rows is luck, over all pairs
_LEAST: Final = 0.01  # of a difference of shares
_LEAST_PART: Final = 0.1  # of the difference in all rows, that turns round
_LEAST_ROWS: Final = 10  # of a class, in the mean of two strata
_COVERED: Final = 0.8  # of the rows are in strata with both classes
_OVERLAP: Final = 0.25  # of what both classes tell in all rows, that they tell within strata


@dataclass(frozen=True)
class _Rates:
    """Difference of a share between two classes, in all rows and within strata (Mantel and Haenszel), with errors."""

    pool: float
    pool_error: float
    within: float
    within_error: float


@dataclass(frozen=True)
class _Asked:
    """How many differences are looked at in all rows, and within strata."""

    pairs: int
    within: int


def reversed_shares(groups: list[Aspect], pairs: list[tuple[Aspect, Aspect]]) -> Iterator[Finding]:
    """Find pairs of yes-no columns that go together one way in all rows, and the other way within strata.

    Parameters
    ----------
    groups
        Columns that may be the strata.
    pairs
        The pairs.
    """
    strata = [[group for group in groups if group.name not in (a.name, b.name)] for a, b in pairs]
    asked = _Asked(len(pairs), sum(map(len, strata)))
    for (first, second), every in zip(pairs, strata, strict=True):
        turned = [made for group in every if (made := _turned(first, second, group, asked)) is not None]
        if turned:
            yield max(turned, key=lambda made: made.weight)


def _turned(first: Aspect, second: Aspect, group: Aspect, asked: _Asked) -> Finding | None:
    named = np.array([label != RARER for label in group.labels])
    for y, x in ((first, second), (second, first)):
        found = _rates(_counts(y, x, group), named)
        if found is not None and _is_turned(found, asked):
            return _told(y, x, group, found, asked.pairs)
    return None


def _counts(y: Aspect, x: Aspect, group: Aspect) -> Values:
    """(strata, classes, outcomes) rows."""
    there = (y.codes >= 0) & (x.codes >= 0) & (group.codes >= 0)
    cells = (group.codes[there] * 2 + x.codes[there]) * 2 + y.codes[there]
    return np.bincount(cells, minlength=4 * group.width).reshape(-1, 2, 2).astype(float)


def _rates(counts: Values, named: NDArray[np.bool_]) -> _Rates | None:
    """Rare classes taken together are no stratum of their own."""
    whole = counts.sum(axis=0)
    if whole.sum(axis=1).min() < 2 * _LEAST_ROWS:
        return None
    counts = counts[named & (counts.sum(axis=2).min(axis=1) >= 1)]
    sizes = counts.sum(axis=2)  # (strata, classes)
    if len(counts) < 2 or sizes.sum() < _COVERED * whole.sum():
        return None
    rates = counts[:, :, 1] / sizes
    weights = sizes.prod(axis=1) / sizes.sum(axis=1)
    if weights.sum() < _OVERLAP * whole.sum(axis=1).prod() / whole.sum():  # the classes are nearly the strata
        return None
    weights = weights / weights.sum()
    within = float(weights @ (rates[:, 1] - rates[:, 0]))
    spread = (((counts + 0.5).prod(axis=2) / (sizes + 1) ** 2) / sizes).sum(axis=1)
    pooled = whole[:, 1] / whole.sum(axis=1)
    error = np.sqrt((pooled * (1 - pooled) / whole.sum(axis=1)).sum())
    return _Rates(float(pooled[1] - pooled[0]), float(error), within, float(np.sqrt(weights**2 @ spread)))


def _is_turned(found: _Rates, asked: _Asked) -> bool:
    """Whether there is a difference in all rows, and another within strata, on the other side of zero.

    The first is asked once for each pair of columns, the second in all strata. That the difference goes is most of the
    finding: that what is left turns is asked less strictly.
    """
    least = max(_LEAST, _LEAST_PART * abs(found.pool))
    if found.pool * found.within >= 0 or abs(found.within) < least or abs(found.pool) < _LEAST:
        return False
    error = max(found.within_error, 1e-9)
    goes, turns = (float(ndtr(-abs(each) / error)) for each in (found.pool - found.within, found.within))
    is_clear = _p_pool(found) <= _POOLED / asked.pairs and goes <= ALARM / (4 * asked.within)
    return is_clear and turns <= _TURNED / asked.within


def _p_pool(found: _Rates) -> float:
    return float(2 * ndtr(-abs(found.pool) / max(found.pool_error, 1e-9)))


def _each(group: Aspect) -> str:
    """Strata in words: classes, or stretches of a number."""
    is_cut = group.labels[-1].startswith("at least ")
    return f"stretches of equal {short(group.name)}" if is_cut else f"each {short(group.name)}"


def _points(difference: float) -> str:
    return counted(round(100 * abs(difference)), "point")


def _told(y: Aspect, x: Aspect, group: Aspect, found: _Rates, pairs: int) -> Finding:
    more, less = (x.labels[1], x.labels[0]) if found.pool > 0 else (x.labels[0], x.labels[1])
    outcome = f"{short(y.name)} = {short(y.labels[1])}"
    text = (
        f"{outcome} is more common where {short(x.name)} is {short(more)} than where it is {short(less)} in the whole "
        f"table (by {_points(found.pool)}), but less common within {_each(group)} on average "
        f"(by {_points(found.within)})."
    )
    columns = (cut(y.name), cut(x.name), cut(group.name))
    show = f'pd.crosstab([df[{name(columns[2])}], df[{name(columns[1])}]], df[{name(columns[0])}], normalize="index")'
    return Finding(
        "reversal",
        text,
        "dependencies",
        columns,
        effect=found.within - found.pool,
        measure="difference",
        probability=belief(_p_pool(found), pairs),
        code=f"import pandas as pd\n{show}",
        size=0.5 + 2 * min(abs(found.within), abs(found.pool)),
    )
