"""Rules that all rows but a few keep: one column never above another, a total of two others, a product."""

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from latently.report.findings.code import name
from latently.report.findings.finding import Finding
from latently.report.findings.luck import log_chance
from latently.report.findings.rows.row_numbers import RowNumbers
from latently.report.study.columns import Column
from latently.report.study.words import counted, cut, number, short, stamp

Values = NDArray[np.float64]
MOST_COLUMNS: Final = 30
_LEAST_ROWS: Final = 50
_BROKEN: Final = 0.01  # share of the rows that may break a rule
_BY_CHANCE: Final = 0.1  # share of the rows that would break it, were the columns independent
_ALARM: Final = 1e-4  # chance over all pairs that independent columns break a rule so seldom
_NEAR: Final = 1.25  # ratio of two numbers that are close to the edge of a rule
_AT_EDGE: Final = 0.05  # share of the rows that are near the edge of a rule
_HEAD: Final = 64
_WIDE: Final = 4.0  # standard deviations of a sum for each step of its rounding
_LISTED: Final = 200


@dataclass(frozen=True)
class Rule:
    """A rule, the rows that break it, and how many rows it was asked of."""

    columns: tuple[str, ...]
    text: str
    rows: tuple[int, ...]
    of: int
    code: str


def rules(columns: tuple[Column, ...], rows: NDArray[np.int64], numbers: RowNumbers | None = None) -> list[Finding]:
    """Find rules that hold in the rows of a table, and the rows that break them.

    Parameters
    ----------
    columns
        The columns of a table.
    rows
        Rows to look at.
    numbers
        What rows are called; their places, if None.
    """
    called = numbers or RowNumbers()
    if len(rows) < _LEAST_ROWS:
        return []
    dates = [c for c in columns if c.kind == "date"][:MOST_COLUMNS]
    values = [c for c in columns if c.kind == "numeric" and not c.levels][:MOST_COLUMNS]
    pairs = [*combinations(dates, 2), *combinations(values, 2)]
    limit = float(np.log(_ALARM / max(len(pairs), 1)))
    broken = [rule for a, b in pairs if (rule := _order(a, b, rows, limit, called)) is not None]
    return [*map(_impossible, _told_once(broken)), *map(_follows, _arithmetic(values, rows, called))]


def _order(a: Column, b: Column, rows: NDArray[np.int64], limit: float, called: RowNumbers) -> Rule | None:
    """Whether one column is never above the other, but for a few rows that are far from keeping to it."""
    x, y = a.raw[rows], b.raw[rows]
    both = ~(np.isnan(x) | np.isnan(y))
    n, above = int(both.sum()), int((x > y)[both].sum())
    if n < _LEAST_ROWS or not 0 < min(above, int((x < y)[both].sum())) <= _BROKEN * n:
        return None
    if above > n / 2:
        a, b, x, y = b, a, y, x
    wrong = (y - x)[both] < 0
    if not (_surprises(x[both], y[both], limit) and _has_edge(x[both], y[both], is_date=a.kind == "date")):
        return None
    places = rows[np.flatnonzero(both)[wrong]]
    code = f"df[df[{name(b.name)}] < df[{name(a.name)}]]"
    return Rule((b.name, a.name), _broken(a, b, places, n, called), called.all(places[:_LISTED]), n, code)


def _broken(a: Column, b: Column, places: NDArray[np.int64], n: int, called: RowNumbers) -> str:
    is_date = a.kind == "date"
    low, high = (stamp(float(c.raw[places[0]])) if is_date else number(float(c.raw[places[0]])) for c in (b, a))
    return (
        f"{short(b.name)} is {'before' if is_date else 'below'} {short(a.name)} in {counted(len(places), 'row')} "
        f"({low} and {high} in row {called.named(int(places[0]))}), never in the other {n - len(places)}"
    )


def _surprises(x: Values, y: Values, limit: float) -> bool:
    """Whether independent columns would break the rule far more often."""
    luck = _luck(x, y)
    return luck >= _BY_CHANCE and log_chance(int((x > y).sum()), luck * len(x)) <= limit


def _luck(x: Values, y: Values) -> float:
    """Share of the rows with x above y, if the columns were independent."""
    return float(np.searchsorted(np.sort(y), x, side="left").mean() / len(y))


def _has_edge(x: Values, y: Values, *, is_date: bool) -> bool:
    """Whether rows crowd just where the rule holds, rather than thin out towards it, and those that break it are far.

    Without an edge nothing says that the limit is there and not at half or at twice as much. Numbers of one unit have
    as many decimals, and some of them are nearly equal.
    """
    gap = y - x
    kept = gap >= 0
    middle = float(np.median(gap[kept]))
    crowd = middle == 0 or bool((gap[kept] < 0.25 * middle).mean() > _AT_EDGE)
    far = bool(np.median(-gap[~kept]) >= np.quantile(gap[kept], 0.25))
    return crowd and far and (is_date or _one_unit(x, y))


def _one_unit(x: Values, y: Values) -> bool:
    """Whether two numbers may be of one unit: as many decimals, often nearly equal, seldom just the wrong way."""
    if _places(x) != _places(y):
        return False
    if min(x.min(), y.min()) < 0:
        return True
    some = np.maximum(x, y) > 0
    kept = float(((x <= y) & (y < _NEAR * x))[some].sum())
    broken = float(((y < x) & (x < _NEAR * y))[some].sum())
    return kept > _AT_EDGE * some.sum() and broken <= 0.1 * kept


