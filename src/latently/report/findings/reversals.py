"""Associations that turn round within the groups of another column (Simpson's paradox)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from latently.report.findings.code import correlations, name, names
from latently.report.findings.finding import Finding
from latently.report.findings.reversed_shares import ALARM, reversed_shares
from latently.report.study.evidence import belief
from latently.report.study.pairs.aspects import Aspect
from latently.report.study.rows.order import inflation, memory
from latently.report.study.study import Study
from latently.report.study.words import cut, listed, short

Values = NDArray[np.float64]
Ints = NDArray[np.intp]
_LEAST: Final = 0.1  # of a correlation
_MADE: Final = 0.95  # correlation of groups with a sum of two numbers, from which on they are made of it
_LEAST_ROWS: Final = 10  # of a group
_MOST_GROUPS: Final = 12
_MOST: Final = 3


def reversals(study: Study, target: str | None = None) -> list[Finding]:
    """Find pairs whose association has one sign in all rows and the other within groups.

    Both must be clear, corrected for the number of all tests, and no group of some size may clearly go with the pool.

    Parameters
    ----------
    study
        The table.
    target
        The column to predict, if there is one: what is said of shares is said of its.
    """
    groups = [a for a in study.aspects if 2 <= a.width <= _MOST_GROUPS and _is_group(study, a)]
    numbers = [a for a in study.aspects if a.is_graded]
    binary = [a for a in study.aspects if a.width == 2]
    rates = list(combinations(sorted(binary, key=lambda a: a.name != target), 2))
    strata = [*groups, *(a for a in numbers if a not in groups and 2 < a.width <= _MOST_GROUPS)]
    found = [
        *_told_together(_turned_correlations(study, groups, numbers)),
        *reversed_shares(strata, rates),
    ]
    return sorted(found, key=lambda each: -each.weight)[:_MOST]


def _is_group(study: Study, aspect: Aspect) -> bool:
    column = next(c for c in study.prepared.columns if c.name == aspect.name)
    return column.kind in ("categorical", "ordinal")


@dataclass(frozen=True)
class _Turn:
    """Two columns whose correlation turns round within the groups of a third."""

    a: str
    b: str
    group: str
    pool: float
    within: float
    probability: float

    @property
    def size(self) -> float:
        """The smaller of the two correlations."""
        return min(abs(self.pool), abs(self.within))


@dataclass(frozen=True, eq=False)
class _Correlations:
    """(d, d) correlations of columns, by the rows in which both are there, and how many those are."""

    r: Values
    rows: Values


def _correlated(Z: Values, seen: Values) -> _Correlations:
    """Of (n, d) values without their means, 0 where missing."""
    squares = (Z**2).T @ seen
    size = np.sqrt(squares * squares.T)
    return _Correlations(np.divide(Z.T @ Z, size, out=np.zeros_like(size), where=size > 0), seen.T @ seen)


def _centred(Z: Values, seen: Values, codes: Ints, width: int) -> Values:
    """Values less the mean of their group."""
    spots = (codes[:, None] == np.arange(width)).astype(float)
    means = (spots.T @ (Z * seen)) / np.maximum(spots.T @ seen, 1.0)
    return np.asarray((Z - means[codes]) * seen)


def _turned_correlations(study: Study, groups: list[Aspect], numbers: list[Aspect]) -> Iterator[_Turn]:
    if len(numbers) < 2 or not groups:
        return
    seen = np.stack([a.codes >= 0 for a in numbers], axis=1).astype(float)
    Z = np.stack([a.ranks for a in numbers], axis=1) / len(seen)
    share = _shares(study, groups, Z, seen)
    pairs = len(numbers) * (len(numbers) - 1) // 2
    tests = pairs * len(groups)
    for group in groups:
        there = (group.codes >= 0)[:, None] & np.array([a.name != group.name for a in numbers])
        codes = np.maximum(group.codes, 0)
        s = seen * there
        pool = _correlated(_centred(Z, s, np.zeros(len(Z), dtype=np.intp), 1), s)
        inner = _centred(Z, s, codes, group.width)
        within = _correlated(inner, s)
        turned = (pool.r * within.r < 0) & (np.minimum(abs(pool.r), abs(within.r)) >= _LEAST)
        for i, j in np.argwhere(np.triu(turned, 1)):
            p = _p(pool, i, j, share[i, j], 2), _p(within, i, j, share[i, j], 1 + group.width)
            clear = p[0] <= ALARM / pairs and p[1] <= ALARM / tests
            if (
                clear
                and not _is_made_of(group, numbers[i], numbers[j])
                and _agree(inner[:, [i, j]], s[:, [i, j]], codes, within.r[i, j])
            ):
                names = numbers[i].name, numbers[j].name, group.name
                yield _Turn(*names, float(pool.r[i, j]), float(within.r[i, j]), belief(max(p), pairs))


def _is_made_of(group: Aspect, x: Aspect, y: Aspect) -> bool:
    """Whether an order of groups is that of a sum of both numbers: within each, one must fall where the other rises."""
    if not group.is_graded:
        return False
    both = (group.codes >= 0) & (x.codes >= 0) & (y.codes >= 0)
    base = np.column_stack([np.ones(both.sum()), x.ranks[both], y.ranks[both]])
    said = base @ np.linalg.lstsq(base, group.ranks[both], rcond=None)[0]
    return bool(np.corrcoef(said, group.ranks[both])[0, 1] > _MADE)


def _shares(study: Study, groups: list[Aspect], Z: Values, seen: Values) -> Values:
    """(d, d) how many rows are worth an independent one, by how far rows resemble the rows before.

    What the groups explain is taken out first: a table that is sorted by them, or in which they take turns, has
    independent rows.
    """
    dummies = np.hstack([np.ones((len(Z), 1)), *(group.spots[:, 1:] for group in groups)]).astype(float)
    rest = Z - dummies @ np.linalg.lstsq(dummies, Z, rcond=None)[0]
    lines = np.where(seen > 0, rest, np.nan)[study.order]
    memories = [memory(line) for line in lines.T]
    return np.array([[inflation(a, b) for b in memories] for a in memories])


def _p(found: _Correlations, i: int, j: int, share: float, lost: int) -> float:
    freedom = found.rows[i, j] / share - lost
    r = min(abs(found.r[i, j]), 1 - 1e-12)
    return float(2 * stdtr(freedom, -r * np.sqrt(freedom / (1 - r**2)))) if freedom > 5 else 1.0


def _agree(z: Values, seen: Values, codes: Ints, r: float) -> bool:
    """Whether most rows are in groups with the sign of the whole, and none is clearly against it."""
    rows, signs = [], []
    for k in np.unique(codes):
        both = (codes == k) & seen.all(axis=1)
        n, (x, y) = int(both.sum()), z[both].T
        size = np.sqrt((x @ x) * (y @ y))
        if n < _LEAST_ROWS or not size > 0:
            continue
        here = (x @ y) / size * np.sign(r)
        if here < -2.5 / np.sqrt(n):
            return False
        rows.append(n)
        signs.append(here > 0)
    return bool(rows) and float(np.average(signs, weights=rows)) > 0.8


def _told_together(found: Iterator[_Turn]) -> list[Finding]:
    """A finding for each group, by the column that most of the turned pairs share; each pair in its best group."""
    best: dict[tuple[str, str], _Turn] = {}
    for turn in sorted(found, key=lambda turn: -turn.size):
        best.setdefault((turn.a, turn.b), turn)
    made = []
    for group in dict.fromkeys(turn.group for turn in best.values()):
        left = [turn for turn in best.values() if turn.group == group]
        while left:
            ends = [end for turn in left for end in (turn.a, turn.b)]
            hub = max(dict.fromkeys(ends), key=ends.count)
            made.append(_told(hub, [turn for turn in left if hub in (turn.a, turn.b)]))
            left = [turn for turn in left if hub not in (turn.a, turn.b)]
    return made


def _told(hub: str, turns: list[_Turn]) -> Finding:
    """One column against one or more others, within the same groups."""
    first = turns[0]
    verbs = ("falls", "rises") if first.pool < 0 else ("rises", "falls")
    turns = [turn for turn in turns if turn.pool * first.pool > 0]
    others = [turn.b if turn.a == hub else turn.a for turn in turns]
    pool, within = (
        ", ".join(f"{value:.2f}" for value in sizes) for sizes in zip(*((t.pool, t.within) for t in turns), strict=True)
    )
    text = (
        f"{short(hub)} {verbs[0]} with {listed(others, 4)} in the whole table (correlation {pool}), but {verbs[1]} "
        f"within each {short(first.group)} (correlation {within})."
    )
    columns = (cut(hub), *map(cut, others), cut(first.group))
    pairs = columns[:-1]
    inner = f'df.groupby({name(columns[-1])}, observed=True)[{names(pairs)}].corr("spearman", numeric_only=True)'
    return Finding(
        "reversal",
        text,
        "dependencies",
        columns,
        effect=first.within - first.pool,
        measure="difference of correlations",
        probability=first.probability,
        code=f"{correlations(pairs)}\n{inner}",
        size=0.5 + abs(first.within - first.pool) / 2,
    )
