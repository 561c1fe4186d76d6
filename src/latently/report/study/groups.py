"""Which components of a mixture are clusters: those with a valley between them, shown on rows they have not seen.

A mixture needs several components for any cloud that is not Gaussian, so components are not clusters. Two groups of
components are apart if rows that were not used for the fit, seen along the direction that tells the groups best,
are fewer in a stretch between than in equally long stretches on both sides. No distribution with one peak
has that, whatever its skew or its tails, so the test (two binomial tests, both of which must hold) is exact.
"""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import chdtrc

from latently.report.study.model import Fitted, fit_part
from latently.report.study.prepare import Prepared
from latently.report.study.rows.order import inflation_of_mean, memory, within
from latently.report.study.rows.sorting import parts_of_file
from latently.report.study.valley import counted, valley
from latently.report.study.view import View

Values = NDArray[np.float64]
Groups = list[tuple[int, ...]]
_Pairs = dict[tuple[tuple[int, ...], tuple[int, ...]], float]

_TEST_ROWS: Final = 20_000
_LEAST_ROWS: Final = 40
_FOLDS, _FEW_ROWS = 5, 5000
_MOST: Final = 0.5  # more than this share of the tests must see the valley
_CLOSE: Final = 0.5  # p-values up to this are looked at again
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
    finer
        The groups before the last two were taken together, since no valley between them could be shown; None if no
        two were.
    finer_p
        Chance of a separation like that of these two, or a clearer one, though there is no valley.
    """

    groups: Groups
    p: float
    share: float = 1.0
    finer: Groups | None = None
    finer_p: float = 1.0


def separate(
    prepared: Prepared,
    fitted: Fitted,
    order: NDArray[np.int64] | None = None,
    stretches: NDArray[np.int64] | None = None,
) -> Separation:
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
    stretches
        Stretches of a file that is sorted by one of its columns; None if it is not known to be.
    """
    groups: Groups = [(k,) for k in range(fitted.view.size)]
    X = prepared.tame[:_TEST_ROWS]
    if len(groups) == 1 or len(X) < _LEAST_ROWS:
        return Separation([tuple(range(len(groups)))], 1.0, _Follow(prepared, fitted, X, order, stretches).share(None))
    tests, follow = _folds(prepared, fitted, X), _Follow(prepared, fitted, X, order, stretches)
    finer, finer_p = None, 1.0
    known: _Pairs = {}
    while len(groups) > 1:
        pairs = {pair: known.get(pair) or _together(tests, follow, *pair) for pair in combinations(groups, 2)}
        known = pairs
        if APART < max(pairs.values()) <= _CLOSE and len(groups) < fitted.view.size and len(X) <= _FEW_ROWS:
            pairs = _seen_again(pairs, groups, _folds_of(groups, prepared, fitted, X), follow)
        one, other = max(pairs, key=lambda pair: (pairs[pair], -_distance(fitted.view, *pair)))
        p = pairs[one, other]
        if p <= APART:
            break
        finer, finer_p = _by_weight(groups, fitted), p
        groups = [g for g in groups if g not in (one, other)] + [one + other]
    share = follow.share(groups if len(groups) > 1 else None)
    return Separation(_by_weight(groups, fitted), p, share, finer, finer_p)


def _distance(view: View, g: tuple[int, ...], h: tuple[int, ...]) -> float:
    """Squared distance of the means of two groups, in standard deviations within them."""
    one, other = (np.average(view.means[list(s)], axis=0, weights=view.weights[list(s)]) for s in (g, h))
    both = list(g + h)
    spread = np.average(np.einsum("kdd->kd", view.covariances)[both], axis=0, weights=view.weights[both])
    return float(((one - other) ** 2 / np.maximum(spread, 1e-9)).sum())


def _by_weight(groups: Groups, fitted: Fitted) -> Groups:
    """Groups, the heaviest first."""
    return sorted(groups, key=lambda g: -fitted.view.weights[list(g)].sum())


