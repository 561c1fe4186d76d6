"""Bad input: a defined result, or an error that says what is wrong."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
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


@pytest.mark.parametrize("model", ALL, ids=str)
def test_constant_columns(model):
    fitted = model.fit(np.ones((20, 3)), np.arange(20) % 2)
    assert np.isfinite(fitted.predict(np.zeros((2, 3)))).all()


@pytest.mark.parametrize("model", ALL, ids=str)
def test_a_column_all_missing(model):
    lost = X.copy()
    lost[:, 2] = np.nan
    assert len(model.fit(X, Y).predict(lost)) == 150
    assert len(model.fit(lost, Y).predict(X)) == 150


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
def test_sparse_targets_are_refused(model):
    with pytest.raises(ValueError, match="sparse multilabel-indicator for y is not supported"):
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
