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
