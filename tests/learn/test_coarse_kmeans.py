"""Starts of K-means on long tables: from samples that grow."""

import numpy as np
import pytest
import sklearn.cluster

from latently.cluster import KMeans
from latently.data.sources.chunks import ArraySource
from latently.learn.engine.reduce import reducing
from latently.learn.kmeans import coarse
from latently.learn.kmeans.coarse import coarse_start, sample_sizes
from latently.learn.kmeans.rows import Table, frame_of

N = 40_000


def blobs(n=N, shares=(0.5, 0.3, 0.2), d=4, seed=0):
    rng = np.random.default_rng(seed)
    centres = 10.0 * rng.normal(size=(len(shares), d))
    return centres[rng.choice(len(shares), n, p=shares)] + rng.normal(size=(n, d))


def started(X, k, weights=None, seed=0, rows=8192):
    table = Table(X, ArraySource(X, weights, rows))
    with reducing(table.source) as reduce:
        frame = frame_of(reduce, table.source.column_names, None, len(X))
    start = coarse_start(table, frame, k, [np.random.RandomState(seed + i) for i in range(3)])
    return None if start is None else start + frame.origin


def cost(X, centres):
    return sum(((X[i : i + 5000, None] - centres) ** 2).sum(axis=2).min(axis=1).sum() for i in range(0, len(X), 5000))


def test_samples_grow_fourfold_up_to_a_quarter():
    assert sample_sizes(1_000_000, 6, 10) == [3906, 15625, 62500, 250000]
    assert sample_sizes(4 * coarse.SAMPLE_ROWS - 1, 6, 2) == []
    assert sample_sizes(100_000, 3, 200) == [25000]  # 64 rows for each of 200 clusters
    assert sample_sizes(10**9, 1000, 10)[-1] == 2**27 // 8000  # no more than memory is for


def test_one_row_is_drawn_from_every_stretch():
    places = coarse._places(1000, 100, np.random.RandomState(0))
    assert np.array_equal(places // 10, np.arange(100))
    assert len(np.unique(places % 10)) == 10


def test_centres_of_the_samples_have_the_error_of_the_largest():
    X = blobs()
    best = sklearn.cluster.KMeans(3, n_init=10, random_state=0).fit(X)
    errors = []
    for seed in range(5):
        start = started(X, 3, seed=seed)
        errors.append((np.linalg.norm(best.cluster_centers_[:, None] - start, axis=2).min(axis=1) ** 2).sum())
    # d / n of each cluster in a quarter of the rows, of which three quarters are other rows than those in the sample
    expected = 0.75 * (4 / (np.bincount(best.labels_) / 4)).sum()
    assert expected / 2 < np.mean(errors) < 2 * expected


@pytest.mark.parametrize("shares", [(0.5, 0.3, 0.2), (0.9, 0.08, 0.015, 0.005), (0.25,) * 4])
def test_fits_are_as_good_as_those_of_scikit_learn(shares):
    k, ours, theirs = len(shares), [], []
    for seed in range(5):
        X = blobs(shares=shares, seed=seed)
        best = sklearn.cluster.KMeans(k, n_init=10, random_state=0).fit(X).inertia_
        model = KMeans(k, random_state=seed).fit(X)
        assert model.inertia_ == pytest.approx(cost(X, model.cluster_centers_), rel=1e-10)
        assert model.converged_
        assert np.all(np.diff(model.trace_) >= -1e-9 * abs(model.trace_[0]))
        ours.append(model.inertia_ / best)
        theirs.append(sklearn.cluster.KMeans(k, random_state=seed).fit(X).inertia_ / best)
    assert np.mean(ours) < np.mean(theirs) + 1e-3
    assert np.median(ours) < 1 + 1e-3


def test_the_fit_takes_few_passes_over_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))  # no clusters at all: Lloyd's steps are many
    plain = sklearn.cluster.KMeans(8, random_state=0).fit(X)
    ours = [KMeans(8, random_state=seed).fit(X) for seed in range(4)]
    assert np.median([model.n_iter_ for model in ours]) < plain.n_iter_ / 2
    assert min(model.inertia_ for model in ours) < plain.inertia_ * 1.01


def test_a_far_cluster_that_samples_miss_is_found():
    X, missed = blobs(shares=(0.6, 0.4)), 0
    X[:3] = 1e4  # three rows in forty thousand
    for seed in range(6):
        start = started(X, 3, seed=seed)
        missed += start is None
        assert start is None or np.abs(start).max() > 9e3
        assert np.bincount(KMeans(3, random_state=seed).fit(X).labels_).min() == 3
    assert missed


def test_fewer_different_rows_in_the_samples_than_clusters_are_no_start():
    X = np.zeros((N, 1))
    X[7], X[8] = 1.0, 2.0
    assert started(X, 3) is None
    np.testing.assert_allclose(
        np.sort(KMeans(3, random_state=0).fit(X).cluster_centers_.ravel()), [0, 1, 2], atol=1e-12
    )


def test_weights_that_leave_the_sample_empty_are_no_start():
    weights = np.zeros(N)
    weights[:10] = 1.0
    X = blobs()
    assert started(X, 2, weights) is None
    model = KMeans(2, random_state=0).fit(X, sample_weight=weights)
    assert model.inertia_ == pytest.approx(cost(X[:10], model.cluster_centers_), rel=1e-10)


def test_weights_move_the_start_as_repeats_do():
    X, weights = blobs(), np.random.default_rng(1).integers(1, 4, size=N).astype(float)
    start, repeated = started(X, 3, weights), np.repeat(X, weights.astype(int), axis=0)
    best = sklearn.cluster.KMeans(3, n_init=10, random_state=0).fit(repeated)
    gaps = np.linalg.norm(best.cluster_centers_[:, None] - start, axis=2).min(axis=1)
    assert (gaps < 0.15).all()


def test_chunks_and_threads_do_not_change_the_start():
    X = blobs()
    one, many = started(X, 3, rows=N), started(X, 3, rows=1000)
    np.testing.assert_allclose(one, many, rtol=1e-9)


def test_a_hook_sees_passes_over_all_rows_and_changes_nothing():
    X, seen = blobs(d=2), []
    watched = KMeans(3, random_state=0).fit(X, on_iteration=lambda step: seen.append(step.stats.rows))
    assert seen == [N] * watched.n_iter_
    np.testing.assert_allclose(KMeans(3, random_state=0).fit(X).cluster_centers_, watched.cluster_centers_, rtol=1e-9)
