"""Semi-supervised fits: the responsibilities of labelled rows are given."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture
from latently.distributions.components.gaussian.params import KINDS
from latently.learn import threads

IRIS, SPECIES = load_iris(return_X_y=True)
CLOSELY = {"tol": 1e-11, "max_iter": 5000, "random_state": 0}


def matrices(mixture):
    _, params = mixture._engine()
    return params.matrices * np.outer(params.frame.scale, params.frame.scale)


def incomplete(share=0.2):
    X = IRIS.copy()
    X[np.random.default_rng(0).uniform(size=X.shape) < share] = np.nan
    return X


@pytest.mark.parametrize("kind", KINDS)
def test_with_all_rows_labelled_it_is_the_closed_form(kind):
    codes = np.array([2, 0, 1])[SPECIES]  # labels decide which component is which
    mixture = GaussianMixture(3, covariance_type=kind, reg_covar=0.0, tol=1e-9).fit(IRIS, labels=codes)
    groups = [IRIS[codes == k] for k in range(3)]
    assert mixture.weights_ == pytest.approx(np.full(3, 1 / 3))
    np.testing.assert_allclose(mixture.means_, [g.mean(axis=0) for g in groups])
    own = np.array([np.cov(g.T, bias=True) for g in groups])
    expected = {
        "full": own,
        "tied": own.mean(axis=0),
        "diag": np.diagonal(own, axis1=1, axis2=2),
        "spherical": np.trace(own, axis1=1, axis2=2) / 4,
    }[kind]
    np.testing.assert_allclose(mixture.covariances_, expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("X", [IRIS, incomplete()], ids=["whole", "holed"])
def test_the_objective_counts_labelled_rows_with_their_component(kind, X):
    labels = np.where(np.arange(150) % 5 == 0, SPECIES, -1)
    mixture = GaussianMixture(3, covariance_type=kind, reg_covar=0.0, **CLOSELY).fit(X, labels=labels)
    C, total = matrices(mixture), 0.0
    for row, label in zip(X, labels, strict=True):
        seen = ~np.isnan(row)
        parts = np.log(mixture.weights_) + [
            stats.multivariate_normal(m[seen], c[np.ix_(seen, seen)]).logpdf(row[seen]) if seen.any() else 0.0
            for m, c in zip(mixture.means_, C, strict=True)
        ]
        total += logsumexp(parts) if label < 0 else parts[label]
    assert mixture.lower_bound_ * 150 == pytest.approx(total, abs=1e-5)
    assert (np.diff(mixture.lower_bounds_) > -1e-10).all()


@pytest.mark.parametrize("kind", KINDS)
def test_no_label_is_no_label(kind):
    options = {"covariance_type": kind, "means_init": IRIS[[0, 60, 120]], "random_state": 0}
    plain = GaussianMixture(3, **options).fit(IRIS)
    for unknown in (np.full(150, -1), np.full(150, np.nan)):
        other = GaussianMixture(3, **options).fit(IRIS, labels=unknown)
        np.testing.assert_allclose(other.means_, plain.means_, rtol=1e-12)
        assert other.lower_bounds_ == pytest.approx(plain.lower_bounds_)


def test_a_few_labels_name_the_clusters_and_help_to_find_them():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, size=600)
    X = rng.normal(size=(600, 2)) + 2.5 * np.array([[0, 0], [1, 0], [0.5, 0.8]])[truth]
    labels = np.where(rng.uniform(size=600) < 0.1, truth, -1)
    for names in (np.array([0, 1, 2]), np.array([2, 0, 1])):
        known = np.where(labels >= 0, names[labels], -1)
        mixture = GaussianMixture(3, random_state=0, tol=1e-6, max_iter=1000).fit(X, labels=known)
        assert (mixture.predict(X) == names[truth]).mean() > 0.75


@pytest.mark.parametrize("kind", KINDS)
def test_both_ways_agree_with_labels(kind):
    labels = np.where(np.arange(150) % 7 == 0, SPECIES, -1)
    by_em, by_gradient = (
        GaussianMixture(3, covariance_type=kind, method=method, **CLOSELY).fit(IRIS, labels=labels)
        for method in ("em", "gradient")
    )
    assert by_gradient.lower_bound_ * 150 == pytest.approx(by_em.lower_bound_ * 150, abs=1e-6)


def test_weights_order_and_threads_change_nothing():
    rng = np.random.default_rng(1)
    truth = np.arange(40_000) % 2
    X = rng.normal(size=(40_000, 2)) + 3.0 * truth[:, None]
    labels = np.where(rng.uniform(size=40_000) < 0.3, truth, -1)
    results = []
    for n in (1, 2):
        with threads(n):
            results.append(GaussianMixture(2, random_state=0).fit(X, labels=labels))
    assert (results[0].means_ == results[1].means_).all()
    shuffle = rng.permutation(40_000)
    start = {
        "means_init": [[0.0, 0.0], [3.0, 3.0]],
        "weights_init": [0.5, 0.5],
        "precisions_init": [np.eye(2), np.eye(2)],
    }
    straight = GaussianMixture(2, **start).fit(X, labels=labels)
    other = GaussianMixture(2, **start).fit(X[shuffle], labels=labels[shuffle])
    np.testing.assert_allclose(other.means_, straight.means_, rtol=1e-9)


def test_weighted_labelled_rows_equal_repeats():
    times = np.random.default_rng(0).integers(1, 4, size=150)
    labels = np.where(np.arange(150) % 4 == 0, SPECIES, -1)
    start = {"means_init": IRIS[[0, 60, 120]], "random_state": 0, "tol": 1e-9, "max_iter": 1000}
    weighted = GaussianMixture(3, **start).fit(IRIS, labels=labels, sample_weight=times)
    repeated = GaussianMixture(3, **start).fit(np.repeat(IRIS, times, axis=0), labels=np.repeat(labels, times))
    np.testing.assert_allclose(weighted.means_, repeated.means_, atol=1e-4)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(10), r"shape \(150,\).*\(10,\)"),
        (np.full(150, 3), "from 0 to 2.*row 0 has 3"),
        (np.full(150, -2), "row 0 has -2"),
        (np.full(150, 0.5), "row 0 has 0.5"),
        (np.full(150, "setosa"), "component numbers"),
    ],
)
def test_wrong_labels_are_named(labels, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(3).fit(IRIS, labels=labels)
