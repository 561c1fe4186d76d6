"""Random forests: against scikit-learn's, out of the bag, importances, quantiles, threads."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.model_selection import train_test_split

from latently.learn import threads
from latently.predict import RandomForestClassifier, RandomForestRegressor
from latently.predict.tree.forest.base import draw

X, Y = load_breast_cancer(return_X_y=True)
D, T = load_diabetes(return_X_y=True)


def bits(forest):
    return [(tree.nodes_.threshold.tolist(), tree.nodes_.value.tolist()) for tree in forest.estimators_]


def test_accuracy_is_scikit_learns():
    A, B, a, b = train_test_split(X, Y, random_state=0, test_size=0.5)
    ours = RandomForestClassifier(60, random_state=0).fit(A, a).score(B, b)
    peer = sklearn.ensemble.RandomForestClassifier(60, random_state=0).fit(A, a).score(B, b)
    assert ours == pytest.approx(peer, abs=0.02)
    A, B, a, b = train_test_split(D, T, random_state=0, test_size=0.5)
    ours = RandomForestRegressor(60, random_state=0).fit(A, a).score(B, b)
    peer = sklearn.ensemble.RandomForestRegressor(60, random_state=0).fit(A, a).score(B, b)
    assert ours == pytest.approx(peer, abs=0.05)


@pytest.mark.parametrize("make", [RandomForestClassifier, RandomForestRegressor])
def test_any_number_of_threads_gives_the_same_bits(make):
    found = []
    for n in (1, 2, 3):
        with threads(n):
            forest = make(7, random_state=3).fit(X, Y)
            found.append((bits(forest), forest.predict(X).tolist()))
    assert found[0] == found[1] == found[2]
    assert bits(make(7, random_state=3, n_jobs=2).fit(X, Y)) == found[0][0]


def test_out_of_the_bag_is_the_mean_of_the_trees_that_did_not_see_a_row():
    forest = RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, Y)
    row = 7
    outside = [tree for tree in forest.estimators_ if row not in draw(tree.random_state, len(X), len(X))]
    votes = [tree.predict_proba(X[row : row + 1])[0] for tree in outside]
    assert 4 < len(votes) < 20
    assert forest.oob_decision_function_[row] == pytest.approx(np.mean(votes, axis=0))
    assert forest.oob_score_ == pytest.approx(0.95, abs=0.02)


def test_a_row_drawn_by_all_trees_is_told():
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        forest = RandomForestRegressor(2, oob_score=True, random_state=0).fit(D, T)
    assert np.isfinite(forest.oob_prediction_).all()
    assert np.isfinite(forest.oob_score_)


def test_the_forest_is_the_mean_of_its_trees():
    forest = RandomForestRegressor(5, random_state=0).fit(D, T)
    assert forest.predict(D) == pytest.approx(np.mean([tree.predict(D) for tree in forest.estimators_], axis=0))
    few = RandomForestClassifier(5, random_state=0, m=2.0).fit(X, Y)
    assert few.predict_proba(X) == pytest.approx(np.mean([t.predict_proba(X) for t in few.estimators_], axis=0))


def test_warm_start_adds_trees():
    whole = RandomForestClassifier(8, random_state=1).fit(X, Y)
    grown = RandomForestClassifier(5, random_state=1, warm_start=True).fit(X, Y)
    first = grown.estimators_[0]
    grown.set_params(n_estimators=8).fit(X, Y)
    assert grown.estimators_[0] is first
    assert bits(grown) == bits(whole)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        grown.fit(X, Y)


def test_subsets_of_rows():
    forest = RandomForestClassifier(5, max_samples=0.2, random_state=0).fit(X, Y)
    assert all(tree.nodes_.weight[0] == round(0.2 * len(X)) for tree in forest.estimators_)
    assert [len(rows) for rows in forest.estimators_samples_] == [round(0.2 * len(X))] * 5
    everything = RandomForestClassifier(2, bootstrap=False, max_features=None, random_state=0).fit(X, Y)
    assert bits(everything)[0] == bits(everything)[1]


def test_classes_weigh_as_told():
    rare = np.r_[np.flatnonzero(Y == 0)[:15], np.flatnonzero(Y == 1)]
    plain = RandomForestClassifier(20, max_depth=2, random_state=0).fit(X[rare], Y[rare])
    for weight in ("balanced", "balanced_subsample", {0: 20.0, 1: 1.0}):
        even = RandomForestClassifier(20, max_depth=2, random_state=0, class_weight=weight).fit(X[rare], Y[rare])
        assert even.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean() + 0.05


def test_importances_find_the_columns_that_matter():
    A, a = make_classification(600, 8, n_informative=2, n_redundant=0, shuffle=False, random_state=0)
    forest = RandomForestClassifier(40, random_state=0).fit(A[:300], a[:300])
    assert forest.feature_importances_.sum() == pytest.approx(1)
    assert set(np.argsort(forest.feature_importances_)[-2:]) == {0, 1}
    found = forest.permutation_importances(A[300:], a[300:], random_state=0)
    assert set(np.argsort(found.importances_mean)[-2:]) == {0, 1}
    assert np.abs(found.importances_mean[2:]).max() < 0.04


def test_columns_that_say_the_same_matter_together():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 1))
    A = np.hstack([x, x + 0.01 * rng.normal(size=(500, 4)), rng.normal(size=(500, 2))])
    forest = RandomForestRegressor(30, max_features=2, random_state=0).fit(A, x[:, 0] ** 2)
    alone = forest.permutation_importances(A, x[:, 0] ** 2, random_state=0)
    grouped = forest.permutation_importances(A, x[:, 0] ** 2, groups="correlated", random_state=0)
    assert grouped.members[0] == ["x0", "x1", "x2", "x3", "x4"]
    assert grouped.importances_mean[0] > 1.5 > 3 * alone.importances_mean[:5].max()
    told = forest.permutation_importances(A, x[:, 0] ** 2, groups={"all": [0, 1, 2, 3, 4], "none": [5]}, random_state=0)
    assert told.importances_mean[0] == pytest.approx(grouped.importances_mean[0], rel=0.3)
    assert sum(forest.group_importances(A).values()) == pytest.approx(1)


def test_proximity_is_the_share_of_common_leaves():
    A, a = load_iris(return_X_y=True)
    forest = RandomForestClassifier(50, random_state=0).fit(A, a)
    near = forest.proximity(A)
    assert np.array_equal(near, near.T)
    assert (np.diag(near) == 1).all()
    same = near[a[:, None] == a].mean()
    assert same > 0.4 > 10 * near[a[:, None] != a].mean()
    leaves = forest.apply(A[:2])
    assert near[0, 1] == (leaves[0] == leaves[1]).mean()


def test_quantiles_hold_as_often_as_they_say():
    rng = np.random.default_rng(0)
    A = rng.uniform(size=(4000, 2))
    y = A[:, 0] + rng.normal(size=4000) * (0.1 + A[:, 1])
    forest = RandomForestRegressor(40, min_samples_leaf=10, keep_targets=True, random_state=0).fit(A[:3000], y[:3000])
    low, middle, high = forest.predict_quantiles(A[3000:], [0.1, 0.5, 0.9]).T
    inside = ((low <= y[3000:]) & (y[3000:] <= high)).mean()
    assert inside == pytest.approx(0.8, abs=0.05)
    assert (low <= middle).all()
    # the spread grows with the second column: 2 * 1.28 * (0.1 + x)
    assert np.polyfit(A[3000:, 1], high - low, 1)[0] == pytest.approx(2.56, rel=0.25)
    assert np.sqrt(forest.predict_variance(A[3000:])).mean() == pytest.approx(0.6, rel=0.2)
    with pytest.raises(ValueError, match="keep_targets=True"):
        RandomForestRegressor(2).fit(A, y).predict_quantiles(A[:1])


def test_a_forest_of_mixed_columns():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"city": rng.choice(list("abcdefgh"), 600), "x": rng.normal(size=600)})
    y = np.where(table["city"].isin(list("aceg")), "yes", "no")
    table.loc[::7, "x"] = np.nan
    table.loc[::11, "city"] = None
    seen = table["city"].notna()
    for params in ({}, {"nominal": "values", "missing": "fractional", "criterion": "gain"}):
        forest = RandomForestClassifier(15, random_state=0, max_features=None, **params).fit(table, y)
        assert forest.score(table[seen], y[seen]) > 0.99
        new = pd.DataFrame({"x": [0.0], "city": ["never seen"]})
        assert forest.predict_proba(new).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(3, random_state=0),
        RandomForestClassifier(3, random_state=0, criterion="gain", max_features=5),
        RandomForestClassifier(3, random_state=0, max_samples=0.5, min_weight_fraction_leaf=0.05),
        RandomForestClassifier(3, random_state=0, bootstrap=False),
        RandomForestRegressor(3, random_state=0, max_features=0.3),
        RandomForestRegressor(2, random_state=0, max_features=0.3, max_samples=0.3, criterion="absolute_error"),
    ],
    ids=str,
)
def test_a_tree_fitted_alone_is_that_of_the_forest(forest):
    forest.fit(X, Y)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        counts = np.bincount(rows, minlength=len(X))
        alone = clone(tree).fit(X, Y, sample_weight=counts)
        assert np.array_equal(alone.nodes_.threshold, tree.nodes_.threshold)
        assert np.array_equal(alone.nodes_.value, tree.nodes_.value)
        on_rows = clone(tree).fit(X[rows], Y[rows])
        assert on_rows.nodes_.value == pytest.approx(tree.nodes_.value)


def test_a_tree_of_many_rows_fitted_alone_has_the_bins_of_the_forest():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(10_500, 3))
    forest = RandomForestRegressor(1, random_state=0, max_depth=6, max_features=1).fit(A, A[:, 0])
    counts = np.bincount(forest.estimators_samples_[0], minlength=len(A))
    alone = clone(forest[0]).fit(A, A[:, 0], sample_weight=counts)
    assert np.array_equal(alone.nodes_.threshold, forest[0].nodes_.threshold)
