"""The energy and its generator: draws that two-sample distances cannot tell from data, energies that order rows."""

import numpy as np
import pytest
import torch
from scipy.stats import norm
from sklearn.datasets import load_iris, make_moons

from latently.neural import ContrastiveGenerator
from latently.neural.energy.distance import energy_distance
from latently.neural.energy.langevin import langevin
from latently.neural.training.session import drawing


def apart(a, b):
    return float(energy_distance(torch.from_numpy(a), torch.from_numpy(b)))


def gaussian_draws(X, n):
    return np.random.default_rng(1).multivariate_normal(X.mean(axis=0), np.cov(X.T), n)


def eight_gaussians(n, seed):
    rng = np.random.default_rng(seed)
    angle = rng.integers(0, 8, size=n) * np.pi / 4
    return 2 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.2 * rng.normal(size=(n, 2))


def moons(n, seed):
    return make_moons(n, noise=0.08, random_state=seed)[0]


def test_langevin_steps_leave_the_density_as_it_is():
    """Rows of a mixture stay rows of it, with steps so long that a quarter of them is refused."""

    def potential(x):
        return -torch.logsumexp(torch.stack([-0.5 * (x[:, 0] - 1.5) ** 2, -0.5 * (x[:, 0] + 1.5) ** 2]), dim=0)

    levels = np.linspace(-3, 3, 13)
    exact = (norm.cdf(levels - 1.5) + norm.cdf(levels + 1.5)) / 2
    with drawing(0):
        start = torch.randn(20_000, 1) + 1.5 * (2 * torch.randint(2, (20_000, 1)) - 1)
        x, accepted = langevin(potential, start, 1.6, 20)
    assert 0.5 < accepted < 0.8
    assert np.abs((x.numpy() <= levels).mean(axis=0) - exact).max() < 0.015
    assert not torch.equal(x, start)


def test_langevin_steps_that_are_refused_stay_with_their_slope():
    """exp(-x^4), whose slopes differ much from place to place, with steps of which half are refused."""
    grid = np.linspace(-3, 3, 6001)
    shares = np.exp(-(grid**4)).cumsum() / np.exp(-(grid**4)).sum()
    start = torch.from_numpy(np.interp(np.random.default_rng(0).uniform(size=(20_000, 1)), shares, grid))
    with drawing(0):
        x, accepted = langevin(lambda x: x[:, 0] ** 4, start, 0.9, 20)
    assert 0.3 < accepted < 0.7
    assert np.abs((x.numpy() <= grid).mean(axis=0) - shares).max() < 0.015


@pytest.mark.parametrize("draw", [eight_gaussians, moons])
def test_draws_are_nearer_the_data_than_those_of_a_gaussian(draw):
    X, new = draw(1000, 0), draw(2000, 1)
    model = ContrastiveGenerator(n_iter_no_change=10, random_state=0).fit(X)
    ours, gaussian = apart(model.sample(2000, random_state=0), new), apart(gaussian_draws(X, 2000), new)
    assert ours < gaussian / 3
    scores = model.score_samples(new) - model.score_samples(gaussian_draws(X, 2000))
    assert (scores > 0).mean() > 0.7  # rows of the data are the more usual ones


def test_a_model_that_has_not_learnt_is_a_gaussian():
    X = load_iris().data
    model = ContrastiveGenerator(max_iter=0, random_state=0).fit(X)
    drawn = model.sample(20_000, random_state=0)
    assert np.allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.03)
    assert np.allclose(np.cov(drawn.T), np.cov(X.T, bias=True), rtol=0.05, atol=0.01)
    distances = np.einsum("ni,ij,nj->n", X - X.mean(axis=0), np.linalg.inv(np.cov(X.T, bias=True)), X - X.mean(axis=0))
    assert np.allclose(model.score_samples(X), -distances / 2)


def test_columns_that_say_nothing_new_are_carried_along():
    """A constant column, and one that is the sum of two others, stay that in draws."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    X[:, 2], X[:, 3] = X[:, 0] + X[:, 1], 7.0
    drawn = ContrastiveGenerator(hidden=(8,), n_iter_no_change=1, tol=0.1, random_state=0).fit(X).sample(50)
    assert np.allclose(drawn[:, 3], 7.0)
    assert np.allclose(drawn[:, 2], drawn[:, 0] + drawn[:, 1])
    with pytest.raises(ValueError, match="all columns of X are constant"):
        ContrastiveGenerator().fit(np.ones((30, 2)))


def test_the_generator_covers_both_clusters_and_the_energy_is_low_there():
    rng = np.random.default_rng(0)
    centre = np.where(rng.uniform(size=(400, 1)) < 0.5, -3.0, 3.0)
    X = np.hstack([centre, -centre]) + 0.4 * rng.normal(size=(400, 2))
    model = ContrastiveGenerator(4, hidden=(32, 32), n_iter_no_change=12, random_state=0).fit(X)
    drawn = model.sample(500, random_state=0)
    assert apart(X, drawn) < 0.02  # that of a Gaussian is 0.06
    assert 0.35 < (drawn[:, 0] > 0).mean() < 0.65
    assert model.score_samples([[3.0, -3.0], [-3.0, 3.0]]).min() > model.score_samples([[8.0, 8.0], [-8.0, -8.0]]).max()
