"""Which components of a mixture are clusters: those with a valley between them, shown on rows they have not seen.

A mixture needs several components for any cloud that is not Gaussian, so components are not clusters. Two groups of
components are apart if rows that were not used for the fit, seen along the direction that tells the groups best,
are fewer in a stretch between than in equally long stretches on both sides. No distribution with one peak
has that, whatever its skew or its tails, so the test (two binomial tests, both of which must hold) is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp
from scipy.stats import binom, chi2

from latently.report.study.model import Fitted, fit_part
from latently.report.study.order import inflation_of_mean, memory, within
from latently.report.study.prepare import Prepared
from latently.report.study.view import View

Values = NDArray[np.float64]
Groups = list[tuple[int, ...]]
Place = tuple[float, float, float]

_GRID: Final = 256
_TEST_ROWS: Final = 20_000
_WIDTHS: Final = (0.3, 0.5, 0.75, 1.0)  # of a stretch, in distances of a peak from the valley
_BETWEEN: Final = (0.4, 0.5, 0.6)  # where a valley may lie on the way from one group to the other
_LEAST_ROWS: Final = 40
_FOLDS, _FEW_ROWS = 5, 5000
_PARTS: Final = 10  # parts of a file, within which rows are compared with the rows before
_MOST: Final = 0.5  # more than this share of the tests must see the valley
APART: Final = 0.01


@dataclass(frozen=True)
class Separation:
    """How many groups there are.

    Attributes
    ----------
    groups
        The components of each group.
    p
        Chance of a separation like this, or a clearer one, in a cloud with one peak.
    share
        How many rows are worth an independent one; more than 1 where rows resemble the rows before them.
    """

    groups: Groups
    p: float
    share: float = 1.0


def separate(prepared: Prepared, fitted: Fitted, order: NDArray[np.int64] | None = None) -> Separation:
    """Find the groups of components that are apart; one group, if none are.

    Parameters
    ----------
    prepared
        The table.
    fitted
        Its model.
    order
        Places of the sample in the order of time; None if they are in the order of the file, which may be sorted by
        what makes the clusters.
    """
    groups: Groups = [(k,) for k in range(fitted.view.size)]
    X = prepared.tame[:_TEST_ROWS]
    if len(groups) == 1 or len(X) < _LEAST_ROWS:
        return Separation([tuple(range(len(groups)))], 1.0, _Follow(prepared, fitted, X, order).share(None))
    tests, follow = _folds(prepared, fitted, X), _Follow(prepared, fitted, X, order)
    while len(groups) > 1:
        pairs = {pair: _together(tests, follow, *pair) for pair in combinations(groups, 2)}
        one, other = max(pairs, key=lambda pair: (pairs[pair], fitted.view.weights[list(pair[0] + pair[1])].sum()))
        p = pairs[one, other]
        if p <= APART:
            break
        groups = [g for g in groups if g not in (one, other)] + [one + other]
    share = follow.share(groups if len(groups) > 1 else None)
    return Separation(sorted(groups, key=lambda g: -fitted.view.weights[list(g)].sum()), p, share)


class _Follow:
    """How far rows resemble the rows before them, beyond being in the same group."""

    def __init__(self, prepared: Prepared, fitted: Fitted, X: Values, order: NDArray[np.int64] | None) -> None:
        parts = np.arange(len(X)) * _PARTS // len(X)
        by_file = order is None
        order = np.arange(len(X)) if order is None else order[order < len(X)]
        # a file may be sorted by what makes the clusters: there, only what rows share with near ones counts
        lines = [within(X[order, j], parts) if by_file else X[order, j] for j in prepared.numeric]
        self.lines = [x for x in lines if memory(x) is not None]
        self.own = _memberships(fitted.view, X[order]).argmax(axis=1) if self.lines else order

    def share(self, groups: Groups | None) -> float:
        """Rows that are worth an independent one, for a count, given the groups; of the column where they are most."""
        if not self.lines:
            return 1.0
        place = np.zeros(int(self.own.max()) + 1, dtype=np.int64)
        for at, group in enumerate(groups or ()):
            place[[k for k in group if k < len(place)]] = at + 1
        return max(inflation_of_mean(within(x, place[self.own])) for x in self.lines)


def _together(tests: "list[_Test]", follow: _Follow, g: tuple[int, ...], h: tuple[int, ...]) -> float:
    """Chance that two groups look as much apart in all tests together, though there is no valley between them."""
    found = []
    if len(tests[0].lines):
        counts = np.array([test.counts(g, h) for test in tests])  # (tests, 3)
        agree = ((counts[:, 1] < counts[:, 0]) & (counts[:, 1] < counts[:, 2])).mean()
        found.append(_valley(counts.sum(axis=0) / follow.share([g, h])) if agree > _MOST else 1.0)
    if len(tests[0].tables) >= 3:
        found.append(float(np.median([test.classes(g, h) for test in tests])))
    return min(1.0, len(found) * min(found)) if found else 1.0


def _folds(prepared: Prepared, fitted: Fitted, X: Values) -> "list[_Test]":
    """Fits to some of the rows, each with tests on the others; components in the order of the whole fit."""
    rng = prepared.rng(4)
    parts = np.array_split(rng.permutation(len(X)), _FOLDS if len(X) <= _FEW_ROWS else 2)
    shares = _memberships(fitted.view, X)
    made = []
    for part in parts:
        rest = np.setdiff1d(np.arange(len(X)), part)
        # many rows hold a fit to its start so loosely that the whole fit may be it, which keeps the order
        view = fit_part(prepared, X[rest], fitted.mixture, rng, anew=len(X) <= _FEW_ROWS)
        _, order = linear_sum_assignment(-(shares[rest].T @ _memberships(view, X[rest])))
        made.append(_Test(prepared, view.ordered(order), X[rest], X[part]))
    return made


def _memberships(view: View, X: Values) -> Values:
    return np.concatenate([view.ask(X[part]).shares for part in view.batches(len(X))])


class _Test:
    """Tests of pairs of groups: a direction from some rows (a), counts from others (b)."""

    def __init__(self, prepared: Prepared, view: View, a: Values, b: Values) -> None:
        self.view, self.a, self.b = view, a, b
        self.joint_a, self.joint_b = (
            np.concatenate([view.ask(x[s]).joint for s in view.batches(len(x))]) for x in (a, b)
        )
        ordinal = [
            j for j in prepared.coded if prepared.used[j].kind == "ordinal" and len(prepared.used[j].classes) > 3
        ]
        self.lines = np.array([*prepared.numeric, *ordinal], dtype=np.intp)
        self.tables = {j: t for j, t in view.tables.items() if j not in ordinal}
        rng = prepared.rng(5)
        self.scores_a, self.scores_b = (_scores(x, self.lines, len(prepared.numeric), rng) for x in (a, b))

    def _members(self, joint: Values, g: tuple[int, ...], h: tuple[int, ...]) -> tuple[NDArray[np.bool_], Values]:
        """Rows of the two groups, and the probability of the first rather than the second."""
        mine = np.isin(joint.argmax(axis=1), (*g, *h))
        odds = logsumexp(joint[:, list(g)], axis=1) - logsumexp(joint[:, list(h)], axis=1)
        return mine, 1 / (1 + np.exp(-np.clip(odds, -500, 500)))

    def counts(self, g: tuple[int, ...], h: tuple[int, ...]) -> list[int]:
        """Rows (b) at the peak of one group, in the valley, and at the peak of the other, as a has them."""
        mine, first = self._members(self.joint_a, g, h)
        theirs, _ = self._members(self.joint_b, g, h)
        middle = np.nanmean(self.scores_a, axis=0)
        direction = _direction(np.where(np.isnan(self.scores_a), middle, self.scores_a)[mine], first[mine])
        if direction is None:
            return [0, 0, 0]
        known, a = _along(self.scores_a[mine], direction, middle)
        ends = [_mean(a, share) for share in (first[mine][known], 1 - first[mine][known])]
        return counted(a, _along(self.scores_b[theirs], direction, middle)[1], ends)

    def classes(self, g: tuple[int, ...], h: tuple[int, ...]) -> float:
        """Latent classes: at least three columns of categories that the others tell, on rows not seen."""
        mine, _ = self._members(self.joint_b, g, h)
        rows = self.b[mine]
        logs = {j: _log_odds(table, self.view.weights, g, h) for j, table in self.tables.items()}
        own = {
            j: np.where(np.isnan(rows[:, j]), 0.0, odds[np.nan_to_num(rows[:, j]).astype(int)])
            for j, odds in logs.items()
        }
        total = np.sum(list(own.values()), axis=0)
        found = sorted(_told(rows[:, j], total - own[j] > 0, len(logs[j])) for j in logs)
        return min(1.0, len(found) * found[2])


def _scores(X: Values, lines: NDArray[np.intp], n_numeric: int, rng: np.random.Generator) -> Values:
    """Scores and codes of ordered classes, spread; NaN where missing."""
    out = X[:, lines].copy()
    out[:, n_numeric:] += rng.uniform(-0.5, 0.5, out[:, n_numeric:].shape)
    return out


def _mean(a: Values, share: Values) -> float:
    return float(a @ share / max(share.sum(), 1e-300))


def _along(X: Values, direction: Values, middle: Values) -> tuple[NDArray[np.bool_], Values]:
    """Which rows lie where along a direction; not those of which too much is missing to say so."""
    gone = np.isnan(X)
    weight = direction**2 * np.where(gone, middle, X).var(axis=0) if len(X) else direction**2
    lost = gone @ (weight / max(weight.sum(), 1e-300))
    limit = next((limit for limit in (0.05, 0.15, 0.3) if (lost <= limit).mean() >= 0.5), 0.5)
    return lost <= limit, np.asarray(np.where(gone, middle, X)[lost <= limit] @ direction)


def _direction(X: Values, first: Values) -> Values | None:
    """The direction that tells two groups best: Fisher's."""
    w = np.stack([first, 1 - first])
    if (w.sum(axis=1) < X.shape[1] + 2).any():
        return None
    means = (w @ X) / w.sum(axis=1, keepdims=True)
    inner = sum((X - m).T @ ((X - m) * v[:, None]) for m, v in zip(means, w, strict=True)) / len(X)
    shrink = min(2 * X.shape[1] / len(X), 1.0)  # few rows cannot tell how columns go together within groups
    inner = (1 - shrink) * inner + (shrink + 1e-3) * np.diag(np.diag(inner)) + 1e-9 * np.eye(X.shape[1])
    return np.asarray(np.linalg.solve(inner, means[1] - means[0]))


