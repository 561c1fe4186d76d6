"""Which model: a search over candidates by an information criterion or by rows held out."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from latently.learn.engine.em import ROUNDING
from latently.learn.select.fit import Attempt, fit_all, log_likelihood, n_parameters
from latently.learn.select.grid import Candidate, candidates
from latently.learn.select.rows import criteria_of, search_rows

Criterion = Literal["bic", "icl", "aic", "held-out"]
Table = list[dict[str, Any]]
_INFORMATION = ("aic", "bic", "icl")


@dataclass(frozen=True)
class Selection:
    """What a search found.

    Attributes
    ----------
    criterion
        What the models were compared by.
    table
        A dict for each candidate, in the order they were given: "model", "family" (what it is apart from its
        number of components), its settings, "n_parameters", "log_likelihood", "aic", "bic", "icl" (where the
        model has them), "held_out" and "held_out_error" (mean log density of a row held out, and its standard
        error over the folds; only if asked for), "converged", "n_iter", "seconds", "error" (None if it could
        be fitted).
    models
        The candidates, fitted to all rows; None for one that could not be fitted.
    best_index
        Place of the best.
    """

    criterion: Criterion
    table: Table
    models: list[Any]
    best_index: int

    @property
    def best_model(self) -> Any:
        """The best model, fitted to all rows."""
        return self.models[self.best_index]

    @property
    def best(self) -> dict[str, Any]:
        """The best model's line of the table."""
        return self.table[self.best_index]

    @property
    def key(self) -> str:
        """Name of the criterion in the table."""
        return self.criterion.replace("-", "_")

    @property
    def lower_is_better(self) -> bool:
        """Whether low values of the criterion are good: of all but "held-out"."""
        return self.criterion != "held-out"

    def ranked(self) -> Table:
        """Give the table with the best first; what could not be fitted comes last."""
        sign = 1 if self.lower_is_better else -1
        return sorted(self.table, key=lambda line: np.inf if line["error"] else sign * line[self.key])

    def __str__(self) -> str:
        lines = [f"{line['n_components']!s:>3}  {_shown(line, self.key)}" for line in self.ranked()]
        return "\n".join([f"  K  {self.criterion:>14}  model", *lines])


def select(
    models: Any,
    X: Any,
    criterion: Criterion = "bic",
    *,
    folds: int = 5,
    warm_start: bool = True,
    random_state: Any = None,
) -> Selection:
    """Fit several models to the same rows, compare them, and give the best.

    Candidates are fitted side by side on all threads. Of equals (to rounding) the one with the fewest
    parameters wins. A candidate that cannot be fitted, such as one with more components than rows, is listed in
    the table and does not end the search; it is an error if none can be fitted.

    Parameters
    ----------
    models
        A list of estimators; a dict of them by name; a pair (estimator, grid of settings), such as
        `(GaussianMixture(), {"n_components": range(1, 10)})`; or a list with such pairs in it. Anything with
        `fit` and the methods `aic`, `bic`, `icl` that the criterion needs will do. They are cloned.
    X
        Rows, or a list of sequences: whatever the models take. A Dask collection or files are opened once, and
        fitted and judged chunk by chunk: on a cluster by its workers.
    criterion
        "bic": Bayesian information criterion, for the number of components of a density; "icl": integrated
        completed likelihood, for clusters that are apart; "aic": Akaike's, for prediction; "held-out":
        mean log density of rows that were not fitted, by cross-validation. The first three are better when
        lower, the last when higher.
    folds
        For "held-out": into how many parts the rows are divided.
    warm_start
        Start each model that takes `weights_init`, `means_init` and `precisions_init` a second time, from the
        next smaller of its family with its heaviest component split, and keep the better: a poor start of a
        large model then does not pass for a reason against it.
    random_state
        Seed of the folds, and of every model that has none of its own.

    Returns
    -------
    Selection
        The table of all results, the fitted models and the best of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.cluster import GaussianMixture
    >>> grid = {"n_components": [1, 2, 3], "covariance_type": ["full", "diag"]}
    >>> found = select((GaussianMixture(tol=1e-6, max_iter=500), grid), load_iris().data, random_state=0)
    >>> found.best["n_components"], found.best["covariance_type"], found.best["n_parameters"]
    (2, 'full', 29)
    >>> print(found)
      K             bic  model
      2         574.0...  GaussianMixture, covariance_type=full
      ...
    """
    if criterion not in get_args(Criterion):
        raise ValueError(f"criterion must be one of {', '.join(get_args(Criterion))}, got {criterion!r}")
    listed = candidates(models, random_state)
    _check_methods(listed, criterion)
    rows = search_rows(X)
    if rows.is_source and criterion == "held-out":
        raise ValueError("'held-out' takes rows in memory: use 'bic', 'aic' or 'icl' for files and Dask collections")
    fits = fit_all(listed, rows, warm=warm_start)
    if all(fit.model is None for fit in fits):
        raise ValueError(f"no candidate could be fitted; the first error was: {fits[0].error}") from fits[0].error
    table = [_line(candidate, fit, rows.X) for candidate, fit in zip(listed, fits, strict=True)]
    if criterion == "held-out":
        _add_held_out(table, listed, X, folds, warm_start, random_state)
    found = Selection(criterion, table, [fit.model for fit in fits], _best_place(table, criterion))
    _warn_if_unfinished(found)
    return found


