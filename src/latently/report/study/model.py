"""The mixture behind a report: which, how large, and its fit."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.cluster import Mixture
from latently.data.tables.matrix import has_values
from latently.distributions import Gaussian
from latently.learn.select.fit import fit_all, n_parameters
from latently.learn.select.grid import Candidate
from latently.learn.select.rows import SearchRows
from latently.report.study.prepare import Prepared
from latently.report.study.view import View, view_of

Values = NDArray[np.float64]

SEARCH_ROWS: Final = 3000
FIT_ROWS: Final = 10_000
_SIZES: Final = ((1, 2, 3), (4, 5, 6), (7, 8, 9))  # larger ones are tried if the largest so far is the best
_ROWS_EACH: Final = 25  # a component is not tried for fewer rows
_STARTS: Final = 3  # of small fits, one of which may be poor
_ROUNDS: Final = 4  # draws of the missing scores before the search
_NAMES: Final = {True: "full covariance", False: "independent columns"}


@dataclass(frozen=True, eq=False)
class Fitted:
    """A mixture over the prepared table.

    Attributes
    ----------
    mixture
        The fitted `latently.cluster.Mixture`.
    view
        The same as arrays.
    table
        A line for each model that was tried.
    rows
        Number of rows that it was fitted to.
    """

    mixture: Any
    view: View
    table: list[dict[str, Any]]
    rows: int

    @property
    def chosen(self) -> dict[str, Any]:
        """The line of the model that was chosen."""
        return next(line for line in self.table if line["chosen"])


def fit_model(prepared: Prepared) -> Fitted:
    """Search for the best mixture by BIC, and fit it to the sample."""
    rng = prepared.rng(2)
    X = _some(prepared.tame, FIT_ROWS, rng)
    part = _completed(_some(X, SEARCH_ROWS, rng), prepared, rng)
    lines, best = _search(part, prepared)
    view = view_of(best, prepared.numeric)
    if len(X) > len(part) or np.isnan(X[:, prepared.numeric]).any():
        for _ in range(2):  # missing values drawn from what was learnt, and learnt from again
            best = refit(view.completed(X, rng), best)
            view = view_of(best, prepared.numeric)
    return Fitted(best, view, lines, len(X))


def without(prepared: Prepared, fitted: Fitted, doubtful: NDArray[np.bool_]) -> Fitted:
    """Fit the same mixture again as if some numbers, given by (sample, scores), were missing."""
    rng, X = prepared.rng(13), prepared.tame.copy()
    rows, columns = np.nonzero(doubtful)
    X[rows, prepared.numeric[columns]] = np.nan
    known = ~np.isnan(X).all(axis=1)
    again = refit(fitted.view.completed(_some(X[known], FIT_ROWS, rng), rng), fitted.mixture)
    return replace(fitted, mixture=again, view=view_of(again, prepared.numeric))


def _some(X: Values, most: int, rng: np.random.Generator) -> Values:
    return X if len(X) <= most else X[np.sort(rng.choice(len(X), most, replace=False))]


def _completed(X: Values, prepared: Prepared, rng: np.random.Generator) -> Values:
    """Rows with missing scores drawn from one normal distribution of all scores, fitted along the way."""
    numeric = prepared.numeric
    gone = np.isnan(X[:, numeric])
    if not gone.any():
        return X
    out = X.copy()
    for j in numeric:
        absent = np.isnan(X[:, j])
        out[absent, j] = rng.choice(X[~absent, j], absent.sum())
    for _ in range(_ROUNDS):
        scores = out[:, numeric]
        spread = np.atleast_2d(np.cov(scores.T)) + 1e-6 * np.eye(len(numeric))
        one = View(np.ones(1), np.arange(len(numeric)), scores.mean(axis=0)[None], spread[None], {})
        out[:, numeric] = one.completed(X[:, numeric], rng)
    return out


def make(prepared: Prepared, size: int, *, full: bool) -> Mixture:
    """An unfitted mixture over the prepared table."""
    names = tuple(prepared.names[j] for j in prepared.numeric)
    families: Any = {names: Gaussian()} if full else None
    prior: Any = {names: 30.0 * len(names)} if full else None  # worth 0.3 rows for each column
    seed = int(prepared.rng(3).integers(2**31))
    return Mixture(
        size,
        schema=prepared.schema,
        families=families,
        prior=prior,
        tol=1e-3,
        max_iter=200,
        random_state=seed,
        n_init=2 if size > 1 else 1,  # one component starts where every other start of it does
    )


def _search(X: Values, prepared: Prepared) -> tuple[list[dict[str, Any]], Any]:
    """Compare sizes and shapes; larger sizes only of the best shape, and only while the largest is the best."""
    d = len(prepared.numeric)
    shapes = [False] + ([True] if d > 1 and len(X) > 2 * d else [])
    most = max(len(X) // _ROWS_EACH, 1)
    lines: list[dict[str, Any]] = []
    models: list[Any] = []
    for sizes in _SIZES:
        tried = [(k, full) for full in shapes for k in sizes if k <= most]
        if not tried:
            break
        candidates = [Candidate(make(prepared, k, full=full), "Mixture", {}) for k, full in tried]
        fits = fit_all(candidates, SearchRows(X, X), warm=False)
        lines += [_line(fit.model, X, full) for fit, (_, full) in zip(fits, tried, strict=True) if fit.model]
        models += [fit.model for fit in fits if fit.model]
        best = int(np.argmin([line["criterion"] for line in lines]))
        shapes = [lines[best]["model"] == _NAMES[True]]
        if lines[best]["components"] < sizes[-1]:
            break
    return [line | {"chosen": at == best} for at, line in enumerate(lines)], models[best]


def _line(model: Any, X: Values, full: bool) -> dict[str, Any]:
    size, bic = n_parameters(model) or 0, float(model.bic(X))
    return {
        "model": _NAMES[full],
        "components": int(model.n_components),
        "criterion": bic,
        "log_likelihood": (size * float(np.log(np.count_nonzero(has_values(X)))) - bic) / 2,
        "parameters": size,
    }


def refit(X: Values, start: Any) -> Any:
    """Fit the same mixture to other rows, from where it is."""
    plain = start.get_params(deep=False)
    fresh = Mixture(**(plain | {"weights_init": start.weights_, "components_init": start.components_}))
    with quiet():
        fresh.fit(X)
    return fresh.set_params(weights_init=None, components_init=None)


def fit_part(
    prepared: Prepared, X: Values, like: Any, rng: np.random.Generator, *, anew: bool, size: int | None = None
) -> View:
    """Fit a mixture of the same shape to some rows alone; from a start of its own, and of any size, if anew."""
    complete = _completed(X, prepared, rng)
    if not anew:
        return view_of(refit(complete, like), prepared.numeric)
    fresh = make(prepared, size or like.n_components, full=like.families is not None)
    fresh.set_params(random_state=int(rng.integers(2**31)))
    if size is not None:
        fresh.set_params(n_init=_STARTS)
    with quiet():
        fresh.fit(complete)
    return view_of(fresh, prepared.numeric)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep quiet about fits that would go on: they are judged by what they say, not by their last digit."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