def _told_once(broken: list[Rule]) -> list[Rule]:
    """Of the rules that a column takes part in the one that is broken least often, if several are."""
    kept: list[Rule] = []
    for rule in sorted(broken, key=lambda rule: len(rule.rows)):
        if not any(set(rule.columns) & set(other.columns) for other in kept):
            kept.append(rule)
    return kept


def _arithmetic(numbers: list[Column], rows: NDArray[np.int64], called: RowNumbers) -> list[Rule]:
    """Columns that are the sum, difference or product of two others in nearly all rows."""
    complete = ~np.isnan([c.raw[rows] for c in numbers]).any(axis=0) if numbers else np.zeros(0, dtype=bool)
    head = rows[np.flatnonzero(complete)[:: max(int(complete.sum()) // _HEAD, 1)]][:_HEAD]
    if len(head) < 20:
        return []
    X = np.array([c.raw[head] for c in numbers])
    close = 1e-6 * np.abs(X).mean(axis=1) + np.array([0.51 * 10.0 ** -_places(x) for x in X])
    found: list[Rule] = []
    for i, j in combinations(range(len(numbers)), 2):
        for sign, made in (("+", X[i] + X[j]), ("×", X[i] * X[j])):
            plus = np.median(X - made, axis=1, keepdims=True) if sign == "+" else np.zeros((len(X), 1))
            hits = (np.abs(X - made - plus) <= close[:, None]).mean(axis=1)
            hits[[i, j]] = 0.0
            k = int(hits.argmax())
            if hits[k] >= 0.9 and _varies(X[i], X[j], made, close[k], sign):
                tie = _Tie(numbers[i], numbers[j], numbers[k], sign, float(plus[k, 0]), float(close[k]))
                found += _checked(tie, rows, called)
    by_total = {rule.columns[0]: rule for rule in sorted(found, key=lambda rule: -len(rule.rows))}
    return list(by_total.values())


def _places(x: Values) -> int:
    """Digits after the point, up to six."""
    return next((k for k in range(6) if np.allclose(x, np.round(x, k), rtol=0, atol=1e-9)), 6)


def _varies(x: Values, y: Values, made: Values, close: float, sign: str) -> bool:
    """Whether both columns take part: a sum with zeros, or a product with ones, is a copy; one with zeros is zero."""
    still = 0.0 if sign == "+" else 1.0
    if sign == "×" and (made != 0).mean() < 0.5:
        return False
    both = min((np.abs(x - still) > close).mean(), (np.abs(y - still) > close).mean())
    return bool(both > 0.2 and min(x.std(), y.std()) > 0 and made.std() > _WIDE * close)


@dataclass(frozen=True, eq=False)
class _Tie:
    """That a column is the sum, with a constant, or the product of two others, up to rounding."""

    a: Column
    b: Column
    c: Column
    sign: str
    plus: float
    close: float


def _checked(tie: _Tie, rows: NDArray[np.int64], called: RowNumbers) -> list[Rule]:
    a, b, c, sign = tie.a, tie.b, tie.c, tie.sign
    x, y, z = (column.raw[rows] for column in (a, b, c))
    there = ~np.isnan(x + y + z)
    plus = tie.plus if abs(tie.plus) > tie.close else 0.0
    made = x + y + plus if sign == "+" else x * y
    wrong = there & (np.abs(np.nan_to_num(z - made)) > tie.close + 1e-6 * np.abs(np.nan_to_num(z)))
    if wrong.sum() > _BROKEN * 2 * there.sum():
        return []
    one, other, total = (short(column.name) for column in (a, b, c))
    but = f"all but {counted(int(wrong.sum()), 'row')}" if wrong.any() else "all rows"
    code_sign = "+" if sign == "+" else "*"
    more = f" {'+' if plus > 0 else '-'} {number(abs(plus))}" if plus else ""
    off = f"df[{name(c.name)}] - (df[{name(a.name)}] {code_sign} df[{name(b.name)}]){_less(plus)}"
    slip = _slipped(z, made, rows, wrong, called)
    text = f"{total} is {one} {sign} {other}{more} in {but} (of {int(there.sum())}){slip}"
    places = called.all(rows[wrong][:_LISTED])
    return [Rule((c.name, a.name, b.name), text, places, int(there.sum()), f"({off}).abs().sort_values().tail()")]


def _less(plus: float) -> str:
    return f" - {plus!r}" if plus else ""


def _slipped(z: Values, made: Values, rows: NDArray[np.int64], wrong: NDArray[np.bool_], called: RowNumbers) -> str:
    """The first exception that a shifted decimal point explains, in words."""
    usable = np.flatnonzero(wrong & (z * np.nan_to_num(made) > 0))
    power = np.log10(z[usable] / made[usable])
    near = (np.abs(power - np.rint(power)) < 0.002) & (np.abs(np.rint(power)) >= 1)
    if not near.any():
        return ""
    times = 10.0 ** np.rint(power[near][0])
    size = f"{times:g} times that" if times > 1 else f"{1 / times:g} times less"
    return f"; in row {called(rows[usable[near][0]])} it is {size}, as if the decimal point had slipped"


def _impossible(rule: Rule) -> Finding:
    return Finding(
        "anomaly",
        f"{rule.text}.",
        "anomalies",
        tuple(map(cut, rule.columns)),
        rule.rows,
        len(rule.rows),
        "rows",
        code=rule.code,
        size=0.9,
    )


def _follows(rule: Rule) -> Finding:
    held = 1 - len(rule.rows) / rule.of
    columns = tuple(map(cut, rule.columns))
    return Finding(
        "determines",
        f"{rule.text}.",
        "dependencies",
        columns,
        rule.rows or None,
        held,
        "share of the rows",
        code=rule.code,
        size=1.0 if rule.rows else 0.7,
    )
