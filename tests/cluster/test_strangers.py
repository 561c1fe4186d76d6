"""Rows that were never learnt cannot be forgotten, whatever the family: the error names the column."""

import numpy as np
import pandas as pd
import pytest

import latently
from latently.cluster import KMeans, Mixture

RNG = np.random.default_rng(0)
N = 60
# rows that were learnt, and a value that was not
LEARNT = {
    "gaussian": (RNG.normal(size=N), 500.0),
    "exponential": (RNG.exponential(size=N), 900.0),
    "gamma": (RNG.gamma(3.0, size=N), 900.0),
    "von_mises": (RNG.vonmises(0.0, 30.0, size=N), 3.0),
    "negative_binomial": (RNG.poisson(4.0, size=N), 77),
    "counts": (RNG.poisson(4.0, size=N), 900),
    "categorical": (np.repeat(["a", "b", "c"], [30, 28, 2]), "c"),
    "binary": (np.repeat([0, 1], [58, 2]), 1),
}


@pytest.mark.parametrize("family", LEARNT)
@pytest.mark.parametrize("k", [1, 2])
def test_strangers_are_refused_and_change_nothing(family, k):
    values, stranger = LEARNT[family]
    table = pd.DataFrame({"here": values, "beside": RNG.normal(size=N)})
    model = Mixture(k, families={"here": family}, random_state=0, max_iter=500).fit(table)
    before = model.predict_proba(table), model.score(table)
    strangers = pd.DataFrame({"here": [stranger] * 12, "beside": table["beside"][:12]})
    with pytest.raises(ValueError, match=r"column '?(here|beside)'? |would leave component"):
        model.forget(strangers)
    np.testing.assert_array_equal(model.predict_proba(table), before[0])
    assert model.score(table) == before[1]


@pytest.mark.parametrize("family", LEARNT)
def test_rows_that_were_learnt_are_forgotten(family):
    table = pd.DataFrame({"here": LEARNT[family][0]})
    model = Mixture(2, families={"here": family}, random_state=0, max_iter=500).fit(table)
    left = model.forget(table[::3])
    assert left.statistics_.rows == pytest.approx(40)
    assert np.isfinite(left.score(table))


def test_k_means_refuses_rows_far_from_all_that_it_learnt():
    X = np.r_[RNG.normal(size=(100, 3)), RNG.normal(size=(100, 3)) + 6]
    model = KMeans(2, random_state=0).fit(X)
    before = model.cluster_centers_.copy()
    with pytest.raises(ValueError, match="further from the centres"):
        model.forget(X[:5] + 1000)
    np.testing.assert_array_equal(model.cluster_centers_, before)


def test_k_means_forgets_all_but_a_few_of_the_rows_it_has_in_batches():
    X = np.r_[RNG.normal(size=(100, 3)), RNG.normal(size=(100, 3)) + 9]
    learnt = KMeans(2, random_state=0).partial_fit(X[::2]).partial_fit(X[1::2])
    both = KMeans(2, random_state=0).fit(X[::2]).merge(KMeans(2, random_state=0).fit(X[1::2]))
    for model in (learnt, both):
        model.forget(X[:90]).forget(X[110:])
        expected = [X[90:100].mean(axis=0), X[100:110].mean(axis=0)]
        found = model.cluster_centers_[np.argsort(model.cluster_centers_[:, 0])]
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_k_means_forgets_a_copy_of_a_row_on_its_centre():
    assert KMeans(2, random_state=0).fit([[0.1], [0.1], [7.3], [7.3]]).forget([[0.1]]).cluster_weights_.sum() == 3


def test_a_k_means_model_that_was_stored_without_its_spread_learns_on(tmp_path):
    model = KMeans(2, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]])
    del model._within
    latently.save(model, tmp_path / "model.latently")
    loaded = latently.load(tmp_path / "model.latently")
    loaded.partial_fit([[0.5]]).forget([[0.5]])
    np.testing.assert_allclose(np.sort(loaded.cluster_centers_.ravel()), [0.5, 9.5])
    latently.save(loaded, tmp_path / "again.latently")
    assert latently.load(tmp_path / "again.latently").forget([[1.0]]).cluster_weights_.sum() == 3
