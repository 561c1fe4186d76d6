"""Missing values and categories: a side for each, as in scikit-learn; groups as by enumeration."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.datasets import load_diabetes, load_iris

from latently.data import Schema, infer_schema
from latently.data.schema.column import Column
from latently.predict import DecisionTreeClassifier, DecisionTreeRegressor


def punched(X, share=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = X.copy()
    X[rng.uniform(size=X.shape) < share] = np.nan
    return X


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_missing_values_go_to_scikit_learns_side(depth):
    X, y = load_diabetes(return_X_y=True)
    X = punched(X)
    ours = DecisionTreeRegressor(max_depth=depth).fit(X, y)
    peer = sklearn.tree.DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y)
    assert ours.predict(X) == pytest.approx(peer.predict(X))
    full = load_diabetes().data
    assert ours.predict(full) == pytest.approx(peer.predict(full))


def test_that_a_value_is_missing_may_be_the_split():
    X = np.array([[1.0], [np.nan], [2.0], [np.nan], [3.0]])
    tree = DecisionTreeClassifier().fit(X, [0, 1, 0, 1, 0])
    assert tree.score(X, [0, 1, 0, 1, 0]) == 1
    assert [str(rule) for rule in tree.rules()] == ["x0 is known: 0", "x0 is missing: 1"]


def test_a_value_never_missing_at_the_fit_goes_with_the_most_rows():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    assert tree.predict_proba(np.full((1, 4), np.nan))[0] == pytest.approx([0, 0.5, 0.5])


def gini(y):
    shares = np.bincount(y) / len(y)
    return len(y) * (1 - (shares**2).sum())


def test_two_groups_of_categories_are_the_best_of_all():
    rng = np.random.default_rng(1)
    for seed in range(5):
        codes = rng.integers(0, 6, 80)
        y = (rng.uniform(size=80) < rng.uniform(size=6)[codes]).astype(int)
        names = np.array(list("abcdef"))[codes]
        tree = DecisionTreeClassifier(max_depth=1).fit(pd.DataFrame({"c": names}), y)
        left = tree.nodes_.weight[1:] @ tree.nodes_.impurity[1:]
        best = min(
            gini(y[np.isin(codes, part)]) + gini(y[~np.isin(codes, part)])
            for k in range(1, 6)
            for part in combinations(range(6), k)
            if 0 < np.isin(codes, part).sum() < 80
        )
        assert left == pytest.approx(best), seed


def test_two_groups_for_numbers_are_the_best_of_all():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 6, 60)
    y = rng.normal(size=6)[codes] + rng.normal(size=60)
    tree = DecisionTreeRegressor(max_depth=1).fit(pd.DataFrame({"c": np.array(list("abcdef"))[codes]}), y)
    best = min(
        y[np.isin(codes, part)].var() * np.isin(codes, part).sum()
        + y[~np.isin(codes, part)].var() * (~np.isin(codes, part)).sum()
        for k in range(1, 6)
        for part in combinations(range(6), k)
    )
    assert tree.nodes_.weight[1:] @ tree.nodes_.impurity[1:] == pytest.approx(best)


def test_columns_are_found_by_name_and_unseen_categories_are_missing_ones():
    table = pd.DataFrame({"city": ["Oslo", "Rome", "Oslo", "Rome", None], "size": [1.0, 2.0, 3.0, 4.0, 5.0]})
    y = ["n", "s", "n", "s", "s"]
    for make in (DecisionTreeClassifier.cart, DecisionTreeClassifier.id3):
        tree = make().fit(table, y)
        turned = table[["size", "city"]]
        assert np.array_equal(tree.predict(turned), tree.predict(table))
        unseen, lost = (pd.DataFrame({"city": [c], "size": [2.0]}) for c in ("Paris", None))
        assert np.array_equal(tree.predict_proba(unseen), tree.predict_proba(lost))


def test_ordinal_columns_split_by_threshold():
    table = pd.DataFrame({"size": ["S", "M", "L", "XL"] * 5})
    schema = infer_schema(table, ordinal={"size": ["S", "M", "L", "XL"]})
    y = table["size"].isin(["L", "XL"])
    tree = DecisionTreeClassifier(schema=schema).fit(table, y)
    assert (tree.n_nodes_, tree.nodes_.threshold[0], tree.score(table, y)) == (3, 1.5, 1.0)


def test_a_hundred_thousand_categories():
    n = 100_000
    schema = Schema((Column("id", "categorical", tuple(range(n))), Column("x", "numeric")))
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    table = pd.DataFrame({"id": np.arange(n), "x": x})
    tree = DecisionTreeClassifier(schema=schema, max_depth=3).fit(table, x > 0)
    assert tree.predict(table[:5]).shape == (5,)
    wide = DecisionTreeClassifier.c45(schema=schema, max_depth=3).fit(table[:3000], x[:3000] > 0)
    assert wide.score(table[:3000], x[:3000] > 0) == 1  # by x: a value for each row says nothing of the rest
    assert wide.nodes_.feature[0] == 1
