"""Bayesian linear regression against scikit-learn's regressions, and its laws."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_diabetes, load_linnerud
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import BayesianRidge, LinearRegression, Ridge

from latently.impute import Imputer
from latently.learn import threads
from latently.predict import BayesianLinearRegression
from latently.predict.linear.evidence import Hyper, Problem, Spectrum, State, _expectation, _fixed_point, eigen


def data(n=200, d=5, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.2, 5, size=d)
    w = rng.normal(size=d)
    return X, X @ w + 2 + noise * rng.normal(size=n), w


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_evidence_is_bayesian_ridge(intercept, weighted):
    X, y = load_diabetes(return_X_y=True)
    w = np.random.default_rng(0).integers(1, 4, size=len(y)) if weighted else np.ones(len(y), dtype=int)
    rows = np.repeat(np.arange(len(y)), w)
    theirs = BayesianRidge(tol=1e-11, max_iter=2_000, fit_intercept=intercept).fit(X[rows], y[rows])
    if not intercept:  # theirs starts from the variance about the mean; the fixed point is the same
        assert theirs.intercept_ == 0.0
    ours = BayesianLinearRegression(tol=1e-12, max_iter=10_000, fit_intercept=intercept)
    ours.fit(X, y, sample_weight=w if weighted else None)
    assert ours.converged_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)
    np.testing.assert_allclose(ours.sigma_, theirs.sigma_, rtol=1e-5, atol=1e-6 * np.abs(theirs.sigma_).max())
    np.testing.assert_allclose(
        [ours.intercept_, ours.alpha_, ours.lambda_], [theirs.intercept_, theirs.alpha_, theirs.lambda_], rtol=1e-6
    )


@pytest.mark.parametrize("intercept", [True, False])
def test_maximum_likelihood_is_least_squares(intercept):
    X, y = load_diabetes(return_X_y=True)
    ours = BayesianLinearRegression(method="ml", fit_intercept=intercept).fit(X, y)
    theirs = LinearRegression(fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    squares = ((y - theirs.predict(X)) ** 2).sum()
    assert 1 / ours.alpha_ == pytest.approx(squares / (len(y) - X.shape[1] - intercept))
    assert ours.trace_[-1] == pytest.approx(stats.norm(theirs.predict(X), np.sqrt(squares / len(y))).logpdf(y).sum())


def test_map_is_ridge():
    X, y, _ = data()
    ours = BayesianLinearRegression(method="map", weight_precision=3.0, noise_variance=2.0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, Ridge(alpha=6.0).fit(X, y).coef_, rtol=1e-10)


def test_a_prior_of_any_shape_and_mean_by_the_normal_equations():
    X, y, _ = data(n=12)
    root = np.random.default_rng(1).normal(size=(5, 5))
    precision, mean = root @ root.T + np.eye(5), np.arange(5.0)
    model = BayesianLinearRegression(
        method="map", weight_precision=precision, prior_mean=mean, noise_variance=0.5, fit_intercept=False
    ).fit(X, y)
    inverse = np.linalg.inv(precision + X.T @ X / 0.5)
    np.testing.assert_allclose(model.sigma_, inverse, rtol=1e-8)
    np.testing.assert_allclose(model.coef_, inverse @ (precision @ mean + X.T @ y / 0.5), rtol=1e-8)


def test_the_trace_is_the_log_evidence_of_scipy_and_never_falls():
    X, y, _ = data(n=30)
    flat = dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), 0.0)
    model = BayesianLinearRegression(fit_intercept=False, tol=1e-10, **flat).fit(X, y)
    cov = np.eye(30) / model.alpha_ + X @ X.T / model.lambda_
    assert model.trace_[-1] == pytest.approx(stats.multivariate_normal(np.zeros(30), cov).logpdf(y))
    assert (np.diff(model.trace_) >= 0).all()


@settings(max_examples=20, deadline=None)
@given(cut=st.integers(10, 190), seed=st.integers(0, 100))
def test_learning_forgetting_and_merging_are_one_arithmetic(cut, seed):
    X, y, _ = data(seed=seed)
    new = BayesianLinearRegression
    whole = new().fit(X, y)
    a, b = new().partial_fit(X[:cut], y[:cut]), new().fit(X[cut:], y[cut:])
    rest = b.coef_.copy()
    np.testing.assert_allclose(new().fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:]).coef_, whole.coef_, rtol=1e-8)
    np.testing.assert_allclose(a.merge(b).coef_, whole.coef_, rtol=1e-8)
    np.testing.assert_allclose(whole.forget(X[:cut], y[:cut]).coef_, rest, rtol=1e-5, atol=1e-7)


def test_forgetting_rows_that_were_never_learnt_is_refused():
    X, y, _ = data()
    model = BayesianLinearRegression().fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="never learnt"):
        model.forget(np.vstack([X, X]), np.append(y, y))
    with pytest.raises(ValueError, match="never learnt"):
        model.forget(X[:1] * 1e4, y[:1])
    with pytest.raises(ValueError, match="no rows would be left"):
        model.forget(X, y)
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("method", ["evidence", "ml"])
def test_intervals_cover_what_they_say(method):
    hits = []
    for seed in range(60):
        X, y, _ = data(n=400, d=6, seed=seed, noise=2.0)
        low, high = BayesianLinearRegression(method=method).fit(X[:200], y[:200]).interval(X[200:], 0.9).T
        hits.append(((low < y[200:]) & (y[200:] < high)).mean())
    assert 0.88 < np.mean(hits) < 0.92


def test_the_posterior_covers_the_weights():
    inside = []
    for seed in range(100):
        X, y, w = data(n=60, d=4, seed=seed)
        low, high = BayesianLinearRegression().fit(X, y).posterior().interval(0.9)
        inside.append((low < w) & (w < high))
    assert 0.86 < np.mean(inside) < 0.94


def test_drawn_functions_have_the_mean_and_spread_of_the_prediction():
    X, y, _ = data(n=20)
    model = BayesianLinearRegression().fit(X, y)
    drawn = model.sample_functions(X + 3, 40_000, random_state=0)
    mean, _ = model.predict(X + 3, return_std=True)
    low, high = model.interval(X + 3, 0.5).T
    np.testing.assert_allclose(drawn.mean(axis=1), mean, atol=0.05 * (high - low).max())
    # without the noise, whose squared scale the answers have on top: quartiles of Student's t
    reach = stats.t(model.freedom_).ppf(0.75)
    scale = ((high - low) / 2 / reach) ** 2 - model._noise
    quartiles = np.diff(np.quantile(drawn, [0.25, 0.75], axis=1), axis=0)[0]
    np.testing.assert_allclose((quartiles / 2 / reach) ** 2, scale, rtol=0.06)
    weights, intercepts = model.sample(3, random_state=0)
    values = model.sample_functions(X[:1] + 3, 3, random_state=0)
    np.testing.assert_allclose(weights @ (X[0] + 3) + intercepts, values[0])


def test_log_predictive_is_scipys_density():
    X, y, _ = data()
    model = BayesianLinearRegression().fit(X, y)
    mean, std = model.predict(X, return_std=True)
    freedom = model.freedom_
    student = stats.t(freedom, mean, std * np.sqrt(1 - 2 / freedom))
    np.testing.assert_allclose(model.log_predictive(X, y), student.logpdf(y), rtol=1e-10)
    np.testing.assert_allclose(model.interval(X, 0.8), np.transpose(student.interval(0.8)), rtol=1e-9)
    known = BayesianLinearRegression(method="map", noise_variance=1.0).fit(X, y)
    mean, std = known.predict(X, return_std=True)
    np.testing.assert_allclose(known.log_predictive(X, y), stats.norm(mean, std).logpdf(y), rtol=1e-10)
    np.testing.assert_allclose(known.interval(X), np.transpose(stats.norm(mean, std).interval(0.9)), rtol=1e-9)


def test_threads_chunks_and_offsets():
    X, y, _ = data(n=40_000)
    with threads(1):
        one = BayesianLinearRegression().fit(X, y)
    with threads(3):
        three = BayesianLinearRegression().fit(X, y)
    np.testing.assert_array_equal(one.coef_, three.coef_)
    far = BayesianLinearRegression().fit(X + 1e8, y)
    np.testing.assert_allclose(far.coef_, one.coef_, rtol=1e-6)


def test_scales_apart_by_any_factor():
    X, y, _ = data()
    scales = 10.0 ** np.array([-12, -6, 0, 6, 12])
    plain, wild = (BayesianLinearRegression(method="ml").fit(Z, y) for Z in (X, X * scales))
    np.testing.assert_allclose(wild.coef_ * scales, plain.coef_, rtol=1e-8)
    # the prior of the same shape in the other units
    near = BayesianLinearRegression(tol=1e-10).fit(X, y)
    far = BayesianLinearRegression(tol=1e-10, weight_precision=scales**2).fit(X * scales, y)
    np.testing.assert_allclose(far.coef_ * scales, near.coef_, rtol=1e-6)


def test_eigenvalues_of_a_graded_matrix_keep_their_digits():
    # Hilbert-like blocks scaled apart: exact eigenvalues of diag(D) [[2, 1], [1, 2]] diag(D) by the quadratic formula
    small = 1e-10
    a, b, c = 2 * small**2, small, 2.0
    exact = (a * c - b**2) / ((a + c) / 2 + np.sqrt(((a - c) / 2) ** 2 + b**2))  # product over the larger one
    values, vectors = eigen(np.array([[a, b], [b, c]]))
    assert values.min() == pytest.approx(exact, rel=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-14)


def test_columns_that_depend_on_each_other_and_constant_ones():
    X, y, _ = data()
    double = np.column_stack([X, X[:, 0], np.full(len(y), 7.0)])
    ours, theirs = BayesianLinearRegression(method="ml").fit(double, y), LinearRegression().fit(double, y)
    np.testing.assert_allclose(ours.predict(double), theirs.predict(double), rtol=1e-8)
    bayes = BayesianLinearRegression().fit(double, y)
    assert np.isfinite(bayes.sigma_).all()
    assert bayes.coef_[-1] == 0.0


@pytest.mark.parametrize("method", ["evidence", "map", "ml"])
def test_one_row_and_a_constant_target(method):
    X, _, _ = data()
    single = BayesianLinearRegression(method=method).fit(X[:1], [3.0])
    np.testing.assert_allclose(single.predict(X[:3]), 3.0)
    flat = BayesianLinearRegression(method=method).fit(X, np.full(len(X), 5.0))
    mean, std = flat.predict(X, return_std=True)
    np.testing.assert_allclose(mean, 5.0)
    assert np.isfinite(std).all()


def test_missing_inputs_are_marginalised():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([1, 2, 3], [[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1]], size=3000)
    y = X @ [1.0, 2.0, -1.0] + 4 + 0.5 * rng.normal(size=3000)
    absent = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    model = BayesianLinearRegression(missing="marginalise").fit(absent[:2000], y[:2000])
    np.testing.assert_allclose(model.coef_, [1, 2, -1], atol=0.08)
    low, high = model.interval(absent[2000:]).T
    assert 0.87 < ((low < y[2000:]) & (y[2000:] < high)).mean() < 0.93
    full, holey = model.predict(X[:1], return_std=True)[1], model.predict([[np.nan, 2, 3]], return_std=True)[1]
    assert holey[0] > full[0]
    # the exact conditional of the joint Gaussian: E[x0 | x1] = 1 + 0.8 (x1 - 2), variance 0.36
    assert model.predict([[np.nan, 3.0, 3.0]])[0] == pytest.approx(1.8 + 6 - 3 + 4, abs=0.15)
    assert holey[0] ** 2 == pytest.approx(0.25 + 0.36, rel=0.15)


def test_columns_by_name_and_bad_input():
    table = load_linnerud(as_frame=True)
    X, y = table.data, table.target["Weight"]
    model = BayesianLinearRegression().fit(X, y)
    np.testing.assert_array_equal(model.predict(X[X.columns[::-1]]), model.predict(X))
    with pytest.raises(ValueError, match="'Jumps' is not in the table"):
        model.predict(X.drop(columns="Jumps"))
    with pytest.raises(ValueError, match="'Jumps'"):
        BayesianLinearRegression().fit(X.assign(Jumps=np.nan), y)
    with pytest.raises(ValueError, match="row 2"):
        BayesianLinearRegression().fit(X[:3], [1.0, 2.0, np.nan])
    with pytest.raises(ValueError, match="method"):
        BayesianLinearRegression(method="guess").fit(X, y)
    with pytest.raises(ValueError, match="weight_precision"):
        BayesianLinearRegression(weight_precision=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="complete rows"):
        BayesianLinearRegression(missing="marginalise").fit(X, y).partial_fit(X.assign(Jumps=np.nan), y)
    blank = pd.DataFrame({"a": [1.0, 2.0, 4.0], "dead": [np.nan] * 3})
    with pytest.raises(ValueError, match="'dead'"):
        BayesianLinearRegression(missing="marginalise").fit(blank, [1.0, 2.0, 3.0])


def test_values_of_extreme_size_are_named():
    X, y, _ = data()
    with pytest.raises(ValueError, match=r"column 'x4' of X has values of extreme size"):
        BayesianLinearRegression().fit(X * [1, 1, 1, 1, 1e200], y)
    with pytest.raises(ValueError, match="column 'y' has values too large"):
        BayesianLinearRegression().fit(X, y * 1e200)
    with pytest.raises(ValueError, match="rescale"):
        BayesianLinearRegression(method="ml").fit(X * 1e-160, y)


def test_both_kinds_of_step_climb_to_one_summit():
    X, y, _ = data(n=25)
    spectrum = Spectrum.of(Problem(25.0, X.T @ X, X.T @ y, float(y @ y)))
    states = {}
    for step in (_expectation, _fixed_point):
        state, scores = State(1.0, 1.0), []
        for _ in range(3000):
            state = step(spectrum, state, Hyper(1e-6, 1e-6, 1e-6, 1e-6), (True, True))
            scores.append(state.score)
        states[step] = state
        if step is _expectation:
            assert np.diff(scores).min() > -1e-9
    a, b = states.values()
    assert (a.alpha, a.lam) == pytest.approx((b.alpha, b.lam), rel=1e-6)


def test_running_out_of_steps_is_not_convergence():
    X, y, _ = data()
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 iterations: raise max_iter"):
        assert not BayesianLinearRegression(max_iter=1).fit(X, y).converged_
    assert BayesianLinearRegression(method="map", noise_variance=1.0, max_iter=1).fit(X, y).converged_


def test_models_that_do_not_fit_together_are_not_merged():
    X, y, _ = data()
    model = BayesianLinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="different columns"):
        model.merge(BayesianLinearRegression().fit(X[:, :2], y))
    with pytest.raises(TypeError, match="cannot merge"):
        model.merge(Ridge().fit(X, y))


def test_rows_in_chunks():
    from latently.data import as_source

    X, y, _ = data()
    whole, chunked = (BayesianLinearRegression().fit(rows, y) for rows in (X, as_source(X, chunk_rows=7)))
    np.testing.assert_allclose(chunked.coef_, whole.coef_, rtol=1e-10)
    np.testing.assert_allclose(chunked.predict(as_source(X, chunk_rows=9)), whole.predict(X))
    with pytest.raises(ValueError, match="y has 20 targets"):
        BayesianLinearRegression().fit(as_source(X, chunk_rows=7), y[:20])
    with pytest.raises(ValueError, match="X has 2 features"):
        whole.predict(as_source(X[:, :2]))
    with pytest.raises(ValueError, match="y must be numbers"):
        whole.fit(X, np.array(["a"] * len(y)))


def test_too_few_rows_with_missing_inputs_are_refused_in_words_about_the_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 5))
    y = X.sum(axis=1) + rng.normal(size=5)
    X[0, 0] = X[1, 1] = np.nan
    advice = r"5 rows \(3 of them complete\).*give more rows, leave columns out, or fill in the missing values"
    with pytest.raises(ValueError, match=advice) as told:
        BayesianLinearRegression(missing="marginalise").fit(X, y)
    assert not any(word in str(told.value) for word in ("kind", "NormalInverseWishart", "covariance"))
    assert np.isfinite(BayesianLinearRegression().fit(Imputer().fit_transform(X), y).coef_).all()  # as it says


@pytest.mark.parametrize(
    ("column", "reason"),
    [(np.ones(30), "is constant"), (None, "is a linear function"), (np.full(30, np.nan), "has no observed values")],
)
def test_inputs_that_cannot_be_marginalised_are_named(column, reason):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X.sum(axis=1) + rng.normal(size=30)
    X[0, 0] = np.nan
    table = np.column_stack([X, X[:, 1] if column is None else column])
    with pytest.raises(ValueError, match=f"column 'x3' {reason}.*leave") as told:
        BayesianLinearRegression(missing="marginalise").fit(table, y)
    assert "prior" not in str(told.value)


def test_rows_without_weight_are_not_counted_in_a_refusal():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 4)), rng.normal(size=9)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"4 rows \(3 of them complete\)"):
        BayesianLinearRegression(missing="marginalise").fit(X, y, sample_weight=[1.0] * 4 + [0.0] * 5)
