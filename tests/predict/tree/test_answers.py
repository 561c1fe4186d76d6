"""What trees say: shares of leaves, whichever way rows pass, and medians where absolute errors count."""

import pickle

import numpy as np
import pytest
import sklearn.tree
from sklearn.datasets import load_diabetes, load_iris, make_classification

from latently.predict import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier
from latently.predict.tree.growth.absolute import mixed
from latently.predict.tree.model.answers import values_of


def test_leaves_of_one_class_and_others_are_added_alike():
    """Plain leaves are not fetched from memory: the answer is that of the nodes' own values."""
    X, y = make_classification(900, 8, n_informative=5, n_classes=3, flip_y=0.2, random_state=0)
    forest = RandomForestClassifier(7, min_samples_leaf=4, random_state=0).fit(X, y)
    by_nodes = np.mean([values_of(tree.nodes_, X) for tree in forest], axis=0)
    assert forest.predict_proba(X) == pytest.approx(by_nodes)
    shares = np.concatenate([tree.nodes_.value[tree.nodes_.is_leaf, 0].max(axis=1) for tree in forest])
    assert (shares == 1).any()
    assert ((shares > 0.7) & (shares < 1)).any()


def test_rows_with_missing_values_pass_as_the_nodes_say():
    """Both sides, complete rows beside others, and a branch of missing values alone: node by node in Python."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    y = np.nansum(X, axis=1) + 3 * np.isnan(X[:, 0]) - 2 * np.isnan(X[:, 1])
    tree = DecisionTreeRegressor().fit(X, y)
    nodes, inner = tree.nodes_, ~tree.nodes_.is_leaf
    assert set(nodes.missing[inner].tolist()) == {0, 1}
    assert np.isinf(nodes.threshold[inner]).any()
    at = np.zeros(len(X), dtype=int)
    while (open_ := inner[at]).any():
        x = X[np.arange(len(X)), nodes.feature[at]]
        place = np.where(np.isnan(x), nodes.missing[at], x > nodes.threshold[at])
        at = np.where(open_, nodes.first[at] + place, at).astype(int)
    assert np.array_equal(tree.apply(X), at)
    assert np.array_equal(tree.predict(X), nodes.value[at, 0, 0])


def test_the_m_estimate_by_hand():
    tree = DecisionTreeClassifier(max_depth=1, m=3.0).fit([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 0])
    # shares of the root 3/4 and 1/4; leaves (2, 0) and (1, 1)
    assert tree.predict_proba([[0.0], [1.0]]) == pytest.approx(
        np.array([[2 + 9 / 4, 3 / 4], [1 + 9 / 4, 1 + 3 / 4]]) / 5
    )


def test_what_speeds_up_answers_is_not_stored():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier().fit(X, y)
    again = pickle.loads(pickle.dumps(tree))
    assert "walk" in tree.nodes_.__dict__
    assert "walk" not in again.nodes_.__dict__
    assert np.array_equal(again.predict_proba(X), tree.predict_proba(X))


@pytest.mark.parametrize("sign", [1, -1])
def test_absolute_errors_with_a_monotone_column(sign):
    X, y = load_diabetes(return_X_y=True)
    tree = DecisionTreeRegressor(criterion="absolute_error", monotonic_cst=[0, 0, sign] + [0] * 7, max_depth=5)
    tree.fit(X, sign * y)
    grid = np.repeat(X[:40, None], 30, axis=1)
    grid[:, :, 2] = np.linspace(X[:, 2].min(), X[:, 2].max(), 30)
    steps = np.diff(tree.predict(grid.reshape(-1, 10)).reshape(40, 30), axis=1)
    assert (sign * steps >= 0).all()
    assert (steps != 0).any()


@pytest.mark.parametrize("leaves", [2, 9, 30])
def test_absolute_errors_best_node_first_as_in_scikit_learn(leaves):
    X, y = load_diabetes(return_X_y=True)
    params = {"criterion": "absolute_error", "max_leaf_nodes": leaves, "min_samples_leaf": 7}
    ours, peer = DecisionTreeRegressor(**params).fit(X, y), sklearn.tree.DecisionTreeRegressor(**params).fit(X, y)
    assert ours.get_n_leaves() == leaves
    total = [np.abs(model.predict(X) - y).sum() for model in (ours, peer)]
    assert total[0] == pytest.approx(total[1], rel=0.01)


def test_draws_of_absolute_trees_are_those_of_the_kernel():
    from latently import compiled

    for seed, step in ((0, 1), (12345, 7), (2**63 + 5, 48)):
        assert mixed(seed, step) == int(compiled.tree.grow.mixed(np.uint64(seed), np.uint64(step)))