def _check_methods(listed: Sequence[Candidate], criterion: Criterion) -> None:
    needed = "aic" if criterion == "held-out" else criterion
    for candidate in listed:
        if not hasattr(candidate.model, needed):
            able = [name for name in _INFORMATION if hasattr(candidate.model, name)]
            raise TypeError(
                f"{candidate.name} has no method {needed}, which the criterion {criterion!r} needs; "
                f"it has {', '.join(able) if able else 'none of aic, bic, icl'}"
            )


def _line(candidate: Candidate, fit: Attempt, X: Any) -> dict[str, Any]:
    line = {"model": candidate.name, "family": candidate.family, "n_components": candidate.n_components}
    line |= candidate.settings
    model, error = fit.model, None if fit.error is None else str(fit.error)
    known = [name for name in _INFORMATION if hasattr(candidate.model, name)]
    size = None if model is None else n_parameters(model)
    values = dict.fromkeys(known, np.nan) if model is None else criteria_of(model, known, X, size)
    return line | {
        "n_parameters": size,
        "log_likelihood": None if size is None or "aic" not in values else size - values["aic"] / 2,
        **values,
        "converged": getattr(model, "converged_", None),
        "n_iter": getattr(model, "n_iter_", None),
        "seconds": fit.seconds,
        "error": error,
    }


def _add_held_out(table: Table, listed: Sequence[Candidate], X: Any, folds: int, warm: bool, random_state: Any) -> None:
    from sklearn.model_selection import KFold
    from sklearn.utils import _safe_indexing

    splits = list(KFold(folds, shuffle=True, random_state=random_state).split(np.arange(_n_rows(X, folds))))
    scores = np.full((len(splits), len(listed)), np.nan)
    for f, (train, test) in enumerate(splits):
        fits, tested = fit_all(listed, search_rows(_safe_indexing(X, train)), warm=warm), _safe_indexing(X, test)
        for c, fit in enumerate(fits):
            if fit.model is None:
                table[c]["error"] = table[c]["error"] or f"with part of the rows held out: {fit.error}"
            else:
                scores[f, c] = _density(fit.model, tested, listed[c].name) / len(test)
    means, errors = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(len(splits))
    for line, mean, error in zip(table, means, errors, strict=True):
        line |= {"held_out": float(mean), "held_out_error": float(error)}


def _n_rows(X: Any, folds: int) -> int:
    from sklearn.utils.validation import _num_samples

    rows: int = _num_samples(X)
    if not 2 <= folds <= rows:
        raise ValueError(f"folds must be from 2 to the number of rows, {rows}; got {folds}")
    return rows


def _density(model: Any, rows: Any, name: str) -> float:
    total = log_likelihood(model, rows)
    if total is None:
        raise TypeError(
            f"{name} has no number of parameters (n_parameters_), which 'held-out' needs to recover its log-likelihood"
        )
    return total


def _best_place(table: Table, criterion: Criterion) -> int:
    key, sign = criterion.replace("-", "_"), -1 if criterion == "held-out" else 1
    values = np.array([np.inf if line["error"] else sign * line[key] for line in table])
    if not np.isfinite(values).any():
        problem = next((line["error"] for line in table if line["error"]), f"{criterion} is not finite")
        raise ValueError(f"no candidate could be evaluated; the first error was: {problem}")
    close = np.flatnonzero(values <= values.min() + ROUNDING * abs(values.min()))
    return int(min(close, key=lambda place: table[place]["n_parameters"] or 0))


def _warn_if_unfinished(found: Selection) -> None:
    if found.best["converged"] is False:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"the best model, {found.best['family']}, did not converge: raise its max_iter or tol",
            ConvergenceWarning,
            stacklevel=3,
        )


def _shown(line: dict[str, Any], key: str) -> str:
    value = "failed" if line["error"] else f"{line[key]:.4f}"
    return f"{value:>14}  {line['family']}"
