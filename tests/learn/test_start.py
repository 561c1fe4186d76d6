import numpy as np
import pytest
from sklearn.cluster import kmeans_plusplus

from latently.data.open import as_source
from latently.learn.engine.start import (
    label_responsibilities,
    random_responsibilities,
    random_rows,
    sample_rows,
    spread_rows,
    squared_distances,
)


def blobs(k=5, each=40, seed=0):
    rng = np.random.default_rng(seed)
    centres = 100 * rng.normal(size=(k, 2))
    return np.repeat(centres, each, axis=0) + rng.normal(size=(k * each, 2)), np.repeat(np.arange(k), each)


def test_spread_rows_find_every_far_cluster():
    X, labels = blobs()
    for seed in range(10):
        chosen = spread_rows(X, np.ones(len(X)), 5, np.random.RandomState(seed))
        assert len(set(labels[chosen])) == 5


def test_spread_rows_are_as_good_as_the_peers():
    X = np.random.default_rng(3).normal(size=(400, 3))

    def cost(centres):
        return np.min([squared_distances(X, c) for c in centres], axis=0).sum()

    ours = [cost(X[spread_rows(X, np.ones(400), 8, np.random.RandomState(s))]) for s in range(30)]
    theirs = [cost(kmeans_plusplus(X, 8, random_state=s)[0]) for s in range(30)]
    assert np.mean(ours) < 1.1 * np.mean(theirs)


def test_rows_without_weight_are_never_chosen():
    X, weights = np.arange(10.0)[:, None], np.array([0.0] * 5 + [1.0] * 5)
    for seed in range(5):
        rng = np.random.RandomState(seed)
        assert spread_rows(X, weights, 3, rng).min() >= 5
        assert random_rows(X, weights, 5, rng).min() >= 5
    with pytest.raises(ValueError, match="only 5 have weight"):
        random_rows(X, weights, 6, np.random.RandomState(0))


def test_fewer_distinct_rows_than_needed_still_gives_a_start():
    assert len(spread_rows(np.zeros((4, 2)), np.ones(4), 3, np.random.RandomState(0))) == 3


def test_missing_coordinates_are_left_out_and_scaled_up():
    X = np.array([[3.0, np.nan], [np.nan, np.nan], [3.0, 4.0]])
    assert squared_distances(X, np.zeros(2)).tolist() == [18.0, 0.0, 25.0]
    chosen = spread_rows(X, np.ones(3), 2, np.random.RandomState(0))
    assert len(set(chosen.tolist())) == 2


def test_a_sample_keeps_rows_and_weights_together():
    X = np.arange(100.0)[:, None]
    rows, weights = sample_rows(as_source(X, np.arange(1, 101), chunk_rows=7), 20, np.random.RandomState(0))
    assert len(rows) == 20
    assert len(set(rows[:, 0])) == 20
    assert (weights == rows[:, 0] + 1).all()
    everything, _ = sample_rows(as_source(X, chunk_rows=7), 100, np.random.RandomState(0))
    assert (everything == X).all()


def test_responsibilities_are_distributions():
    random = random_responsibilities(50, 4, np.random.RandomState(0))
    assert np.allclose(random.sum(axis=1), 1)
    assert random.min() > 0
    assert label_responsibilities([2, 0], 3).tolist() == [[0, 0, 1], [1, 0, 0]]
    with pytest.raises(ValueError, match="labels must be 0 to 1"):
        label_responsibilities([0, 2], 2)
