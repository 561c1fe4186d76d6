"""Whether columns depend on each other: tests of all pairs at once, on classes and on ranks.

A pair is tested twice, and the smaller p-value counts double: the classes of both columns by Pearson's chi-square,
which sees any kind of dependence, and the normal scores of their ranks by their correlation, which sees rising and
falling ones best. Missing values drop out pair by pair. Where the rows of both columns resemble the rows before them,
the tests count as many rows as are worth independent ones, and a third test looks at what is new in each row.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtri, stdtr
from scipy.stats import fisher_exact, rankdata

from latently.report.study.columns import OTHERS
from latently.report.study.order import inflation

Values = NDArray[np.float64]
RARER = "rarer ones"
_CLASSES = 5
_MANY = 30.0  # rows expected in every cell, from which Pearson's test is as good as an exact one
_RARE = 8  # rows of a class, below which ranks are not compared by a normal approximation


@dataclass(frozen=True, eq=False)
class Aspect:
    """A column as tests see it.

    Attributes
    ----------
    name
        Its name.
    codes
        (n,) classes 0, 1, ...; -1 where missing.
    labels
        Names of the classes.
    scores
        (n,) normal scores of the ranks, 0 where missing; None if it has no order.
    memory
        Its correlations with itself 1, 2, ... rows on; None if its rows look independent.
    fresh
        (n,) normal scores of what is new in each row, given the rows before, 0 where missing; None as for `memory`.
    """

    name: str
    codes: NDArray[np.intp]
    labels: tuple[str, ...]
    scores: Values | None
    memory: Values | None = None
    fresh: Values | None = None

    @property
    def width(self) -> int:
        """Number of classes."""
        return len(self.labels)

    @cached_property
    def is_graded(self) -> bool:
        """Whether it has an order finer than low and high."""
        return self.scores is not None and (self.width > 2 or len(np.unique(self.scores[self.codes >= 0])) > 2)

    @cached_property
    def ranks(self) -> Values:
        """(n,) ranks among the rows that have a value, 0 where missing or without an order."""
        seen, ranks = self.codes >= 0, np.zeros(len(self.codes))
        if self.scores is not None:
            ranks[seen] = rankdata(self.scores[seen])
        return ranks

    @cached_property
    def spots(self) -> NDArray[np.float32]:
        """(n, classes) one where a row is of the class."""
        return np.asarray((self.codes[:, None] == np.arange(self.width)).astype(np.float32))


def ranked(name: str, x: Values, labels: tuple[str, ...] | None = None) -> Aspect | None:
    """A column with an order, cut at quantiles into up to five classes; None if it does not vary.

    Parameters
    ----------
    name
        Its name.
    x
        (n,) values, NaN where missing.
    labels
        Names of the classes, from low to high, if there are five.
    """
    seen = ~np.isnan(x)
    different = np.unique(x[seen])
    if len(different) < 2:
        return None
    classes = int(np.clip(np.sqrt(seen.sum() / 5), 2, _CLASSES))
    cuts = different[:-1] if len(different) <= classes else np.quantile(x[seen], np.arange(1, classes) / classes)
    codes = np.where(seen, np.searchsorted(np.unique(cuts), np.nan_to_num(x), side="left"), -1)
    scores = normal_scores(x)
    kept, codes = _dense(codes)
    names = labels or ("lowest", "low", "middle", "high", "highest")
    if len(kept) != len(names):
        names = {2: ("low", "high"), 3: ("low", "middle", "high")}.get(len(kept), tuple(f"class {k}" for k in kept))
    return Aspect(name, codes, names, scores) if len(kept) > 1 else None


def classed(name: str, codes: Values, labels: tuple[str, ...], *, ordered: bool) -> Aspect | None:
    """A column of classes, the rare ones taken together; None if it does not vary.

    Parameters
    ----------
    name
        Its name.
    codes
        (n,) classes, NaN where missing.
    labels
        Their names.
    ordered
        Whether they have an order.
    """
    seen = ~np.isnan(codes)
    places = np.where(seen, np.nan_to_num(codes), -1).astype(np.intp)
    counts = np.bincount(places[seen], minlength=len(labels))
    least = max(5.0, 0.02 * seen.sum())
    common = np.array([k for k in np.flatnonzero(counts >= least) if labels[k] != OTHERS], dtype=np.intp)
    place = np.full(len(labels) + 1, len(common), dtype=np.intp)
    place[common], place[-1] = np.arange(len(common)), -1
    if counts.sum() - counts[common].sum() < 5:  # too few to be a class of their own
        place[place == len(common)] = -1
    kept, merged = _dense(place[places])
    names = (*(labels[i] for i in common), RARER)
    if len(kept) < 2:
        return None
    has_order = ordered or len(kept) == 2
    line = codes if ordered else np.where(merged < 0, np.nan, merged)
    return Aspect(name, merged, tuple(names[k] for k in kept), normal_scores(line) if has_order else None)


def normal_scores(x: Values) -> Values:
    """Quantiles of the normal distribution at the ranks of values; 0 where missing."""
    seen = ~np.isnan(x)
    scores = np.zeros(len(x))
    scores[seen] = ndtri((rankdata(x[seen]) - 0.5) / seen.sum())
    return scores


def _dense(codes: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    kept = np.unique(codes[codes >= 0])
    place = np.full(int(codes.max(initial=0)) + 2, -1, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    return kept, np.where(codes < 0, -1, place[codes])


@dataclass(frozen=True, eq=False)
class Pair:
    """How two columns go together.

    Attributes
    ----------
    p
        P-value of independence.
    strength
        Size from 0 to 1: the correlation that would tell as much.
    correlation
        Of the normal scores; None if one has no order.
    table
        (classes of a, classes of b) counts.
    by_rank
        Whether the ranks are the clearer sign.
    rows
        Independent rows that the rows are worth.
    """

    p: float
    strength: float
    correlation: float | None
    table: Values
    by_rank: bool
    rows: float


def compare(a: Aspect, b: Aspect, *, share: float | None = None) -> Pair:
    """Test whether two columns are independent, by the rows in which both are there.

    Parameters
    ----------
    a, b
        The columns.
    share
        How many rows are worth an independent one; by the memories of the columns, if None.
    """
    table = (a.spots.T @ b.spots).astype(np.float64)
    share = inflation(a.memory, b.memory) if share is None else share
    p_classes, informed = _by_classes(table, share)
    rows = table.sum() / share
    graded = a.is_graded and b.is_graded
    if table.shape == (2, 2) and not graded:
        return Pair(_exact(table) if share == 1 else p_classes, informed, _phi(table), table, False, rows)
    if a.scores is None or b.scores is None or (not graded and min(_rarest(table)) < _RARE * share):
        return Pair(p_classes, informed, None, table, False, rows)
    p_ranks, r = _by_ranks(a, b, a.scores, b.scores, rows)
    tests = [p_classes, p_ranks]
    if share > 1 and a.fresh is not None and b.fresh is not None:
        p_fresh, _ = _by_ranks(a, b, a.fresh, b.fresh, table.sum())
        p_ranks = min(p_ranks, p_fresh)
        tests = [*tests, p_fresh]
    strength = max(informed, abs(r) if p_ranks < 0.05 else 0.0)
    return Pair(min(1.0, len(tests) * min(tests)), strength, r, table, p_ranks <= p_classes, rows)


def _exact(table: Values) -> float:
    """Fisher's exact p-value of two columns of two classes."""
    expected = _expected(table)
    if expected.min() >= _MANY:
        return _by_classes(table)[0]
    return float(fisher_exact(table.astype(np.int64)).pvalue)


