"""Laws of probability."""

from typing import Any

import numpy as np
from scipy.integrate import trapezoid

from latently.checks.case import Array, Case
from latently.checks.law import law


@law("predict_proba")
def law_probabilities_sum_to_one(case: Case) -> None:
    """Rows of `predict_proba` lie between 0 and 1 and sum to one, far from the data as well."""
    model = case.fitted()
    far = [case.X] if not case.continuous else [case.X, case.X * 1e3, case.X - 1e6]
    for X in far:
        p = model.predict_proba(X)
        assert p.ndim == 2, f"predict_proba has shape {p.shape}, not (rows, components)"
        assert len(p) == len(X), f"predict_proba has {len(p)} rows for {len(X)} rows"
        assert ((p >= 0) & (p <= 1)).all(), f"probabilities outside 0 to 1: {p.min()} to {p.max()}"
        gap = np.abs(p.sum(axis=1) - 1).max()
        assert gap < 1e-9, f"a row of predict_proba misses one by {gap}"


@law("predict", "predict_proba", when=lambda case: case.by_rows)
def law_predict_is_the_most_probable(case: Case) -> None:
    """`predict` gives the entry of the highest `predict_proba`."""
    model = case.fitted()
    best = model.predict_proba(case.X).argmax(axis=1)
    expected = model.classes_[best] if hasattr(model, "classes_") else best
    assert np.array_equal(model.predict(case.X), expected), "predict is not the argmax of predict_proba"


@law(
    "score",
    "score_samples",
    when=lambda case: case.by_rows and case.tags.estimator_type not in ("classifier", "regressor"),
)
def law_score_is_the_mean_of_score_samples(case: Case) -> None:
    """`score` is the mean of `score_samples`."""
    model = case.fitted()
    score, mean = model.score(case.X), model.score_samples(case.X).mean()
    assert np.isclose(score, mean, rtol=1e-9), f"score is {score}, the mean of score_samples {mean}"


@law("score_samples", when=lambda case: case.by_rows)
def law_density_integrates_to_one(case: Case) -> None:
    """exp(`score_samples`) of a model of one column integrates (or sums) to one."""
    X = case.X[:, :1]
    model = case.fitted(X, case.y)
    drawn = _drawn(model, 4000)
    if drawn is not None and (drawn == np.round(drawn)).all():
        total = np.exp(model.score_samples(np.unique(drawn)[:, None])).sum()
        assert 0.99 < total < 1 + 1e-9, f"probabilities of all values sum to {total}"
        return
    total = trapezoid(np.exp(model.score_samples(_grid(X)[:, None])), _grid(X))
    assert abs(total - 1) < 1e-4, f"the density integrates to {total}"


def _grid(X: Array) -> Array:
    """(m,) points that reach far beyond the data; dense enough for densities about as wide as the data."""
    width = np.ptp(X) + 1.0
    return np.linspace(X.min() - 12 * width, X.max() + 12 * width, 200_001)


def _drawn(model: Any, n: int) -> Array | None:
    if not hasattr(model, "sample"):
        return None
    drawn = model.sample(n)
    return np.asarray(drawn[0] if isinstance(drawn, tuple) else drawn, dtype=float)


@law("sample", when=lambda case: case.by_rows)
def law_samples_are_possible(case: Case) -> None:
    """`sample(n)` gives n rows of the table's width, to all of which the model itself gives probability."""
    model = case.fitted()
    drawn = _drawn(model, 50)
    assert drawn is not None
    assert drawn.shape == (50, case.X.shape[1]), f"sample(50) has shape {drawn.shape}"
    assert np.isfinite(drawn).all(), "sample gives values that are not finite"
    if hasattr(model, "score_samples"):
        assert np.isfinite(model.score_samples(drawn)).all(), "a sampled row has no probability"
