"""K-means that adds and takes away what it has learnt: centres are weighted means, whoever sums."""

import numpy as np
import pytest

from latently.cluster import KMeans

RNG = np.random.default_rng(0)
PLACE = np.arange(90) % 3
X = RNG.normal(size=(90, 3)) + 20 * np.eye(3)[PLACE]
WEIGHTS = RNG.uniform(0.5, 2, size=90)
START = 20 * np.eye(3)


def fitted(rows=slice(None)):
    return KMeans(3, init=START, n_init=1).fit(X[rows], sample_weight=WEIGHTS[rows])


def means(rows):
    keep = np.zeros(90, bool)
    keep[rows] = True
    return np.array(
        [np.average(X[keep & (k == PLACE)], axis=0, weights=WEIGHTS[keep & (k == PLACE)]) for k in range(3)]
    )


def test_merge_is_the_fit_of_both_whatever_the_order_of_clusters():
    other = KMeans(3, init=START[[2, 0, 1]], n_init=1).fit(X[50:], sample_weight=WEIGHTS[50:])
    merged = fitted(slice(50)).merge(other)
    np.testing.assert_allclose(merged.cluster_centers_, means(slice(None)), rtol=1e-12)
    np.testing.assert_allclose(merged.cluster_weights_, fitted().cluster_weights_, rtol=1e-12)


def test_forget_is_the_fit_of_the_others():
    model = fitted().forget(X[60:], sample_weight=WEIGHTS[60:])
    np.testing.assert_allclose(model.cluster_centers_, means(slice(60)), rtol=1e-12)
    np.testing.assert_allclose(model.cluster_weights_, fitted(slice(60)).cluster_weights_, rtol=1e-12)


def test_missing_values_are_forgotten_too():
    partly = X.copy()
    partly[::7, 1] = np.nan
    both = KMeans(3, init=START, n_init=1).fit(partly)
    left = KMeans(3, init=START, n_init=1).fit(partly[:60])
    np.testing.assert_allclose(both.forget(partly[60:]).cluster_centers_, left.cluster_centers_, rtol=1e-10)


def test_a_cluster_that_loses_all_its_rows_keeps_its_centre():
    model = fitted().forget(X[PLACE == 1], sample_weight=WEIGHTS[PLACE == 1])
    np.testing.assert_array_equal(model.cluster_weights_[1], 0.0)
    np.testing.assert_allclose(model.cluster_centers_, means(slice(None)), rtol=1e-12)


def test_what_was_never_learnt_is_refused_and_changes_nothing():
    model = fitted(slice(30))
    before = model.cluster_centers_.copy()
    with pytest.raises(ValueError, match="would leave cluster 1 with a weight of -"):
        model.forget(np.repeat(X[1:2], 20, axis=0))
    with pytest.raises(ValueError, match="leaves nothing of the"):
        model.forget(X)
    np.testing.assert_array_equal(model.cluster_centers_, before)
    with pytest.raises(ValueError, match="cannot be merged into 3"):
        model.merge(KMeans(2, n_init=1, random_state=0).fit(X))
    with pytest.raises(TypeError, match="cannot merge"):
        model.merge(object())