def _phi(table: Values) -> float:
    ends = table.sum(axis=1).prod() * table.sum(axis=0).prod()
    return float((table[0, 0] * table[1, 1] - table[0, 1] * table[1, 0]) / np.sqrt(ends)) if ends > 0 else 0.0


def _rarest(table: Values) -> list[float]:
    """Rows of the rarer class of each column of two classes; no limit for others."""
    return [float(table.sum(axis=1 - side).min()) if table.shape[side] == 2 else np.inf for side in (0, 1)]


def _by_classes(table: Values, share: float = 1.0) -> tuple[float, float]:
    """P-value of Pearson's test, and the correlation that tells as much, corrected for chance.

    The statistic is divided by how many rows are worth an independent one, as Rao and Scott have it. Rare classes are
    taken together until every cell can be expected to hold enough rows.
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    while min(table.shape) > 1 and _is_sparse(table, share):
        if table.shape == (2, 2):
            return (float(fisher_exact(table.astype(np.int64)).pvalue), abs(_phi(table))) if share == 1 else (1.0, 0.0)
        table = _merged(table)
    n, freedom = table.sum(), (table.shape[0] - 1) * (table.shape[1] - 1)
    if n == 0 or freedom < 1:
        return 1.0, 0.0
    expected = _expected(table)
    stat = float(((table - expected) ** 2 / expected).sum())
    ratio = np.where(table > 0, table / expected, 1.0)
    nats = max(float((table * np.log(ratio)).sum()) - share * freedom / 2, 0.0) / n
    return float(chdtrc(freedom, stat / share)), float(np.sqrt(1 - np.exp(-2 * nats)))


def _expected(table: Values) -> Values:
    return np.asarray(table.sum(axis=1, keepdims=True) * table.sum(axis=0) / max(table.sum(), 1.0))


def _is_sparse(table: Values, share: float) -> bool:
    """Whether too few rows are expected in the cells for Pearson's test."""
    expected = _expected(table)
    return bool((expected < share).any() or (expected < 5 * share).mean() > 0.4)


