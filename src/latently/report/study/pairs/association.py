"""Whether columns depend on each other: tests of all pairs at once, on classes and on ranks.

A pair is tested twice, and the smaller p-value counts double: the classes of both columns by Pearson's chi-square,
which sees any kind of dependence, and the normal scores of their ranks by their correlation, which sees rising and
falling ones best; of an order against classes without one, the mean scores of the classes. Missing values drop out
pair by pair. Where the rows of both columns resemble the rows before them, the tests count as many rows as are worth
independent ones, and a third test looks at what is new in each row.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, stdtr
from scipy.stats import fisher_exact, rankdata

from latently.report.study.pairs.aspects import RARER, Aspect
from latently.report.study.rows.order import inflation

Values = NDArray[np.float64]
_MANY = 30.0  # rows expected in every cell, from which Pearson's test is as good as an exact one
_RARE = 8  # rows of a class, below which ranks are not compared by a normal approximation


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
    if (a.scores is None and b.is_graded) or (b.scores is None and a.is_graded):
        return _number_by_class(a, b, table, share, p_classes, informed)
    if a.scores is None or b.scores is None:
        return Pair(p_classes, informed, None, table, False, rows)
    p_ranks, r = _by_ranks(a, b, a.scores, b.scores, rows)
    enough = np.inf if graded else min(_rarest(table)) / _RARE
    by_rank = [p_ranks] if enough >= share else []
    if share > 1 and enough >= 1 and a.fresh is not None and b.fresh is not None:
        by_rank.append(_by_ranks(a, b, a.fresh, b.fresh, table.sum())[0])
    if not by_rank:
        return Pair(p_classes, informed, None, table, False, rows)
    tests = [p_classes, *by_rank]
    strength = max(informed, abs(r) if min(by_rank) < 0.05 else 0.0)
    return Pair(min(1.0, len(tests) * min(tests)), strength, r, table, min(by_rank) <= p_classes, rows)


def _number_by_class(a: Aspect, b: Aspect, table: Values, share: float, p_classes: float, informed: float) -> Pair:
    """An order against classes without one: whether the mean score differs by class (van der Waerden's test)."""
    scored, classes = (a, b) if a.scores is not None else (b, a)
    both = (a.codes >= 0) & (b.codes >= 0)
    assert scored.scores is not None
    z, k = scored.scores[both], classes.codes[both]
    rows = float(table.sum()) / share
    counts = np.bincount(k, minlength=classes.width)
    freedom = int((counts > 0).sum()) - 1
    total = float(((z - z.mean()) ** 2).sum()) if len(z) else 0.0
    if freedom < 1 or not total > 0:
        return Pair(p_classes, informed, None, table, False, rows)
    sums = np.bincount(k, weights=z - z.mean(), minlength=classes.width)
    eta = float((sums**2 / np.maximum(counts, 1)).sum()) / total
    p = float(chdtrc(freedom, eta * (len(z) - 1) / share))
    beyond = max(eta - freedom * share / max(len(z) - 1, 1), 0.0)
    strength = max(informed, float(np.sqrt(beyond)) if p < 0.05 else 0.0)
    return Pair(min(1.0, 2 * min(p, p_classes)), strength, None, table, p <= p_classes, rows)


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


def clearest_cell(pair: Pair, a: Aspect, b: Aspect) -> tuple[int, int]:
    """The classes of the two columns that go together most beyond chance; such as have a name, if there are any."""
    table = pair.table
    expected = _expected(table)
    excess = (table - expected) / np.sqrt(np.maximum(expected, 1.0))
    rows, columns = (np.array([label != RARER for label in each.labels]) for each in (a, b))
    named = np.outer(rows, columns)
    if excess[named].max(initial=0.0) > 0.5 * excess.max():
        excess[~named] = 0.0
    i, j = np.unravel_index(int(excess.argmax()), excess.shape)
    return int(i), int(j)
