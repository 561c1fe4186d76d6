"""One search for neighbours, against distances that are computed and sorted one by one."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from latently.geometry import nearest, within
from latently.geometry.blocked import by_products
from latently.learn.engine.cores import threads


def table(n=300, d=20, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def sorted_distances(X, k, metric="euclidean"):
    D = cdist(X, X, metric)
    np.fill_diagonal(D, np.inf)
    who = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, who, axis=1), who


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("scale", [1.0, 1e-6])
@pytest.mark.parametrize("d", [2, 13, 40])
def test_neighbours_are_those_of_sorted_distances(d, scale, offset):
    X = scale * table(d=d) + offset * scale
    near, who = sorted_distances(X, 7)
    for method in ("exact", "kd_tree"):
        found = nearest(X, 7, method=method)
        np.testing.assert_array_equal(found.indices, who)
        np.testing.assert_allclose(found.distances, near, rtol=1e-12)
    assert found.indices.dtype == np.int64


def test_tight_groups_far_apart_are_searched_again_in_double_precision_and_by_differences():
    rng = np.random.default_rng(0)
    X = np.concatenate([1e3 * g + 10.0 ** (-4 * g) * rng.normal(size=(60, 15)) for g in range(3)])
    near, who = sorted_distances(X, 5)
    found = nearest(X, 5, method="exact")
    np.testing.assert_array_equal(found.indices, who)
    np.testing.assert_allclose(found.distances, near, rtol=1e-10)


def test_other_rows_are_asked_for():
    X, Y = table(), table(50, seed=1)
    found, peer = nearest(X, 9, Y), NearestNeighbors(n_neighbors=9, algorithm="brute").fit(X).kneighbors(Y)
    np.testing.assert_array_equal(found.indices, peer[1])
    np.testing.assert_allclose(found.distances, peer[0])
    np.testing.assert_array_equal(nearest(X, 9, Y, method="kd_tree").indices, peer[1])


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "chebyshev"])
def test_other_metrics_and_given_distances_agree(metric):
    X = table()
    found, given = nearest(X, 6, metric=metric), nearest(pairwise_distances(X, metric=metric), 6, metric="precomputed")
    np.testing.assert_array_equal(found.indices, given.indices)
    np.testing.assert_allclose(found.distances, given.distances, atol=1e-12)


def test_duplicates_are_neighbours_and_the_row_itself_is_not():
    X = np.repeat(table(10, 4), 6, axis=0)
    for method in ("exact", "kd_tree"):
        found = nearest(X, 5, method=method)
        assert (found.distances == 0).all()
        assert (found.indices // 6 == np.arange(60)[:, None] // 6).all()
        assert (found.indices != np.arange(60)[:, None]).all()


def test_any_number_of_threads_gives_the_same_bits():
    X = table(700)
    with threads(1):
        one = nearest(X, 12, method="exact")
    with threads(3):
        three = nearest(X, 12, method="exact")
    np.testing.assert_array_equal(one.distances, three.distances)
    np.testing.assert_array_equal(one.indices, three.indices)


def test_all_other_rows_may_be_neighbours():
    X = table(40)
    np.testing.assert_array_equal(by_products(X, None, 39)[1], sorted_distances(X, 39)[1])


class Peer:
    """The part of pynndescent.NNDescent that is called, exact; the real one compiles for a minute."""

    def __init__(self, rows, metric, metric_kwds, n_neighbors, random_state, n_jobs):
        self.found = NearestNeighbors(n_neighbors=n_neighbors, metric=metric).fit(rows)
        near, who = self.found.kneighbors(rows)
        self.neighbor_graph = who, near

    def query(self, rows, k):
        near, who = self.found.kneighbors(rows, k)
        return who, near


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_an_approximate_search_is_asked_as_it_answers(monkeypatch, metric):
    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=Peer, __spec__=True))
    X = table(100, 12) + 0.5
    for Y in (None, X[:9] + 0.1):
        exact, rough = (nearest(X, 20, Y, metric=metric, method=m, random_state=0) for m in ("exact", "approximate"))
        np.testing.assert_array_equal(rough.indices, exact.indices)
        np.testing.assert_allclose(rough.distances, exact.distances, rtol=1e-4, atol=1e-6)


def test_an_approximate_search_that_is_not_installed(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"latently\[embed\]"):
        nearest(table(), 3, method="approximate")


def test_within_a_radius():
    X = table(200, 3)
    found = within(X, 0.8)
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(found.toarray() > 0, D <= 0.8)
    np.testing.assert_allclose(
        within(X, 0.8, X[:5]).toarray().max(axis=1), np.where(cdist(X[:5], X) <= 0.8, cdist(X[:5], X), 0).max(axis=1)
    )
    doubled = within(np.zeros((3, 2)), 1.0)
    assert doubled.nnz == 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nearest(table(5), 5), "there are 4 other rows"),
        (lambda: nearest(table(5), 2, table(5, 3)), "X has 20 columns, Y has 3 columns"),
        (lambda: nearest(table(5), 2, metric="precomputed"), "must be square"),
        (lambda: nearest(table(5), 2, metric="cosine", method="kd_tree"), "Euclidean"),
        (lambda: nearest(np.zeros(5), 2), "two dimensions"),
    ],
)
def test_what_cannot_be_searched_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
