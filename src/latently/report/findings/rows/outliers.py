"""Rows far from a line that all others follow, and numbers far from a column that is otherwise normal.

A model of the whole table learns tails cautiously, so that in small tables nothing is far enough. What a robust line
leaves has tails that can be looked at: rows are told only if the others leave no more than normal tails.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from latently.report.findings.finding import Finding
from latently.report.findings.rows.gap import gap, have_normal_tails
from latently.report.findings.rows.joint import most_related, rows_apart
from latently.report.findings.rows.row_numbers import RowNumbers
from latently.report.study.columns import Column
from latently.report.study.prepare import Prepared
from latently.report.study.words import counted, cut, listed, number, short

Values = NDArray[np.float64]
_ALARM: Final = 0.001  # over all rows and pairs, were the tails normal
_LEAST_FAR: Final = 6.0  # standard deviations
_LEAST_ROWS: Final = 20
_LEAST_VALUES: Final = 10
_CORRELATION: Final = 0.6  # without the rows that are told
_LOOKED_AT: Final = 0.3  # rank correlation with them, which a few rows may spoil
_FIT_ROWS: Final = 300
_MOST_PAIRS: Final = 60
_MANY: Final = 100  # rows, from which on at most 2 % of them are told; 15 % of fewer
_GAP: Final = 2.0  # times the furthest of the others
_NEAR: Final = 7  # rows nearby that must be far too
_HEAVY, _ALONE, _SKEWED = 2.5, 1.0, 5.0  # standard errors of kurtosis, about a line and alone, and of skewness
_SHOWN: Final = 3
_COMPLETE: Final = 0.8  # of the rows
_APART_SIZE: Final = 0.8
_ORDERS: Final = 20.0  # ratio of the last decile to the first, from which on logarithms are taken
_STEPS, _KEPT = 10, 0.75  # of least trimmed squares


@dataclass(frozen=True)
class _Far:
    """Rows far from what a column usually is, given another one or by itself (-1), and what they change.

    That is the correlation of the two columns, or the share of the spread of the one.
    """

    target: int
    given: int
    rows: NDArray[np.intp]
    size: float
    influence: float
    low: float
    high: float


def outliers(prepared: Prepared, numbers: RowNumbers) -> list[Finding]:
    """The rows that a line, or a column alone, leaves far out; the clearest first.

    Parameters
    ----------
    prepared
        The table.
    numbers
        What its rows are called.
    """
    rows = prepared.sample
    places = [j for j in prepared.numeric if _varies(prepared.used[j], rows)]
    if len(rows) < _LEAST_ROWS or not places:
        return []
    X = np.column_stack([_scored(prepared.used[j], prepared.used[j].raw[rows]) for j in places])
    pairs = _pairs(X)
    limit = max(_LEAST_FAR, float(-ndtri(_ALARM / (2 * len(rows) * max(len(pairs), 1)))))
    limit *= 1 + 3 / len(rows)
    found = [far for j in range(len(places)) if (far := _alone(X[:, j], j, limit)) is not None]
    found += [far for j, k in pairs if (far := _off_line(X[:, j], X[:, k], j, k, limit)) is not None]
    columns = [prepared.used[j] for j in places]
    kept = [_finding(far, columns, rows, numbers) for far in _clearest(found)]
    return kept or _apart(columns, rows, numbers)


def _apart(columns: list[Column], rows: NDArray[np.int64], numbers: RowNumbers) -> list[Finding]:
    """Rows that no line shows, but all columns together; not bent by curves, which many wild rows would bend."""
    X = np.column_stack([np.log(c.raw[rows]) if _is_of_orders(c) else c.raw[rows] for c in columns])
    seen = np.flatnonzero(~np.isnan(X).any(axis=1))
    kept = most_related(X[seen]) if len(seen) >= _COMPLETE * len(X) else []
    found = rows_apart(X[seen][:, kept]) if kept else None
    if found is None:
        return []
    own = [int(row) for row in rows[seen[found[0]]]]
    names = tuple(cut(columns[j].name) for j in kept)
    text = (
        f"{listed([numbers.named(row) for row in own], 8)} {'lies' if len(own) == 1 else 'lie'} far from all others in "
        f"{listed([columns[j].name for j in kept], 8)} together: {found[1]:.1f} times as far from their middle as the "
        "furthest of them, seen by their spread"
    )
    return [_finding_of(f"{'Row' if len(own) == 1 else 'Rows'} {text}.", names, own, numbers, _APART_SIZE)]


def _varies(column: Column, rows: NDArray[np.int64]) -> bool:
    seen = column.raw[rows]
    return len(np.unique(seen[~np.isnan(seen)])) >= _LEAST_VALUES


def _pairs(X: Values) -> list[tuple[int, int]]:
    """Pairs of columns that rise or fall together, both ways round, the clearest first."""
    if X.shape[1] < 2:
        return []
    ranks = np.argsort(np.argsort(np.nan_to_num(X), axis=0), axis=0)
    r = np.abs(np.atleast_2d(np.corrcoef(ranks.T)))
    order = np.argsort(-r, axis=None, kind="stable")
    every = [(int(at // len(r)), int(at % len(r))) for at in order]
    return [(j, k) for j, k in every if j != k and r[j, k] >= _LOOKED_AT][:_MOST_PAIRS]


def _clearest(found: list[_Far]) -> list[_Far]:
    """The clearest, and others only if they tell of rows that it does not."""
    told: set[int] = set()
    kept = []
    for far in sorted(found, key=lambda far: -far.size):
        if not told & set(far.rows.tolist()):
            kept.append(far)
            told |= set(far.rows.tolist())
    return kept[:2]


def _alone(y: Values, j: int, limit: float) -> _Far | None:
    """Numbers far out in a column that is normal without them."""
    seen = np.flatnonzero(~np.isnan(y))
    if len(seen) < 1.5 * _LEAST_ROWS:
        return None
    middle = float(np.median(y[seen]))
    far = _far(y[seen] - middle, limit, _ALONE)
    if far is None:
        return None
    influence = 1 - float(np.delete(y[seen], far[0]).std() / y[seen].std())
    return _Far(j, -1, seen[far[0]], far[1], influence, middle - far[2], middle + far[2])


def _off_line(y: Values, x: Values, j: int, k: int, limit: float) -> _Far | None:
    """Rows far from the line of one column by another that all others follow."""
    seen = np.flatnonzero(~(np.isnan(y) | np.isnan(x)))
    if len(seen) < _LEAST_ROWS:
        return None
    x, y = x[seen], y[seen]
    rate, start = _line(x, y)
    left = y - start - rate * x
    far = _far(left, limit, _HEAVY)
    if far is None:
        return None
    rows, size, width = far
    rest = np.setdiff1d(np.arange(len(y)), rows)
    without = float(np.corrcoef(x[rest], y[rest])[0, 1])
    if abs(without) < _CORRELATION:
        return None
    influence = abs(without - float(np.corrcoef(x, y)[0, 1]))
    at = start + rate * x[rows]
    rows = rows[np.argsort((at < y[rest].min()) | (at > y[rest].max()), kind="stable")]  # told: one within the range
    if not y[rest].min() <= start + rate * float(x[rows[0]]) <= y[rest].max():
        return None
    near = np.array([_beside(x, y, rest, int(row)) for row in rows])
    if (near < width).any():
        return None
    middle = start + rate * float(x[rows[0]])
    return _Far(j, k, seen[rows], size, influence, middle - width, middle + width)


def _line(x: Values, y: Values) -> tuple[float, float]:
    """Slope and start of the line through most rows: of least trimmed squares, from the median slope of pairs."""
    some = np.random.default_rng(0).permutation(len(x))[:_FIT_ROWS]
    dx, dy = np.subtract.outer(x[some], x[some]), np.subtract.outer(y[some], y[some])
    rate = float(np.median(dy[dx > 0] / dx[dx > 0])) if (dx > 0).any() else 0.0
    start = float(np.median(y - rate * x))
    before = np.empty(0, dtype=np.intp)
    for _ in range(_STEPS):
        kept = np.sort(np.argsort(np.abs(y - start - rate * x), kind="stable")[: int(_KEPT * len(x))])
        if not np.ptp(x[kept]) > 0 or np.array_equal(kept, before):
            break
        at, mean = x[kept] - x[kept].mean(), float(y[kept].mean())
        rate = float(at @ (y[kept] - mean) / (at @ at))
        start, before = mean - rate * float(x[kept].mean()), kept
    return rate, start


def _far(left: Values, limit: float, heavy: float) -> tuple[NDArray[np.intp], float, float] | None:
    """Rows far out, the furthest first, how far, and half the width in which 90 % of the others lie.

    None if there are none, or if the others have longer tails than normal ones.
    """
    scale = 1.4826 * float(np.median(np.abs(left - np.median(left))))
    if not scale > 0:
        return None
    size = np.abs(left) / scale
    inner = size <= limit
    rows, rest = np.flatnonzero(~inner), left[inner]
    most = 0.15 if len(left) < _MANY else 0.02
    if not len(rows) or len(rows) > most * len(left) or rest.std() > 1.5 * scale:
        return None
    if gap(size, inner) < _GAP or not have_normal_tails(rest, heavy, _SKEWED):  # without a gap: the end of a tail
        return None
    rows = rows[np.argsort(-size[rows], kind="stable")]
    return rows, float(size[rows[0]]), 1.645 * float(rest.std())


def _beside(x: Values, y: Values, rest: NDArray[np.intp], row: int) -> float:
    """How far a row is from the rows with the nearest values of the other column: a line may be bent."""
    near = rest[np.argsort(np.abs(x[rest] - x[row]), kind="stable")[:_NEAR]]
    return abs(float(y[row] - np.median(y[near])))


def _finding(far: _Far, columns: list[Column], rows: NDArray[np.int64], numbers: RowNumbers) -> Finding:
    own = tuple(int(row) for row in rows[far.rows])
    y = columns[far.target]
    ends = sorted(float(v) for v in _undone(y, np.array([far.low, far.high])))
    value = number(float(y.raw[own[0]]))
    usual = f"{number(ends[0])} to {number(ends[1])} would be usual"
    names: tuple[str, ...] = (cut(y.name),)
    if far.given >= 0:
        x = columns[far.given]
        usual += f" where {short(x.name)} is {number(float(x.raw[own[0]]))}"
        names = (cut(y.name), cut(x.name))
    first = f"In row {numbers.named(own[0])} {short(y.name)} is {value}; {usual}"
    others = [numbers.named(row) for row in own[1 : 1 + _SHOWN]]
    left = len(own) - 1 - len(others)
    more = f"; {'row' if len(own) == 2 else 'rows'} {listed(others, _SHOWN)}" if others else ""
    more += f" and {counted(left, 'other')}" if left > 0 else ""
    more += f" {'is' if len(own) == 2 else 'are'} as far out" if others else ""
    return _finding_of(f"{first}{more}.", names, own, numbers, min(0.6 + 2 * far.influence, 1.0))


def _finding_of(text: str, names: tuple[str, ...], own: Sequence[int], numbers: RowNumbers, size: float) -> Finding:
    return Finding(
        "anomaly",
        text,
        "anomalies",
        names,
        numbers.all(own),
        len(own),
        "rows",
        code=f"df.iloc[{list(numbers.all(own[:10]))}][{list(names)}]",
        size=size,
    )


def _scored(column: Column, x: Values) -> Values:
    """Values on the scale on which lines are looked for: logarithms of what spans orders of magnitude."""
    assert column.curve is not None
    return np.log(x) if _is_of_orders(column) else column.curve.apply(x)


def _undone(column: Column, ends: Values) -> Values:
    assert column.curve is not None
    ends = np.exp(np.minimum(ends, 700.0)) if _is_of_orders(column) else column.curve.undo(ends)
    return np.clip(ends, np.nanmin(column.raw), np.nanmax(column.raw))


def _is_of_orders(column: Column) -> bool:
    low, high = np.nanquantile(column.raw, [0.1, 0.9])
    return bool(np.nanmin(column.raw) > 0 and high > _ORDERS * low)
