"""Whitened rows and features are two ways to the same sums, and components that are left out would add nothing."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal

from latently.cluster import GaussianMixture
from latently.cluster.gaussian.model import GaussianMixtureModel
from latently.data.open import as_source
from latently.distributions.components.gaussian.frame import frame_of
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.wide import suits_bands

MODEL = GaussianMixtureModel("full")


def rows_and_params(n, d, k, apart, seed=0):
    """Rows about k means that lie some standard deviations apart, and a mixture of those means."""
    rng = np.random.default_rng(seed)
    means = apart * rng.normal(size=(k, d))
    factors = rng.normal(size=(k, d, d)) / (2 * np.sqrt(d)) + np.eye(d)
    X = means[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    frame = frame_of(X.mean(axis=0), X.var(axis=0), "full")
    covariances = factors @ factors.transpose(0, 2, 1) / np.outer(frame.scale, frame.scale)
    return X, GaussianParams("full", frame, rng.dirichlet(np.ones(k)), frame.inward(means), covariances)


def sent(params, *, by_features):
    """The same parameters, made to go one way."""
    other = GaussianParams(params.kind, params.frame, params.weights, params.means, params.covariances)
    other.__dict__["suits_features"] = by_features
    return other


@pytest.mark.parametrize("apart", [0.0, 0.5, 8.0])
@pytest.mark.parametrize("shape", [(1, 3, 2), (7, 1, 3), (130, 5, 4), (1500, 33, 6), (300, 70, 5)])
@pytest.mark.parametrize("weighted", [False, True])
def test_both_ways_give_the_same_update(shape, apart, weighted):
    X, params = rows_and_params(*shape, apart)
    weights = 1e-30 * np.random.default_rng(1).uniform(1, 2, size=len(X)) if weighted else None
    (chunk,) = as_source(X, weights)
    one, other = (MODEL.expect(sent(params, by_features=way), chunk) for way in (True, False))
    assert one.bound == pytest.approx(other.bound, rel=1e-11)
    np.testing.assert_allclose(one.weight, other.weight, rtol=1e-9, atol=1e-20 * one.weight.max())
    theirs = other.about(one.centre)
    for ours, twin in ((one.first, theirs.first), (one.second, theirs.second)):
        np.testing.assert_allclose(ours, twin, rtol=1e-8, atol=1e-10 * np.abs(ours).max())


@pytest.mark.parametrize("far", [False, True])
def test_densities_are_all_there(far):
    X, params = rows_and_params(200, 40, 5, 6.0)
    if far:  # about each component's own centre
        params.__dict__["is_near"] = False
    params.__dict__["suits_features"] = False
    joint, scale = MODEL.log_joint(params, X), params.frame.scale
    for k, weight in enumerate(params.weights):
        mean = params.frame.outward(params.means[k])
        known = multivariate_normal(mean, params.covariances[k] * np.outer(scale, scale)).logpdf(X)
        np.testing.assert_allclose(joint[:, k], np.log(weight) + known, rtol=1e-9)
    (chunk,) = as_source(X)
    assert MODEL.expect(params, chunk).bound == pytest.approx(logsumexp(joint, axis=1).sum(), rel=1e-12)


def test_far_components_that_share_a_covariance():
    X, params = rows_and_params(400, 6, 3, 4.0)
    model = GaussianMixtureModel("tied")
    shared = GaussianParams("tied", params.frame, params.weights, params.means, params.covariances[0])
    (chunk,) = as_source(X)
    near, far = sent(shared, by_features=True), sent(shared, by_features=False)
    far.__dict__["is_near"] = False
    fits = [model.update(way, model.expect(way, chunk)) for way in (near, far)]
    for name in ("weights", "means", "covariances"):
        np.testing.assert_allclose(*(getattr(fit, name) for fit in fits), rtol=1e-9, atol=1e-12)


def test_responsibilities_are_exact_to_rounding():
    # the kernel has an exponential of its own
    X, params = rows_and_params(150, 2, 4, 5.0)
    joint = MODEL.log_joint(params, X)
    found = np.array([MODEL.expect(params, chunk).weight for chunk in as_source(X, chunk_rows=1)])
    assert joint.max(axis=1).min() - joint.min() > 100
    np.testing.assert_allclose(found, softmax(joint, axis=1), rtol=2e-13, atol=1e-290)


def test_a_component_without_weight_takes_nothing():
    X, params = rows_and_params(100, 30, 3, 6.0)
    params = GaussianParams("full", params.frame, np.array([0.5, 0.5, 0.0]), params.means, params.covariances)
    (chunk,) = as_source(X)
    stats = MODEL.expect(sent(params, by_features=False), chunk)
    assert stats.weight[2] == 0
    assert np.isfinite(stats.bound)
    assert params.are_apart


def test_the_way_follows_the_data():
    assert not rows_and_params(500, 40, 6, 6.0)[1].suits_features
    assert rows_and_params(500, 40, 6, 0.1)[1].suits_features
    assert rows_and_params(500, 10, 6, 6.0)[1].suits_features
    assert not rows_and_params(500, 100, 3, 0.1)[1].suits_features


def test_a_fit_that_changes_its_way_keeps_climbing():
    rng = np.random.default_rng(0)
    centres = 6 * rng.normal(size=(8, 30))
    X = centres[rng.integers(8, size=4000)] + rng.normal(size=(4000, 30))
    bounds, ways = [], set()

    def look(step):
        bounds.append(step.objective)
        ways.add(step.before.suits_features)

    start = X[:8] * 0.01  # all in one place at first: the way of features
    GaussianMixture(8, means_init=start, random_state=0, max_iter=200).fit(X, on_iteration=look)
    assert ways == {True, False}
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[-1])).all()


@pytest.mark.parametrize("shape", [(1, 48, 1), (700, 48, 3), (513, 97, 2)])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_log_densities_in_bands_are_those_of_scipy(shape, offset):
    X, near = rows_and_params(*shape, 2.0)
    frame = frame_of(near.frame.origin + offset, near.frame.scale**2, "full")
    params = GaussianParams("full", frame, near.weights, near.means, near.covariances)
    assert suits_bands(params)
    Z = near.frame.inward(X)
    joint = [
        np.log(w) + multivariate_normal(m, C).logpdf(Z) - np.log(frame.scale).sum()
        for w, m, C in zip(params.weights, params.means, params.covariances, strict=True)
    ]
    np.testing.assert_allclose(MODEL.log_joint(params, X + offset), np.transpose(joint).reshape(len(X), -1), rtol=1e-6)