def _merged(table: Values) -> Values:
    """The two rarest classes of a side taken together: of the side with the rarest class, if it has more than two."""
    sides = [side for side in (0, 1) if table.shape[side] > 2]
    side = min(sides, key=lambda side: float(table.sum(axis=1 - side).min()))
    flat = table if side == 0 else table.T
    order = np.argsort(flat.sum(axis=1), kind="stable")
    flat = np.vstack([flat[np.sort(order[2:])], flat[order[:2]].sum(axis=0)])
    return flat if side == 0 else flat.T


def _by_ranks(a: Aspect, b: Aspect, x: Values, y: Values, n: float) -> tuple[float, float]:
    """P-value of the correlation of scores that is worth n independent rows, and the correlation."""
    both = (a.codes >= 0) & (b.codes >= 0)
    if not both.any():
        return 1.0, 0.0
    x, y = x[both], y[both]
    x, y = x - x.mean(), y - y.mean()
    size = np.sqrt((x @ x) * (y @ y))
    r = float(np.clip((x @ y) / size, -1, 1)) if size > 0 else 0.0
    if n < 8:
        return 1.0, r
    if abs(r) > 1 - 1e-12:
        return 0.0, r
    return float(2 * stdtr(n - 2, -abs(r) * np.sqrt((n - 2) / (1 - r**2)))), r


def rank_correlation(a: Aspect, b: Aspect) -> float:
    """Spearman's correlation of two columns with an order, by the rows in which both are there."""
    both = (a.codes >= 0) & (b.codes >= 0)
    if both.sum() < 2:
        return 0.0
    x, y = (rankdata(each.ranks[both]) if (each.codes < 0).any() or not both.all() else each.ranks for each in (a, b))
    x, y = x - x.mean(), y - y.mean()
    size = np.sqrt((x @ x) * (y @ y))
    return float(np.clip((x @ y) / size, -1.0, 1.0)) if size > 0 else 0.0


def clearest_cell(pair: Pair) -> tuple[int, int]:
    """The classes of the two columns that go together most beyond chance."""
    table = pair.table
    expected = _expected(table)
    excess = (table - expected) / np.sqrt(np.maximum(expected, 1.0))
    a, b = np.unravel_index(int(excess.argmax()), excess.shape)
    return int(a), int(b)
