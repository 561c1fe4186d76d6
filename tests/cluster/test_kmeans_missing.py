"""KMeans with missing values: distances over what is observed, scaled, and centres that make their sum least."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import nan_euclidean_distances

from latently.cluster.kmeans import KMeans


def incomplete(X, share, seed=0):
    X = np.array(X, dtype=float)
    X[np.random.default_rng(seed).uniform(size=X.shape) < share] = np.nan
    return X


def cost(X, centres, weights):
    return weights @ (nan_euclidean_distances(X, centres) ** 2).min(axis=1)


@pytest.mark.parametrize("k", [3, 20])
def test_distances_are_scikit_learns_for_missing_values(k):
    X = incomplete(load_iris().data, 0.2)
    X = X[~np.isnan(X).all(axis=1)]
    model = KMeans(k, random_state=0).fit(X)
    distances = nan_euclidean_distances(X, model.cluster_centers_)
    np.testing.assert_allclose(model.transform(X), distances, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(distances[np.arange(len(X)), model.labels_], distances.min(axis=1))
    np.testing.assert_allclose(model.inertia_, (distances.min(axis=1) ** 2).sum())
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.score(X) == pytest.approx(-model.inertia_)


def test_centres_make_the_scaled_cost_least():
    X, weights = incomplete(load_iris().data, 0.3), np.random.default_rng(0).uniform(0.5, 2, size=150)
    seen = ~np.isnan(X).all(axis=1)
    X, weights = X[seen], weights[seen]
    model = KMeans(4, random_state=0, tol=0).fit(X, sample_weight=weights)
    least = cost(X, model.cluster_centers_, weights)
    assert least == pytest.approx(model.inertia_)
    for k, j, step in [(0, 0, 1e-3), (1, 2, -1e-3), (3, 3, 1e-3)]:
        moved = model.cluster_centers_.copy()
        moved[k, j] += step
        assert nan_cost_of_labels(X, moved, model.labels_, weights) > nan_cost_of_labels(
            X, model.cluster_centers_, model.labels_, weights
        )


def nan_cost_of_labels(X, centres, labels, weights):
    return weights @ nan_euclidean_distances(X, centres)[np.arange(len(X)), labels] ** 2


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(0, 0.6), st.sampled_from(["keep", "split"]))
def test_the_cost_never_rises(seed, k, share, empty):
    rng = np.random.default_rng(seed)
    X = incomplete(rng.normal(size=(40, 3)).round(1), share, seed)
    X[:, 0] = np.where(np.isnan(X).all(axis=1), 0.0, X[:, 0])
    X[0] = 0.0
    model = KMeans(k, init="random", n_init=1, empty=empty, tol=0, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, sample_weight=rng.uniform(0.1, 2, size=40))
    assert (np.diff(model.trace_) >= -1e-9).all()
    assert np.isfinite(model.cluster_centers_).all()


def test_complete_rows_are_treated_as_without_any_missing_value():
    X = load_iris().data
    with_hole = np.vstack([X, [[np.nan] * 4]])
    here, there = KMeans(3, init=X[[0, 60, 120]]).fit(X), KMeans(3, init=X[[0, 60, 120]]).fit(with_hole)
    np.testing.assert_array_equal(there.labels_[:-1], here.labels_)
    np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_)
    np.testing.assert_allclose(there.inertia_, here.inertia_)


def test_a_row_without_any_value_changes_nothing():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [10.0, 0.0], [np.nan, np.nan]])
    model = KMeans(2, init=[[0.0, 0.0], [10.0, 0.0]]).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, [[0.5, 0.0], [10.0, 0.0]])
    np.testing.assert_allclose(model.cluster_weights_, [2, 1])
    np.testing.assert_array_equal(model.transform(X[3:]), [[0.0, 0.0]])


def test_a_coordinate_nobody_in_a_cluster_has_keeps_its_place():
    X = np.array([[0.0, 1.0], [0.2, 1.0], [9.0, np.nan], [9.2, np.nan]])
    model = KMeans(2, init=[[0.0, 1.0], [9.0, 5.0]]).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, [[0.1, 1.0], [9.1, 5.0]])


def test_a_column_without_any_value_is_named():
    X = np.array([[0.0, np.nan], [1.0, np.nan]])
    with pytest.raises(ValueError, match="column 'x1' of X has no observed value"):
        KMeans(2).fit(X)
    # At prediction the centres say what the column is worth: nothing.
    model = KMeans(2, init=[[0.0, 0.0], [4.0, 0.0]]).fit([[0.0, 0.0], [4.0, 0.0]])
    np.testing.assert_array_equal(model.predict(X * 4), [0, 1])


def test_partial_fit_averages_what_each_batch_has():
    model = KMeans(1, init=[[0.0, 0.0]])
    model.partial_fit([[1.0, 2.0], [3.0, 4.0]]).partial_fit([[5.0, np.nan]])
    # The last row counts by its scale, 2 columns / 1 observed.
    np.testing.assert_allclose(model.cluster_centers_, [[(1 + 3 + 2 * 5) / 4, 3.0]])
