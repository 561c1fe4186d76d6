"""Naive Bayes on rows that have weights and missing values at once, beside sums written out in numpy."""

import numpy as np
import pytest
from scipy import stats

from latently.predict import CategoricalNB, GaussianNB


def rows(n=3000, d=4, seed=0):
    """More rows than one block of the kernels holds."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, d)) * [1, 10, 0.1, 1] + y[:, None]
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, y, rng.uniform(0.1, 3.0, size=n)


def test_moments_of_weighted_rows_with_missing_values():
    X, y, w = rows()
    model = GaussianNB(var_smoothing=0.0).fit(X, y, sample_weight=w)
    for c in range(3):
        for j in range(X.shape[1]):
            own = (y == c) & ~np.isnan(X[:, j])
            mean = np.average(X[own, j], weights=w[own])
            assert model.theta_[c, j] == pytest.approx(mean, rel=1e-10)
            assert model.var_[c, j] == pytest.approx(np.average((X[own, j] - mean) ** 2, weights=w[own]), rel=1e-10)
    np.testing.assert_allclose(model.class_prior_, [w[y == c].sum() / w.sum() for c in range(3)])


def test_densities_of_rows_with_missing_values_are_scipys():
    X, y, w = rows()
    model = GaussianNB(var_smoothing=0.0).fit(X, y, sample_weight=w)
    each = stats.norm(model.theta_, np.sqrt(model.var_)).logpdf(X[:, None, :])  # (n, K, d)
    joint = np.nansum(each, axis=2) + np.log(model.class_prior_)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-9)


def test_counts_of_weighted_rows_with_missing_values():
    _, y, w = rows()
    rng = np.random.default_rng(1)
    X = rng.integers(4, size=(len(y), 3)).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    model = CategoricalNB(alpha=1.0).fit(X, y, sample_weight=w)
    for j, counts in enumerate(model.category_count_):
        expected = [[w[(y == c) & (X[:, j] == v)].sum() for v in range(4)] for c in range(3)]
        np.testing.assert_allclose(counts, expected, rtol=1e-10)
        table = (np.array(expected) + 1) / (np.array(expected).sum(axis=1, keepdims=True) + 4)
        np.testing.assert_allclose(np.exp(model.feature_log_prob_[j]), table, rtol=1e-10)
