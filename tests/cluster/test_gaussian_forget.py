"""Unlearning rows: exact with one component, at fixed responsibilities with several."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture
from latently.distributions.components.gaussian.params import KINDS

IRIS = load_iris().data
NAMES = ("weights_", "means_", "covariances_", "precisions_")


def fitted(X, k=1, kind="full", **options):
    return GaussianMixture(k, covariance_type=kind, random_state=0, **options).fit(X)


def apart(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + 30.0 * (np.arange(n) % 2)[:, None]


@pytest.mark.parametrize("kind", KINDS)
def test_one_component_forgets_exactly(kind):
    both = fitted(IRIS, kind=kind, reg_covar=0.0).forget(IRIS[:40])
    rest = fitted(IRIS[40:], kind=kind, reg_covar=0.0)
    assert both.statistics_.rows == 110
    for name in NAMES:
        np.testing.assert_allclose(getattr(both, name), getattr(rest, name), rtol=1e-8, atol=1e-10)


def test_weights_are_forgotten_with_their_rows():
    w = np.linspace(0.5, 2.0, 150)
    both = GaussianMixture(1, reg_covar=0.0).fit(IRIS, sample_weight=w).forget(IRIS[:40], sample_weight=w[:40])
    np.testing.assert_allclose(both.means_[0], np.average(IRIS[40:], axis=0, weights=w[40:]))


@pytest.mark.parametrize("kind", KINDS)
def test_components_far_apart_forget_what_was_added(kind):
    X = apart()
    before, after = (fitted(X[:100], 2, kind) for _ in range(2))
    after.partial_fit(X[100:]).forget(X[100:])
    for name in NAMES:
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), rtol=1e-6, atol=1e-9)


def test_overlapping_components_forget_at_fixed_responsibilities():
    mixture = fitted(IRIS, 3)
    given = mixture.predict_proba(IRIS[:30]).sum(axis=0)
    before = mixture.statistics_.weight
    mixture.forget(IRIS[:30])
    np.testing.assert_allclose(mixture.statistics_.weight, before - given, atol=1e-8)
    assert mixture.weights_ == pytest.approx((before - given) / 120)


def test_what_was_never_learnt_cannot_be_forgotten():
    X = apart()
    mixture = fitted(X, 2)
    weights = mixture.weights_.copy()
    with pytest.raises(ValueError, match="leaves nothing of the 200"):
        mixture.forget(np.concatenate([X, X]))
    with pytest.raises(ValueError, match=r"component [01] with a weight of -20: they were not all learnt"):
        mixture.forget(X[::2], sample_weight=np.full(100, 1.2))
    assert (mixture.weights_ == weights).all()
    assert mixture.statistics_.rows == 200


def test_an_unfitted_mixture_has_nothing_to_forget():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        GaussianMixture(2).forget(IRIS)
