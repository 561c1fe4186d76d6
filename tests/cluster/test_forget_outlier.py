"""A row far from all others, learnt and forgotten: what is left is right, or an error says how much is lost."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine

from latently.cluster import GaussianMixture, Mixture
from latently.distributions import Gaussian
from latently.predict import BayesianLinearRegression, GaussianNB, NaiveBayes

WINE, KIND = load_wine(return_X_y=True)
ROW = np.full((1, WINE.shape[1]), 1.0)


def mixtures():
    for kind in ("full", "tied", "diag", "spherical"):
        yield lambda kind=kind: GaussianMixture(1, covariance_type=kind)
    yield lambda: Mixture(1)
    yield lambda: Mixture(1, families={tuple(range(13)): Gaussian()})


def variances(model):
    if isinstance(model, Mixture):
        part = model.parameters_.parts[0]
        return part.variances[0] if hasattr(part, "variances") else np.diagonal(part.covariances[0])
    C = model.covariances_
    # (k, d, d), (d, d), (k, d) or (k,)
    return np.diagonal(C, axis1=-2, axis2=-1).ravel() if model.covariance_type in ("full", "tied") else C.ravel()


@pytest.mark.parametrize("make", list(mixtures()))
@pytest.mark.parametrize("size", [1e7, 1e10])
def test_digits_that_are_lost_are_told(make, size):
    model = make().fit(WINE)
    kind = getattr(model, "covariance_type", None)
    if size == 1e10 and kind in ("full", "tied"):  # all columns lie on a line then, to rounding
        with pytest.raises(ValueError, match="ill-defined"):
            model.partial_fit(size * ROW)
        return
    model.partial_fit(size * ROW)
    before = variances(model)
    if size == 1e7 and kind == "spherical":  # the widest column decides, which loses next to nothing
        assert_allclose(variances(model.forget(size * ROW)), variances(make().fit(WINE)), rtol=1e-3)
        return
    with pytest.raises(ValueError, match=r"column '?\w+'? cannot forget these rows: .* uncertain by|ill-defined"):
        model.forget(size * ROW)
    assert_allclose(variances(model), before)  # nothing has changed


@pytest.mark.parametrize("make", list(mixtures()))
@pytest.mark.parametrize("size", [1e2, 1e4])
def test_nearer_rows_are_forgotten_exactly(make, size):
    alone = make().fit(WINE)
    both = make().fit(WINE).partial_fit(size * ROW).forget(size * ROW)
    assert_allclose(variances(both), variances(alone), rtol=1e-4)


@pytest.mark.parametrize("make", [GaussianNB, NaiveBayes])
@pytest.mark.parametrize("size", [1e7, 1e10])
def test_classifiers_tell_it_too(make, size):
    model = make().fit(WINE, KIND).partial_fit(size * ROW, [1])
    with pytest.raises(ValueError, match=r"column 'x\d+' cannot forget these rows"):
        model.forget(size * ROW, [1])


def test_the_column_is_named_among_columns_of_other_kinds():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"who": ["a", "b"] * 89, "hue": WINE[:, 10], "ash": WINE[:, 2]})
    row = pd.DataFrame({"who": ["a"], "hue": [1.0], "ash": [1e9]})
    model = NaiveBayes().fit(table, KIND).partial_fit(row, [1])
    with pytest.raises(ValueError, match="column 'ash' cannot forget"):
        model.forget(row, [1])


def test_a_classifier_forgets_nearer_rows():
    alone = GaussianNB().fit(WINE, KIND)
    both = GaussianNB().fit(WINE, KIND).partial_fit(1e3 * ROW, [1]).forget(1e3 * ROW, [1])
    assert_allclose(both.var_, alone.var_, rtol=1e-4)
    zeros = np.zeros((6, 2))
    zeros[0, 0] = 9.0  # a column that is constant without the row
    zeros[:, 1] = np.arange(6)
    left = GaussianNB().fit(zeros, [0, 0, 0, 1, 1, 1]).forget(zeros[:1], [0])
    assert_allclose(left.theta_[:, 0], 0.0)


def test_a_regression_tells_it():
    model = BayesianLinearRegression().fit(WINE[:, :3], WINE[:, 3]).partial_fit(1e9 * ROW[:, :3], [1.0])
    with pytest.raises(ValueError, match="cannot forget these rows"):
        model.forget(1e9 * ROW[:, :3], [1.0])


def test_fourth_powers_lose_their_digits_first():
    X, y = np.random.default_rng(0).normal(size=(10_000, 1)), np.arange(10_000) % 2
    model = GaussianNB().fit(X, y).partial_fit([[5e6]], [1])
    with pytest.raises(ValueError, match="column 'x0' cannot forget"):
        model.forget([[5e6]], [1])


@pytest.mark.parametrize("make", [GaussianNB, NaiveBayes, BayesianLinearRegression])
@pytest.mark.parametrize("weight", [1.0, 0.3])
@pytest.mark.parametrize("outliers", [1, 2])
def test_a_spread_that_is_rounded_away_to_nothing_is_told(make, weight, outliers):
    n = 32
    X, y = np.zeros((n, 2)), np.arange(n) % 2
    X[:, 0], X[:, 1] = 2.0**-30 * (np.arange(n) // 2 % 2), np.arange(n)
    rows, w, kinds = [[2.0**20, 3.0]] * outliers, [weight] * outliers, [1, 0][:outliers]
    model = make().fit(X, y).partial_fit(rows, kinds, sample_weight=w)
    with pytest.raises(ValueError, match="cannot forget these rows"):
        model.forget(rows, kinds, sample_weight=w)


@pytest.mark.parametrize("make", [GaussianNB, NaiveBayes, BayesianLinearRegression])
@pytest.mark.parametrize("value", [0.0, 0.1, -3e8])
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_a_column_that_is_constant_without_the_rows_is_no_error(make, value, weight):
    n = 32
    X, y = np.full((n, 2), value), np.arange(n) % 2
    X[:, 1] = np.arange(n)
    row, w = [[value + 1.0, 3.0], [value - 1.0, 4.0]], [weight, weight]
    alone = make().fit(X, y)
    model = make().fit(X, y).partial_fit(row, [0, 1], sample_weight=w).forget(row, [0, 1], sample_weight=w)
    assert_allclose(model.predict(X), alone.predict(X), atol=1e-9)
    model.forget(X[:1], y[:1])


@pytest.mark.parametrize("make", [GaussianNB, BayesianLinearRegression])
def test_a_constant_whose_value_is_lost_is_told(make):
    X, y = np.stack([np.full(8, 5.0), np.arange(8)], axis=1), np.arange(8) % 2
    row = [[2.0**70, 3.0]]
    model = make().fit(X, y).partial_fit(row, [1])
    with pytest.raises(ValueError, match="cannot forget these rows"):
        model.forget(row, [1])


def test_a_model_that_did_not_keep_the_values_tells_it_too():
    from latently.predict.fingerprint import Fingerprint

    X, y = np.stack([np.full(8, 0.1), np.arange(8)], axis=1), np.arange(8) % 2
    model = GaussianNB().fit(X, y)
    known = model.statistics_.features
    object.__setattr__(known, "values", Fingerprint.unknown(2))
    model.forget(X[:1], y[:1])  # a column that never varied is constant
    model.partial_fit([[2.0**40, 3.0]], [1])
    with pytest.raises(ValueError, match="column 'x0' cannot forget these rows"):
        model.forget([[2.0**40, 3.0]], [1])
