"""Parameters drawn from their posterior given rows with missing entries: against closed forms."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from latently.cluster import GaussianMixture, Mixture
from latently.cluster.gaussian.augmentation import drawn_parameters, moments_of
from latently.cluster.mixture.augmentation import drawn_parameters as drawn_of_table
from latently.distributions import Gaussian, NormalInverseWishart
from latently.distributions.components.gaussian.posterior import drawn_params
from latently.learn.engine.augmentation import chain, sample_factor, spacing

COVARIANCE = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.3], [0.0, 0.3, 1.0]])


def gaussian_rows(n, seed=0):
    return np.random.default_rng(seed).multivariate_normal(np.zeros(3), COVARIANCE, size=n)


def public(params):
    """Means and covariances in the data's own units."""
    factor = params.frame.covariance_factor(params.kind)
    return params.frame.outward(params.means), params.covariances * factor


def agrees(values, law):
    return stats.kstest(values, law.cdf).pvalue > 0.01


# complete rows


def test_parameters_of_complete_rows_have_the_posterior_of_the_regressions():
    n, d = 30, 3
    X = gaussian_rows(n)
    model = GaussianMixture(1, reg_covar=0.0).fit(X)
    _, fitted = model._engine()
    stats_of_rows = moments_of(fitted, fitted.frame.inward(X), np.zeros(n, dtype=int))
    rng, order = np.random.RandomState(0), np.array([2, 0, 1])
    drawn = [public(drawn_params(fitted, stats_of_rows, order, rng)) for _ in range(4000)]
    means, covariances = (np.array([draw[i][0] for draw in drawn]) for i in (0, 1))
    scatter = np.cov(X.T, bias=True) * n
    assert agrees(covariances[:, 2, 2], stats.invgamma((n - 1) / 2, scale=scatter[2, 2] / 2))
    assert agrees(means[:, 2], stats.t(n - 1, X[:, 2].mean(), X[:, 2].std(ddof=1) / np.sqrt(n)))
    # the last column on the two before it: the textbook's t about least squares
    before = np.ix_([2, 0], [2, 0])
    slopes = np.array([np.linalg.solve(c[before], c[[2, 0], 1]) for c in covariances])
    inner = np.linalg.inv(scatter[before])
    best = inner @ scatter[[2, 0], 1]
    scale = np.sqrt(np.diagonal(inner) * (scatter[1, 1] - best @ scatter[[2, 0], 1]) / (n - d))
    for j in range(2):
        assert agrees(slopes[:, j], stats.t(n - d, best[j], scale[j]))


@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_variances_of_complete_rows_are_sums_of_squares_over_chi_square(kind):
    n, X = 20, gaussian_rows(20)
    model = GaussianMixture(1, covariance_type=kind, reg_covar=0.0).fit(X)
    _, fitted = model._engine()
    stats_of_rows = moments_of(fitted, fitted.frame.inward(X), np.zeros(n, dtype=int))
    rng = np.random.RandomState(0)
    drawn = [public(drawn_params(fitted, stats_of_rows, np.arange(3), rng)) for _ in range(3000)]
    means, variances = (np.array([draw[i][0] for draw in drawn]) for i in (0, 1))
    squares = X.var(axis=0) * n
    if kind == "diag":
        assert agrees(variances[:, 1], stats.invgamma((n - 1) / 2, scale=squares[1] / 2))
        assert agrees(means[:, 1], stats.t(n - 1, X[:, 1].mean(), X[:, 1].std(ddof=1) / np.sqrt(n)))
    else:
        assert agrees(variances, stats.invgamma(3 * (n - 1) / 2, scale=squares.sum() / 2))


def test_one_covariance_for_all_is_known_from_the_rows_about_all_means():
    X = np.vstack([gaussian_rows(15), gaussian_rows(15, 1) + 50])
    model = GaussianMixture(2, covariance_type="tied", reg_covar=0.0, random_state=0).fit(X)
    _, fitted = model._engine()
    labels = model.predict(X)
    stats_of_rows = moments_of(fitted, fitted.frame.inward(X), labels)
    rng = np.random.RandomState(0)
    drawn = [drawn_params(fitted, stats_of_rows, np.arange(3), rng) for _ in range(3000)]
    variance = np.array([public(params)[1][0, 0] for params in drawn])
    squares = sum((X[labels == k, 0].var() * 15) for k in range(2))
    assert agrees(variance, stats.invgamma((30 - 2) / 2, scale=squares / 2))
    assert agrees(np.array([params.weights[0] for params in drawn]), stats.beta(15.5, 15.5))


