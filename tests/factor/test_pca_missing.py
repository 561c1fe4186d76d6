"""PCA with missing values: the subspace, held-out entries, intervals, and the likelihood."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from latently.data import as_source
from latently.distributions import Gaussian
from latently.factor import PCA, FactorAnalysis
from latently.factor.incomplete import IncompleteFactors
from latently.factor.linear_gaussian import LinearGaussian
from latently.impute import Imputer


def low_rank(n=1500, d=15, q=3, noise=0.3, share=0.3, seed=0):
    """Rows about a subspace: complete, with missing entries, and the subspace (d, q)."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(d, q))
    full = rng.normal(size=(n, q)) @ W.T + noise * rng.normal(size=(n, d)) + 10 * rng.normal(size=d)
    gaps = full.copy()
    gaps[rng.random(full.shape) < share] = np.nan
    return full, gaps, np.linalg.qr(W)[0]


def smallest_cosine(components, subspace):
    return np.linalg.svd(components @ subspace, compute_uv=False).min()


def test_thirty_percent_missing_costs_little_of_the_subspace():
    full, gaps, subspace = low_rank(noise=0.1)
    complete, found = PCA(3).fit(full), PCA(3).fit(gaps)
    assert smallest_cosine(complete.components_, subspace) > 0.9999
    assert smallest_cosine(found.components_, subspace) > 0.999
    assert np.isclose(found.noise_variance_, 0.01, rtol=0.05)
    assert found.converged_
    assert (np.diff(found.trace_) > -1e-8 * np.abs(found.trace_[0])).all()


def test_held_out_entries_are_nearer_than_those_of_iterative_imputation():
    full, gaps, _ = low_rank(n=500)
    missing = np.isnan(gaps)
    ours = PCA(3).fit(gaps).impute_mean(gaps)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # its own rule of stopping: the error stands still long before
        theirs = IterativeImputer(random_state=0, max_iter=20).fit_transform(gaps)
    errors = [np.sqrt(((filled - full)[missing] ** 2).mean()) for filled in (ours, theirs)]
    assert errors[0] < 0.97 * errors[1]
    assert np.array_equal(ours[~missing], full[~missing])


def test_intervals_hold_what_they_say_and_draws_vary_as_much():
    full, gaps, _ = low_rank()
    missing = np.isnan(gaps)
    model = PCA(3).fit(gaps)
    low, high = model.impute_interval(gaps, 0.9)
    inside = ((low <= full) & (full <= high))[missing]
    assert abs(inside.mean() - 0.9) < 0.02
    draws = np.stack(model.impute_draws(gaps, 40, random_state=0))
    widths = (high - low)[missing] / (2 * 1.6449)
    assert np.isclose(draws.std(axis=0)[missing].mean(), widths.mean(), rtol=0.05)
    filled = Imputer(model=model).fit(gaps).transform(gaps)
    assert np.allclose(filled, model.impute_mean(gaps))


def test_without_a_missing_value_em_has_nothing_to_add():
    """The likelihood of EM with one value missing is as that of the complete fit with the row left out, nearly."""
    full, _, _ = low_rank(n=300)
    one = full.copy()
    one[0] = np.nan  # a row of nothing says nothing
    assert np.allclose(PCA(3).fit(one).components_, PCA(3).fit(full[1:]).components_, atol=1e-4)
    assert np.allclose(PCA(3).fit(one).noise_variance_, PCA(3).fit(full[1:]).noise_variance_, rtol=1e-4)


def test_all_components_are_the_gaussian_of_highest_likelihood():
    _, gaps, _ = low_rank(n=200, d=4, q=2, noise=1.0)
    model, gaussian = PCA(tol=1e-12).fit(gaps), Gaussian(kind="full").fit(gaps)
    assert np.allclose(model.get_covariance() * 199 / 200, gaussian.covariance, rtol=1e-3, atol=1e-3)
    assert model.n_components_ == 4
    assert np.allclose(model.mean_, gaussian.mean, atol=1e-3)


@pytest.mark.parametrize("kind", [PCA, FactorAnalysis])
def test_densities_of_incomplete_rows_are_marginals(kind):
    full, gaps, _ = low_rank(n=200, d=5, q=2)
    model = kind(2).fit(full)
    found, covariance = model.score_samples(gaps), model.get_covariance()
    for row, value in zip(gaps[:40], found[:40], strict=True):
        seen = ~np.isnan(row)
        if seen.any():
            marginal = multivariate_normal(model.mean_[seen], covariance[np.ix_(seen, seen)])
            assert np.isclose(value, marginal.logpdf(row[seen]))
    filled, row = model.impute_mean(gaps), gaps[np.isnan(gaps).any(axis=1)][0]
    seen = ~np.isnan(row)
    coef = np.linalg.solve(covariance[np.ix_(seen, seen)], covariance[np.ix_(seen, ~seen)])
    expected = model.mean_[~seen] + (row[seen] - model.mean_[seen]) @ coef
    assert np.allclose(filled[np.isnan(gaps).any(axis=1)][0][~seen], expected)