def _seen_again(pairs: _Pairs, groups: Groups, tests: "list[_Test]", follow: "_Follow") -> _Pairs:
    """P-values of the pairs in doubt, tested once more; of two tests the smaller p-value is doubled."""
    place = {g: (at,) for at, g in enumerate(groups)}

    def again(g: tuple[int, ...], h: tuple[int, ...]) -> float:
        return min(1.0, 2 * min(pairs[g, h], _apart(tests, place[g], place[h], follow.along(g, h))))

    return {(g, h): p if p <= APART else again(g, h) for (g, h), p in pairs.items()}


class _Follow:
    """How far rows resemble the rows before them, beyond being in the same group."""

    def __init__(
        self,
        prepared: Prepared,
        fitted: Fitted,
        X: Values,
        order: NDArray[np.int64] | None,
        stretches: NDArray[np.int64] | None,
    ) -> None:
        self.parts = np.zeros(len(X), dtype=np.int64)
        if order is None:  # a file may be sorted by what makes the clusters: only what rows share with near ones counts
            self.parts = parts_of_file(len(X), stretches)
        order = np.arange(len(X)) if order is None else order[order < len(X)]
        self.X = X[order][:, prepared.numeric]
        lines = [within(x, self.parts) for x in self.X.T]
        self.lines = [x for x in lines if memory(x) is not None]
        self.shares = _memberships(fitted.view, X[order]) if self.lines else np.empty((0, fitted.view.size))

    def share(self, groups: Groups | None) -> float:
        """Rows that are worth an independent one, for a count, given the groups; of the column where they are most."""
        if not self.lines:
            return 1.0
        place = np.zeros(self.shares.shape[1], dtype=np.int64)
        for at, group in enumerate(groups or ()):
            place[list(group)] = at + 1
        own = place[self.shares.argmax(axis=1)]
        return max(inflation_of_mean(within(x, own)) for x in self.lines)

    def along(self, g: tuple[int, ...], h: tuple[int, ...]) -> float:
        """The same for counts along the direction that tells two groups best."""
        if not self.lines:
            return 1.0
        one, other = self.shares[:, list(g)].sum(axis=1), self.shares[:, list(h)].sum(axis=1)
        mine = np.isin(self.shares.argmax(axis=1), (*g, *h))
        first = (one / np.maximum(one + other, 1e-300))[mine]
        filled = np.where(np.isnan(self.X), np.nanmean(self.X, axis=0), self.X)[mine]
        direction = _direction(filled, first)
        if direction is None:
            return self.share([g, h])
        return inflation_of_mean(within(within(filled @ direction, self.parts[mine]), (first > 0.5).astype(np.int64)))


def _together(tests: "list[_Test]", follow: _Follow, g: tuple[int, ...], h: tuple[int, ...]) -> float:
    """Chance that two groups look as much apart in all tests together, though there is no valley between them."""
    return _apart(tests, g, h, follow.along(g, h))


def _apart(tests: "list[_Test]", g: tuple[int, ...], h: tuple[int, ...], share: float) -> float:
    found = []
    if len(tests[0].lines):
        counts = np.array([test.counts(g, h) for test in tests])  # (tests, 3)
        agree = ((counts[:, 1] < counts[:, 0]) & (counts[:, 1] < counts[:, 2])).mean()
        found.append(valley(counts.sum(axis=0) / share) if agree > _MOST else 1.0)
    if len(tests[0].tables) >= 3:
        found.append(float(np.median([test.classes(g, h) for test in tests])))
    return min(1.0, len(found) * min(found)) if found else 1.0


def _folds(prepared: Prepared, fitted: Fitted, X: Values) -> "list[_Test]":
    """Fits to some of the rows, each with tests on the others; components in the order of the whole fit."""
    # many rows hold a fit to its start so loosely that the whole fit may be it, which keeps the order
    return _tests(prepared, fitted, X, _memberships(fitted.view, X), None, anew=len(X) <= _FEW_ROWS)


