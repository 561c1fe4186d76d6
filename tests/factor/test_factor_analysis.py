"""Factor analysis: R's factanal, scikit-learn beside ours, rotations, missing values."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import FactorAnalysis as Peer
from sklearn.decomposition._factor_analysis import _ortho_rotation
from sklearn.exceptions import ConvergenceWarning

from latently.data import as_source
from latently.factor import FactorAnalysis
from latently.factor.factor_analysis.rotation import kaiser_varimax, orthomax

# R's ability.cov (Smith and Stanley 1983): six tests taken by 112 persons.
ABILITY = np.array(
    [
        [24.641, 5.991, 33.520, 6.023, 20.755, 29.701],
        [5.991, 6.700, 18.137, 1.782, 4.936, 7.204],
        [33.520, 18.137, 149.831, 19.424, 31.430, 50.753],
        [6.023, 1.782, 19.424, 12.711, 4.757, 9.075],
        [20.755, 4.936, 31.430, 4.757, 52.604, 66.762],
        [29.701, 7.204, 50.753, 9.075, 66.762, 135.292],
    ]
)


@pytest.fixture(scope="module")
def ability():
    """Rows with exactly these correlations, and variances of one."""
    sd = np.sqrt(np.diagonal(ABILITY))
    Z = np.random.default_rng(0).normal(size=(112, 6))
    Z -= Z.mean(axis=0)
    white = Z @ np.linalg.inv(np.linalg.cholesky(Z.T @ Z / 112)).T
    return white @ np.linalg.cholesky(ABILITY / sd / sd[:, None]).T


def test_ability_as_r_factanal_has_it(ability):
    """factanal(factors = 2, covmat = ability.cov), printed to three digits; its rotations stop at 1e-5."""
    model = FactorAnalysis(2, tol=1e-9).fit(ability)
    assert np.allclose(model.noise_variance_, [0.455, 0.589, 0.218, 0.769, 0.052, 0.334], atol=6e-4)
    varimax = model.components_.T @ kaiser_varimax(model.components_.T)
    expected = [[0.499, 0.543], [0.156, 0.622], [0.206, 0.860], [0.109, 0.468], [0.956, 0.182], [0.785, 0.225]]
    assert np.allclose(np.abs(varimax), expected, atol=4e-3)
    promax = FactorAnalysis(2, tol=1e-9, rotation="promax").fit(ability)
    large = np.abs(promax.components_.T) > 0.3
    expected = [[0.364, 0.470], [0, 0.671], [0, 0.932], [0, 0.508], [1.023, 0], [0.811, 0]]
    assert np.allclose(np.where(large, promax.components_.T, 0), expected, atol=2e-3)
    assert np.allclose(promax.get_covariance(), model.get_covariance())
    assert np.isclose(promax.factor_correlation_[0, 1], 0.557, atol=3e-3)


@pytest.mark.parametrize("k", [1, 3])
def test_wine_as_scikit_learn_has_it(k):
    X = load_wine().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours, theirs = FactorAnalysis(k, tol=1e-8).fit(X), Peer(k, tol=1e-8, svd_method="lapack", max_iter=5000).fit(X)
    assert np.isclose(ours.loglike_[-1], theirs.loglike_[-1], rtol=1e-9)
    assert ours.loglike_[-1] >= theirs.loglike_[-1] - 1e-6
    assert np.allclose(ours.noise_variance_, theirs.noise_variance_, atol=5e-4)
    assert np.allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-3)
    assert np.allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-2)
    assert np.allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-3)
    assert np.isclose(ours.score_samples(X).sum(), ours.loglike_[-1])


@pytest.mark.parametrize("rotation", ["varimax", "quartimax"])
def test_rotations_as_scikit_learn_has_them(rotation):
    X = load_wine().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = FactorAnalysis(3, tol=1e-7, rotation=rotation).fit(X)
    theirs = _ortho_rotation(
        FactorAnalysis(3, tol=1e-7).fit(X).components_.T, method=rotation, tol=1e-12, max_iter=5000
    )
    assert np.allclose(np.abs(ours.components_), np.abs(theirs), atol=1e-5)


def test_no_small_turn_makes_varimax_better():
    L = np.random.default_rng(0).normal(size=(8, 2))
    found = L @ orthomax(L, 1.0)

    def criterion(A):
        return (A**2).var(axis=0).sum()

    for angle in (-0.01, 0.01):
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        assert criterion(found @ turn) < criterion(found)


def test_missing_values_cost_little():
    rng = np.random.default_rng(1)
    W, psi = rng.normal(size=(2, 8)), rng.uniform(0.2, 1, size=8)
    full = rng.normal(size=(3000, 2)) @ W + rng.normal(size=(3000, 8)) * np.sqrt(psi)
    gaps = full.copy()
    gaps[rng.random(full.shape) < 0.3] = np.nan
    complete, found = FactorAnalysis(2, tol=1e-4).fit(full), FactorAnalysis(2, tol=1e-4).fit(gaps)
    assert np.allclose(found.get_covariance(), complete.get_covariance(), atol=0.2)
    assert np.allclose(found.noise_variance_, psi, atol=0.12)
    assert (np.diff(found.loglike_) > -1e-6).all()
    low, high = found.impute_interval(gaps, 0.9)
    missing = np.isnan(gaps)
    assert abs(((low <= full) & (full <= high))[missing].mean() - 0.9) < 0.02
    assert np.isfinite(found.transform(gaps)).all()
    # one value missing in many rows changes next to nothing
    one = full.copy()
    one[0, 0] = np.nan
    assert np.allclose(FactorAnalysis(2, tol=1e-7).fit(one).get_covariance(), complete.get_covariance(), atol=0.02)


def test_scores_of_correlated_factors_lead_back_to_the_rows(ability):
    model = FactorAnalysis(2, tol=1e-8, rotation="promax").fit(ability)
    plain = FactorAnalysis(2, tol=1e-8).fit(ability)
    back = model.inverse_transform(model.transform(ability))
    assert np.allclose(back, plain.inverse_transform(plain.transform(ability)), atol=1e-6)


def test_batches_chunks_and_forgetting_give_the_same_model():
    X = load_wine().data
    whole = FactorAnalysis(2).fit(X)
    others = [
        FactorAnalysis(2).partial_fit(X[:70]).partial_fit(X[70:]),
        FactorAnalysis(2).fit(as_source(X, chunk_rows=50)),
        FactorAnalysis(2).fit(X[:80]).merge(FactorAnalysis(2).fit(X[80:])),
        FactorAnalysis(2).fit(np.vstack([X, X[:5]])).forget(X[:5]),
    ]
    for other in others:
        assert np.allclose(other.noise_variance_, whole.noise_variance_, rtol=1e-4)
    counts = np.arange(len(X)) % 3
    weighted, repeated = (
        FactorAnalysis(2).fit(X, sample_weight=counts),
        FactorAnalysis(2).fit(np.repeat(X, counts, axis=0)),
    )
    assert np.allclose(weighted.noise_variance_, repeated.noise_variance_, rtol=1e-5)


def test_units_do_not_matter():
    X = load_wine().data
    scale = 10.0 ** np.linspace(-9, 6, 13)
    plain, scaled = FactorAnalysis(2, tol=1e-6).fit(X), FactorAnalysis(2, tol=1e-6).fit(X * scale)
    assert np.allclose(scaled.noise_variance_ / scale**2, plain.noise_variance_, rtol=1e-3)
    moved = FactorAnalysis(2, tol=1e-6).fit(np.round(X * 100) + 1e8)
    assert np.allclose(
        moved.noise_variance_, FactorAnalysis(2, tol=1e-6).fit(np.round(X * 100)).noise_variance_, rtol=1e-3
    )


def test_bad_input():
    X = load_iris().data
    with pytest.raises(ValueError, match="n_components=9 is more than the 4 columns"):
        FactorAnalysis(9).fit(X)
    with pytest.raises(ValueError, match="noise_variance_init"):
        FactorAnalysis(1, noise_variance_init=[1.0]).fit(X)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        assert not FactorAnalysis(2, max_iter=1).fit(X).converged_
    constant = np.column_stack([X, np.ones(len(X)), X[:, 0]])  # a constant column, and one twice
    model = FactorAnalysis(2).fit(constant)
    assert np.isfinite(model.score_samples(constant)).all()
    missing = X.copy()
    missing[0, 1] = np.nan
    with pytest.raises(ValueError, match="'x1' has missing values"):
        FactorAnalysis(1).partial_fit(missing)
    with pytest.raises(ValueError, match="leave no sums"):
        FactorAnalysis(1).fit(missing).partial_fit(X)
    with pytest.raises(ValueError, match="level"):
        model.impute_interval(constant, 1.5)


def test_a_column_of_too_few_values_for_its_factors_is_named():
    """Three values are explained by two factors without noise, at a likelihood without bound."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 4)), columns=list("abcd"))
    X.loc[3:, "c"] = np.nan
    with pytest.raises(ValueError, match="'c' has 3 observed values: 2 factors and noise of its own need at least 4"):
        FactorAnalysis(2).fit(X)
    assert np.isfinite(FactorAnalysis(1).fit(X).components_).all()