def test_a_share_of_the_variance_and_evidence_with_missing_values():
    _, gaps, _ = low_rank(n=600, d=6, q=2, noise=0.2)
    assert PCA(0.95).fit(gaps).n_components_ == 2
    assert PCA("mle").fit(gaps).n_components_ == 2


def test_missing_values_in_files_and_weights(tmp_path):
    pd = pytest.importorskip("pandas")
    _, gaps, _ = low_rank(n=400, d=5, q=2)
    pd.DataFrame(gaps, columns=list("abcde")).to_parquet(tmp_path / "x.parquet")
    here, there = PCA(2).fit(gaps), PCA(2).fit(str(tmp_path / "x.parquet"))
    assert np.allclose(here.components_, there.components_, atol=1e-8)
    counts = np.arange(400) % 3 + 1
    weighted, repeated = PCA(2).fit(gaps, sample_weight=counts), PCA(2).fit(np.repeat(gaps, counts, axis=0))
    assert np.allclose(weighted.components_, repeated.components_, atol=1e-6)
    assert np.isclose(weighted.noise_variance_, repeated.noise_variance_, rtol=1e-6)


def test_far_away_and_tiny_units():
    _, gaps, subspace = low_rank(n=400)
    near, far = PCA(3).fit(gaps), PCA(3).fit(1e-9 * gaps)
    assert np.allclose(near.components_, far.components_, atol=1e-6)
    shifted = PCA(3).fit(gaps + 1e7)
    assert np.isclose(
        smallest_cosine(shifted.components_, subspace), smallest_cosine(near.components_, subspace), atol=1e-5
    )


def test_columns_without_any_value_are_named():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[:, 2] = np.nan
    for model in (PCA(1), FactorAnalysis(1)):
        with pytest.raises(ValueError, match="'x2' has no observed value"):
            model.fit(X)


@pytest.mark.parametrize("whiten", [False, True])
def test_scores_of_incomplete_rows_are_those_of_what_is_expected_of_them(whiten):
    _, gaps, _ = low_rank(n=60, d=6)
    model = PCA(3, whiten=whiten).fit(gaps)
    scores = model.transform(gaps)
    assert np.isfinite(scores).all()
    assert np.allclose(scores, model.transform(model.impute_mean(gaps)))


def test_one_step_brings_the_mean_of_complete_rows_home():
    """Normal equations with an intercept go through the means, and the new mean stands where the factors average."""
    rows, _, _ = low_rank(n=50, d=4, q=2)
    model = IncompleteFactors(np.zeros(4), np.ones(4), np.full(4, 1e-9), isotropic=True)
    far = LinearGaussian(rows.mean(axis=0) + 3, np.eye(4)[:, :2], np.ones(4))
    (chunk,) = as_source(rows)
    assert np.allclose(model.update(far, model.expect(far, chunk)).mean, rows.mean(axis=0))


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_add_up_to_another_in_other_units_are_fitted(seed):
    """Hardly any noise is left: the objective fell by rounding, and the fit died."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    X[:, 3] = X[:, 0] + X[:, 1]
    X *= [1.0, 1e4, 1.0, 1e4]
    X[rng.random(X.shape) < 0.15] = np.nan
    found = PCA(2).fit(X[~np.isnan(X).all(axis=1)])
    assert np.isfinite(found.components_).all()
    # the two columns in large units are the plane
    assert smallest_cosine(found.components_, np.eye(4)[:, [1, 3]]) > 1 - 1e-6


@pytest.mark.parametrize("noise", [1.0, 1e-6, 1e-12])
def test_densities_keep_their_digits_where_noise_is_small(noise):
    """By exact arithmetic: the covariance of three columns and one factor, inverted in fractions."""
    loadings, row = [3, -2, 1], [6, -4, 2]
    small = Fraction(noise)
    along = sum(Fraction(a * b) for a, b in zip(loadings, row, strict=True))
    size = sum(Fraction(a * a) for a in loadings)
    square = (sum(Fraction(b * b) for b in row) - along**2 / (small + size)) / small
    logarithm = 2 * np.log(noise) + np.log(float(small + size))
    expected = -0.5 * (float(square) + logarithm + 3 * np.log(2 * np.pi))
    density = LinearGaussian(np.zeros(3), np.array([loadings], dtype=float).T, np.full(3, noise))
    rows = np.array([row, [np.nan, *row[1:]]], dtype=float)
    assert density.log_density(rows[:1])[0] == pytest.approx(expected, rel=1e-12)
    assert density.posterior(rows[:1]).log_density[0] == pytest.approx(expected, rel=1e-12)
