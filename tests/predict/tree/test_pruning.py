"""Pruning: against scikit-learn's path, enumeration, and rows that were not grown from."""

import numpy as np
import pytest
import sklearn.tree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import train_test_split
from tests.predict.tree.tables import tennis

from latently.predict import DecisionTreeClassifier, DecisionTreeRegressor
from latently.predict.tree.growth.multiway import Table
from latently.predict.tree.pruning.pessimistic import _Pruning

X, Y = load_breast_cancer(return_X_y=True)
D, T = load_diabetes(return_X_y=True)


def test_the_path_of_cost_complexity_is_scikit_learns():
    ours = DecisionTreeRegressor(max_depth=5).cost_complexity_pruning_path(D, T)
    peer = sklearn.tree.DecisionTreeRegressor(max_depth=5, random_state=0).cost_complexity_pruning_path(D, T)
    assert ours.ccp_alphas == pytest.approx(peer.ccp_alphas, rel=1e-6, abs=1e-9)
    assert ours.impurities == pytest.approx(peer.impurities, rel=1e-6)


@pytest.mark.parametrize("alpha", [1.0, 10.0, 60.0, 1e5])
def test_pruned_trees_are_scikit_learns(alpha):
    ours = DecisionTreeRegressor(max_depth=5, ccp_alpha=alpha).fit(D, T)
    peer = sklearn.tree.DecisionTreeRegressor(max_depth=5, ccp_alpha=alpha, random_state=0).fit(D, T)
    assert ours.n_nodes_ == peer.tree_.node_count
    assert ours.predict(D) == pytest.approx(peer.predict(D))


def errors(tree, rows, targets):
    return int((tree.predict(rows) != targets).sum())


def test_reduced_error_pruning_helps_where_it_is_measured():
    A, B, a, b = train_test_split(X, Y, random_state=1, test_size=0.4)
    tree = DecisionTreeClassifier().fit(A, a)
    before, size = errors(tree, B, b), tree.n_nodes_
    tree.prune(B, b)
    assert errors(tree, B, b) <= before
    assert tree.n_nodes_ < size


def test_no_removal_would_help_a_pruned_tree():
    A, B, a, b = train_test_split(X, Y, random_state=2, test_size=0.4)
    tree = DecisionTreeClassifier().fit(A, a).prune(B, b)
    best = errors(tree, B, b)
    nodes = tree.nodes_
    for node in np.flatnonzero(~nodes.is_leaf):
        leaf = np.zeros(len(nodes), dtype=bool)
        leaf[node] = True
        tree._adopt(nodes.cut(leaf | nodes.is_leaf))
        assert errors(tree, B, b) > best


def test_pruning_many_way_splits_and_numbers():
    table, y = tennis()
    tree = DecisionTreeClassifier.id3().fit(table, y)
    assert tree.prune(table, np.full(14, "yes")).n_nodes_ == 1
    A, B, a, b = train_test_split(D, T, random_state=0)
    tree = DecisionTreeRegressor().fit(A, a)
    before = ((tree.predict(B) - b) ** 2).mean()
    assert ((tree.prune(B, b).predict(B) - b) ** 2).mean() < 0.9 * before


def test_a_label_never_seen_is_an_error_of_every_leaf():
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    assert tree.prune(X, np.full(len(X), 9)).n_nodes_ == 1


@pytest.mark.parametrize("make", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_noise_is_not_significant(make):
    rng = np.random.default_rng(0)
    noise, y = rng.normal(size=(200, 1)).round(), rng.integers(0, 2, 200)
    assert make().fit(noise, y).n_nodes_ > 5
    assert make(significance=1e-3).fit(noise, y).n_nodes_ == 1
    assert make(significance=1e-3, max_depth=1).fit(noise, noise[:, 0] > 0).n_nodes_ == 3


def test_quantiles_of_a_pruned_leaf_are_of_all_its_rows():
    tree = DecisionTreeRegressor(ccp_alpha=1e5).fit(D, T)
    assert tree.n_nodes_ == 1
    assert tree.predict_quantiles(D[:1], [0.0, 1.0])[0].tolist() == [T.min(), T.max()]
    whole = DecisionTreeRegressor().fit(D, T).prune(D, np.full(len(T), T.mean()))
    assert whole.predict_quantiles(D[:1], [0.0, 1.0])[0].tolist() == [T.min(), T.max()]


def test_pessimistic_pruning_of_a_chain_looks_at_each_node_once(monkeypatch):
    n, counted, stats_of = 600, [], Table.stats_of
    monkeypatch.setattr(Table, "stats_of", lambda *given: counted.append(1) or stats_of(*given))
    tree = DecisionTreeClassifier.c45().fit(np.arange(n)[:, None], np.arange(n) % 2, sample_weight=np.full(n, 100.0))
    assert tree.get_depth() > n / 2
    assert len(counted) < 6 * tree.n_nodes_


@pytest.mark.parametrize(("every", "lost"), [(1, 0.0), (1, 0.1), (2, 0.1)], ids=["complete", "missing", "half"])
def test_a_branch_that_was_raised_has_the_rows_of_its_siblings(monkeypatch, every, lost):
    """Rows of the fit that are sent down again sum up to the classes they have."""
    raised, replace = [], _Pruning._raise
    monkeypatch.setattr(_Pruning, "_raise", lambda *given: raised.append(1) or replace(*given))
    digits, y = load_digits(return_X_y=True)
    some = digits[:, ::every]
    some[np.random.default_rng(0).random(some.shape) < lost] = np.nan
    tree = DecisionTreeClassifier.c45().fit(digits, y)
    assert raised
    assert tree.predict_proba(digits).sum(axis=0) == pytest.approx(np.bincount(y))