def test_components_with_hardly_any_rows_keep_to_what_was_fitted():
    X = np.vstack([gaussian_rows(60), gaussian_rows(60, 1) + 20])
    model = GaussianMixture(2, random_state=0).fit(X)
    _, fitted = model._engine()
    Z = fitted.frame.inward(X)
    empty = moments_of(fitted, Z, np.zeros(len(Z), dtype=int))
    drawn = [drawn_params(fitted, empty, np.arange(3), np.random.RandomState(seed)) for seed in range(200)]
    gaps = np.array([params.means[1] - fitted.means[1] for params in drawn])
    deviation = np.sqrt(np.diagonal(fitted.covariances[1]))
    assert (np.abs(np.median(gaps, axis=0)) < 0.5 * deviation).all()
    assert all(np.linalg.eigvalsh(params.covariances).min() > 0 for params in drawn)


# incomplete rows


def seen_less_and_less(n=60, seed=0):
    """A column that is always seen, and one that the first decides of: its posterior has a closed form."""
    rng = np.random.default_rng(seed)
    X = rng.multivariate_normal([0, 0], COVARIANCE[:2, :2], size=n) * [1.0, 5.0] + [0.0, 100.0]
    X[rng.random(n) < stats.norm.cdf(1.5 * X[:, 0]), 1] = np.nan
    return X


def check_monotone(means, covariances, X):
    """The first column from all rows, the regression of the second from those in which it is observed."""
    n, seen = len(X), X[~np.isnan(X[:, 1])]
    line, m = stats.linregress(seen[:, 0], seen[:, 1]), len(seen)
    slopes = covariances[:, 0, 1] / covariances[:, 0, 0]
    residual = covariances[:, 1, 1] - slopes * covariances[:, 0, 1]
    assert agrees(slopes, stats.t(m - 2, line.slope, line.stderr))
    assert agrees(means[:, 1] - slopes * means[:, 0], stats.t(m - 2, line.intercept, line.intercept_stderr))
    squares = ((seen[:, 1] - line.intercept - line.slope * seen[:, 0]) ** 2).sum()
    assert agrees(residual, stats.invgamma((m - 2) / 2, scale=squares / 2))
    assert agrees(means[:, 0], stats.t(n - 1, X[:, 0].mean(), X[:, 0].std(ddof=1) / np.sqrt(n)))


def test_parameters_given_rows_with_holes_have_the_posterior_of_the_regressions():
    X = seen_less_and_less()
    model = GaussianMixture(1, reg_covar=0.0, tol=1e-8, max_iter=1000).fit(X)
    drawn = [public(params) for params in drawn_parameters(model, X, 500, np.random.RandomState(0))]
    check_monotone(*(np.array([draw[i][0] for draw in drawn]) for i in (0, 1)), X)


def test_numbers_of_a_table_have_the_posterior_of_the_regressions():
    X = seen_less_and_less(seed=1)
    model = Mixture(1, families={(0, 1): Gaussian()}, prior="ml", tol=1e-8, max_iter=1000).fit(X)
    drawn = [params.parts[0] for params in drawn_of_table(model, X, 500, np.random.default_rng(0))]
    check_monotone(np.array([t.means[0] for t in drawn]), np.array([t.covariances[0] for t in drawn]), X)


def test_columns_by_themselves_have_the_posteriors_of_their_families():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"size": rng.normal(size=80), "kind": rng.choice(["u", "v", "w"], 80), "n": rng.poisson(3, 80)}
    )
    table = table.astype({"n": float}).mask(rng.random(table.shape) < 0.3)
    model = Mixture(1, families={"n": "counts"}, prior="ml").fit(table)
    rows = model._read(table)
    drawn = list(drawn_of_table(model, rows, 600, np.random.default_rng(1)))
    size, kind, count = (rows[~np.isnan(rows[:, j]), j] for j in range(3))
    by_type = {type(block).__name__: i for i, block in enumerate(model.model_.blocks)}
    means = np.array([params.parts[by_type["NumericBlock"]].means[0, 0] for params in drawn])
    assert agrees(means, stats.t(len(size) - 1, size.mean(), size.std(ddof=1) / np.sqrt(len(size))))
    shares = np.array([params.parts[by_type["CategoryBlock"]].values[0, 0] for params in drawn])
    hits = (kind == 0).sum()
    assert agrees(shares, stats.beta(hits, len(kind) - hits))
    rates = np.array([params.parts[by_type["CountBlock"]].values[0, 0] for params in drawn])
    assert abs(rates.mean() / count.mean() - 1) < 0.02
    assert abs(rates.std() / (count.std() / np.sqrt(len(count))) - 1) < 0.15


