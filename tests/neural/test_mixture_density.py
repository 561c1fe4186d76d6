"""Mixture density networks: formulas of our mixtures, and the inverse sinusoid."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

import latently
from latently.distributions import Gaussian, MixtureDistribution
from latently.neural import MixtureDensityNetwork
from latently.neural.modes import modes_of


def inverse_sinusoid(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.uniform(0, 1, size=n)
    return (y + 0.3 * np.sin(2 * np.pi * y) + rng.normal(scale=0.05, size=n))[:, None], y


X, Y = inverse_sinusoid(800, 0)
NEW_X, NEW_Y = inverse_sinusoid(1000, 1)
FAST = {"hidden": (32,), "n_iter_no_change": 5, "learning_rate": 1e-2, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    return MixtureDensityNetwork(4, **FAST).fit(X, Y)


def test_several_answers_are_more_likely_than_one_gaussian(model):
    single = MixtureDensityNetwork(1, **FAST).fit(X, Y)
    assert model.score_samples(NEW_X, NEW_Y).mean() > single.score_samples(NEW_X, NEW_Y).mean() + 0.4


def test_the_middle_has_three_modes(model):
    (modes,) = model.modes([[0.5]])
    # where y + 0.3 sin(2 pi y) = 0.5
    assert np.abs(modes[0] - 0.186).max() < 0.05
    assert np.abs(modes[-1] - 0.814).max() < 0.05
    best = model.predict_mode([[0.5]])
    density = model.score_samples([[0.5]] * len(modes), modes[:, 0])
    assert model.score_samples([[0.5]], best)[0] == pytest.approx(density.max())


def test_quantiles_are_calibrated(model):
    levels = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
    shares = (NEW_Y[:, None] <= model.quantiles(NEW_X, levels)).mean(axis=0)
    assert np.abs(shares - levels).max() < 0.06


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_answers_are_those_of_our_mixtures(kind):
    targets = np.column_stack([Y, Y**2 + X[:, 0]])
    two = MixtureDensityNetwork(3, covariance_type=kind, max_iter=500, **{**FAST, "tol": 0.01}).fit(X, targets)
    for x, y in zip(NEW_X[:3], targets[:3], strict=True):
        mixture = two.distribution(x)
        assert two.score_samples([x], [y])[0] == pytest.approx(mixture.log_prob([y])[0], rel=1e-9)
        assert np.allclose(two.predict([x])[0], mixture.mean)
        quantiles = two.quantiles([x], [0.3])[0, :, 0]
        assert np.allclose(quantiles, [mixture.marginal([j]).quantile(0.3)[0] for j in range(2)])
    if kind == "diag":
        assert np.abs(two.components(X[:2])[2][..., 0, 1]).max() < 1e-12
    drawn = two.sample(NEW_X[:1], 4000, random_state=0)[0]
    assert np.allclose(drawn.mean(axis=0), two.predict(NEW_X[:1])[0], atol=0.05)


def test_densities_integrate_to_one_over_the_target(model):
    grid = np.linspace(-3, 4, 20_001)
    density = np.exp(model.score_samples(np.full((len(grid), 1), 0.4), grid))
    assert np.trapezoid(density, grid) == pytest.approx(1, abs=1e-4)


def test_a_linear_gaussian_regression_is_recovered():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 1))
    y = 2 * x[:, 0] + 1 + 0.5 * rng.normal(size=1000)
    model = MixtureDensityNetwork(1, hidden=(), n_iter_no_change=5, learning_rate=1e-2, random_state=0).fit(x, y)
    _, means, covariances = model.components([[0.0], [1.0]])
    assert np.allclose(means[:, 0, 0], [1, 3], atol=0.15)
    assert np.allclose(covariances[:, 0, 0, 0], 0.25, atol=0.06)


def test_modes_are_maxima():
    rng = np.random.default_rng(0)
    weights, means = np.array([0.3, 0.5, 0.2]), rng.normal(size=(3, 2)) * 3
    covariances = np.array([[[1.0, 0.4], [0.4, 0.7]]] * 3)
    mixture = MixtureDistribution(weights, [Gaussian(m, c) for m, c in zip(means, covariances, strict=True)])
    for mode in modes_of(weights, means, covariances):
        around = mode + 1e-3 * rng.normal(size=(20, 2))
        assert (mixture.log_prob(around) <= mixture.log_prob(mode[None])).all()


def test_levels_outside_are_refused(model):
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.quantiles(X[:1], 1.5)


def test_a_target_of_three_values_is_no_narrower_than_they_lie_apart():
    """Years 1 apart: a component is at least as wide as rounding to years, so no row of another year is impossible."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(900, 4))
    years = 2008.0 + np.digitize(x[:, 0] + 0.3 * rng.normal(size=900), [-0.5, 0.5])
    known, new = slice(0, 300), slice(300, None)
    model = MixtureDensityNetwork(random_state=0).fit(x[known], years[known])
    assert model.narrowest_ == pytest.approx([12**-0.5])
    assert np.sqrt(model.components(x[new])[2]).min() >= 12**-0.5 * (1 - 1e-5)
    design = np.column_stack([np.ones(900), x])
    line, *_ = np.linalg.lstsq(design[known], years[known], rcond=None)
    spread = (years[known] - design[known] @ line).std()
    gaussian = norm.logpdf(years[new], design[new] @ line, spread)
    told = model.score_samples(x[new], years[new])
    assert told.mean() > gaussian.mean()
    assert told.min() > -10


def test_a_model_that_was_stored_without_a_bound_answers(tmp_path):
    x = np.linspace(-1, 1, 60)[:, None]
    model = MixtureDensityNetwork(2, max_iter=5, n_iter_no_change=50, early_stopping=False, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(x, x[:, 0])
    expected = model.score_samples(x, x[:, 0])
    del model.narrowest_
    latently.save(model, tmp_path / "model.latently")
    found = latently.load(tmp_path / "model.latently").score_samples(x, x[:, 0])
    np.testing.assert_allclose(found, expected, atol=0.05)  # evenly spread targets: both bounds are far below
