"""Intervals of Bayesian linear regression hold what they say: by simulation, and against the textbook's formulas."""

import numpy as np
import pytest
from scipy import stats

from latently.learn.engine.reduce import single_threaded_blas
from latently.predict import BayesianLinearRegression
from latently.predict.linear.evidence import Hyper, Problem, Spectrum, State, maximise
from latently.predict.linear.incomplete import marginalised
from latently.predict.linear.spread import spread_of


def problem(n, d, rng, new=60):
    """Learnt and new rows: weights fixed or drawn, noise of several sizes, inputs that go together or do not."""
    root = np.linalg.cholesky(np.eye(d) + rng.choice([0.0, 1.0]))
    w = rng.normal(size=d) if rng.random() < 0.5 else np.full(d, 0.5)
    X = rng.normal(size=(n + new, d)) @ root.T
    y = X @ w + 1 + rng.choice([0.1, 1.0, 5.0]) * rng.normal(size=n + new)
    return X[:n], y[:n], X[n:], y[n:]


def coverage(n, d, repeats, hidden=(0.0, 0.0), **settings):
    rng, inside = np.random.default_rng(n * 100 + d), []
    with single_threaded_blas():
        for _ in range(repeats):
            X, y, new, targets = problem(n, d, rng)
            for rows, share in zip((X, new), hidden, strict=True):
                rows[rng.random(rows.shape) < share] = np.nan
            low, high = BayesianLinearRegression(**settings).fit(X, y).interval(new).T
            inside.append(((low < targets) & (targets < high)).mean())
    return np.mean(inside)


SIZES = [(8, 3, 600), (10, 3, 600), (15, 10, 400), (30, 25, 400), (60, 6, 200), (200, 20, 100), (1000, 10, 60)]


@pytest.mark.parametrize("method", ["evidence", "ml"])
@pytest.mark.parametrize(("n", "d", "repeats"), SIZES)
def test_intervals_of_90_percent_hold_90_percent(method, n, d, repeats):
    assert abs(coverage(n, d, repeats, method=method) - 0.9) < 0.02


@pytest.mark.parametrize(("n", "d"), [(8, 1), (8, 3), (15, 10)])
@pytest.mark.parametrize("strength", [0.0, 0.3, 1.0, 3.0])
def test_they_hold_at_every_strength_of_the_signal(n, d, strength):
    rng, inside, w = np.random.default_rng(5), [], np.full(d, strength)
    with single_threaded_blas():
        for _ in range(400):
            X = rng.normal(size=(n + 30, d))
            model = BayesianLinearRegression(max_iter=3000).fit(X[:n], X[:n] @ w + 1 + rng.normal(size=n))
            ends = model.interval(X[n:]) - (X[n:] @ w + 1)[:, None]
            inside.append(np.diff(stats.norm.cdf(ends)).mean())
    assert abs(np.mean(inside) - 0.9) < 0.02


def test_intervals_under_a_given_prior_hold_too():
    rng, inside = np.random.default_rng(0), []
    for _ in range(250):
        w = rng.normal(size=4)
        X = rng.normal(size=(70, 4))
        y = X @ w + rng.choice([0.3, 1.0, 3.0]) * rng.normal(size=70)
        low, high = BayesianLinearRegression(method="map").fit(X[:10], y[:10]).interval(X[10:]).T
        inside.append(((low < y[10:]) & (y[10:] < high)).mean())
    assert abs(np.mean(inside) - 0.9) < 0.02


@pytest.mark.parametrize("method", ["evidence", "ml"])
@pytest.mark.parametrize("hidden", [(0.2, 0.0), (0.0, 0.2), (0.2, 0.2)])
def test_intervals_with_missing_inputs_hold_too(method, hidden):
    found = coverage(40, 3, 150, hidden, method=method, missing="marginalise")
    assert abs(found - 0.9) < 0.02


def test_least_squares_has_the_textbook_interval():
    rng = np.random.default_rng(0)
    X, y, new, _ = problem(12, 4, rng)
    design = np.column_stack([np.ones(12), X])
    beta, squares, *_ = np.linalg.lstsq(design, y, rcond=None)
    at = np.column_stack([np.ones(len(new)), new])
    scale = np.sqrt(squares[0] / 7 * (1 + np.einsum("ij,jk,ik->i", at, np.linalg.inv(design.T @ design), at)))
    expected = np.column_stack([at @ beta + s * stats.t(7).ppf(0.95) * scale for s in (-1, 1)])
    model = BayesianLinearRegression(method="ml").fit(X, y)
    np.testing.assert_allclose(model.interval(new), expected, rtol=1e-9)
    assert model.freedom_ == 7


def test_two_degrees_of_freedom_have_an_interval_and_no_standard_deviation():
    X, y, new, _ = problem(6, 3, np.random.default_rng(0))
    model = BayesianLinearRegression(method="ml").fit(X, y)
    assert model.freedom_ == 2
    assert np.isfinite(model.interval(new)).all()
    assert np.isinf(model.predict(new, return_std=True)[1]).all()


