"""A shared spherical covariance eps * I with eps to 0: K-means, from the same centres."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine

from latently.cluster import GaussianMixture

WINE = load_wine().data
TABLES = {"iris": load_iris().data, "wine": (WINE - WINE.mean(axis=0)) / WINE.std(axis=0)}


def soft(X, centres, eps, kind="spherical", weights=True):
    k, d = centres.shape
    covariances = {"spherical": np.full(k, eps), "tied": eps * np.eye(d), "diag": np.full((k, d), eps)}[kind]
    fixed = {"covariances": covariances} | ({"weights": np.full(k, 1 / k)} if weights else {})
    mixture = GaussianMixture(
        k, covariance_type=kind, fixed=fixed, means_init=centres, tol=1e-3, max_iter=2000, random_state=0
    )
    return mixture.fit(X)


def hard(X, centres):
    return KMeans(len(centres), init=centres, n_init=1, tol=0, max_iter=2000, algorithm="lloyd").fit(X)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kind", ["spherical", "tied", "diag"])
@pytest.mark.parametrize("weights", [True, False], ids=["equal", "learnt"])
def test_assignments_and_centres_are_those_of_k_means(name, kind, weights):
    X = TABLES[name]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        # off the rows, which are in whole millimetres: two centres at one distance from a row leave it open
        centres = X[rng.choice(len(X), 4, replace=False)] + 0.01 * rng.normal(size=(4, X.shape[1]))
        ours, theirs = soft(X, centres, 1e-8, kind, weights), hard(X, centres)
        assert (ours.predict(X) == theirs.labels_).all()
        np.testing.assert_allclose(ours.means_, theirs.cluster_centers_, atol=1e-8)
        assert ours.predict_proba(X).max(axis=1).min() > 1 - 1e-9


def test_the_iterations_are_lloyds():
    X, k = TABLES["iris"], 3
    centres = X[[10, 60, 110]]
    seen = []
    mixture = GaussianMixture(
        k,
        covariance_type="spherical",
        fixed={"covariances": np.full(k, 1e-9), "weights": np.full(k, 1 / k)},
        means_init=centres,
        tol=1e-3,
        random_state=0,
    )
    mixture.fit(X, on_iteration=lambda step: seen.append(step.before.frame.outward(step.before.means)) or False)
    for found in seen:
        np.testing.assert_allclose(found, centres, atol=1e-9)
        nearest = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.array([X[nearest == j].mean(axis=0) for j in range(k)])
    assert len(seen) > 3


def test_the_objective_tends_to_the_inertia():
    X = TABLES["iris"]
    centres = X[[10, 60, 110]]
    inertia = hard(X, centres).inertia_
    gaps = []
    for eps in (1e-1, 1e-2, 1e-4):
        likelihood = soft(X, centres, eps).score_samples(X).sum()
        constant = -len(X) * (np.log(3) + 2 * np.log(2 * np.pi * eps))
        gaps.append(abs(-2 * eps * (likelihood - constant) - inertia))
    assert gaps[0] > 100 * gaps[1]
    assert gaps[1] < 1e-4 * inertia
    assert gaps[2] < 1e-9 * inertia


def test_responsibilities_harden_as_the_covariance_shrinks():
    X = TABLES["iris"]
    doubts = [1 - soft(X, X[[10, 60, 110]], eps).predict_proba(X).max(axis=1).min() for eps in (1.0, 0.1, 1e-2, 1e-4)]
    assert (np.diff(doubts) < 0).all()
    assert doubts[-1] < 1e-6


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_on_random_tables(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)) * rng.uniform(0.1, 10, size=3) + 100
    centres = X[rng.choice(60, 3, replace=False)]
    ours, theirs = soft(X, centres, 1e-10), hard(X, centres)
    assert (ours.predict(X) == theirs.labels_).all()
