"""The fits of a search: all candidates side by side, then each family once more from small to large."""

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from latently.learn.engine.em import ROUNDING
from latently.learn.engine.reduce import n_threads, single_threaded_blas
from latently.learn.engine.restarts import outcomes
from latently.learn.select.grid import Candidate, families
from latently.learn.select.rows import SearchRows
from latently.learn.select.warm_start import can_grow, grown_fit

_FAILURES = (ValueError, ArithmeticError)


@dataclass(frozen=True)
class Attempt:
    """A fitted model and what it took, or the reason why there is none."""

    model: Any
    seconds: float
    error: Exception | None = None


def fit_all(listed: Sequence[Candidate], rows: SearchRows, *, warm: bool) -> list[Attempt]:
    """Fit every candidate; with `warm` also from the smaller model of its family, and keep the better."""
    side_by_side = len(listed) >= n_threads()
    with _quiet(), single_threaded_blas():
        fits = outcomes(lambda c: _attempt(c, rows.X), listed, side_by_side=side_by_side)
        if not warm:
            return fits
        groups = families(listed)
        grown = outcomes(
            lambda group: _climbed([listed[i] for i in group], [fits[i] for i in group], rows),
            groups,
            side_by_side=len(groups) >= n_threads(),
        )
    for group, better in zip(groups, grown, strict=True):
        for place, fit in zip(group, better, strict=True):
            fits[place] = fit
    return fits


@contextmanager
def _quiet() -> Iterator[None]:
    # Whether a candidate converged is in the table; only of the chosen one it is worth a warning.
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _attempt(candidate: Candidate, X: Any) -> Attempt:
    from sklearn.base import clone

    began = time.perf_counter()
    try:
        fitted = clone(candidate.model).fit(X)
    except _FAILURES as problem:
        return Attempt(None, time.perf_counter() - began, problem)
    return Attempt(fitted, time.perf_counter() - began)


def _climbed(family: list[Candidate], fits: list[Attempt], rows: SearchRows) -> list[Attempt]:
    """Give the fits of a family, small to large, each the better of its own and one grown from the last."""
    kept: list[Attempt] = []
    for candidate, fit in zip(family, fits, strict=True):
        before = kept[-1].model if kept else None
        kept.append(_better(fit, before, candidate, rows))
    return kept


def _better(fit: Attempt, smaller: Any, candidate: Candidate, rows: SearchRows) -> Attempt:
    if smaller is None or fit.model is None or not can_grow(candidate.model):
        return fit
    if not (candidate.n_components or 0) > smaller.n_components:
        return fit
    began = time.perf_counter()
    grown = grown_fit(smaller, candidate.model, rows.X, rows.sample)
    spent = replace(fit, seconds=fit.seconds + time.perf_counter() - began)
    rose = grown.lower_bound_ - fit.model.lower_bound_ > ROUNDING * abs(fit.model.lower_bound_)
    return replace(spent, model=grown) if rose else spent


def n_parameters(fitted: Any) -> int | None:
    """Count the free parameters; None if the model does not say."""
    if hasattr(fitted, "n_parameters_"):
        return int(fitted.n_parameters_)
    return int(fitted._n_parameters()) if hasattr(fitted, "_n_parameters") else None


def log_likelihood(fitted: Any, X: Any) -> float | None:
    """Take the log-likelihood from Akaike's criterion: `score` is a mean in some, a sum in others."""
    size = n_parameters(fitted)
    return None if size is None else size - float(fitted.aic(X)) / 2