def counted(a: Values, b: Values, ends: Sequence[float] = ()) -> list[int]:
    """Values of b in stretches of one width: at a peak, in the valley and at the next peak, as a shows them best.

    The deepest valley of a is tried, and the way from the mean of one group to that of the other (`ends`), which is
    known better if rows are few.
    """
    deepest = _deepest(a)
    places = [] if deepest is None else [deepest]
    if len(ends) == 2 and ends[0] != ends[1]:
        low, high = sorted(ends)
        places += [(low, low + share * (high - low), high) for share in _BETWEEN]
    if not places:
        return [0, 0, 0]
    tried = [(_clear(a, place, width), place, width) for place in places for width in _widths(place)]
    _, place, width = max(tried, key=lambda each: each[0])
    return [int((np.abs(b - at) <= width / 2).sum()) for at in place]


def _valley(counts: Values) -> float:
    """P-value of a valley: both sides must have more."""
    left, middle, right = (int(count) for count in counts)
    return float(max(binom.cdf(middle, middle + side, 0.5) for side in (left, right)))


def _deepest(a: Values) -> Place | None:
    """Left peak, valley and right peak of smoothed values."""
    low, high = np.quantile(a, [0.001, 0.999]) if len(a) >= 10 else (0.0, 0.0)
    if not high > low:
        return None
    counts, edges = np.histogram(a, bins=_GRID, range=(low, high))
    spread = min(a.std(), (np.quantile(a, 0.75) - np.quantile(a, 0.25)) / 1.34) or a.std()
    smooth = _smoothed(counts.astype(float), 0.6 * spread * len(a) ** -0.2 / (edges[1] - edges[0]))
    before, after = np.maximum.accumulate(smooth), np.maximum.accumulate(smooth[::-1])[::-1]
    depth = np.minimum(before, after) - smooth
    v = int(depth.argmax())
    if not depth[v] > 0:
        return None
    centres = (edges[1:] + edges[:-1]) / 2
    left, right = float(centres[: v + 1][smooth[: v + 1].argmax()]), float(centres[v:][smooth[v:].argmax()])
    return left, float(centres[v]), right


