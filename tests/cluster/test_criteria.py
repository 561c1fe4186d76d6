"""Information criteria of mixtures: rows with nothing observed do not count, wherever the rows are."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture as Theirs

from latently.cluster import BernoulliMixture, GaussianMixture, Mixture
from latently.learn import select

IRIS = load_iris().data
BITS = (np.median(IRIS, axis=0) < IRIS).astype(float)
EMPTY = np.full((50, 4), np.nan)
NAMES = list("abcd")


def incomplete(X, share=0.1):
    return np.where(np.random.default_rng(0).uniform(size=X.shape) < share, np.nan, X)


CASES = {
    "gaussian": (GaussianMixture(3, random_state=0), incomplete(IRIS)),
    "table": (Mixture(3, random_state=0), incomplete(IRIS)),
    "bits": (BernoulliMixture(3, random_state=0), incomplete(BITS)),
}


@pytest.fixture(params=list(CASES))
def case(request):
    mixture, X = CASES[request.param]
    X = X[~np.isnan(X).all(axis=1)]
    return mixture, X, np.concatenate([EMPTY[:20], X, EMPTY[20:]])


def criteria(mixture, X):
    return [mixture.aic(X), mixture.bic(X), mixture.icl(X)]


def test_the_formulas_with_the_rows_that_say_something(case):
    mixture, X, padded = case
    fitted = clone(mixture).fit(padded)
    total, p = fitted.score_samples(padded).sum(), fitted._n_parameters()
    R = fitted.predict_proba(X)
    bic = -2 * total + p * np.log(len(X))
    expected = [-2 * total + 2 * p, bic, bic - 2 * (R * np.log(np.maximum(R, 1e-300))).sum()]
    assert criteria(fitted, padded) == pytest.approx(expected, rel=1e-12)
    assert fitted.score(padded) == pytest.approx(total / len(padded))  # a mean over rows is over all of them


def test_a_row_with_nothing_observed_changes_no_criterion(case, tmp_path):
    mixture, X, padded = case
    fitted = clone(mixture).fit(X)
    expected = criteria(fitted, X)
    pd.DataFrame(padded, columns=NAMES).to_parquet(tmp_path / "rows.parquet")
    unnamed = [padded, da.from_array(padded, chunks=(60, 4))]
    named = clone(mixture).fit(pd.DataFrame(X, columns=NAMES))
    for rows in unnamed:
        assert criteria(fitted, rows) == pytest.approx(expected, rel=1e-10)
    assert criteria(named, tmp_path / "rows.parquet") == pytest.approx(expected, rel=1e-10)


def test_a_search_counts_the_same_rows(case, tmp_path):
    mixture, _, padded = case
    pd.DataFrame(padded, columns=NAMES).to_parquet(tmp_path / "rows.parquet")
    for rows in (padded, tmp_path / "rows.parquet", da.from_array(padded, chunks=(60, 4))):
        found = select([mixture], rows, random_state=0)
        named = getattr(found.best_model, "feature_names_in_", None)
        expected = criteria(found.best_model, padded if named is None else pd.DataFrame(padded, columns=named))
        assert [found.best[name] for name in ("aic", "bic", "icl")] == pytest.approx(expected, rel=1e-10)


def test_with_nothing_missing_the_counts_are_scikit_learns():
    mine = GaussianMixture(3, random_state=0, reg_covar=0.0, tol=1e-9, max_iter=2000).fit(IRIS)
    start = {"weights_init": mine.weights_, "means_init": mine.means_, "precisions_init": mine.precisions_}
    theirs = Theirs(3, reg_covar=0.0, tol=1e-9, **start).fit(IRIS)
    assert [mine.aic(IRIS), mine.bic(IRIS)] == pytest.approx([theirs.aic(IRIS), theirs.bic(IRIS)], rel=1e-6)


def test_a_category_that_was_never_seen_is_nothing_observed():
    frame = pd.DataFrame({"job": ["smith", "smith", "baker", "baker", "baker"]})
    mixture = Mixture(1).fit(frame)
    more = pd.concat([frame, pd.DataFrame({"job": ["astronaut", None]})])
    assert criteria(mixture, more) == pytest.approx(criteria(mixture, frame))


def test_rows_that_all_say_nothing_have_finite_criteria():
    mixture = GaussianMixture(2, random_state=0).fit(IRIS)
    assert np.isfinite(criteria(mixture, EMPTY)).all()
