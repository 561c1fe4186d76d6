"""ID3 and C4.5: numbers of Quinlan and Mitchell, and trees of Weka's J48 (3.9, -C 0.25 -M 2)."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from tests.predict.tree.tables import lenses, tennis

from latently import compiled
from latently.predict import DecisionTreeClassifier
from latently.predict.tree.pruning.pessimistic import extra_errors

# entropy 0.9403, Quinlan 1986 and Mitchell 1997
GAIN = {"outlook": 0.2467, "humidity": 0.1518, "wind": 0.0481, "temperature": 0.0292}
RATIO = {"outlook": 0.1564, "humidity": 0.1518, "wind": 0.0488, "temperature": 0.0188}


def test_gains_of_play_tennis():
    X, y = tennis()
    T = np.eye(2)[(y == "yes").astype(int)]
    assert compiled.tree.multiway.disorder(T.sum(axis=0), True) / 14 == pytest.approx(0.9403, abs=5e-5)
    for name in X:
        codes, found = pd.factorize(X[name])[0].astype(float), np.zeros(3)
        assert compiled.tree.multiway.nominal(codes, T, np.ones(14), int(codes.max()) + 1, 1.0, True, found)
        assert found[:2] == pytest.approx([GAIN[name], RATIO[name]], abs=6e-5)


@pytest.mark.parametrize("make", [DecisionTreeClassifier.id3, DecisionTreeClassifier.c45])
def test_the_tree_of_play_tennis(make):
    X, y = tennis()
    tree = make().fit(X, y)
    assert (tree.get_n_leaves(), tree.n_nodes_, tree.get_depth()) == (5, 8, 2)
    assert tree.score(X, y) == 1
    assert {str(rule) for rule in tree.rules()} == {
        "outlook = overcast: yes",
        "outlook = sunny and humidity = high: no",
        "outlook = sunny and humidity = normal: yes",
        "outlook = rain and wind = strong: no",
        "outlook = rain and wind = weak: yes",
    }


def test_contact_lenses_as_in_j48():
    X, y = lenses()
    tree = DecisionTreeClassifier.c45().fit(X, y)
    assert (tree.get_n_leaves(), tree.n_nodes_) == (4, 7)
    assert tree.score(X, y) == pytest.approx(22 / 24)


# leaves, size and accuracy on the table itself, from Weka
J48 = {
    load_iris: (5, 9, 98.0),
    load_wine: (5, 9, 98.8764),
    load_breast_cancer: (13, 25, 99.1213),
    load_digits: (96, 191, 97.3289),
}


@pytest.mark.parametrize("load", J48, ids=lambda load: load.__name__)
def test_sizes_as_in_j48(load):
    X, y = load(return_X_y=True)
    tree = DecisionTreeClassifier.c45().fit(X, y)
    leaves, size, accuracy = J48[load]
    assert (tree.get_n_leaves(), tree.n_nodes_) == (leaves, size)
    assert 100 * tree.score(X, y) == pytest.approx(accuracy, abs=1e-3)


def test_pessimistic_errors_against_quinlans_table_and_the_binomial():
    # C4.5: Programs for Machine Learning, 4.2: U25%(0, 6) = 0.206, U25%(0, 9) = 0.143, U25%(0, 1) = 0.75
    for n, share in ((6, 0.206), (9, 0.143), (1, 0.75)):
        assert extra_errors(n, 0, 0.25) / n == pytest.approx(share, abs=6e-4)
    # the normal approximation is near the binomial limit
    for n, wrong in ((16, 1), (168, 2), (60, 12)):
        exact = beta.isf(0.25, wrong + 1, n - wrong)
        assert (wrong + extra_errors(n, wrong, 0.25)) / n == pytest.approx(exact, rel=0.04)
    assert extra_errors(5, 4.8, 0.25) == pytest.approx(0.2)


def test_missing_values_are_split_among_the_branches():
    """A row without outlook is the mixture of the branches, by their shares of the known rows."""
    X, y = tennis()
    tree = DecisionTreeClassifier.id3().fit(X, y)
    row = pd.DataFrame([[None, "hot", "high", "weak"]], columns=X.columns)
    # sunny 5/14 (no), overcast 4/14 (yes), rain 5/14 (yes)
    assert tree.predict_proba(row)[0] == pytest.approx([5 / 14, 9 / 14])


def test_fractional_cases_at_the_fit():
    """Quinlan's example: play tennis with the outlook of row 12 unknown; gain 0.199 and ratio 0.199 / 1.809."""
    X, y = tennis()
    T = np.eye(2)[(y == "yes").astype(int)]
    codes = pd.factorize(X["outlook"])[0].astype(float)
    codes[11] = np.nan
    found = np.zeros(3)
    compiled.tree.multiway.nominal(codes, T, np.ones(14), 3, 1.0, True, found)
    assert found[0] == pytest.approx(13 / 14 * (0.961 - 0.747), abs=2e-3)
    assert found[1] == pytest.approx(0.199 / 1.809, abs=2e-3)


def test_confidence_prunes_more_the_lower_it_is():
    X, y = load_breast_cancer(return_X_y=True)
    sizes = [DecisionTreeClassifier.c45(confidence=c).fit(X, y).n_nodes_ for c in (0.5, 0.25, 0.01)]
    whole = DecisionTreeClassifier.c45(confidence=None).fit(X, y).n_nodes_
    assert whole >= sizes[0] >= sizes[1] > sizes[2]


