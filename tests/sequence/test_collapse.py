"""States that shrink onto single values: they are stopped, warned of, and chosen by no criterion."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.sequence.series import GEYSER, NILE

from latently.distributions import Exponential, Gamma, Gaussian, NormalInverseWishart, Product
from latently.distributions.floor import Floor
from latently.learn import select
from latently.sequence import GMMHMM, GaussianHMM, HiddenMarkovModel, MixtureOf

RNG = np.random.default_rng(0)
COLLAPSE_WARNING = pytest.warns(ConvergenceWarning, match="collapsed onto")


@pytest.mark.parametrize("unit", [1.0, 1 / 60, 1e-8, 1e8])
def test_a_state_is_no_narrower_than_the_resolution(unit):
    X = unit * GEYSER  # whole seconds, 53 times 240
    with COLLAPSE_WARNING:
        model = HiddenMarkovModel(4, random_state=0).fit(X)
    deviations = np.sqrt([e.variance[0] for e in model.emissions_])
    # that of rounding to whole seconds
    np.testing.assert_allclose(deviations.min(), unit / np.sqrt(12), rtol=1e-6)
    assert model.collapsed_.tolist() == [int(deviations.argmin())]
    assert model.converged_
    assert model.bic(X) == model.aic(X) == model.icl(X) == np.inf
    assert np.isfinite(model.score(X))


def test_criteria_prefer_no_model_that_has_collapsed():
    found = select((HiddenMarkovModel(), {"n_components": range(1, 6)}), GEYSER, random_state=0)
    assert found.best["n_components"] == 3
    assert min(np.sqrt(e.variance[0]) for e in found.best_model.emissions_) > 10
    assert len(found.best_model.collapsed_) == 0


def test_a_start_that_does_not_collapse_is_preferred():
    """Some starts find the value that repeats, and some do not: their likelihood is lower, and they are kept."""
    X = GEYSER[:100]
    fits = [quiet_fit(HiddenMarkovModel(4, random_state=seed), X) for seed in range(6)]
    collapsed = np.array([len(fit.collapsed_) > 0 for fit in fits])
    assert 0 < collapsed.sum() < 6
    ends = np.array([fit.history_[-1] for fit in fits])
    assert ends[collapsed].max() > ends[~collapsed].max()
    many = quiet_fit(HiddenMarkovModel(4, random_state=0, n_init=6), X)
    assert len(many.collapsed_) == 0


def quiet_fit(model, X, lengths=None):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, lengths)


POSITIVE = np.concatenate([RNG.gamma(2.0, size=80), np.full(40, 3.0), RNG.gamma(9.0, size=80)])[:, None]
ZEROS = np.concatenate([np.zeros(40), RNG.exponential(size=80), 20 * RNG.exponential(size=80)])[:, None]
TIES = np.concatenate([RNG.normal(size=(80, 2)), np.tile([[0.3, -0.7]], (40, 1)), RNG.normal(5, 1, size=(80, 2))])
FAMILIES = {
    "full": (Gaussian(), TIES),
    "diag": (Gaussian(kind="diag"), TIES),
    "spherical": (Gaussian(kind="spherical"), TIES),
    "gamma": (Gamma(), POSITIVE),
    "exponential": (Exponential(), ZEROS),
    "product": (Product([(Gaussian(), 0), (Gaussian(), 1)]), TIES),
    "mixture": (MixtureOf((Gaussian(kind="diag"), Gaussian(kind="diag"))), TIES),
}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("unit", [1.0, 1e-6])
def test_every_family_that_can_collapse_is_stopped(name, unit):
    emission, rows = FAMILIES[name]
    X = unit * rows
    with COLLAPSE_WARNING:
        model = HiddenMarkovModel(3, emission, random_state=0, n_iter=1000).fit(X, labels=labels_of_ties(rows))
    assert len(model.collapsed_) > 0
    densities = np.max([e.log_prob(X) for e in model.emissions_]) + X.shape[1] * np.log(unit)
    # no wider than the largest gap, no higher than neighbours that are a ten-thousandth of the spread apart
    assert densities < X.shape[1] * np.log(1e4)
    assert (np.diff(model.history_) >= -1e-8 * np.abs(model.history_[1:])).all()


def labels_of_ties(X):
    """State 0 is the value that repeats, the others are before and after row 120."""
    repeated = (np.diff(np.sort(X[:, 0])) == 0).argmax()
    return np.where(X[:, 0] == np.sort(X[:, 0])[repeated], 0, np.where(np.arange(len(X)) < 120, 1, 2))


@pytest.mark.parametrize("kind", ["diag", "full", "tied", "spherical"])
def test_mixtures_of_gaussians_are_stopped(kind):
    X = TIES
    model = quiet_fit(GMMHMM(2, n_mix=3, covariance_type=kind, n_iter=300, tol=1e-6, random_state=0), X)
    least = Floor.of(X).least.min()
    variances = np.linalg.eigvalsh(model.covars_) if kind in ("full", "tied") else model.covars_
    assert variances.min() > 1e-3 * least
    assert model.score(X) / len(X) < 5


def test_states_that_the_data_determine_are_untouched():
    """Clusters of deviation 1, a million apart: maximum likelihood, as if each was alone."""
    X = np.concatenate([RNG.normal(size=60), 1e6 + RNG.normal(size=60)])[:, None]
    model = HiddenMarkovModel(2, random_state=0).fit(X)
    expected = np.sort([X[:60].var(), X[60:].var()])
    np.testing.assert_allclose(np.sort([e.variance[0] for e in model.emissions_]), expected, rtol=1e-6)
    assert len(model.collapsed_) == 0
    tight = np.concatenate([1e-3 * RNG.normal(size=60), RNG.normal(5, 1, size=200)])[:, None]
    model = HiddenMarkovModel(2, random_state=0).fit(tight)
    np.testing.assert_allclose(min(e.variance[0] for e in model.emissions_), tight[:60].var(), rtol=1e-6)
    # columns that nearly repeat each other, in a direction that the data determine as well
    twin = np.column_stack([X[:60, 0], X[:60, 0] + 1e-3 * RNG.normal(size=60)])
    model = HiddenMarkovModel(1).fit(twin)
    np.testing.assert_allclose(model.emissions_[0].covariance, np.cov(twin.T, ddof=0), rtol=1e-9)


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_columns_that_follow_from_others_have_a_result(kind):
    x = np.concatenate([RNG.normal(size=40), RNG.normal(5, 1, size=40)])
    X = np.column_stack([x, 2 * x, np.full(80, 3.0)])
    model = HiddenMarkovModel(2, Gaussian(kind=kind), random_state=0).fit(X)
    assert len(model.collapsed_) == 0  # the table is flat, not a state
    assert np.isfinite(model.bic(X))
    assert (np.diff(model.predict(X)) != 0).sum() < 4
    draws = model.sample(200, random_state=0)[0]
    np.testing.assert_allclose(draws[:, 2], 3.0, atol=1e-3 if kind != "spherical" else 10)
    absent = X.copy()
    absent[::7, 1] = np.nan
    filled = HiddenMarkovModel(2, Gaussian(kind=kind), random_state=0).fit(absent).conditional_mean(absent)
    if kind == "full":
        np.testing.assert_allclose(filled[:, 1], X[:, 1], atol=1e-2)


def test_default_settings_take_collinear_columns():
    x = RNG.normal(size=50)
    model = HiddenMarkovModel().fit(np.column_stack([x, -x]))
    np.testing.assert_allclose(model.emissions_[0].mean, [x.mean(), -x.mean()])
    np.testing.assert_allclose(model.emissions_[0].variance, x.var(), rtol=1e-3)


def test_a_prior_takes_the_place_of_the_floor():
    prior = NormalInverseWishart([180.0], kappa=0.01, scatter=[[100.0]], dof=3.0)
    model = HiddenMarkovModel(4, emission_prior=prior, random_state=0).fit(GEYSER)
    assert min(e.variance[0] for e in model.emissions_) > 1.0
    assert np.isfinite(model.bic(GEYSER))


def test_hmmlearns_prior_of_variances_stays_what_it_was():
    """A state that sees one value of 240 has the variance of the prior alone, as in hmmlearn."""
    X = np.concatenate([np.full(50, 240.0), RNG.normal(0, 20, size=50)])[:, None]
    model = quiet_fit(GaussianHMM(2, covars_prior=5.0, n_iter=50, random_state=0), X)
    np.testing.assert_allclose(model.covars_.min(), 5.0 / 50, rtol=1e-3)


def test_the_nile_is_as_it_was():
    model = HiddenMarkovModel(2, random_state=0).fit(NILE)
    assert len(model.collapsed_) == 0
    np.testing.assert_allclose(np.sort([e.mean[0] for e in model.emissions_]), [850.7, 1097.2], atol=0.5)


@pytest.mark.parametrize("seed", [4, 6, 9])
def test_columns_that_follow_from_others_to_rounding_are_fitted(seed):
    """Along some axes the table is flat but for rounding: floors there were below what sums over rows can tell."""
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.random(400) < 0.1) % 2
    X = rng.normal(size=(400, 8)) + 3 * states[:, None]
    X[:, 1] = X[:, 0] / 16
    X[:, 3] = 2 * X[:, 2] - X[:, 6]
    X[:, 5] = X[:, 4] + X[:, 2] + 1e-7 * rng.normal(size=400)
    X[:, 7] = np.round(1e6 * X[:, 0]) / 1e6
    model = HiddenMarkovModel(2, random_state=0).fit(X)
    assert model.converged_
    agree = (model.predict(X) == states).mean()
    assert max(agree, 1 - agree) > 0.97


@pytest.mark.parametrize("seed", [6, 13])
def test_differences_of_columns_with_missing_values_are_fitted(seed):
    """The age is the age at marriage and the years since: the objective fell by rounding."""
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.random(200) < 0.1) % 2
    age, married = np.round(rng.normal(35 + 15 * states, 5)), np.round(rng.normal(25, 4, 200))
    X = np.column_stack([age, married, age - married, np.round(rng.normal(170, 6, 200))])
    X[rng.random(X.shape) < 0.08] = np.nan
    model = HiddenMarkovModel(2, random_state=0).fit(X)
    assert model.converged_
    assert all(np.isfinite(state.mean).all() for state in model.emissions_)
