"""How many Gaussians a table of numbers with missing values is made of, and of which shape."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import entr, softmax

from latently.cluster import GaussianMixture
from latently.cluster.gaussian.compiled_fit import climbed
from latently.cluster.gaussian.model import GaussianFit
from latently.distributions.components.gaussian.frame import Frame, Kind, frame_of
from latently.distributions.components.gaussian.incomplete.conditional import (
    IncompleteRows,
    incomplete_rows,
    joint_incomplete,
    split_in_two,
)
from latently.distributions.components.gaussian.limits.free import count_free
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.spread import SAMPLE_ROWS, within_deviation
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import single_threaded_blas
from latently.learn.engine.restarts import outcomes
from latently.learn.engine.start import drawn_places
from latently.learn.select.select import select

# Strength of the prior on the covariances, in rows per column: enough to steady tables with few rows.
ROWS_PER_COLUMN = 0.3
# Up to this many rows one compiled call does the whole fit; more are divided among threads.
FEW_ROWS = 16384
# From so many numbers on the two shapes of covariance are tried side by side.
_MANY_NUMBERS = 8192
# Sizes that are tried even if the one before was no better: clusters may show only when all of them are there.
_ALWAYS: dict[Kind, int] = {"full": 2, "tied": 3}
# What is filled in changes no more, to three digits, once a step raises the objective by less than this per row.
_LONG: dict[str, Any] = {"tol": 1e-2, "max_iter": 1000}
# Criteria of two models differ by more than what a fit gains once its steps are as small as this.
_ROUGH: dict[str, Any] = {"tol": 3e-2, "max_iter": 200}


@dataclass(frozen=True, eq=False)
class Judged:
    """A fit and what the criterion says of it: lower is better."""

    fit: GaussianFit
    value: float

    @property
    def size(self) -> int:
        """Number of components."""
        return len(self.fit.params.weights)


@dataclass(frozen=True, eq=False)
class Search:
    """What sizes are compared on, and by what."""

    X: Array  # the values as they are
    rows: IncompleteRows
    share: float  # of the rows that a component has on average: weight of its prior
    criterion: str
    most: int

    def best(self) -> GaussianParams:
        """Parameters of the best mixture: one Gaussian, or several with a covariance each or one for all."""
        alone = self.judged(_alone(self.rows.frame))
        kinds: tuple[Kind, ...] = ("full", "tied")
        many = self.rows.Z.size > _MANY_NUMBERS
        paths = outcomes(lambda kind: self.grown(alone, kind), kinds, side_by_side=many)
        return min([alone, *paths], key=lambda each: each.value).fit.params

    def grown(self, alone: Judged, kind: Kind) -> Judged:
        """The best mixture of a kind, component by component, until one more makes it worse."""
        covariances = alone.fit.params.covariances[0] if kind == "tied" else alone.fit.params.covariances
        best, last = alone, replace(alone.fit.params, kind=kind, covariances=covariances)
        for size in range(2, min(self.most, int(self.rows.shares.sum())) + 1):
            found = self.judged(split_in_two(last, int(last.weights.argmax())), best.value)
            if found.value < best.value:
                best = found
            elif size >= _ALWAYS[kind]:
                break
            last = found.fit.params
        return best

    def judged(self, start: GaussianParams, beaten: float = np.inf) -> Judged:
        """Fit from a start; what will not beat a value is left unfinished."""
        k, d = start.means.shape
        per_parameter = 2.0 if self.criterion == "aic" else np.log(self.rows.shares.sum())
        price = per_parameter * count_free(start.kind, k, d, None)
        start = _framed(start, self.X)
        fit = climbed(self.rows, start, self.share / k, goal=(price - beaten) / 2, **_ROUGH)
        value = price - 2 * fit.stats.bound
        return Judged(fit, value + 2 * self._entropy(fit.params) if self.criterion == "icl" else value)

    def _entropy(self, params: GaussianParams) -> float:
        return float(entr(softmax(joint_incomplete(params, self.rows), axis=1)).sum())


def fit_gaussian(X: Array, part: Array, most: int, criterion: str, rng: np.random.Generator) -> GaussianMixture:
    """Fit a mixture of Gaussians to rows with missing values, its size and shape chosen on a part of them.

    A single Gaussian comes first; a larger mixture starts from the next smaller one with its heaviest component cut in
    two. The choice is made on values spread by their column's least step, the fit on the values as they are.
    """
    if criterion == "held-out":
        return _fitted_from(_held_out(part, most, rng), X)
    frame = _frame(X)  # a part may know nothing of a column
    rows = incomplete_rows(part, frame)
    steps = least_steps(part) / frame.scale * rng.uniform(-0.5, 0.5, size=part.shape)
    with single_threaded_blas():
        best = Search(part, rows.shifted(steps), _strength(part), criterion, most).best()
        if len(X) <= FEW_ROWS:
            return _adopted(best, rows if part is X else incomplete_rows(X, frame), X)
        start = _adopted(best, rows, part)
    return _fitted_from(start, X)


def _adopted(start: GaussianParams, rows: IncompleteRows, X: Array) -> GaussianMixture:
    """Fit from a start to all rows, in one call."""
    model = _plain(X, len(start.weights), start.kind)
    fit = climbed(rows, _framed(start, X), _strength(X) / model.n_components, **_LONG)
    order = np.argsort(-fit.params.weights, kind="stable")
    model.n_features_in_ = X.shape[1]
    return model._adopt(fit, fit.params.permuted(order), fit.stats.permuted(order))


def _plain(X: Array, size: int = 1, kind: Kind = "full") -> GaussianMixture:
    return GaussianMixture(size, covariance_type=kind, reg_covar=_strength(X) / len(X), **_LONG)


def _strength(X: Array) -> float:
    """Rows that the prior on the covariances is worth, all components together."""
    seen = float(np.count_nonzero(~np.isnan(X))) / X.shape[1]  # observed rows of an average column
    return float(ROWS_PER_COLUMN * X.shape[1] * len(X) / seen)


def _alone(frame: Frame) -> GaussianParams:
    d = len(frame.origin)
    return GaussianParams("full", frame, np.ones(1), np.zeros((1, d)), np.eye(d)[None])


def _frame(X: Array) -> Frame:
    seen = ~np.isnan(X)
    counts = seen.sum(axis=0)
    mean = np.where(seen, X, 0.0).sum(axis=0) / counts
    return frame_of(mean, (np.where(seen, X - mean, 0.0) ** 2).sum(axis=0) / counts, "full")


def _framed(start: GaussianParams, X: Array) -> GaussianParams:
    """The same start, its prior about the variances inside as many clusters of these rows: as in `GaussianMixture`."""
    frame = start.frame
    rows = X if len(X) <= SAMPLE_ROWS else X[drawn_places(len(X), SAMPLE_ROWS, np.random.RandomState(0))]
    inside = within_deviation(rows, np.ones(len(rows)), frame.scale, len(start.weights)) / frame.scale
    return replace(start, frame=replace(frame, within=inside**2))


def _fitted_from(start: GaussianMixture, X: Array) -> GaussianMixture:
    """Fit a mixture of the same shape to all rows, divided among threads, from where another ended."""
    fresh = _plain(X, start.n_components, start.covariance_type)
    plain = fresh.get_params()
    fresh.set_params(weights_init=start.weights_, means_init=start.means_, precisions_init=start.precisions_)
    found: GaussianMixture = fresh.fit(X).set_params(**plain)
    return found


def _held_out(part: Array, most: int, rng: np.random.Generator) -> GaussianMixture:
    """The best mixture on rows that it was not fitted to."""
    sizes = range(1, most + 1)
    grid = [
        {"n_components": sizes, "covariance_type": ["full"]},
        {"n_components": sizes[1:], "covariance_type": ["tied"]},
    ]
    seed = int(rng.integers(np.iinfo(np.int32).max))
    found = select((_plain(part), grid), dithered(part, rng), "held-out", warm_start=False, random_state=seed)
    best: GaussianMixture = found.best_model
    return best


def dithered(X: Array, rng: np.random.Generator) -> Array:
    """Spread each column by its least step: a density would otherwise chase the few values of a coarse one."""
    return np.asarray(X + least_steps(X) * rng.uniform(-0.5, 0.5, size=X.shape))


def least_steps(X: Array) -> Array:
    """(d,) least difference between two values of a column; zero if there is none.

    Examples
    --------
    >>> least_steps(np.array([[1.0, 2.0], [1.5, 2.0], [np.nan, 2.0], [4.0, np.nan]]))
    array([0.5, 0. ])
    """
    gaps = np.diff(np.sort(X, axis=0), axis=0)
    least = np.where(gaps > 0, gaps, np.inf).min(axis=0, initial=np.inf)
    return np.where(np.isfinite(least), least, 0.0)