# limits, samples, chains


def test_what_is_fixed_or_known_beforehand_stays_in_the_draws():
    X = np.vstack([gaussian_rows(40), gaussian_rows(40, 1) + 8])
    X[::5, 1] = np.nan
    zero = np.vstack([np.zeros(3), np.full(3, np.nan)])
    fixed = GaussianMixture(2, fixed={"means": zero}, means_init=[[0.0] * 3, [8.0] * 3], random_state=0).fit(X)
    drawn = [public(params)[0] for params in drawn_parameters(fixed, X, 20, np.random.RandomState(0))]
    np.testing.assert_allclose([means[0] for means in drawn], 0.0, atol=1e-9)
    assert np.std([means[1] for means in drawn], axis=0).min() > 0.05
    strong = NormalInverseWishart(location=np.full(3, 7.0), kappa=1e6, dof=30.0, scatter=30 * np.eye(3))
    pulled = GaussianMixture(1, prior={"components": strong}).fit(X)
    for params in drawn_parameters(pulled, X, 5, np.random.RandomState(0)):
        np.testing.assert_allclose(public(params)[0], 7.0, atol=0.01)
    held = Mixture(1, families={(0, 1, 2): Gaussian()}, bounds={(0, 1, 2): {"mean": (5.0, None)}}).fit(X)
    for params in drawn_of_table(held, X, 5, np.random.default_rng(0)):
        assert params.parts[0].means.min() >= 5.0


def test_a_sample_of_the_rows_tells_of_parameters_as_all_of_them_do():
    X = gaussian_rows(4000)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    part = X[np.random.default_rng(2).choice(4000, 400, replace=False)]
    told = (~np.isnan(X)).sum(axis=0)
    gaussian = GaussianMixture(1).fit(X)
    table = Mixture(1, families={(0, 1): Gaussian()}).fit(X)
    by_rows = np.array(
        [public(params)[0][0] for params in drawn_parameters(gaussian, part, 150, np.random.RandomState(0))]
    )
    of_table = list(drawn_of_table(table, part, 150, np.random.default_rng(0)))
    by_table = np.array([np.concatenate([part.means[0] for part in params.parts]) for params in of_table])
    order = [column for block in table.model_.blocks for column in block.columns]
    for means, columns in ((by_rows, [0, 1, 2]), (by_table, order)):
        error = np.nanstd(X, axis=0)[columns] / np.sqrt(told[columns])
        assert (np.abs(means.std(axis=0) / error - 1) < 0.25).all()
        assert (np.abs(means.mean(axis=0) - gaussian.means_[0][columns]) < 0.6 * error).all()


def test_steps_grow_with_what_is_missing_and_not_told():
    holes = np.zeros((100, 3), dtype=bool)
    one = np.ones((100, 1))
    assert spacing(holes, one) == 1
    holes[0, 0] = True
    assert spacing(holes, one) == 10
    holes[:60, 0] = True
    holes[50:80, 1] = True
    assert spacing(holes, one) == 20  # both are seen in 20 rows of 100
    assert spacing(holes, np.full((100, 2), 0.5)) == 40
    holes[:, 0] = True
    assert spacing(holes, one) == 200


def test_chains_forget_their_start_before_the_first_draw():
    assert list(chain(lambda at: at + 1, 0, 3, 5)) == [5, 10, 15]
    assert list(chain(lambda at: at + 1, 0, 3, 5, every=2)) == [5, 7, 9]
    assert sample_factor(1000, 1000) == sample_factor(9995, 10000) == 1.0
    assert sample_factor(250, 1000) == 0.5
