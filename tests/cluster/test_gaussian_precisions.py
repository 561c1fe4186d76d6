"""Incomplete rows by way of the precisions: brute force, the other way, and whole fits against the engine's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.datasets import load_iris, load_wine

from latently.cluster import GaussianMixture
from latently.cluster.gaussian.compiled_fit import climbed
from latently.cluster.gaussian.given import stored_params
from latently.distributions.components.gaussian.frame import Frame
from latently.distributions.components.gaussian.incomplete import missing as gaussian_missing
from latently.distributions.components.gaussian.incomplete.conditional import (
    coloured,
    describe_incomplete,
    expect_incomplete,
    incomplete_rows,
    joint_incomplete,
    split_in_two,
    suits_precisions,
)
from latently.distributions.components.gaussian.incomplete.missing import expect_missing, joint_missing
from latently.distributions.components.gaussian.incomplete.patterns import patterns_of
from latently.distributions.components.gaussian.params import GaussianParams
from latently.learn.engine.em import ObjectiveFell

NONE = np.empty(0)


def incomplete(X, share, seed=0):
    X = np.array(X, dtype=float)
    X[np.random.default_rng(seed).uniform(size=X.shape) < share] = np.nan
    return X


def random_params(k, d, kind, rng):
    roots = rng.normal(size=(k if kind == "full" else 1, d, d)) + 2 * np.eye(d)
    covariances = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(d)
    frame = Frame(rng.normal(size=d), rng.uniform(0.5, 2.0, size=d))
    weights = rng.dirichlet(np.full(k, 5.0))
    return GaussianParams(
        kind, frame, weights, rng.normal(size=(k, d)), covariances if kind == "full" else covariances[0]
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 4), st.sampled_from(["full", "tied"]))
def test_both_ways_to_the_moments_agree(seed, d, k, kind):
    rng = np.random.default_rng(seed)
    params = random_params(k, d, kind, rng)
    X = incomplete(rng.normal(size=(80, d)), 0.4, seed)
    X[0] = np.nan
    X[1] = np.where(np.isnan(X[1]), 0.0, X[1])
    weights = rng.uniform(0.5, 2.0, size=80)
    rows = incomplete_rows(X, params.frame, weights)
    ours = expect_incomplete(params, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gaussian_missing, "suits_precisions", lambda *_: False)
        other = expect_missing(params, X, weights, patterns_of(X))
        joint = joint_missing(params, X, patterns_of(X))
    for one, two in zip(ours, other, strict=True):
        assert_allclose(one, two, rtol=1e-9, atol=1e-9 * np.abs(two).max())
    assert_allclose(joint_incomplete(params, rows), joint, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_holes_have_the_conditional_distribution(kind):
    rng = np.random.default_rng(1)
    params = random_params(2, 5, kind, rng)
    X = incomplete(rng.normal(size=(12, 5)), 0.4, 2)
    rows = incomplete_rows(X, params.frame)
    _, completed, spread = describe_incomplete(params, rows)
    for i, place in enumerate(rows.order):
        h, o = np.isnan(X[place]), ~np.isnan(X[place])
        z = params.frame.inward(X[place])
        for k, (m, C) in enumerate(zip(params.means, params.matrices, strict=True)):
            gradient = C[np.ix_(h, o)] @ np.linalg.inv(C[np.ix_(o, o)])
            assert_allclose(completed[k, i, h], m[h] + gradient @ (z[o] - m[o]), rtol=1e-9, atol=1e-9)
            assert_allclose(completed[k, i, o], z[o], rtol=1e-9, atol=1e-9)
            assert_allclose(spread[k, i, h], np.diag(C[np.ix_(h, h)] - gradient @ C[np.ix_(o, h)]), rtol=1e-9)
            assert (spread[k, i, o] == 0).all()


def test_draws_have_the_conditional_covariance():
    rng = np.random.default_rng(3)
    params = random_params(1, 4, "full", rng)
    X = np.tile([0.3, np.nan, -0.2, np.nan], (40000, 1))
    noise = coloured(params, incomplete_rows(X, params.frame), np.zeros(len(X), int), rng.standard_normal(X.shape))
    C = params.matrices[0]
    h, o = [1, 3], [0, 2]
    expected = C[np.ix_(h, h)] - C[np.ix_(h, o)] @ np.linalg.inv(C[np.ix_(o, o)]) @ C[np.ix_(o, h)]
    assert_allclose(np.cov(noise[:, h].T), expected, atol=0.03 * np.abs(expected).max())
    assert abs(noise[:, h].mean()) < 0.03 * np.sqrt(expected.max())


@pytest.mark.parametrize(("kind", "k"), [("full", 1), ("full", 3), ("tied", 2)])
def test_a_whole_fit_is_that_of_the_engine(kind, k):
    X = incomplete(load_wine().data[:, :6], 0.2)
    start = GaussianMixture(k, covariance_type=kind, random_state=0, tol=1.0, reg_covar=0.01).fit(X)
    given = {"weights_init": start.weights_, "means_init": start.means_, "precisions_init": start.precisions_}
    engine = GaussianMixture(k, covariance_type=kind, reg_covar=0.01, tol=1e-4, max_iter=500, **given).fit(X)
    frame = engine.statistics_.frame
    fit = climbed(incomplete_rows(X, frame), stored_params(start, frame), 0.01 * len(X) / k, tol=1e-4, max_iter=500)
    assert fit.converged
    assert fit.n_iter == engine.n_iter_
    assert_allclose(np.array(fit.trace) / len(X), engine.lower_bounds_, rtol=1e-9)
    ours = GaussianMixture(k, covariance_type=kind)._adopt(fit, fit.params, fit.stats)
    assert_allclose(ours.means_, engine.means_, rtol=1e-7)
    assert_allclose(ours.covariances_, engine.covariances_, rtol=1e-6, atol=1e-9)
    assert_allclose(ours.statistics_.second, engine.statistics_.second, rtol=1e-6, atol=1e-6)


def test_a_fit_that_cannot_reach_its_goal_is_left_unfinished():
    X = incomplete(load_iris().data, 0.1)
    frame = Frame(np.nanmean(X, axis=0), np.nanstd(X, axis=0))
    alone = GaussianParams("full", frame, np.ones(1), np.zeros((1, 4)), np.eye(4)[None])
    whole = climbed(incomplete_rows(X, frame), alone, 1.0, tol=1e-9, max_iter=500)
    short = climbed(incomplete_rows(X, frame), alone, 1.0, tol=1e-9, max_iter=500, goal=whole.stats.bound + 50)
    assert (short.reason, short.converged) == ("stopped", False)
    assert short.n_iter < whole.n_iter
    assert climbed(incomplete_rows(X, frame), alone, 1.0, tol=1e-9, max_iter=2).reason == "max_iter"


def test_a_covariance_that_is_none_is_an_error():
    X = incomplete(load_iris().data, 0.1)
    frame = Frame(np.zeros(4), np.ones(4))
    wrong = GaussianParams("full", frame, np.ones(1), np.zeros((1, 4)), -np.eye(4)[None])
    with pytest.raises(ValueError, match="ill-defined"):
        climbed(incomplete_rows(X, frame), wrong, 0.0, tol=1e-3, max_iter=5)


def test_an_objective_that_falls_is_an_error():
    from latently.cluster.gaussian.compiled_fit import _reason

    with pytest.raises(ObjectiveFell, match="in iteration 3"):
        _reason(np.array([-5.0, -4.0, -4.5]), 10.0, 1e-3, 100)


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_halves_have_the_moments_of_the_whole(kind):
    params = random_params(2, 3, kind, np.random.default_rng(0))
    three = split_in_two(params, 1)

    def moments(p):
        mean = p.weights @ p.means
        gaps = p.means - mean
        return mean, np.einsum("k,kij->ij", p.weights, p.matrices) + np.einsum("k,ki,kj->ij", p.weights, gaps, gaps)

    for before, after in zip(moments(params), moments(three), strict=True):
        assert_allclose(after, before, rtol=1e-9, atol=1e-9)
    assert_allclose(three.weights[[1, 2]], params.weights[1] / 2)
    # each half's mean is where half a normal has its own
    axis = three.means[1] - params.means[1]
    spread = axis @ params.matrices[1] @ axis / (axis @ axis)
    assert_allclose(np.linalg.norm(axis), stats.halfnorm.mean() * np.sqrt(spread), rtol=1e-9)


def test_the_way_is_chosen_by_the_work():
    rng = np.random.default_rng(0)
    params = random_params(3, 10, "full", rng)
    many = incomplete(rng.normal(size=(20000, 10)), 0.05)
    own = incomplete(rng.normal(size=(500, 10)), 0.3)
    assert not suits_precisions(params, patterns_of(many))
    assert suits_precisions(params, patterns_of(own))
    steep = GaussianParams("tied", params.frame, params.weights, params.means, np.eye(10) - (1 - 1e-9) * 0.1)
    assert not suits_precisions(steep, patterns_of(own))


def test_rows_without_holes_and_rows_without_values():
    params = random_params(2, 3, "full", np.random.default_rng(4))
    X = np.array([[np.nan] * 3, [0.5, -0.2, 0.1]])
    joint = joint_incomplete(params, incomplete_rows(X, params.frame))
    assert_allclose(joint[0], np.log(params.weights))
    scales = params.frame.scale
    density = [
        np.log(w) + stats.multivariate_normal(params.frame.outward(m), C * np.outer(scales, scales)).logpdf(X[1])
        for w, m, C in zip(params.weights, params.means, params.matrices, strict=True)
    ]
    assert_allclose(joint[1], density)
    assert_array_equal(incomplete_rows(X, params.frame).order, [1, 0])