def two_branches(*counts):
    """A column of two categories and rows of two classes, from the numbers of (no, yes) in each branch."""
    pairs = [(word, label) for word, numbers in zip("ab", counts, strict=True) for label, n in enumerate(numbers)
             for _ in range(n)]  # fmt: skip
    return pd.DataFrame({"x": [word for word, _ in pairs]}), [label for _, label in pairs]


@pytest.mark.parametrize(("counts", "gap", "n_nodes"), [([(3, 0), (4, 5)], 0.064, 1), ([(5, 0), (3, 5)], 1.06, 3)])
def test_a_leaf_may_be_worse_than_a_split_by_a_tenth_of_an_error(counts, gap, n_nodes):
    wrong = [*(min(pair) for pair in counts), min(np.sum(counts, axis=0))]
    estimated = [e + extra_errors(n, e, 0.25) for e, n in zip(wrong, [*map(sum, counts), np.sum(counts)], strict=True)]
    assert estimated[2] - estimated[0] - estimated[1] == pytest.approx(gap, rel=0.01)
    assert DecisionTreeClassifier.c45().fit(*two_branches(*counts)).n_nodes_ == n_nodes


def test_a_split_without_fewer_errors_collapses():
    # 100 errors with and without the split; its pessimistic errors are fewer by 0.5
    X, y = two_branches((100, 100), (1000, 0))
    assert DecisionTreeClassifier.c45().fit(X, y).n_nodes_ == 1
    assert DecisionTreeClassifier.c45(confidence=None).fit(X, y).n_nodes_ == 3


def test_a_split_that_is_not_significant_is_not_made():
    X, y = tennis()
    # outlook: chi-square 3.55 with 2 degrees of freedom, p = 0.17
    assert DecisionTreeClassifier.id3(significance=0.1).fit(X, y).n_nodes_ == 1
    assert DecisionTreeClassifier.id3(significance=0.2).fit(X, y).n_nodes_ > 1


def test_id3_takes_no_confidence_of_cart():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="c45"):
        DecisionTreeClassifier(confidence=0.25).fit(X, y)


def house_votes():
    text = (Path(__file__).parents[2] / "reference" / "house_votes.txt").read_text()
    words = [word for line in text.splitlines() if not line.startswith("#") for word in line.split()]
    votes = [[None if sign == "?" else sign for sign in word[1:]] for word in words]
    return pd.DataFrame(votes, columns=[f"v{j}" for j in range(16)]), np.array([word[0] for word in words])


def test_categories_and_missing_values_as_in_j48():
    """The votes of 1984, 5.6 % of them unknown: Weka 3.9's tree of all members, and of every second one."""
    X, y = house_votes()
    whole = DecisionTreeClassifier.c45().fit(X, y)
    assert (whole.get_n_leaves(), whole.n_nodes_) == (6, 11)
    assert 100 * whole.score(X, y) == pytest.approx(97.2414, abs=1e-3)
    half = DecisionTreeClassifier.c45().fit(X[::2], y[::2])
    assert (half.get_n_leaves(), half.n_nodes_) == (6, 11)
    assert 100 * half.score(X[::2], y[::2]) == pytest.approx(98.6239, abs=1e-3)
    assert 100 * half.score(X[1::2], y[1::2]) == pytest.approx(92.1659, abs=1e-3)


def test_a_threshold_where_values_are_missing():
    """By hand: six known values of eight, cut into four and two; the missing ones are a branch of the split entropy."""
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, np.nan, np.nan])
    T = np.eye(2)[[0, 0, 0, 1, 1, 1, 0, 1]]
    found, order = np.zeros(3), np.argsort(x, kind="stable")
    assert compiled.tree.multiway.numeric(x, order, T, np.ones(8), 2.0, 4.0, True, True, found)
    # known rows: one bit, none after the cut at 3.5; three cuts leave two rows on each side
    gain = 6 / 8 * 1.0 - np.log2(3) / 8
    split = -2 * 3 / 8 * np.log2(3 / 8) - 2 / 8 * np.log2(2 / 8)
    assert found == pytest.approx([gain, gain / split, 3.5])


def test_rows_go_down_all_branches_with_their_shares():
    """Two of six known rows go left, so a third of a row whose value is missing does; at the fit and afterwards."""
    table = pd.DataFrame({"c": ["a", "a", "b", "b", "b", "b", None]})
    tree = DecisionTreeClassifier.c45(confidence=None, min_samples_leaf=1).fit(table, list("nnyyyyn"))
    assert tree.nodes_.weight[1:] == pytest.approx([2 + 1 / 3, 4 + 2 / 3])
    no_of_b = (2 / 3) / (4 + 2 / 3)
    assert tree.predict_proba(pd.DataFrame({"c": [None]}))[0] == pytest.approx(
        [(2 + 1 / 3 + (4 + 2 / 3) * no_of_b) / 7, (4 + 2 / 3) * (1 - no_of_b) / 7]
    )


def test_a_tree_deeper_than_pythons_stack_is_grown_and_pruned():
    n = 1200
    x, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    assert DecisionTreeClassifier.id3().fit(x, y).get_depth() == n - 1
    assert DecisionTreeClassifier.id3(confidence=0.25).fit(x, y).n_nodes_ < n
