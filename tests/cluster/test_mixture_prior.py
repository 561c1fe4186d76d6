"""Priors of a mixture over a table: the modes of conjugate posteriors, and no collapse."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from latently.cluster import BernoulliMixture
from latently.cluster.mixture.mixture import Mixture
from latently.distributions import Categorical, Dirichlet, Gamma, Gaussian, NormalInverseWishart, Poisson

FAMILIES = {2: Categorical(), 3: Poisson()}
PRIORS = {
    0: NormalInverseWishart([0.5], 2.0, [[3.0]], 4.0),
    1: 5.0,
    2: Dirichlet([2.0, 3.0, 1.5]),
    "Poisson": Gamma(3.0, 2.0),
}


def test_a_single_component_is_the_mode_under_each_conjugate_prior():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(60, 2)), rng.integers(0, 3, 60), rng.poisson(3.0, 60)])
    X[rng.random(X.shape) < 0.1] = np.nan
    part = Mixture(1, families=FAMILIES, prior=PRIORS).fit(X).components_[0]
    numeric = Gaussian().fit(X[:, :1][~np.isnan(X[:, 0])], prior=PRIORS[0])
    assert part.marginal(0).mean == pytest.approx(numeric.mean, rel=1e-12)
    assert part.marginal(0).variance == pytest.approx(numeric.variance, rel=1e-12)
    assert np.allclose(part.marginal(2).probabilities, Categorical().fit(X[:, 2], prior=PRIORS[2]).probabilities)
    assert np.allclose(part.marginal(3).rate, Poisson().fit(X[:, 3], prior=PRIORS["Poisson"]).rate)


def test_the_prior_of_a_full_group_is_conjugate():
    X = load_iris().data[:50, :2]
    prior = NormalInverseWishart([5.0, 3.0], 2.0, np.eye(2), 6.0)
    part = Mixture(1, families={(0, 1): Gaussian()}, prior={(0, 1): prior}).fit(X).components_[0]
    alone = Gaussian().fit(X, prior=prior)
    assert np.allclose(part.mean, alone.mean)
    assert np.allclose(part.covariance, alone.covariance)


def test_the_default_prior_keeps_components_from_collapsing():
    X = np.concatenate([np.zeros(30), np.random.default_rng(0).normal(5, 1, 70)])[:, None]
    mixture = Mixture(2, random_state=0, tol=1e-9, max_iter=1000).fit(X)
    variances = np.array([part.variance[0] for part in mixture.components_])
    assert variances.min() > 1e-6 * X.var()
    plain = Mixture(2, random_state=0, prior="ml", tol=1e-9, max_iter=1000).fit(X)
    assert np.isfinite(plain.score_samples(X)).all()
    least = plain.model_.blocks[0].least[0]
    assert 0 < least <= 1e-10 * X.var()
    assert min(part.variance[0] for part in plain.components_) == pytest.approx(least, rel=1e-6)


def test_a_stronger_prior_draws_probabilities_to_those_of_all_rows():
    codes = np.repeat([0.0, 1.0], 30)[:, None]
    X = np.hstack([codes, codes])
    rows = []
    for strength in (0, 1.0, 50.0):
        mixture = Mixture(2, families="binary", prior=strength).fit(X, labels=codes[:, 0])
        rows.append(mixture.components_[0].marginal(0).probabilities[0])
    assert rows[0] == pytest.approx(1.0)
    assert rows[0] > rows[1] > rows[2]
    # thirty rows of a kind and one of the prior, half of which is of the other kind
    assert rows[1] == pytest.approx(30.5 / 31, abs=1e-6)


def test_weights_have_a_dirichlet_prior():
    X = np.concatenate([np.zeros(30), np.full(10, 100.0)])[:, None] + np.linspace(-1, 1, 40)[:, None]
    mixture = Mixture(2, weight_prior=Dirichlet([11.0, 11.0]), random_state=0, tol=1e-9).fit(X)
    assert mixture.weights_ == pytest.approx([40 / 60, 20 / 60], abs=1e-9)
    plain = Mixture(2, weight_prior=1.0, random_state=0, tol=1e-9).fit(X)
    assert plain.weights_ == pytest.approx([0.75, 0.25], abs=1e-9)


# what the default prior weighs: known groups, so that the mode is a formula


def known_groups():
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1, 2], [10, 25, 65])
    counts = rng.poisson(np.array([2.0, 6.0, 15.0])[labels]).astype(float)
    codes = (rng.random(100) < np.array([0.1, 0.5, 0.8])[labels]).astype(float)
    return np.column_stack([counts, codes]), labels


@pytest.mark.parametrize("strength", [None, 0.0, 1.0, 6.0])
def test_weights_are_drawn_to_one_another_by_as_many_rows_as_the_prior_is_worth(strength):
    X, labels = known_groups()
    s = 1.0 if strength is None else strength
    expected = (np.bincount(labels) + s / 3) / (100 + s)
    table = Mixture(3, families={0: Poisson(), 1: Categorical()}, prior=strength).fit(X, labels=labels)
    bits = BernoulliMixture(3, prior=strength).fit(X[:, 1:], labels=labels)
    np.testing.assert_allclose(table.weights_, expected, rtol=1e-12)
    np.testing.assert_allclose(bits.weights_, expected, rtol=1e-12)


@pytest.mark.parametrize("strength", [None, 0.0, 1.0, 6.0])
@pytest.mark.parametrize("thinned", [1.0, 0.05])
def test_rates_are_drawn_to_the_mean_count_of_all_rows(strength, thinned):
    X, labels = known_groups()
    X[:, 0] = np.random.default_rng(0).binomial(X[:, 0].astype(int), thinned)
    s = 1.0 if strength is None else strength
    s = s / max(X[:, 0].mean(), 1.0)  # rows, or events if those are less
    assert (X[:, 0].mean() > 1) == (thinned == 1.0)
    sums, sizes = np.bincount(labels, X[:, 0]), np.bincount(labels)
    mixture = Mixture(3, families={0: Poisson(), 1: Categorical()}, prior=strength).fit(X, labels=labels)
    rates = [part.marginal(0).rate[0] for part in mixture.components_]
    np.testing.assert_allclose(rates, (sums + s * X[:, 0].mean()) / (sizes + s), rtol=1e-12)


@pytest.mark.parametrize("strength", [None, 1.0, 6.0])
def test_shares_are_drawn_to_those_of_all_rows(strength):
    X, labels = known_groups()
    s = 1.0 if strength is None else strength
    expected = (np.bincount(labels, X[:, 1]) + s * X[:, 1].mean()) / (np.bincount(labels) + s)
    mixture = Mixture(3, families={0: Poisson(), 1: Categorical()}, prior=strength).fit(X, labels=labels)
    found = [part.marginal(1).probabilities[1] for part in mixture.components_]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    bits = BernoulliMixture(3, prior=strength).fit(X[:, 1:], labels=labels)
    np.testing.assert_allclose(bits.probabilities_[:, 0], expected, rtol=1e-12)
