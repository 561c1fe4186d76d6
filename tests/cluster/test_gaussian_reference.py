"""Log-likelihoods that other programs print for the same model on the same data."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture
from latently.distributions.components.gaussian.params import KINDS

FAITHFUL = np.loadtxt(Path(__file__).parents[1] / "reference" / "old_faithful.csv", delimiter=",", skiprows=1)
CLOSELY = {"tol": 1e-10, "max_iter": 5000, "random_state": 0}


def test_iris_with_two_full_components():
    X = load_iris().data
    mixture = GaussianMixture(2, **CLOSELY).fit(X)
    # mclust, model VVV with 2 components: log-likelihood -214.3547, BIC -574.0178 (its sign)
    assert mixture.score_samples(X).sum() == pytest.approx(-214.3547, abs=1e-4)
    assert mixture.bic(X) == pytest.approx(574.0178, abs=1e-3)


def test_old_faithful_with_three_tied_components():
    mixture = GaussianMixture(3, covariance_type="tied", n_init=5, **CLOSELY).fit(FAITHFUL)
    # mclust 6.1.3, model EEE with 3 components: log-likelihood -1126.326 (it stops early), 11 parameters
    assert mixture.score_samples(FAITHFUL).sum() >= -1126.326
    assert mixture.score_samples(FAITHFUL).sum() == pytest.approx(-1126.3159, abs=1e-3)
    assert mixture._n_parameters() == 11
    assert mixture.bic(FAITHFUL) <= 2314.316


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("shift", "scale"), [(1e8, 1.0), (0.0, 1e-6), (0.0, 1e6)])
def test_units_and_offsets_do_not_matter(kind, shift, scale):
    settings = {"covariance_type": kind, "n_init": 3, **CLOSELY}
    plain = GaussianMixture(3, **settings).fit(FAITHFUL)
    moved = GaussianMixture(3, **settings).fit(FAITHFUL * scale + shift)
    assert (moved.predict(FAITHFUL * scale + shift) == plain.predict(FAITHFUL)).all()
    np.testing.assert_allclose(moved.weights_, plain.weights_, atol=1e-6)
    np.testing.assert_allclose((moved.means_ - shift) / scale, plain.means_, rtol=1e-6)
    np.testing.assert_allclose(moved.covariances_ / scale**2, plain.covariances_, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_iterations_as_the_peer(kind):
    from sklearn.mixture import GaussianMixture as Peer

    X, k, d = load_iris().data, 3, 4
    unit = {"full": np.tile(np.eye(d), (k, 1, 1)), "tied": np.eye(d), "diag": np.ones((k, d)), "spherical": np.ones(k)}
    start = {
        "weights_init": np.full(k, 1 / k),
        "means_init": X[[0, 60, 120]],
        "precisions_init": 4 * unit[kind],
        "covariance_type": kind,
        "reg_covar": 0.0,
        "tol": 1e-6,
        "max_iter": 1000,
    }
    ours, theirs = GaussianMixture(k, **start).fit(X), Peer(k, **start).fit(X)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, abs=1e-9)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-7)
    assert ours.bic(X) == pytest.approx(theirs.bic(X), rel=1e-8)
    assert ours.aic(X) == pytest.approx(theirs.aic(X), rel=1e-8)
