"""Priors of a mixture over a table: the modes of conjugate posteriors, and no collapse."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from latently.cluster.mixture import Mixture
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
