"""InfoMax: a likelihood, its gradient, and somebody else's maximum."""

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.datasets import load_iris
from tests.factor.ica_signals import heavy_and_light

from latently.data import as_source
from latently.factor import InfoMax
from latently.factor.ica.ascent.likelihood import Likelihood
from latently.factor.ica.ascent.quasi_newton import quasi_newton
from latently.factor.ica.white_data import WhiteData
from latently.factor.ica.whitening import whitening_of
from latently.learn import reducing, threads

# Minus the mean log-likelihood of white iris by python-picard 0.8.2 (ortho=False, tol=1e-10), log cosh(y) per source.
PICARD_IRIS = 1.1104651055618913


def test_maximum_is_that_of_picard():
    X = load_iris().data
    for seed in range(3):
        model = InfoMax(extended=False, random_state=seed, tol=1e-9, max_iter=2000).fit(X)
        assert model.loss_ - 4 * np.log(np.pi) == pytest.approx(PICARD_IRIS, abs=1e-11)


def test_loss_is_a_likelihood():
    """Of densities that integrate to one, with the sources at the scale of the maximum."""
    X, _ = heavy_and_light(2000, 2)
    norms = {s: quad(lambda y, s=s: np.exp(-(y**2) / 2) * np.cosh(y) ** -s, -12, 12)[0] for s in (1, -1)}
    with reducing(as_source(X)) as reduce:
        data = WhiteData(reduce, whitening_of(reduce, None))
        W, signs = np.array([[1.2, 0.3], [-0.2, 0.8]]), np.array([1.0, -1.0])
        loss = Likelihood(data, extended=True).at(W, signs).loss
        Y = data.whitening(X) @ W.T
    log_density = -(Y**2) / 2 - signs * np.log(np.cosh(Y)) - np.log([norms[1], norms[-1]])
    assert loss == pytest.approx(-np.log(np.linalg.det(W)) - log_density.sum(axis=1).mean(), rel=1e-12)


@pytest.mark.parametrize("extended", [True, False])
def test_gradient_is_that_of_differences(extended):
    X, _ = heavy_and_light(500, 3)
    rng = np.random.default_rng(0)
    with reducing(as_source(X)) as reduce:
        likelihood = Likelihood(WhiteData(reduce, whitening_of(reduce, None)), extended)
        W = np.eye(3) + 0.2 * rng.normal(size=(3, 3))
        signs = np.array([1.0, -1.0, 1.0]) if extended else np.ones(3)
        point = likelihood.at(W, signs)
        for _ in range(5):
            D = rng.normal(size=(3, 3))
            ends = [likelihood.at((np.eye(3) + h * D) @ W, signs).loss for h in (1e-5, -1e-5)]
            assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(float((point.gradient * D).sum()), rel=1e-6, abs=1e-8)


def test_curvature_is_that_of_independent_sources():
    """At the maximum, the preconditioner undoes what a small step makes of the gradient."""
    rng = np.random.default_rng(0)
    S = rng.laplace(size=(400_000, 2)) * [2.0, 1.0]
    with reducing(as_source(S)) as reduce:
        likelihood = Likelihood(WhiteData(reduce, whitening_of(reduce, None)), extended=True)
        point = quasi_newton(likelihood, np.eye(2), 1e-9, 100).point
        D = 1e-3 * rng.normal(size=(2, 2))
        moved = likelihood.at((np.eye(2) + D) @ point.W, point.signs)
        np.testing.assert_allclose(point.preconditioned(moved.gradient), D, atol=2e-5)


def test_natural_gradient_comes_to_the_same_end():
    X, _ = heavy_and_light(3000, 4)
    quick = InfoMax(random_state=0).fit(X)
    slow = InfoMax(random_state=0, algorithm="natural-gradient", max_iter=3000).fit(X)
    assert slow.converged_
    np.testing.assert_allclose(slow.components_, quick.components_, atol=1e-5)
    assert slow.loss_ == pytest.approx(quick.loss_, abs=1e-9)
    assert quick.n_iter_ < slow.n_iter_ / 2


def test_threads_change_nothing():
    X, _ = heavy_and_light(40_000, 3)
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(InfoMax(random_state=0).fit(X).components_)
    assert np.array_equal(*found)


def test_a_start_of_ones_own():
    X, _ = heavy_and_light(2000, 3)
    end = InfoMax(random_state=0).fit(X)
    W = end.components_ @ np.linalg.pinv(end.whitening_)
    assert InfoMax(w_init=W).fit(X).n_iter_ <= end.n_iter_
    with pytest.raises(ValueError, match="w_init has invalid shape"):
        InfoMax(w_init=np.eye(2)).fit(X)