def test_more_columns_than_rows():
    X, y, new, _ = problem(8, 12, np.random.default_rng(0))
    saturated = BayesianLinearRegression(method="ml").fit(X, y)
    for ask in (saturated.interval, lambda Z: saturated.predict(Z, return_std=True), lambda Z: saturated.sample()):
        with pytest.raises(ValueError, match="8 rows are too few to estimate the noise beside 12 coefficients"):
            ask(new)
    assert np.isfinite(saturated.predict(new)).all()
    low, high = BayesianLinearRegression().fit(X, y).interval(new).T
    assert np.isfinite([low, high]).all()
    assert ((high - low) > 0.5 * np.std(y)).all()
    assert coverage(8, 12, 300) > 0.88  # wide, and not narrower than said
    with pytest.raises(ValueError, match="too few"):
        BayesianLinearRegression().fit(X[:1], y[:1]).interval(new)


def test_too_few_rows_to_say_what_missing_inputs_may_be():
    X, y, new, _ = problem(6, 6, np.random.default_rng(0))
    new[0, 0] = np.nan
    model = BayesianLinearRegression(missing="marginalise").fit(X, y)
    with pytest.raises(ValueError, match="rows with missing inputs"):
        model.interval(new)
    assert np.isfinite(model.interval(new[1:])).all()


def test_exact_targets_have_narrow_intervals():
    X, _, new, _ = problem(30, 3, np.random.default_rng(0))
    flat = dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), 0.0)
    for method in ("evidence", "ml"):
        low, high = BayesianLinearRegression(method=method, **flat).fit(X, X @ [1.0, 2.0, 3.0]).interval(new).T
        assert (high - low).max() < 1e-5


def test_units_do_not_matter_to_the_interval():
    X, y, new, _ = problem(20, 4, np.random.default_rng(0))
    flat = dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), 0.0)
    plain = BayesianLinearRegression(tol=1e-10, **flat).fit(X, y).interval(new)
    other = BayesianLinearRegression(tol=1e-10, **flat).fit(1e5 * X, 1e-3 * y).interval(1e5 * new)
    np.testing.assert_allclose(other, 1e-3 * plain, rtol=1e-6)


def test_noise_and_freedom_are_those_of_the_posterior_by_quadrature():
    # the posterior of log noise variance, both precisions on a grid, has the moments of the t's chi-square
    X, y, _, _ = problem(12, 3, np.random.default_rng(3))
    X, y = X - X.mean(axis=0), y - y.mean()
    spectrum = Spectrum.of(Problem(12.0, X.T @ X, X.T @ y, float(y @ y)))
    unit, s = spectrum.values.mean(), spectrum.values
    flat, start = Hyper(), State(1.0, 1.0)

    def density(log_alpha, log_ratio):
        alpha, ratio = np.exp(log_alpha), np.exp(log_ratio)
        left = y @ y - (spectrum.along**2 / (s + ratio)).sum()
        log = 5.5 * log_alpha - alpha * left / 2 + 0.5 * np.log(ratio / (s + ratio)).sum()
        return np.exp(log + 0.02 * np.log(ratio / unit) - 0.07 * np.log1p(ratio / unit) - peak)

    best, _, _ = maximise(spectrum, start, flat, (True, True), 1e-9, 1000)
    peak = 0.0
    peak = np.log(density(np.log(best.alpha), np.log(best.lam / best.alpha)))
    a, r = np.meshgrid(np.linspace(-12, 8, 201) + np.log(best.alpha), np.linspace(-25, 20, 301) + np.log(unit))
    p = np.vectorize(density)(a, r)
    mean = (p * a).sum() / p.sum()
    variance = (p * (a - mean) ** 2).sum() / p.sum()
    found = spread_of(spectrum, best, flat, (True, True), True)
    # alpha is chi-square with the freedom over freedom x noise: for data that determine the weights to a few percent
    chi = stats.chi2(found.freedom)
    assert chi.expect(lambda v: np.log(v)) - np.log(found.freedom * found.noise) == pytest.approx(mean, abs=0.1)
    assert variance == pytest.approx(chi.expect(lambda v: np.log(v) ** 2) - chi.expect(np.log) ** 2, rel=0.25)


def test_missing_inputs_add_the_variance_of_drawn_weights_times_drawn_inputs():
    rng = np.random.default_rng(0)
    coef, spread = np.array([0.3, -0.2]), np.array([[0.5, 0.1], [0.1, 0.4]])
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    _, extra, _ = marginalised(np.array([[np.nan, 1.0]]), (np.zeros(2), cov), 1e9, coef, spread)
    weights = rng.multivariate_normal(coef, spread, size=400_000)[:, 0]
    inputs = rng.normal(0.5, np.sqrt(1.75), size=400_000)  # x0 given x1 = 1
    # beyond the variance of the answer at the expected input
    expected = np.var(weights * inputs) - np.var(weights * 0.5)
    assert extra[0] == pytest.approx(expected, rel=0.02)


def test_both_precisions_stand_still_at_the_end():
    # hardly any signal: alpha is found at once, and lambda long after
    rng, tol = np.random.default_rng(5), 1e-3
    for _ in range(40):
        X = rng.normal(size=(40, 3))
        y = X @ np.full(3, 0.1) + 2 * rng.normal(size=40)
        model = BayesianLinearRegression(tol=tol, fit_intercept=False).fit(X, y)
        values = np.linalg.eigvalsh(X.T @ X)
        gamma = (model.alpha_ * values / (model.lambda_ + model.alpha_ * values)).sum()
        found = (gamma + 2e-6) / (model.coef_ @ model.coef_ + 2e-6)  # where the next step would lead
        assert model.converged_
        assert model.lambda_ == pytest.approx(found, rel=2 * tol)
