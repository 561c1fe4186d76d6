"""K-means of a small table in one compiled call, against the passes that it stands for."""

from functools import partial

import numpy as np
import pytest
from sklearn.cluster import KMeans as Peer

from latently import compiled
from latently.cluster import KMeans
from latently.learn.kmeans.small import Replayed


def blobs(d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(5, d))[rng.integers(5, size=200)] * 3 + rng.normal(size=(200, d)) + 1e4


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_same_clusters_as_passes_one_by_one(d: int, weighted: bool) -> None:
    X = blobs(d, d)
    weights = np.random.default_rng(0).integers(0, 3, size=len(X)).astype(float) if weighted else None
    make = partial(KMeans, 4, n_init=3, random_state=1)
    whole = make().fit(X, sample_weight=weights)
    steps = make().fit(X, sample_weight=weights, on_iteration=lambda step: False)
    np.testing.assert_array_equal(whole.labels_, steps.labels_)
    np.testing.assert_allclose(whole.cluster_centers_, steps.cluster_centers_, rtol=1e-12)
    np.testing.assert_allclose(whole.cluster_weights_, steps.cluster_weights_, rtol=1e-12)
    np.testing.assert_allclose(whole.trace_, steps.trace_, rtol=1e-8)
    assert (whole.n_iter_, whole.reason_) == (steps.n_iter_, steps.reason_)


def test_ends_where_the_peer_stays() -> None:
    X = blobs(3, 0)
    ours = KMeans(4, random_state=0, tol=0.0).fit(X)
    peer = Peer(4, init=ours.cluster_centers_, n_init=1, tol=0.0).fit(X)
    assert ours.inertia_ == pytest.approx(peer.inertia_, rel=1e-9)
    np.testing.assert_array_equal(ours.labels_, peer.labels_)


def test_equal_rows_are_taken_step_by_step() -> None:
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0)
    with pytest.warns(UserWarning, match="distinct clusters"):
        model = KMeans(3, random_state=0).fit(X)
    assert model.inertia_ == 0.0


def test_two_pairs_by_hand() -> None:
    T, weights = np.array([[-5.5, -4.5, 4.5, 5.5]]), np.array([1.0, 3.0, 1.0, 1.0])
    centres, labels, sums = np.empty((1, 2, 1)), np.empty((1, 4), np.int32), np.empty((1, 2, 2))
    costs, steps = np.empty((1, 12)), np.zeros(1, np.int64)
    found = (centres, labels, sums, costs, steps)
    draws = np.array([[0.1, 0.99, 0.99]])
    assert compiled.kmeans.small.cluster(T, weights, np.zeros(1), draws, 0.0, *found, np.empty((3, 4)))
    np.testing.assert_allclose(centres.ravel(), [-4.75, 5.0])
    assert labels.tolist() == [[0, 0, 1, 1]]
    assert costs[0, -1] == pytest.approx(0.75**2 + 3 * 0.25**2 + 0.5)


def test_a_generator_gives_again_what_was_drawn_from_it() -> None:
    rng, other = np.random.RandomState(3), np.random.RandomState(3)
    again = Replayed(rng.uniform(size=7), rng)
    np.testing.assert_array_equal(again.uniform(size=1), other.uniform(size=1))
    np.testing.assert_array_equal(again.uniform(size=(3, 2)), other.uniform(size=(3, 2)))
    np.testing.assert_array_equal(again.uniform(size=4), other.uniform(size=4))
    assert again.randint(1000) == other.randint(1000)
