"""Bad input: a defined result, or an error that says what is wrong."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris

from latently.predict import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

X, Y = load_iris(return_X_y=True)
CLASSIFIERS = [DecisionTreeClassifier(), DecisionTreeClassifier.c45(), RandomForestClassifier(3, random_state=0)]
REGRESSORS = [DecisionTreeRegressor(), DecisionTreeRegressor.m5(), RandomForestRegressor(3, random_state=0)]
ALL = [*CLASSIFIERS, *REGRESSORS]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_one_class_only(model):
    fitted = model.fit(X, np.zeros(150, dtype=int))
    assert (fitted.predict(X) == 0).all()
    assert (fitted.predict_proba(X) == 1).all()


def answers(model, rows):
    """Probabilities of the second class, or numbers."""
    return model.predict_proba(rows)[:, 1] if hasattr(model, "predict_proba") else model.predict(rows)


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_one_number_only(model):
    np.testing.assert_allclose(model.fit(X, np.full(150, 2.5)).predict(X), 2.5, rtol=1e-12)


@pytest.mark.parametrize("model", ALL, ids=str)
def test_constant_columns(model):
    y = (np.arange(20) % 4 == 0).astype(int)
    fitted = model.fit(np.ones((20, 3)), y)
    drawn = getattr(fitted, "estimators_samples_", [np.arange(20)])
    np.testing.assert_allclose(answers(fitted, np.zeros((2, 3))), np.mean([y[rows].mean() for rows in drawn]))


def all_rows(model):
    """The model on all rows and columns, so that its answer can be said beforehand."""
    return model.set_params(bootstrap=False, max_features=None) if hasattr(model, "bootstrap") else model


@pytest.mark.parametrize("model", ALL, ids=str)
def test_a_column_all_missing_at_fit_is_as_if_it_were_not_there(model):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(150, 3))
    y = (rows[:, 0] + 0.5 * rows[:, 1] + rng.normal(size=150) > 0).astype(int)
    lost = rows.copy()
    lost[:, 2] = np.nan
    model = clone(all_rows(clone(model))).set_params(max_depth=2)
    found = answers(model.fit(lost, y), rows)
    np.testing.assert_allclose(found, answers(model.fit(rows[:, :2], y), rows[:, :2]), rtol=1e-10)


@pytest.mark.parametrize("model", ALL, ids=str)
def test_a_column_all_missing_at_predict_goes_the_larger_way(model):
    x, lost = np.arange(10.0)[:, None], np.full((3, 1), np.nan)
    fitted = all_rows(clone(model)).fit(x, (x[:, 0] >= 7).astype(int))
    expected = 0.0  # of the seven rows on the larger side
    if getattr(fitted, "missing", None) == "fractional":
        expected = 0.3  # by the shares of both sides
    elif getattr(fitted, "leaf", None) == "linear":
        expected = fitted.predict([[4.5]])[0]  # the mean
    np.testing.assert_allclose(answers(fitted, lost), expected, atol=1e-12)


@pytest.mark.parametrize("model", ALL, ids=str)
@pytest.mark.parametrize(
    ("rows", "targets", "weights", "message"),
    [
        (X, np.where(np.arange(150) == 7, np.nan, Y), None, "7"),
        (X, np.where(np.arange(150) == 7, np.inf, Y), None, "infinity"),
        (np.where(np.arange(4) == 2, np.inf, X), Y, None, "x2"),
        (X, Y, np.zeros(150), "zero for every row"),
        (X, Y, -np.ones(150), "negative"),
        (X, Y[:-1], None, "inconsistent|targets"),
        (X[:0], Y[:0], None, "0 sample"),
        (X[:, 0], Y, None, "Reshape"),
    ],
    ids=["nan in y", "inf in y", "inf in X", "no weight", "negative weight", "lengths", "no rows", "one dimension"],
)
def test_refused_with_a_reason(model, rows, targets, weights, message):
    with pytest.raises(ValueError, match=message):
        model.fit(rows, targets, sample_weight=weights)


@pytest.mark.parametrize("model", ALL, ids=str)
def test_more_columns_than_at_the_fit(model):
    model.fit(X, Y)
    with pytest.raises(ValueError, match="5 features.*expecting 4"):
        model.predict(np.hstack([X, X[:, :1]]))
    named = pd.DataFrame(X, columns=list("abcd"))
    model.fit(named, Y)
    assert np.array_equal(model.predict(named.assign(more=1.0)), model.predict(named))
    with pytest.raises(ValueError, match="'d'"):
        model.predict(named[["a", "b", "c"]])


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), RandomForestClassifier(2)], ids=str)
def test_more_columns_of_categories(model):
    rows = np.array([["a", "b"], ["c", "d"], ["a", "d"]], dtype=object)
    model.fit(rows, [0, 1, 0])
    with pytest.raises(ValueError, match="3 features.*expecting 2"):
        model.predict(np.array([["a", "b", "c"]], dtype=object))


def test_sparse_tables_are_dense_ones():
    tree = DecisionTreeClassifier(max_depth=3)
    assert np.array_equal(tree.fit(X, Y).predict(X), tree.fit(csr_matrix(X), Y).predict(csr_matrix(X)))


@pytest.mark.parametrize("model", ALL, ids=str)
@pytest.mark.parametrize("kind", [ValueError, TypeError])
def test_sparse_targets_are_refused(model, kind):
    with pytest.raises(kind, match="sparse multilabel-indicator for y is not supported"):
        model.fit(X, csr_matrix(np.eye(3)[Y]))


def test_settings_that_do_not_go_together():
    for params, message in (
        ({"nominal": "values", "max_leaf_nodes": 5}, "max_leaf_nodes"),
        ({"nominal": "values", "splitter": "random"}, "random"),
        ({"criterion": "gain", "monotonic_cst": [1, 0, 0, 0]}, "multiclass|two-way"),
        ({"monotonic_cst": [1, 0]}, "4 features"),
        ({"max_bins": 1}, "max_bins"),
    ):
        with pytest.raises(ValueError, match=message):
            DecisionTreeClassifier(**params).fit(X, Y)
    with pytest.raises(ValueError, match="one output"):
        DecisionTreeRegressor.m5().fit(X, X[:, :2])
    with pytest.raises(ValueError, match="negative"):
        DecisionTreeRegressor(criterion="poisson").fit(X, -Y)


def test_huge_offsets_and_tiny_scales():
    for scale, offset in ((1.0, 1e8), (1e-12, 0.0), (1e100, 0.0)):
        tree = DecisionTreeClassifier(max_depth=3).fit(X * scale + offset, Y)
        assert tree.score(X * scale + offset, Y) > 0.95


@pytest.mark.parametrize("make", [DecisionTreeRegressor, RandomForestRegressor])
def test_friedman_mse_is_squared_error_with_a_warning(make):
    with pytest.warns(FutureWarning, match="friedman_mse"):
        assert make(criterion="friedman_mse").criterion == "squared_error"
