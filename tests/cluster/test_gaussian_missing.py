"""Missing values: against the closed form, against brute force, and in simulation."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture
from latently.distributions.components.gaussian.incomplete.missing import patterns_of
from latently.distributions.components.gaussian.params import KINDS

NAN = np.nan
# Little and Rubin, Statistical Analysis with Missing Data: size of the apple crop and percentage with worms
APPLES = np.array(
    [[8, 59], [6, 58], [11, 56], [22, 53], [14, 50], [17, 45], [18, 43], [24, 42], [19, 39], [23, 38], [26, 30],
     [40, 27], [4, NAN], [4, NAN], [5, NAN], [6, NAN], [8, NAN], [10, NAN]]
)  # fmt: skip


def holed_iris(share=0.2, seed=0):
    X = load_iris().data.copy()
    X[np.random.default_rng(seed).uniform(size=X.shape) < share] = NAN
    return X


def fitted(kind="full", X=None, k=2, **options):
    options = {"random_state": 0, "tol": 1e-6, "max_iter": 500, **options}
    return GaussianMixture(k, covariance_type=kind, **options).fit(holed_iris() if X is None else X)


def matrices(mixture):
    return mixture._engine()[1].matrices * np.outer(mixture._engine()[1].frame.scale, mixture._engine()[1].frame.scale)


def test_apples_reach_the_closed_form():
    mixture = GaussianMixture(1, reg_covar=0.0, tol=0.0, max_iter=200)
    with pytest.warns(UserWarning, match="did not converge"):  # asked to go on to the last digit
        mixture.fit(APPLES)
    np.testing.assert_allclose(mixture.means_[0], [14.722222, 49.333333], atol=1e-6)
    np.testing.assert_allclose(mixture.covariances_[0], [[89.533951, -90.696729], [-90.696729, 114.694955]], atol=1e-6)
    assert mixture.score_samples(APPLES).sum() == pytest.approx(-101.785632, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_densities_are_those_of_the_observed_entries(kind):
    X, mixture = holed_iris(), fitted(kind)
    C = matrices(mixture)
    for row in range(0, 150, 7):
        seen = ~np.isnan(X[row])
        parts = [
            np.log(w) + stats.multivariate_normal(m[seen], c[np.ix_(seen, seen)]).logpdf(X[row, seen])
            for w, m, c in zip(mixture.weights_, mixture.means_, C, strict=True)
            if seen.any()
        ]
        expected = logsumexp(parts) if parts else 0.0
        assert mixture.score_samples(X[row : row + 1])[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_one_step_is_the_textbook_step(kind):
    """E- and M-step written out row by row."""
    X, start = holed_iris(), fitted(kind, max_iter=3, tol=10.0)
    k, d = start.means_.shape
    C, R = matrices(start), start.predict_proba(X)
    N, S1, S2 = R.sum(axis=0), np.zeros((k, d)), np.zeros((k, d, d))
    filled = np.empty((len(X), k, d))
    rest = np.zeros((len(X), k, d, d))
    for i, x in enumerate(X):
        o, m = np.flatnonzero(~np.isnan(x)), np.flatnonzero(np.isnan(x))
        for j in range(k):
            gradient = C[j][np.ix_(m, o)] @ np.linalg.inv(C[j][np.ix_(o, o)])
            filled[i, j, o] = x[o]
            filled[i, j, m] = start.means_[j][m] + gradient @ (x[o] - start.means_[j][o])
            rest[i, j][np.ix_(m, m)] = C[j][np.ix_(m, m)] - gradient @ C[j][np.ix_(o, m)]
    S1 = np.einsum("ik,ikd->kd", R, filled)
    means = S1 / N[:, None]
    gaps = filled - means
    S2 = np.einsum("ik,ika,ikb->kab", R, gaps, gaps) + np.einsum("ik,ikab->kab", R, rest)
    options = {"weights_init": start.weights_, "means_init": start.means_, "precisions_init": start.precisions_}
    stepped = GaussianMixture(k, covariance_type=kind, reg_covar=0.0, max_iter=1, tol=1e9, **options)
    with pytest.warns(UserWarning, match="did not converge"):
        stepped.fit(X)
    expected = {
        "full": lambda: S2 / N[:, None, None],
        "tied": lambda: S2.sum(axis=0) / len(X),
        "diag": lambda: np.diagonal(S2, axis1=1, axis2=2) / N[:, None],
        "spherical": lambda: np.trace(S2, axis1=1, axis2=2) / N / d,
    }[kind]()
    np.testing.assert_allclose(stepped.means_, means, rtol=1e-9)
    np.testing.assert_allclose(stepped.covariances_, expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_and_units_do_not_matter(kind):
    X, plain = holed_iris(), fitted(kind)
    for shift, scale in ((1e8, 1.0), (0.0, 1e-6)):
        moved = fitted(kind, X * scale + shift)
        np.testing.assert_allclose((moved.means_ - shift) / scale, plain.means_, rtol=1e-5)
        np.testing.assert_allclose(moved.covariances_ / scale**2, plain.covariances_, rtol=1e-4, atol=1e-5)


def test_nothing_observed_leaves_the_weights():
    mixture = fitted()
    empty = np.full((1, 4), NAN)
    np.testing.assert_allclose(mixture.predict_proba(empty)[0], mixture.weights_)
    assert mixture.score_samples(empty)[0] == pytest.approx(0.0)
    np.testing.assert_allclose(mixture.impute_mean(empty)[0], mixture.weights_ @ mixture.means_)


def test_a_row_of_nothing_changes_nothing():
    X = holed_iris()
    start = {"means_init": load_iris().data[[0, 100]], "reg_covar": 0.0}
    with_row = fitted(X=np.vstack([X, np.full((1, 4), NAN)]), **start)
    np.testing.assert_allclose(with_row.means_, fitted(X=X, **start).means_, atol=1e-3)


def test_a_column_of_nothing_is_named():
    X = holed_iris()
    X[:, 2] = NAN
    with pytest.raises(ValueError, match="column 'x2' has no observed value"):
        fitted(X=X)


def three_components(n, seed):
    rng = np.random.default_rng(seed)
    means = np.array([[0.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 4.0]])
    root = np.array([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.3, 0.4, 0.8]])
    return means[rng.integers(3, size=n)] + rng.normal(size=(n, 3)) @ root.T, means, root @ root.T


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_known_parameters_are_recovered_and_beat_mean_imputation(share):
    from sklearn.impute import SimpleImputer
    from sklearn.mixture import GaussianMixture as Peer

    X, means, covariance = three_components(6000, 1)
    fresh, _, _ = three_components(3000, 2)
    X[np.random.default_rng(3).uniform(size=X.shape) < share] = NAN
    mixture = fitted(X=X, k=3, n_init=3)
    nearest = np.linalg.norm(mixture.means_[:, None] - means, axis=2).argmin(axis=1)
    assert sorted(nearest) == [0, 1, 2]
    np.testing.assert_allclose(mixture.means_, means[nearest], atol=0.2)
    np.testing.assert_allclose(mixture.covariances_, np.tile(covariance, (3, 1, 1)), atol=0.3)
    np.testing.assert_allclose(mixture.weights_, 1 / 3, atol=0.04)
    filled = Peer(3, random_state=0, n_init=3).fit(SimpleImputer().fit_transform(X))
    assert mixture.score(fresh) > filled.score(fresh)


def test_imputation_is_the_conditional_distribution():
    # one Gaussian: conditional mean, interval and draws are known
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]]) + 3
    mixture = fitted(X=X, k=1, reg_covar=0.0)
    (a, b), C = mixture.means_[0], mixture.covariances_[0]
    incomplete = np.array([[2.0, NAN], [NAN, 5.0], [1.0, 1.0]])
    mean = b + C[0, 1] / C[0, 0] * (2.0 - a)
    spread = np.sqrt(C[1, 1] - C[0, 1] ** 2 / C[0, 0])
    assert mixture.impute_mean(incomplete)[0].tolist() == pytest.approx([2.0, mean])
    lower, upper = mixture.impute_interval(incomplete, 0.9)
    assert [lower[0, 1], upper[0, 1]] == pytest.approx([mean - 1.6448536 * spread, mean + 1.6448536 * spread])
    assert lower[2].tolist() == upper[2].tolist() == [1.0, 1.0]
    draws = mixture.impute_draws(incomplete, 4000, random_state=0)
    assert draws.shape == (4000, 3, 2)
    assert draws[:, 0, 1].mean() == pytest.approx(mean, abs=0.03)
    assert draws[:, 0, 1].std() == pytest.approx(spread, rel=0.05)
    assert (draws[:, 2] == 1.0).all()


def test_intervals_cover_what_was_hidden():
    X, _, _ = three_components(4000, 5)
    hidden = np.random.default_rng(6).uniform(size=X.shape) < 0.2
    incomplete = np.where(hidden, NAN, X)
    lower, upper = fitted(X=incomplete, k=3, n_init=2).impute_interval(incomplete, 0.9)
    assert ((lower <= X) & (upper >= X))[hidden].mean() == pytest.approx(0.9, abs=0.02)


def test_draws_keep_the_correlation_that_means_lose():
    X, _, _ = three_components(3000, 7)
    incomplete = np.where(np.random.default_rng(8).uniform(size=X.shape) < 0.4, NAN, X)
    mixture = fitted(X=incomplete, k=3, n_init=2)
    truth = np.cov(X.T)
    drawn = np.cov(mixture.impute_draws(incomplete, 1, random_state=0)[0].T)
    means = np.cov(mixture.impute_mean(incomplete).T)
    assert np.abs(drawn - truth).max() < np.abs(means - truth).max()


def test_surprise_points_at_the_odd_entry():
    X = load_iris().data
    mixture = fitted(X=X, k=3)
    odd = X[:1].copy()
    odd[0, 3] = 2.5  # a setosa with a virginica's petals
    surprise = mixture.surprise(odd)
    assert surprise[0].argmax() == 3
    without = odd.copy()
    without[0, 3] = NAN
    assert surprise[0, 3] == pytest.approx(mixture.score_samples(without)[0] - mixture.score_samples(odd)[0])
    assert mixture.surprise(without)[0, 3] == 0.0


def test_patterns_hold_every_row_once():
    X = holed_iris(0.4)
    patterns = patterns_of(X)
    rows = np.concatenate([rows for rows, _, _ in patterns])
    assert sorted(rows) == list(range(150))
    for inside, seen, missing in patterns:
        assert not np.isnan(X[np.ix_(inside, seen)]).any()
        assert np.isnan(X[np.ix_(inside, missing)]).all()
    assert patterns_of(load_iris().data) is None
