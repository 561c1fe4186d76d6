"""Default priors of counts and waiting times: a cluster of small values is not drawn up by one of large values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import expon, poisson

from latently.cluster import Mixture
from latently.distributions import Exponential, Gamma, Poisson
from latently.distributions.components.spread import shortest_scale

NEAR = 0.02  # nats per row
MEANS = [(1.0, 1e4), (0.1, 1e4), (1.0, 1e8), (3.0, 10.0)]


def drawn(kind, n, means, seed=0):
    rng = np.random.default_rng(seed)
    own = np.repeat(means, n // 2)
    return (rng.poisson(own) if kind is Poisson else rng.exponential(own)).astype(float)[:, None]


def density(kind, means, X):
    """Log density of rows in two clusters of equal weight, by scipy."""
    parts = [poisson(m).logpmf(X[:, 0]) if kind is Poisson else expon(scale=m).logpdf(X[:, 0]) for m in means]
    return logsumexp(parts, axis=0).mean() - np.log(2)


def means_of(model):
    return np.sort([part.mean[0] for part in model.components_])


@pytest.mark.parametrize("kind", [Poisson, Exponential])
@pytest.mark.parametrize("means", MEANS[:3])
def test_far_rates_score_as_maximum_likelihood_on_rows_held_out(kind, means):
    X, held_out = drawn(kind, 100, means), drawn(kind, 4000, means, seed=1)
    ours = Mixture(2, families=kind(), random_state=0, tol=1e-6, max_iter=500).fit(X)
    best = Mixture(2, families=kind(), prior="ml", random_state=0, tol=1e-6, max_iter=500).fit(X)
    assert ours.score(held_out) == pytest.approx(best.score(held_out), abs=NEAR)
    assert means_of(ours)[0] == pytest.approx(means[0], rel=0.5)
    if kind is Poisson:  # clusters do not overlap: maximum likelihood is the mean of each
        own = [X[:50].mean(), X[50:].mean()]
        assert ours.score(held_out) == pytest.approx(density(kind, own, held_out), abs=NEAR)


@pytest.mark.parametrize("kind", [Poisson, Exponential])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.9])
def test_clusters_of_unequal_size(kind, share):
    n = 200
    few = int(share * n)
    X = np.concatenate([drawn(kind, 2 * few, (1.0, 1.0))[:few], drawn(kind, 2 * (n - few), (1e4, 1e4))[: n - few]])
    found = Mixture(2, families=kind(), random_state=0, tol=1e-6, max_iter=500).fit(X)
    best = Mixture(2, families=kind(), prior="ml", random_state=0, tol=1e-6, max_iter=500).fit(X)
    assert_allclose(means_of(found), means_of(best), rtol=0.06)


@pytest.mark.parametrize("kind", [Poisson, Exponential])
@pytest.mark.parametrize("means", MEANS)
def test_the_objective_never_falls(kind, means):
    X = np.concatenate([drawn(kind, 100, means), np.zeros((5, 1))])
    X[::9] = np.nan
    model = Mixture(4, families=kind(), random_state=0, tol=1e-9, max_iter=2000).fit(X)
    rounding = max(1e-9, 1e-15 * means[1])  # terms of that size cancel in the probability of a large count
    assert (np.diff(model.lower_bounds_) > -rounding).all()
    assert np.isfinite(means_of(model)).all()
    assert (means_of(model) > 0).all()


@pytest.mark.parametrize("kind", [Poisson, Exponential])
def test_a_component_without_rows_stays_finite(kind):
    X = drawn(kind, 40, (1.0, 1e4))
    labels = np.repeat([0, 1], 20)
    model = Mixture(3, families=kind(), random_state=0).fit(X, labels=labels)
    assert np.isfinite(model.score_samples(X)).all()
    means = np.array([part.mean[0] for part in model.components_])
    assert np.isfinite(means).all()
    assert means.min() > 0
    assert means.max() < 1e5


@pytest.mark.parametrize("factor", [1e-9, 1e-3, 1e6])
def test_the_unit_of_waiting_times_does_not_matter(factor):
    X = drawn(Exponential, 100, (1.0, 1e4))
    here, there = (
        Mixture(2, families=Exponential(), random_state=0, tol=1e-9, max_iter=1000).fit(Y) for Y in (X, factor * X)
    )
    assert_allclose(means_of(there) / factor, means_of(here), rtol=1e-6)
    assert_allclose(there.predict_proba(factor * X), here.predict_proba(X), atol=1e-6)


def test_waiting_times_are_drawn_to_the_shortest_with_a_hundredth_of_the_strength():
    X, labels = drawn(Exponential, 60, (1.0, 1e3)), np.repeat([0, 1], 30)
    scale = shortest_scale(X, np.ones(60), 2)[0]
    for strength in (1.0, 50.0):
        model = Mixture(2, families=Exponential(), prior=strength).fit(X, labels=labels)
        s = 0.01 * strength
        expected = [Exponential().fit(part, prior=Gamma(1 + s, s * scale)).mean[0] for part in (X[:30], X[30:])]
        assert_allclose(means_of(model), expected, rtol=1e-9)


def test_zeros_alone_keep_a_density():
    X = np.concatenate([np.zeros(30), drawn(Exponential, 60, (5.0, 5.0))[:, 0]])[:, None]
    model = Mixture(2, families=Exponential(), random_state=0, max_iter=1000).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert means_of(model)[0] > 0


# the measure


def test_one_cluster_has_its_own_scale():
    X = np.random.default_rng(0).exponential(3.0, size=(50_000, 1))
    for k in (1, 3, 10):
        assert shortest_scale(X, np.ones(len(X)), k)[0] == pytest.approx(3.0, rel=0.1)


def test_weights_count_as_repeats_and_missing_values_not_at_all():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(80, 2))
    times = np.where(X[:, 0] < 0.3, 9, rng.integers(0, 2, 80))
    X[rng.random(X.shape) < 0.2] = np.nan
    repeated = np.repeat(X, times, axis=0)
    assert_allclose(shortest_scale(X, times.astype(float), 2), shortest_scale(repeated, np.ones(len(repeated)), 2))
    observed = X[~np.isnan(X[:, 0]), :1]
    assert_allclose(shortest_scale(observed, np.ones(len(observed)), 2), shortest_scale(X[:, :1], np.ones(80), 2))


def test_no_positive_value_has_no_scale():
    assert np.isinf(shortest_scale(np.array([[0.0], [np.nan]]), np.ones(2), 1)[0])