def _folds_of(groups: Groups, prepared: Prepared, fitted: Fitted, X: Values) -> "list[_Test]":
    """The same with one component for each group, of the numbers alone.

    Categories, such as sex, may need several components within a group; fits with fewer know their place better.
    """
    shares = _memberships(fitted.view, X)
    shares = np.stack([shares[:, list(g)].sum(axis=1) for g in groups], axis=1)
    if len(prepared.numeric):
        X = X[:, prepared.numeric]
        prepared = replace(prepared, used=tuple(prepared.used[j] for j in prepared.numeric))
        known = ~np.isnan(X).all(axis=1)
        X, shares = X[known], shares[known]
    return _tests(prepared, fitted, X, shares, len(groups), anew=True)


def _tests(
    prepared: Prepared, fitted: Fitted, X: Values, shares: Values, size: int | None, *, anew: bool
) -> "list[_Test]":
    """Tests by folds; components are in the order of the columns of `shares`, memberships of the rows."""
    rng, made = prepared.rng(4), []
    for part in np.array_split(rng.permutation(len(X)), _FOLDS if len(X) <= _FEW_ROWS else 2):
        rest = np.setdiff1d(np.arange(len(X)), part)
        view = fit_part(prepared, X[rest], fitted.mixture, rng, anew=anew, size=size)
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
        self.own_a, self.own_b = self.joint_a.argmax(axis=1), self.joint_b.argmax(axis=1)
        self.middle = np.nanmean(self.scores_a, axis=0) if len(self.lines) else np.empty(0)
        self.filled = np.where(np.isnan(self.scores_a), self.middle, self.scores_a)

    def _first(self, mine: NDArray[np.bool_], g: tuple[int, ...], h: tuple[int, ...]) -> Values:
        """The probability of the first group rather than the second, for some rows (a)."""
        one, other = (np.logaddexp.reduce(self.joint_a[mine][:, list(s)], axis=1) for s in (g, h))
        return np.asarray(1 / (1 + np.exp(-np.clip(one - other, -500, 500))))

    def counts(self, g: tuple[int, ...], h: tuple[int, ...]) -> list[int]:
        """Rows (b) at the peak of one group, in the valley, and at the peak of the other, as a has them."""
        mine, theirs = np.isin(self.own_a, (*g, *h)), np.isin(self.own_b, (*g, *h))
        first = self._first(mine, g, h)
        direction = _direction(self.filled[mine], first)
        if direction is None:
            return [0, 0, 0]
        known, a = _along(self.scores_a[mine], direction, self.middle)
        ends = [_mean(a, share) for share in (first[known], 1 - first[known])]
        return counted(a, _along(self.scores_b[theirs], direction, self.middle)[1], ends)

    def classes(self, g: tuple[int, ...], h: tuple[int, ...]) -> float:
        """Latent classes: at least three columns of categories that the others tell, on rows not seen."""
        rows = self.b[np.isin(self.own_b, (*g, *h))]
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


def _log_odds(table: Values, weights: Values, g: tuple[int, ...], h: tuple[int, ...]) -> Values:
    one, other = (weights[list(s)] @ table[list(s)] / weights[list(s)].sum() for s in (g, h))
    return np.asarray(np.log(np.maximum(one, 1e-12)) - np.log(np.maximum(other, 1e-12)))


def _told(codes: Values, side: NDArray[np.bool_], classes: int) -> float:
    """P-value of the association of a column with a split of the rows by the other columns."""
    seen = ~np.isnan(codes)
    table = np.stack([np.bincount(codes[seen & s].astype(int), minlength=classes) for s in (side, ~side)]).astype(float)
    table = table[:, table.sum(axis=0) >= 5]
    if table.shape[1] < 2 or (table.sum(axis=1) < 5).any():
        return 1.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(chdtrc(table.shape[1] - 1, ((table - expected) ** 2 / expected).sum()))
