"""Two-way trees against scikit-learn's."""

import numpy as np
import pytest
import sklearn.tree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.tree import export_text, plot_tree

from latently.predict import DecisionTreeClassifier, DecisionTreeRegressor

DIABETES = load_diabetes(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
SETTINGS = [
    {},
    {"max_depth": 3},
    {"min_samples_leaf": 7},
    {"min_samples_split": 0.1},
    {"max_leaf_nodes": 9},
    {"min_weight_fraction_leaf": 0.05},
    {"min_impurity_decrease": 0.01},
]


def gaps(nodes):
    return nodes.threshold[nodes.children_left >= 0]


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_regression_is_scikit_learns(params):
    X, y = DIABETES
    ours = DecisionTreeRegressor(**params).fit(X, y)
    peer = sklearn.tree.DecisionTreeRegressor(random_state=0, **params).fit(X, y)
    # a tie between columns may be broken either way, and changes few rows
    assert ours.n_nodes_ == pytest.approx(peer.tree_.node_count, abs=2)
    assert np.mean(np.isclose(ours.predict(X), peer.predict(X))) > 0.98


@pytest.mark.parametrize("least", [2, 5])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_weighted_rows_in_leaves_of_a_least_size_are_split_as_scikit_learn_does(criterion, least):
    X, y = CANCER
    weights = np.random.default_rng(0).multinomial(len(y), np.full(len(y), 1 / len(y))).astype(float)
    params = {"criterion": criterion, "min_samples_leaf": least}
    ours = DecisionTreeClassifier(**params).fit(X, y, sample_weight=weights)
    taken = weights > 0  # rows without weight count among the peer's leaves
    peer = sklearn.tree.DecisionTreeClassifier(random_state=0, **params).fit(X[taken], y[taken], weights[taken])
    assert ours.get_depth() == pytest.approx(peer.get_depth(), abs=2)
    assert ours.get_n_leaves() == pytest.approx(peer.get_n_leaves(), abs=2)
    assert np.mean(ours.predict(X) == peer.predict(X)) > 0.97


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_classification_has_the_impurity_of_scikit_learns(params, criterion):
    X, y = CANCER
    ours = DecisionTreeClassifier(criterion=criterion, **params).fit(X, y)
    peer = sklearn.tree.DecisionTreeClassifier(criterion=criterion, random_state=0, **params).fit(X, y)
    left = ours.nodes_.weight @ (ours.nodes_.impurity * ours.nodes_.is_leaf)
    leaf = peer.tree_.children_left < 0
    right = peer.tree_.weighted_n_node_samples @ (peer.tree_.impurity * leaf)
    assert left == pytest.approx(right, rel=0.05, abs=1e-9)
    assert ours.n_nodes_ == pytest.approx(peer.tree_.node_count, abs=6)
    assert ours.tree_.impurity[0] == pytest.approx(peer.tree_.impurity[0])


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_first_splits_of_a_regression(criterion):
    X, y = DIABETES
    ours = DecisionTreeRegressor(criterion=criterion, max_depth=2).fit(X, y)
    peer = sklearn.tree.DecisionTreeRegressor(criterion=criterion, max_depth=2, random_state=0).fit(X, y)
    assert sorted(gaps(ours.tree_)) == pytest.approx(sorted(gaps(peer.tree_)))
    assert ours.predict(X) == pytest.approx(peer.predict(X))
    assert sorted(ours.tree_.impurity) == pytest.approx(sorted(peer.tree_.impurity))


def test_weights_equal_repeats():
    X, y = DIABETES
    counts = np.arange(len(y)) % 3
    weighted = DecisionTreeRegressor(max_depth=4).fit(X, y, sample_weight=counts)
    repeated = DecisionTreeRegressor(max_depth=4).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.predict(X) == pytest.approx(repeated.predict(X))


def test_far_from_zero_targets_lose_nothing():
    X, y = DIABETES
    near, far = DecisionTreeRegressor(max_depth=5).fit(X, y), DecisionTreeRegressor(max_depth=5).fit(X, y + 1e8)
    assert far.predict(X) - 1e8 == pytest.approx(near.predict(X), abs=1e-5)


@pytest.mark.parametrize("bins", [16, 64, 255])
def test_histograms_come_near_the_exact_tree(bins):
    X, y = DIABETES
    exact = DecisionTreeRegressor(max_depth=4).fit(X, y)
    rough = DecisionTreeRegressor(max_depth=4, max_bins=bins).fit(X, y)
    assert rough.score(X, y) > exact.score(X, y) - 0.04
    assert len(np.unique(gaps(rough.tree_))) <= 10 * bins


def test_with_a_bin_for_every_value_histograms_are_exact():
    X, y = load_iris(return_X_y=True)
    exact, binned = DecisionTreeClassifier().fit(X, y), DecisionTreeClassifier(max_bins=50).fit(X, y)
    assert np.array_equal(exact.nodes_.threshold, binned.nodes_.threshold)


def test_several_outputs():
    X, y = load_wine(return_X_y=True)
    both = np.column_stack([y, y % 2])
    ours = DecisionTreeClassifier(max_depth=3).fit(X, both)
    peer = sklearn.tree.DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, both)
    assert ours.tree_.impurity[0] == pytest.approx(peer.tree_.impurity[0])
    assert (ours.predict(X) == both).mean() == pytest.approx((peer.predict(X) == both).mean(), abs=0.02)
    proba = ours.predict_proba(X)
    assert [p.shape for p in proba] == [(178, 3), (178, 2)]
    X, y = DIABETES
    two = np.column_stack([y, -2 * y])
    assert DecisionTreeRegressor(max_depth=3).fit(X, two).predict(X)[:, 1] == pytest.approx(
        -2 * DecisionTreeRegressor(max_depth=3).fit(X, y).predict(X)
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_constraints_hold(sign):
    X, y = DIABETES
    signs = [0] * 10
    signs[2] = sign
    tree = DecisionTreeRegressor(monotonic_cst=signs, min_samples_leaf=5).fit(X, y)
    grid = np.repeat(X[:50], 30, axis=0)
    grid[:, 2] = np.tile(np.linspace(X[:, 2].min(), X[:, 2].max(), 30), 50)
    steps = np.diff(tree.predict(grid).reshape(50, 30), axis=1)
    assert (sign * steps >= -1e-9).all()
    free = DecisionTreeRegressor(min_samples_leaf=5).fit(X, y)
    assert (np.diff(free.predict(grid).reshape(50, 30), axis=1) * sign < -1e-9).any()


def test_monotone_constraints_of_two_classes_hold():
    X, y = CANCER
    tree = DecisionTreeClassifier(monotonic_cst=[-1] + [0] * 29, min_samples_leaf=5).fit(X, y)
    grid = np.repeat(X[:50], 30, axis=0)
    grid[:, 0] = np.tile(np.linspace(X[:, 0].min(), X[:, 0].max(), 30), 50)
    assert (np.diff(tree.predict_proba(grid)[:, 1].reshape(50, 30), axis=1) <= 1e-9).all()


def test_scikit_learns_tools_show_the_tree():
    X, y = load_iris(return_X_y=True)
    ours = DecisionTreeClassifier(max_depth=2).fit(X, y)
    peer = sklearn.tree.DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    assert export_text(ours, decimals=3).count("class: 1") == export_text(peer, decimals=3).count("class: 1") == 1
    assert len(plot_tree(ours)) == len(plot_tree(peer))


def test_random_thresholds_depend_on_the_seed_and_lie_between_values():
    X, y = DIABETES
    trees = [DecisionTreeRegressor(splitter="random", max_depth=3, random_state=s).fit(X, y) for s in (0, 0, 1)]
    assert np.array_equal(trees[0].nodes_.threshold, trees[1].nodes_.threshold)
    assert not np.array_equal(trees[0].nodes_.threshold, trees[2].nodes_.threshold)
    assert trees[0].score(X, y) > 0.2


def test_paths_end_at_leaves():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier().fit(X, y)
    paths, leaves = tree.decision_path(X), tree.apply(X)
    assert np.asarray(paths[np.arange(150), leaves]).all()
    assert np.array_equal(paths.sum(axis=1).A1, tree.nodes_.depths()[leaves] + 1)


def test_m_estimate_draws_leaves_to_the_root():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=2, m=3).fit(X, y)
    leaf = tree.nodes_.weight[tree.apply(X[:1])[0]]
    assert leaf == 50
    assert tree.predict_proba(X[:1])[0] == pytest.approx([(50 + 1) / 53, 1 / 53, 1 / 53])


def test_variance_and_quantiles_of_a_leaf():
    X, y = np.zeros((9, 1)), np.arange(9.0)
    tree = DecisionTreeRegressor().fit(X, y)
    assert tree.predict_quantiles([[0.0]], [0.0, 0.5, 1.0])[0] == pytest.approx([0, 4, 8])
    # two rows of the root's spread are added, and the mean is not sure: var (1 + 1 / n)
    assert tree.predict_variance([[0.0]]) == pytest.approx([y.var() * (1 + 1 / 9)])


def test_decide_takes_the_action_of_highest_reward():
    X, y = CANCER
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    reward = np.array([[0.0, 1.0], [0.0, -100.0]])  # (class, action): the second action only if class 0 is very sure
    found = tree.decide(X, reward).action
    assert np.array_equal(found == 1, tree.predict_proba(X)[:, 0] * 1 - tree.predict_proba(X)[:, 1] * 100 > 0)
