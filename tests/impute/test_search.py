"""The search for a mixture to impute with: its criteria by their formulas, and the fit that it ends in."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from latently.cluster import GaussianMixture
from latently.distributions.components.gaussian.incomplete.conditional import incomplete_rows, split_in_two
from latently.distributions.components.gaussian.params import GaussianParams
from latently.impute import Imputer
from latently.impute.search import Search, _alone, _frame, _framed, _strength


def cloud(n=300, seed=0, hidden=0.15):
    rng = np.random.default_rng(seed)
    X = rng.multivariate_normal([0, 5], [[2, 0.9], [0.9, 1]], size=n)
    X[: n // 3] += [2.5, -1.5]
    return np.where(rng.random(X.shape) < hidden, np.nan, X)


def joint_of(params, X):
    """(n, k) log density of what is observed and the component, by scipy."""
    frame = params.frame
    means, scale = frame.outward(params.means), np.outer(frame.scale, frame.scale)
    out = np.zeros((len(X), len(means)))
    for i, row in enumerate(X):
        seen = ~np.isnan(row)
        for k, mean in enumerate(means):
            sigma = (params.covariances[k] * scale)[np.ix_(seen, seen)]
            out[i, k] = np.log(params.weights[k])
            if seen.any():
                out[i, k] += stats.multivariate_normal(mean[seen], sigma).logpdf(row[seen])
    return out


@pytest.mark.parametrize("criterion", ["bic", "aic", "icl"])
def test_a_size_is_judged_by_the_formula_of_its_criterion(criterion):
    X = cloud()
    search = Search(X, incomplete_rows(X, _frame(X)), _strength(X), criterion, 5)
    alone = search.judged(_alone(search.rows.frame))
    found = search.judged(split_in_two(alone.fit.params, 0))
    joint = joint_of(found.fit.params, X)
    free = 1 + 2 * 2 + 2 * 3  # a weight, two means, two covariances of two columns
    price = (2.0 if criterion == "aic" else np.log(len(X))) * free
    shares = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    entropy = -(shares * np.log(shares)).sum() if criterion == "icl" else 0.0
    expected = price - 2 * logsumexp(joint, axis=1).sum() + 2 * entropy
    assert entropy > 5 or criterion != "icl"
    assert found.value == pytest.approx(expected, abs=5)  # the bound is that before the last of the rough steps


def test_the_prior_is_worth_the_same_share_of_what_is_observed():
    X = cloud(hidden=0.4)
    model = Imputer(max_components=1, random_state=0).fit(X).model_
    seen = np.count_nonzero(~np.isnan(X)) / 2  # rows of an average column
    assert model.reg_covar == pytest.approx(0.3 * 2 / seen)


def test_the_values_are_spread_for_the_search_and_not_for_the_fit():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=1800)
    X[:, 0] = np.round(X[:, 0])  # steps of 1: spread, they would have a variance larger by 1/12
    model = Imputer(max_components=1, random_state=0).fit(X).model_
    np.testing.assert_allclose(model.covariances_[0], np.cov(X.T, bias=True), atol=0.01)


def test_the_last_fit_is_to_all_rows():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=9000)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = Imputer(max_components=1, random_state=0).fit(X).model_
    assert model.statistics_.rows == 9000
    from latently.distributions import Gaussian

    whole = Gaussian(kind="full").fit(X)
    np.testing.assert_allclose(model.means_[0], whole.mean, atol=2e-3)  # those of a draw of 2000 rows are 0.02 away
    np.testing.assert_allclose(model.covariances_[0], whole.covariance, atol=5e-3)


@pytest.mark.parametrize("gap", [1e4, 1e6])
def test_clusters_far_apart_are_filled_in_by_what_is_inside_them(gap):
    rng = np.random.default_rng(0)
    cluster = np.repeat([0, 1], 50)
    whole = rng.multivariate_normal([0, 0, 0], [[1, 0.8, 0.6], [0.8, 1, 0.7], [0.6, 0.7, 1]], size=100)
    whole += gap * cluster[:, None]
    X = whole.copy()
    X[rng.random(X.shape) < 0.15] = np.nan
    X = X[kept := ~np.isnan(X).all(axis=1)]
    imputer = Imputer(random_state=0).fit(X)
    model = imputer.model_
    assert model.n_components == 2
    full = model.covariance_type == "full"
    deviations = np.sqrt(np.diagonal(model.covariances_, axis1=-2, axis2=-1))
    np.testing.assert_allclose(deviations, 1.0, atol=0.3)  # of 50 rows each
    # the mixture of a single fit with the prior off, which is maximum likelihood, fills in the same
    start = {"means_init": [np.nanmean(X[cluster[kept] == j], axis=0) for j in (0, 1)], "reg_covar": 0.0}
    plain = GaussianMixture(2, covariance_type="full" if full else "tied", tol=1e-6, max_iter=500, **start).fit(X)
    gaps = imputer.transform(X) - Imputer(plain).transform(X)
    assert np.abs(gaps).max() < 0.2
    low, high = imputer.interval(X)
    missing = np.isnan(X)
    assert (high - low)[missing].max() < 8


def test_the_prior_of_the_search_is_that_of_a_mixture_of_as_many_components():
    X = np.concatenate([cloud(), 1e4 + cloud(seed=1)])
    X = X[~np.isnan(X).all(axis=1)]
    for k in (1, 2, 3):
        mixture = GaussianMixture(k, random_state=0, tol=1.0, max_iter=500).fit(X)
        start = GaussianParams("full", _frame(X), np.full(k, 1 / k), np.zeros((k, 2)), np.tile(np.eye(2), (k, 1, 1)))
        ours = _framed(start, X).frame
        theirs = mixture.statistics_.frame
        np.testing.assert_allclose(ours.within * ours.scale**2, theirs.within * theirs.scale**2, rtol=1e-9)
        assert (ours.within < 0.01).all()
