"""KMeans on tables that are empty, constant, infinite, sparse, or of the wrong shape."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import euclidean_distances

from latently.cluster.kmeans import KMeans
from latently.learn.kmeans import rows as kmeans_rows

X = np.random.default_rng(0).normal(size=(60, 3))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((5, 0)), r"0 feature\(s\)"),
        (np.arange(5.0), "2-D table"),
        ([[1.0, 2.0], [np.inf, 0.0]], "column 'x0' of X contains inf"),
        ([["a", 1.0], ["b", 2.0]], "column 'x0' of X"),
        ([[1e200, 1.0], [-1e200, 2.0]], "column 'x0' of X has values of extreme size .* rescale"),
    ],
)
def test_tables_that_cannot_be_clustered(rows, message):
    with pytest.raises(ValueError, match=message):
        KMeans(2).fit(rows)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 61}, "n_samples=60 should be >= n_clusters=61"),
        ({"n_clusters": 0}, "n_clusters"),
        ({"init": X[:3]}, "does not match the number of clusters 8"),
        ({"init": X[:8, :2]}, "does not match the number of features of the data 3"),
        ({"init": np.full((8, 3), np.nan)}, "of init contains NaN"),
        ({"init": lambda X, k, random_state: X[:2]}, "does not match the number of clusters 8"),
        ({"init": "elsewhere"}, "init"),
        ({"empty": "drop"}, "empty"),
        ({"tol": -1.0}, "tol"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        KMeans(**settings).fit(X)


@pytest.mark.parametrize("weights", [[1.0, 2.0], np.zeros(60), -np.ones(60), np.full(60, np.nan)])
def test_weights_that_make_no_sense(weights):
    with pytest.raises(ValueError, match="sample_weight"):
        KMeans(2).fit(X, sample_weight=weights)


def test_predicting_needs_a_fit_and_the_same_columns():
    with pytest.raises(NotFittedError):
        KMeans(2).predict(X)
    model = KMeans(2, random_state=0).fit(X)
    for ask in (model.predict, model.transform, model.score, model.partial_fit):
        with pytest.raises(ValueError, match="2 features, but KMeans is expecting 3 features"):
            ask(X[:, :2])
        with pytest.raises(ValueError, match="contains inf"):
            ask(np.full((2, 3), np.inf))


def test_a_first_batch_needs_as_many_rows_as_clusters():
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=8"):
        KMeans(8).partial_fit(X[:3])


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_one_row_and_one_cluster(init):
    model = KMeans(1, init=init).fit([[3.0, 4.0]])
    np.testing.assert_array_equal(model.cluster_centers_, [[3.0, 4.0]])
    assert (model.inertia_, model.labels_.tolist(), model.converged_) == (0.0, [0], True)


def test_a_constant_column_and_a_constant_table():
    constant = np.column_stack([X, np.full(60, 7.0)])
    model = KMeans(3, init=constant[:3]).fit(constant)
    np.testing.assert_array_equal(model.labels_, KMeans(3, init=X[:3]).fit(X).labels_)
    np.testing.assert_array_equal(model.cluster_centers_[:, 3], 7.0)
    with pytest.warns(ConvergenceWarning, match="distinct clusters \\(1\\)"):
        flat = KMeans(2, random_state=0).fit(np.ones((5, 2)))
    np.testing.assert_array_equal(flat.cluster_centers_, np.ones((2, 2)))
    assert flat.inertia_ == 0.0


def test_more_clusters_than_distinct_rows():
    rows = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], 20, axis=0)
    with pytest.warns(ConvergenceWarning, match="distinct clusters \\(3\\) found smaller than n_clusters \\(30\\)"):
        model = KMeans(30, random_state=0).fit(rows)
    assert model.inertia_ == pytest.approx(0.0, abs=1e-25)
    assert len(set(model.labels_)) == 3
    assert np.isfinite(model.cluster_centers_).all()


def test_a_repeated_point_is_a_cluster_of_its_own():
    rows = np.vstack([np.full((50, 3), 5.0), X])
    model = KMeans(4, random_state=0).fit(rows)
    assert len(set(model.labels_[:50])) == 1
    assert np.isfinite(model.cluster_centers_).all()


def test_arrays_of_any_layout_give_the_same():
    start = X[:5]
    reference = KMeans(5, init=start).fit(X)
    frozen = X.copy()
    frozen.flags.writeable = False
    for rows in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], frozen, X.tolist()):
        model = KMeans(5, init=start).fit(rows)
        np.testing.assert_array_equal(model.labels_, reference.labels_)
        np.testing.assert_array_equal(model.cluster_centers_, reference.cluster_centers_)


def test_the_table_and_the_start_are_left_alone():
    rows, start, weights = X.copy(), X[:4].copy(), np.full(60, 2.0)
    KMeans(4, init=start, copy_x=False).fit(rows, sample_weight=weights)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(start, X[:4])
    np.testing.assert_array_equal(weights, 2.0)


@pytest.mark.parametrize("limit", [1 << 22, 30])
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_sparse_rows_are_read_in_dense_blocks(monkeypatch, limit, init):
    monkeypatch.setattr(kmeans_rows, "_DENSE_VALUES", limit)
    rows = sparse.random_array((200, 6), density=0.3, rng=np.random.default_rng(0), format="csc")
    dense = rows.toarray()
    weights = np.random.default_rng(1).uniform(size=200)
    ours = KMeans(9, init=init, n_init=1, random_state=0).fit(rows, sample_weight=weights)
    full = KMeans(9, init=init, n_init=1, random_state=0).fit(dense, sample_weight=weights)
    np.testing.assert_allclose(ours.cluster_centers_, full.cluster_centers_, atol=1e-12)
    np.testing.assert_array_equal(ours.labels_, full.labels_)
    np.testing.assert_array_equal(ours.predict(rows), ours.predict(dense))
    np.testing.assert_allclose(ours.transform(rows), euclidean_distances(dense, ours.cluster_centers_), atol=1e-7)


def test_settings_that_change_nothing_are_warned_about():
    with pytest.warns(RuntimeWarning, match="performing only one init"):
        KMeans(3, init=X[:3], n_init=5).fit(X)
    with pytest.warns(RuntimeWarning, match="doesn't make sense for a single cluster"):
        KMeans(1, algorithm="elkan").fit(X)
