"""The quality of a map: scikit-learn's trustworthiness, what it must be for perfect maps and for random ones."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import pearsonr
from sklearn.manifold import trustworthiness
from sklearn.metrics import pairwise_distances

from latently.embed import map_quality


def rows(n=120, d=6):
    return np.random.default_rng(0).normal(size=(n, d))


@pytest.mark.parametrize("k", [3, 12])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_trustworthiness_and_continuity_are_those_of_scikit_learn(metric, k):
    X, Y = rows(), rows()[:, :2] + 0.3
    found = map_quality(X, Y, n_neighbors=k, metric=metric)
    assert found.trustworthiness == pytest.approx(trustworthiness(X, Y, n_neighbors=k, metric=metric), abs=1e-12)
    if metric == "euclidean":
        assert found.continuity == pytest.approx(trustworthiness(Y, X, n_neighbors=k), abs=1e-12)
    given = map_quality(pairwise_distances(X, metric=metric), Y, n_neighbors=k, metric="precomputed")
    assert given.trustworthiness == pytest.approx(found.trustworthiness)


def test_distances_are_compared_over_all_pairs():
    X, Y = rows(), rows()[:, :2]
    found = map_quality(X, Y, n_neighbors=5)
    a, b = pdist(X), pdist(Y)
    scale = (a @ b) / (b @ b)
    assert found.stress == pytest.approx(np.sqrt(((a - scale * b) ** 2).sum() / (a @ a)))
    full_a, full_b = (pairwise_distances(t).ravel() for t in (X, Y))
    assert found.distance_correlation == pytest.approx(pearsonr(full_a, full_b)[0])


def test_a_copy_is_perfect_and_one_misplaced_point_is_found():
    X = rows(d=2)
    same = map_quality(X, 7.0 * X, n_neighbors=5)
    assert (same.trustworthiness, same.continuity, same.neighbour_preservation) == (1.0, 1.0, 1.0)
    assert same.stress == pytest.approx(0.0, abs=1e-7)
    np.testing.assert_array_equal(same.trust, 1.0)
    moved = X.copy()
    moved[17] += 30.0
    found = map_quality(X, moved, n_neighbors=5)
    assert found.trust.argmin() == 17
    assert found.trust[17] < 0.5 < np.median(found.trust)


def test_a_random_map_keeps_no_more_neighbours_than_chance():
    X = rows(400)
    found = map_quality(X, np.random.default_rng(1).normal(size=(400, 2)), n_neighbors=10)
    assert found.neighbour_preservation < 0.06
    assert found.trustworthiness == pytest.approx(0.5, abs=0.05)


def test_a_sample_of_rows_is_close_to_all_of_them_and_says_so():
    X, Y = rows(500), rows(500)[:, :2]
    full, some = map_quality(X, Y), map_quality(X, Y, max_rows=200)
    assert some.trustworthiness == pytest.approx(full.trustworthiness, abs=0.01)
    assert some.is_sampled
    assert not full.is_sampled
    np.testing.assert_array_equal(some.trust, full.trust[some.rows])
    assert "of 200 sampled points" in some.summary()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: map_quality(rows(10), rows(9)), "10 rows, the map has 9"),
        (lambda: map_quality(rows(10), rows(10), n_neighbors=5), "less than half"),
        (lambda: map_quality(rows(10), rows(10), n_neighbors=2, metric="precomputed"), "square"),
    ],
)
def test_what_cannot_be_compared_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
