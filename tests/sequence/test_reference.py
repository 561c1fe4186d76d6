"""Numbers that other programs and books print."""

from pathlib import Path

import numpy as np
import pytest

from latently.distributions import Gaussian
from latently.sequence import CategoricalHMM, GaussianHMM, HiddenMarkovModel

SPEED = np.loadtxt(Path(__file__).parents[1] / "reference" / "speed.csv", skiprows=1)[:, None]


@pytest.mark.parametrize(
    "model",
    [
        HiddenMarkovModel(2, Gaussian(), random_state=0, tol=1e-8, n_iter=500),
        GaussianHMM(2, covars_prior=0, random_state=0, tol=1e-8, n_iter=500),
    ],
    ids=["any", "named"],
)
def test_reaction_times_as_depmixs4_fits_them(model):
    model.fit(SPEED)
    assert model.converged_
    assert model.score(SPEED) >= -88.731
    assert model.aic(SPEED) == pytest.approx(191.5, abs=0.05)
    assert model.bic(SPEED) == pytest.approx(220.1, abs=0.06)
    means = model._model().emission.means(model._theta())[:, 0]
    sd = np.sqrt(model._model().emission.variances(model._theta())[:, 0])
    slow = np.argsort(-means)
    np.testing.assert_allclose(means[slow], [6.385, 5.510], atol=5.1e-4)
    np.testing.assert_allclose(sd[slow], [0.244, 0.192], atol=5.1e-4)
    np.testing.assert_allclose(model.transmat_[np.ix_(slow, slow)], [[0.916, 0.084], [0.116, 0.884]], atol=5.1e-4)
    np.testing.assert_allclose(model.startprob_[slow], [1, 0], atol=1e-6)


def test_one_state_of_the_reaction_times():
    assert HiddenMarkovModel(1).fit(SPEED).score(SPEED) == pytest.approx(-305.33, abs=0.005)


@pytest.fixture
def rain():
    """The example of Wikipedia's article on hidden Markov models."""
    model = CategoricalHMM(2)
    model.startprob_, model.transmat_ = [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]]
    model.emissionprob_ = [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]
    return model


def test_rain_and_sun(rain):
    X = [[0], [1], [2]]
    log_prob, path = rain.decode(X)
    assert path.tolist() == [1, 0, 0]
    assert np.exp(log_prob) == pytest.approx(0.01344)
    expected = [[0.23170303, 0.76829697], [0.62406281, 0.37593719], [0.86397706, 0.13602294]]
    np.testing.assert_allclose(rain.predict_proba(X), expected, rtol=0, atol=1e-6)


def test_map_decoding_gives_the_log_joint_probability(rain):
    log_prob, path = rain.decode([[0], [1], [2]], algorithm="map")
    assert path.tolist() == [1, 0, 0]
    assert np.exp(log_prob) == pytest.approx(0.01344)


def test_umbrellas():
    """Russell and Norvig's umbrella world, as in Wikipedia's article on the forward-backward algorithm."""
    model = CategoricalHMM(2)
    model.startprob_, model.transmat_ = [0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]]
    model.emissionprob_ = [[0.9, 0.1], [0.2, 0.8]]
    X = [[0], [0], [1], [0], [0]]
    smoothed = [[0.8673, 0.1327], [0.8204, 0.1796], [0.3075, 0.6925], [0.8204, 0.1796], [0.8673, 0.1327]]
    filtered = [[0.8182, 0.1818], [0.8834, 0.1166], [0.1907, 0.8093], [0.7308, 0.2692], [0.8673, 0.1327]]
    np.testing.assert_allclose(model.predict_proba(X), smoothed, atol=5e-5)
    np.testing.assert_allclose(model.filter(X), filtered, atol=5e-5)
    assert model.score(X) == pytest.approx(-3.3725, abs=5e-5)
