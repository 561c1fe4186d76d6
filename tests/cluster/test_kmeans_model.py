"""The engine's side of K-means: exact labels, additive statistics, and a memo that changes nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.cluster import kmeans_plusplus

from latently.data.sources.chunks import ArraySource, Chunk
from latently.learn import reducing
from latently.learn.kmeans.groups import Groups
from latently.learn.kmeans.model import LloydModel
from latently.learn.kmeans.rows import CHUNK_ROWS, Table, frame_of
from latently.learn.kmeans.start import random_start, spread_start, start_centres


@pytest.fixture(autouse=True)
def _bounds_for_few_rows(monkeypatch):
    """Keep bounds for small tables too, where they would not pay."""
    monkeypatch.setattr("latently.learn.kmeans.model.BOUNDS_WORK", 0)
    monkeypatch.setattr("latently.learn.kmeans.model.BOUNDS_CENTRES", 0)


def framed(X, centres):
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return frame_of(lambda f: f(Chunk(X)), names, centres)


def model_of(X, centres):
    frame = framed(X, centres)
    return LloydModel(frame, centres - frame.origin), centres - frame.origin


def nearest(X, centres, origin):
    """Lowest index of the least distance, taken coordinate by coordinate in double precision."""
    squares = np.zeros((len(X), len(centres)))
    for j in range(X.shape[1]):
        squares += ((X[:, j] - origin[j])[:, None] - centres[:, j]) ** 2
    return squares.argmin(axis=1), squares.min(axis=1)


def rows(kind, n, d, rng):
    if kind == "grid":  # many exact ties
        return rng.integers(0, 4, size=(n, d)).astype(float)
    if kind == "far":  # clusters whose distance is a million times their width
        return rng.integers(0, 3, size=(n, 1)) * 1e4 + rng.normal(size=(n, d)) * 1e-2
    if kind == "outlier":
        X = rng.normal(size=(n, d))
        X[0] = 1e9
        return X
    return rng.normal(size=(n, d)) + (1e8 if kind == "offset" else 0.0)


@pytest.mark.parametrize("kind", ["plain", "grid", "far", "offset", "outlier"])
@pytest.mark.parametrize(("n", "d", "k"), [(2500, 5, 60), (1100, 40, 17), (3000, 2, 300), (500, 3, 4)])
def test_labels_are_those_of_double_precision_with_and_without_a_memo(kind, n, d, k):
    rng = np.random.default_rng(n + d)
    X = rows(kind, n, d, rng)
    model, centres = model_of(X, X[rng.choice(n, k, replace=False)])
    chunk = Chunk(X, rng.uniform(size=n))
    for step in range(12):
        params = model.params(centres)
        labels, stats = model.label(params, chunk)
        expected, square = nearest(X, centres, model.frame.origin)
        np.testing.assert_array_equal(labels, expected)
        np.testing.assert_allclose(stats.cost, chunk.weights @ square, rtol=1e-12)
        fresh_labels, fresh = model.label(params, chunk.fresh())
        np.testing.assert_array_equal(labels, fresh_labels)
        for name in ("weight", "first", "share", "cost", "bound"):
            np.testing.assert_array_equal(getattr(stats, name), getattr(fresh, name))
        centres = model.update(params, stats).centres
        if step == 6:  # a jump, as if another start had been tried
            centres = centres[::-1] + 0.1 * rng.normal(size=centres.shape)


def test_a_memo_of_another_model_is_not_believed():
    rng = np.random.default_rng(0)
    X, chunk = rng.normal(size=(600, 6)), None
    chunk = Chunk(X)
    for seed in range(3):
        model, centres = model_of(X, X[np.random.default_rng(seed).choice(600, 40, replace=False)])
        labels = model.label(model.params(centres), chunk)[0]
        np.testing.assert_array_equal(labels, nearest(X, centres, model.frame.origin)[0])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 40), st.integers(1, 8), st.integers(1, 199))
def test_statistics_of_two_parts_add_up(seed, k, d, cut):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(200, d)), rng.uniform(size=200)
    model, centres = model_of(X, X[:k])
    params = model.params(centres)
    whole = model.expect(params, Chunk(X, weights))
    parts = model.expect(params, Chunk(X[:cut], weights[:cut])) + model.expect(params, Chunk(X[cut:], weights[cut:]))
    for name in ("rows", "bound", "cost", "weight", "share", "first"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-10, atol=1e-10)


def test_the_bound_is_the_free_energy_of_hard_assignments():
    X = np.random.default_rng(0).normal(size=(50, 3))
    model, centres = model_of(X, X[:4])
    params = model.params(centres)
    labels, stats = model.label(params, Chunk(X))
    joint = [
        multivariate_normal(centres[k] + model.frame.origin, 0.5).logpdf(x) - np.log(4)
        for x, k in zip(X, labels, strict=True)
    ]
    assert stats.bound == pytest.approx(sum(joint))
    assert model.log_prior(params) == 0.0


@pytest.mark.parametrize(("k", "d"), [(1, 1), (16, 3), (17, 3), (100, 2), (1000, 32)])
def test_groups_hold_every_centre_once(k, d):
    groups = Groups.of(np.random.default_rng(0).normal(size=(k, d)))
    members = groups.members[groups.members >= 0]
    np.testing.assert_array_equal(np.sort(members), np.arange(k))
    np.testing.assert_array_equal(groups.members.ravel()[groups.place], np.arange(k))
    assert len(groups.members) <= max(4, 2 * d)


def source_of(X, weights=None):
    return ArraySource(X, weights, CHUNK_ROWS)


def start_cost(X, centres):
    return nearest(X, centres, np.zeros(X.shape[1]))[1].sum()


def test_spread_starts_are_as_good_as_scikit_learns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))[rng.integers(30, size=3000)] * 5 + rng.normal(size=(3000, 4))
    frame = framed(X, None)
    ours = [
        start_cost(X, spread_start(X, source_of(X), frame, 30, np.random.RandomState(s)) + frame.origin)
        for s in range(20)
    ]
    theirs = [start_cost(X, kmeans_plusplus(X, 30, random_state=s)[0]) for s in range(20)]
    assert np.mean(ours) < 1.05 * np.mean(theirs)


@pytest.mark.parametrize("start", [spread_start, random_start])
def test_starts_are_rows_that_have_weight(start):
    X = np.random.default_rng(0).normal(size=(300, 2)).round(3)
    weights = np.where(np.arange(300) % 3 == 0, 1.0, 0.0)
    frame = framed(X, None)
    centres = start(X, source_of(X, weights), frame, 50, np.random.RandomState(0)) + frame.origin
    gaps = np.abs(centres[:, None] - X[::3]).max(axis=2).min(axis=1)
    assert gaps.max() < 1e-12
    assert len(np.unique(centres.round(6), axis=0)) == 50


def test_a_spread_start_takes_every_distinct_row_before_any_twice():
    X = np.repeat(np.arange(12.0)[:, None], 9, axis=0)
    frame = framed(X, None)
    centres = spread_start(X, source_of(X), frame, 12, np.random.RandomState(0)) + frame.origin
    np.testing.assert_allclose(np.sort(centres.ravel()), np.arange(12.0))


def test_a_spread_start_does_not_depend_on_where_rows_lie():
    X = np.random.default_rng(0).integers(0, 1000, size=(5000, 3)).astype(float)
    found = []
    for table in (X, X + 2.0**30):
        with reducing(source_of(table)) as reduce:
            frame = frame_of(reduce, ("a", "b", "c"))
        start = start_centres("k-means++", Table(table, source_of(table)), frame, 25, np.random.RandomState(1))
        found.append(start + frame.origin - table[0])
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
