"""Normalizing flows: invertible, normalised, and as likely as a mixture."""

import numpy as np
import pytest
import torch
from sklearn.datasets import make_moons

from latently.cluster import GaussianMixture
from latently.neural import NormalizingFlow
from latently.neural.flows import spline
from latently.neural.flows.gaussianization import Gaussianization, standard_normal

FAST = {
    "hidden": (32,), "n_iter_no_change": 3, "tol": 0.01, "batch_size": 128, "learning_rate": 5e-3, "random_state": 0
}  # fmt: skip
MOONS = make_moons(600, noise=0.08, random_state=0)[0]


@pytest.fixture(scope="module")
def flow():
    return NormalizingFlow(4, **FAST).fit(MOONS)


def test_splines_are_inverted_and_their_derivatives_are_right():
    torch.manual_seed(0)
    x = torch.linspace(-7, 7, 201, dtype=torch.float64)[:, None].requires_grad_(True)
    raw = torch.randn(1, 1, spline.n_parameters(8), dtype=torch.float64).expand(201, 1, -1)
    y, logs = spline.forward(x, raw)
    assert (torch.diff(y[:, 0]) > 0).all()
    assert torch.allclose(spline.inverse(y, raw), x, atol=1e-10)
    (derivative,) = torch.autograd.grad(y.sum(), x)
    assert torch.allclose(derivative.log(), logs, atol=1e-8)


@pytest.fixture(scope="module")
def started():
    """A mixture with clusters far apart, one of them narrow; its first layer; rows of it, between and far away."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(150, 3)) * [1, 0.1, 1] + 20, rng.normal(size=(150, 3)) @ np.tri(3)])
    mixture = GaussianMixture(2, random_state=0).fit(rows)
    return mixture, Gaussianization.of(mixture), rows, rng.uniform(-1000, 1000, size=(50, 3))


def test_a_flow_begins_with_the_density_of_a_mixture(started):
    mixture, layer, rows, _ = started
    z, logs = layer.forward(rows)
    assert np.allclose(logs + standard_normal(z), mixture.score_samples(rows), atol=1e-4)
    assert np.allclose(z.mean(axis=0), 0, atol=0.15)
    assert np.allclose(np.cov(z.T), np.eye(3), atol=0.2)


def test_the_first_layer_is_inverted_where_the_mixture_has_next_to_no_density(started):
    _, layer, rows, far = started
    between = rows[:150] - 10
    for x in (rows, between, far):
        assert np.allclose(layer.inverse(layer.forward(x)[0]), x, rtol=1e-7, atol=1e-7)


def test_the_log_determinant_of_the_first_layer_is_that_of_its_derivatives(started):
    _, layer, rows, _ = started
    x, step = rows[:4], 1e-6
    diagonal = [
        (layer.forward(x + e)[0] - layer.forward(x - e)[0])[:, i] / (2 * step) for i, e in enumerate(step * np.eye(3))
    ]
    assert np.allclose(np.log(diagonal).sum(axis=0), layer.forward(x)[1], atol=1e-5)  # the Jacobian is triangular


def test_couplings_that_do_not_help_are_left_out():
    """Rows of a Gaussian: nothing is to be learnt beyond the mixture, of all rows."""
    X = np.random.default_rng(0).normal(size=(300, 2)) @ [[1.0, 0.9], [0.0, 0.3]]
    model = NormalizingFlow(2, **FAST).fit(X)
    assert model.best_iter_ == 0
    assert np.allclose(model.score_samples(X), GaussianMixture(1).fit(X).score_samples(X), atol=1e-3)


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


def test_moons_are_as_likely_as_under_the_best_mixture(flow):
    other = make_moons(2000, noise=0.08, random_state=1)[0]
    mixtures = [GaussianMixture(k, random_state=0, max_iter=1000).fit(MOONS) for k in (4, 8, 10)]
    best = min(mixtures, key=lambda mixture: mixture.bic(MOONS))
    assert flow.score(other) > best.score(other) - 0.03


def test_couplings_alone_learn_the_moons():
    alone = NormalizingFlow(2, n_components=0, **FAST).fit(MOONS)
    assert alone.start_ is None
    other = make_moons(600, noise=0.08, random_state=1)[0]
    assert alone.score(other) > GaussianMixture(1).fit(MOONS).score(other) + 0.5


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
