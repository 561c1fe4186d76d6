"""Normalizing flows: invertible, normalised, and as likely as a mixture."""

import numpy as np
import pytest
import torch
from sklearn.datasets import make_moons

from latently.cluster import GaussianMixture
from latently.neural import NormalizingFlow
from latently.neural.flows import spline

FAST = {
    "hidden": (32,), "n_iter_no_change": 3, "tol": 0.01, "batch_size": 128, "learning_rate": 5e-3, "random_state": 0
}  # fmt: skip
MOONS = make_moons(600, noise=0.08, random_state=0)[0]


@pytest.fixture(scope="module")
def flow():
    return NormalizingFlow(4, **(FAST | {"n_iter_no_change": 8, "tol": 1e-3})).fit(MOONS)


def test_splines_are_inverted_and_their_derivatives_are_right():
    torch.manual_seed(0)
    x = torch.linspace(-7, 7, 201, dtype=torch.float64)[:, None].requires_grad_(True)
    raw = torch.randn(1, 1, spline.n_parameters(8), dtype=torch.float64).expand(201, 1, -1)
    y, logs = spline.forward(x, raw)
    assert (torch.diff(y[:, 0]) > 0).all()
    assert torch.allclose(spline.inverse(y, raw), x, atol=1e-10)
    (derivative,) = torch.autograd.grad(y.sum(), x)
    assert torch.allclose(derivative.log(), logs, atol=1e-8)


def test_inverse_of_forward_is_the_row(flow):
    assert np.abs(flow.inverse_transform(flow.transform(MOONS)) - MOONS).max() < 1e-5
    far = MOONS * 100
    assert np.abs(flow.inverse_transform(flow.transform(far)) - far).max() < 1e-5


@pytest.mark.parametrize("coupling", ["spline", "affine"])
def test_the_log_determinant_is_that_of_the_jacobian(coupling):
    model = NormalizingFlow(2, coupling=coupling, **FAST).fit(MOONS)
    network, scaled = model._network(), torch.from_numpy(model.scaling_.apply(MOONS[:5]))
    context = torch.zeros(5, 0, dtype=torch.float64)
    z, logs = network(scaled, context)
    for i in range(5):
        J = torch.autograd.functional.jacobian(lambda x: network(x[None], context[:1])[0][0], scaled[i])
        assert torch.allclose(torch.linalg.slogdet(J)[1], logs[i], atol=1e-8)
    assert torch.allclose(network.inverse(z, context), scaled, atol=1e-8)


def test_densities_integrate_to_one(flow):
    a, b = np.meshgrid(np.linspace(-4, 5, 400), np.linspace(-3, 4, 400))
    density = np.exp(flow.score_samples(np.column_stack([a.ravel(), b.ravel()])))
    assert density.sum() * (9 / 399) * (7 / 399) == pytest.approx(1, abs=0.01)


def test_moons_are_more_likely_than_under_one_gaussian_and_nearly_as_under_the_best_mixture(flow):
    other = make_moons(600, noise=0.08, random_state=1)[0]
    mixtures = [GaussianMixture(k, random_state=0).fit(MOONS) for k in (1, 4, 8)]
    best = min(mixtures, key=lambda mixture: mixture.bic(MOONS))
    assert flow.score(other) > mixtures[0].score(other) + 0.5
    assert flow.score(other) > best.score(other) - 0.2


def test_samples_have_the_distribution_of_the_rows(flow):
    drawn = flow.sample(2000, random_state=0)
    assert np.allclose(drawn.mean(axis=0), MOONS.mean(axis=0), atol=0.1)
    assert np.allclose(np.cov(drawn.T), np.cov(MOONS.T), atol=0.15)
    assert np.array_equal(drawn, flow.sample(2000, random_state=0))
    assert np.isfinite(flow.score_samples(drawn)).all()


def test_a_flow_given_a_context_follows_it():
    rng = np.random.default_rng(0)
    context = rng.uniform(-1, 1, size=(800, 1))
    X = 3 * context + rng.normal(size=(800, 1)) * np.exp(context)
    model = NormalizingFlow(2, **FAST).fit(X, context=context)
    from scipy.stats import norm

    truth = norm(3 * context[:, 0], np.exp(context[:, 0])).logpdf(X[:, 0])
    assert abs((model.score_samples(X, context) - truth).mean()) < 0.1
    assert model.sample(500, context=[0.8], random_state=0).mean() == pytest.approx(2.4, abs=0.4)
    with pytest.raises(ValueError, match="fitted with a context"):
        model.score_samples(X)
    with pytest.raises(ValueError, match="expected"):
        model.score_samples(X, context[:3])


def test_constant_columns_are_no_density():
    with pytest.raises(ValueError, match="'x1' of X is constant"):
        NormalizingFlow().fit(np.column_stack([MOONS[:, 0], np.ones(600)]))
