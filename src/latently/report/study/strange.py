"""How strange each row is: the chance of a number as far out given the rest of its row, and of a row as far out.

Both are tail probabilities under the fitted mixture. Tails of real columns are longer than those of a fit, so the
tail of each column is learnt from where 2 to 10 % of its rows lie; strange is what is out of line with that.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp
from scipy.stats import chi2

from latently.report.study.view import Answer, View

Values = NDArray[np.float64]
_TAIL: Final = (0.1, 0.02)  # shares of the rows between which a tail is learnt
_CAUTION: Final = 2.0  # standard errors (of about 1 / sqrt(rows)) by which the shape of a tail is lowered
_SHARED: Final = 100.0  # rows that the shape of all columns together is worth for each
_FURTHEST: Final = 35.0
_MANY: Final = 5000  # rows of which one does not change a tail
_LIGHT: Final = 0.05  # share of the rows, from which a component is heavy


@dataclass(frozen=True, eq=False)
class Strangeness:
    """What is strange about every row.

    Attributes
    ----------
    log_p
        (n,) log of the chance of a row as strange, its strangest number and its distance as a whole both counted.
    cells
        (n, d) log of the chance of each score given the rest of its row; 0 where missing.
    log_density
        (n,) log density under the mixture.
    shares
        (n, K) probability of each component.
    tails
        The tail of each column of scores.
    row_tail
        The tail of the distances of whole rows; None if there are no scores.
    judges
        The components that vouch for rows.
    """

    log_p: Values
    cells: Values
    log_density: Values
    shares: Values
    tails: tuple["Tail", ...] = ()
    row_tail: "Tail | None" = None
    judges: View | None = None

    def again(self, X: Values) -> Values:
        """(m,) log of the chance of other rows, by what was learnt from all of them."""
        if self.judges is None or self.row_tail is None:
            raise ValueError("there are no scores to judge rows by")
        answer = self.judges.ask(X)
        seen = ~np.isnan(X[:, self.judges.numeric])
        distances = np.where(seen, _cell_distances(self.judges, answer), np.nan)
        cells = np.stack([tail.log_beyond(x) for tail, x in zip(self.tails, distances.T, strict=True)], axis=1)
        whole = self.row_tail.log_beyond(_row_distances(answer, seen.sum(axis=1)))
        return _together(np.nan_to_num(cells), whole, seen.sum(axis=1))

    def reach(self, log_p: float) -> Values:
        """(d,) how far out a score must be, in standard deviations given the rest of its row, to be that rare alone."""
        each = log_p - np.log(2) - np.log(max(len(self.tails), 1))
        return np.array([tail.with_one_more().distance(each) for tail in self.tails])


def strangeness(X: Values, view: View, groups: list[tuple[int, ...]], share: float = 1.0) -> Strangeness:
    """Judge every row of a table.

    Parameters
    ----------
    X
        The table, numbers spread.
    view
        The mixture.
    groups
        The components of each cluster. A light component vouches for its rows only if it is a cluster.
    share
        How many rows are worth an independent one.
    """
    judges = view.ordered(_vouching(view, groups))
    n, d = len(X), len(view.numeric)
    cells, whole = np.zeros((n, d)), np.zeros(n)
    density, shares = np.empty(n), np.empty((n, view.size))
    for part in view.batches(n):
        answer = view.ask(X[part])
        density[part], shares[part] = answer.log_density, answer.shares
        if d:
            answer = answer if judges.size == view.size else judges.ask(X[part])
            seen = ~np.isnan(X[part][:, view.numeric])
            cells[part] = np.where(seen, _cell_distances(judges, answer), np.nan)
            whole[part] = _row_distances(answer, seen.sum(axis=1))
    if d == 0:
        return Strangeness(np.zeros(n), cells, density, shares)
    tails, row_tails = _tails(cells, share), _tails(whole[:, None], share)
    cell_logs = np.nan_to_num(np.stack([tail.log_beyond(tail.x) for tail in tails], axis=1))
    log_p = _together(cell_logs, row_tails[0].log_beyond(row_tails[0].x), (~np.isnan(cells)).sum(axis=1))
    return Strangeness(log_p, cell_logs, density, shares, tails, row_tails[0], judges)


def _together(cells: Values, whole: Values, seen: NDArray[np.intp]) -> Values:
    """Log of the chance of a row by its strangest number, of so many, or by its distance as a whole."""
    rarest = cells.min(axis=1) + np.log(np.maximum(seen, 1))
    return np.asarray(np.minimum(np.log(2) + np.minimum(rarest, whole), 0.0))


def _vouching(view: View, groups: list[tuple[int, ...]]) -> NDArray[np.intp]:
    """Components that vouch for rows: of every cluster the heavy ones, or all if none is heavy."""
    heavy = view.weights >= _LIGHT
    kept = [[k for k in group if heavy[k]] or list(group) for group in groups]
    return np.sort(np.concatenate([np.array(part, dtype=np.intp) for part in kept]))


def _cell_distances(view: View, answer: Answer) -> Values:
    """(n, d) two-sided normal distance that is as rare as each score given the rest of its row."""
    inner = np.sqrt(np.einsum("kdd->kd", view.precisions))
    z = np.clip(answer.pulls / inner, -_FURTHEST, _FURTHEST)  # (n, K, d)
    if view.size == 1:
        return np.asarray(np.abs(z[:, 0]))
    rest = answer.joint[:, :, None] - np.log(inner) + 0.5 * z**2  # log of the components by all other columns
    rest -= rest.max(axis=1, keepdims=True)
    weight = np.exp(rest, out=rest)
    # at most _FURTHEST away, no tail is too small for a number
    tail = np.einsum("nkd,nkd->nd", weight, ndtr(-np.abs(z))) / weight.sum(axis=1)
    return np.asarray(-ndtri(np.minimum(tail, 0.5)))


def _row_distances(answer: Answer, seen: NDArray[np.intp]) -> Values:
    """(n,) normal distance that is as rare as a row so far from its nearest component."""
    near = answer.distance.min(axis=1)
    log_tail = chi2.logsf(near, np.maximum(seen, 1))
    log_tail = np.where(seen > 0, np.where(np.isfinite(log_tail), log_tail, -0.5 * near), 0.0)
    return np.asarray(-ndtri_exp(np.minimum(log_tail, -1e-12) - np.log(2)))


def _tails(distances: Values, share: float) -> "tuple[Tail, ...]":
    """The tail of each column of distances, by what it shows where 2 to 10 % of its rows lie."""
    tails = [Tail(x, share) for x in distances.T]
    rows, logs = (np.array([getattr(tail, name) for tail in tails]) for name in ("rows", "log_shape"))
    pooled = float(np.average(logs, weights=rows)) if rows.sum() else 0.0
    for j, tail in enumerate(tails):
        tail.learn(pooled, min(_SHARED, float(rows.sum() - rows[j])))
    return tuple(tails)


class Tail:
    """The tail of distances, on a scale on which a normal tail is exponential.

    That scale is e = -log(normal tail beyond x / normal tail beyond u), with u the distance that 10 % exceed. Longer
    tails than normal are Weibull tails with a shape below 1. The furthest 2 % have no say but that they are far.
    """

    def __init__(self, x: Values, share: float = 1.0) -> None:
        self.x, self.share, self.shape, self.others = x, share, 1.0, (0.0, 0.0)
        seen = x[~np.isnan(x)]
        self.rows, self.log_shape = 0, 0.0
        if len(seen) < 20:
            return
        self.start, end = np.quantile(seen, [1 - _TAIL[0], 1 - _TAIL[1]])
        self.base = _log_tail(self.start)
        e = self.base - _log_tail(seen[seen > self.start])
        self.kept = np.clip(e, 1e-6, max(float(self.base - _log_tail(end)), 1e-6))
        self.inside = self.kept[e < self.kept.max()]
        self.rows = len(self.inside)
        if self.rows:
            self.log_shape = float(minimize_scalar(self._loss, bounds=(-2.5, 1.0), method="bounded").x)

    def learn(self, pooled: float, weight: float) -> None:
        """Take the shape between its own and that of all columns together, which is worth some rows, with caution."""
        self.others = (pooled, weight)
        known = self.rows + weight
        middle = (self.rows * self.log_shape + weight * pooled) / known if known else 0.0
        caution = _CAUTION / np.sqrt(max(known / self.share, 1.0))
        self.shape = min(float(np.exp(middle - caution)), 1.0)

    def with_one_more(self) -> "Tail":
        """The tail as it would be with one more number far out; itself, if rows are so many that it makes no odds."""
        if not self.rows or len(self.x) > _MANY:
            return self
        moved = self.x.copy()
        moved[np.nanargmin(np.abs(moved - np.nanmedian(moved)))] = _FURTHEST
        made = Tail(moved, self.share)
        made.learn(*self.others)
        return made

    def _scale(self, shape: float) -> float:
        return float(((self.kept**shape).sum() / self.rows) ** (1 / shape))

    def _loss(self, log_shape: float) -> float:
        """Minus the log-likelihood at the best scale; what is beyond the end is known to be so only."""
        k = float(np.exp(log_shape))
        return -float(self.rows * (log_shape - k * np.log(self._scale(k)) - 1) + (k - 1) * np.log(self.inside).sum())

    @property
    def scale(self) -> float:
        """Scale of the tail: no lighter than normal (1), and what few rows say is not taken at its word."""
        return float(max(self._scale(self.shape), 1.0) * (1 + 1 / np.sqrt(max(self.rows / self.share, 1.0))))

    def log_beyond(self, x: Values) -> Values:
        """Log of the chance to be beyond each of some distances."""
        normal = _log_tail(x)
        if not self.rows:
            return np.asarray(0.5 * normal)  # too few rows to know: cautious
        beyond = np.maximum(self.base - normal, 0.0) / self.scale
        near = np.maximum(normal, np.log(_TAIL[0]))
        logs = np.where(x > self.start, np.log(_TAIL[0]) - beyond**self.shape, near)
        return np.minimum(logs, 0.0)

    def distance(self, log_p: float) -> float:
        """The distance that is exceeded with a chance below one in ten, given by its logarithm."""
        if not self.rows:
            return float(-ndtri_exp(2 * log_p - np.log(2)))
        normal = self.base - self.scale * (np.log(_TAIL[0]) - log_p) ** (1 / self.shape)
        return float(-ndtri_exp(normal - np.log(2)))


def _log_tail(x: Values) -> Values:
    return np.asarray(np.log(2) + log_ndtr(-x))