def _widths(place: Place) -> list[float]:
    left, middle, right = place
    return [share * min(middle - left, right - middle) for share in _WIDTHS]


def _clear(a: Values, place: Place, width: float) -> float:
    """How clear a valley is: its lack of rows against the lower side, in standard deviations."""
    left, middle, right = (int((np.abs(a - at) <= width / 2).sum()) for at in place)
    return float((min(left, right) - middle) / np.sqrt(min(left, right) + middle + 1.0))


def _smoothed(counts: Values, cells: float) -> Values:
    reach = np.arange(-_GRID, _GRID + 1)
    weights = np.exp(-0.5 * (reach / max(cells, 0.5)) ** 2)
    return np.convolve(np.pad(counts, _GRID), weights / weights.sum(), mode="valid")


def _log_odds(table: Values, weights: Values, g: tuple[int, ...], h: tuple[int, ...]) -> Values:
    one, other = (np.average(table[list(s)], axis=0, weights=weights[list(s)]) for s in (g, h))
    return np.asarray(np.log(np.maximum(one, 1e-12)) - np.log(np.maximum(other, 1e-12)))


def _told(codes: Values, side: NDArray[np.bool_], classes: int) -> float:
    """P-value of the association of a column with a split of the rows by the other columns."""
    seen = ~np.isnan(codes)
    table = np.stack([np.bincount(codes[seen & s].astype(int), minlength=classes) for s in (side, ~side)]).astype(float)
    table = table[:, table.sum(axis=0) >= 5]
    if table.shape[1] < 2 or (table.sum(axis=1) < 5).any():
        return 1.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(chi2.sf(((table - expected) ** 2 / expected).sum(), table.shape[1] - 1))
