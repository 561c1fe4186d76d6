"""Intervals and draws have in them what rows leave open of the parameters: by simulation."""

import numpy as np
import pytest
from scipy import stats

from latently.cluster import GaussianMixture
from latently.cluster.gaussian.uncertainty import likelihood_covariances
from latently.distributions import NormalInverseWishart
from latently.impute import Imputer
from latently.learn.engine.reduce import single_threaded_blas

COVARIANCE = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.3], [0.0, 0.3, 1.0]])


def rows(n, rng, how, share=0.25):
    """Rows, and the same with values missing completely at random, or by what is seen in the first column."""
    X = rng.multivariate_normal(np.zeros(3), COVARIANCE, size=n)
    chance = np.full(X.shape, share)
    if how == "mar":
        chance = 2 * share * np.column_stack([np.zeros(n), stats.norm.cdf(1.5 * X[:, 0]), stats.norm.cdf(-X[:, 0])])
    absent = rng.random(X.shape) < chance
    return X, np.where(absent, np.nan, X), absent


@pytest.mark.parametrize(("n", "repeats"), [(15, 250), (20, 200), (60, 60)])
def test_intervals_on_few_rows_hold_what_they_say(n, repeats):
    rng, inside = np.random.default_rng(n), []
    with single_threaded_blas():
        for _ in range(repeats):
            X, Y, absent = rows(n, rng, "mcar")
            low, high = Imputer(max_components=2, random_state=0).fit(Y).interval(Y)
            inside.append(((low <= X) & (high >= X))[absent])
    assert 0.88 < np.concatenate(inside).mean() < 0.935


def other_rows(n, rng, correlation, how):
    """Five columns of several units that all go together, a share of the values missing or by the first column."""
    root = np.linalg.cholesky(np.full((5, 5), correlation) + (1 - correlation) * np.eye(5))
    X = rng.standard_normal((n, 5)) @ root.T * np.linspace(1, 3, 5) + np.arange(5)
    chance = np.zeros(X.shape) + (0.0 if how == "mar" else how)
    if how == "mar":
        chance[:, 1:3] = 1 / (1 + np.exp(0.8 - 1.5 * X[:, :1]))
    absent = rng.random(X.shape) < chance
    return X, np.where(absent, np.nan, X), absent


@pytest.mark.parametrize("how", [0.1, 0.3, "mar"])
@pytest.mark.parametrize("correlation", [0.3, 0.8])
@pytest.mark.parametrize(("n", "repeats", "most"), [(15, 150, 0.99), (50, 100, 0.93)])
def test_intervals_hold_on_tables_of_another_shape(n, repeats, most, correlation, how):
    # few rows: not narrower than said, for the prior is as strong there as what the rows tell
    rng, inside = np.random.default_rng(n), []
    with single_threaded_blas():
        for _ in range(repeats):
            X, Y, absent = other_rows(n, rng, correlation, how)
            low, high = Imputer(max_components=1, random_state=0).fit(Y).interval(Y)
            inside.append(((low <= X) & (high >= X))[absent])
    assert 0.88 < np.concatenate(inside).mean() < most


def pooled(tables, estimate, truth):
    """Whether Rubin's interval of 90 % holds the truth; degrees of freedom of Barnard and Rubin."""
    values, variances, complete = zip(*(estimate(table) for table in tables), strict=True)
    m, within, interval = len(tables), np.mean(variances), np.var(values, ddof=1)
    total = within + (1 + 1 / m) * interval
    lost = (1 + 1 / m) * interval / total
    seen = (complete[0] + 1) / (complete[0] + 3) * complete[0] * (1 - lost)
    freedom = 1 / (lost**2 / (m - 1) + 1 / seen)
    return abs(np.mean(values) - truth) < stats.t(freedom).ppf(0.95) * np.sqrt(total)


def mean_of(j):
    return lambda table: (table[:, j].mean(), table[:, j].var(ddof=1) / len(table), len(table) - 1)


def slope_of(i, j):
    def estimate(table):
        line = stats.linregress(table[:, i], table[:, j])
        return line.slope, line.stderr**2, len(table) - 2

    return estimate


ASKED = [(mean_of(0), 0), (mean_of(1), 0), (mean_of(2), 0), (slope_of(0, 1), 0.8), (slope_of(1, 2), 0.3)]


@pytest.mark.parametrize("how", ["mcar", "mar"])
@pytest.mark.parametrize(("n", "repeats"), [(50, 150), (200, 100)])
def test_rubins_intervals_hold_what_they_say(how, n, repeats):
    rng, inside = np.random.default_rng(n), []
    with single_threaded_blas():
        for _ in range(repeats):
            _, Y, _ = rows(n, rng, how, share=0.35)
            tables = Imputer(max_components=1, random_state=0).fit(Y).draws(Y, 10, random_state=rng.integers(2**31))
            inside.append([pooled(tables, estimate, truth) for estimate, truth in ASKED])
    assert abs(np.mean(inside) - 0.9) < 0.03  # so few tables tell it to a point and a half


def test_a_model_fitted_elsewhere_is_taken_as_known():
    _, Y, _ = rows(40, np.random.default_rng(0), "mcar")
    model = GaussianMixture(1).fit(Y)
    np.testing.assert_array_equal(Imputer(model).interval(Y), model.impute_interval(Y))
    np.testing.assert_array_equal(Imputer(model).fit(Y).draws(Y, 2, 0), model.impute_draws(Y, 2, 0))


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_covariances_without_regularisation_are_those_of_the_rows(kind):
    X = rows(400, np.random.default_rng(0), "mcar")[0] * [1.0, 10.0, 0.1]
    model = GaussianMixture(1, covariance_type=kind, reg_covar=0.05).fit(X)
    plain = np.cov(X.T, bias=True)
    np.testing.assert_allclose(np.squeeze(likelihood_covariances(model)) / plain, 1, atol=2e-3)
    assert np.abs(np.squeeze(model.covariances_) / plain - 1).max() > 0.03


def test_covariances_that_rows_do_not_determine_keep_their_regularisation():
    X = rows(3, np.random.default_rng(0), "mcar")[0]
    model = GaussianMixture(1, reg_covar=0.3).fit(X)
    np.testing.assert_allclose(likelihood_covariances(model), model.covariances_)
    twice = GaussianMixture(1, reg_covar=0.01).fit(np.column_stack([np.arange(90.0), np.arange(90.0)]))
    assert np.linalg.eigvalsh(likelihood_covariances(twice)).min() > 0


def test_what_the_user_says_beforehand_stays():
    X = rows(40, np.random.default_rng(0), "mcar")[0]
    prior = {"components": NormalInverseWishart(location=np.zeros(3), kappa=1.0, dof=30.0, scatter=30 * np.eye(3))}
    model = GaussianMixture(1, prior=prior).fit(X)
    np.testing.assert_allclose(likelihood_covariances(model), model.covariances_)
