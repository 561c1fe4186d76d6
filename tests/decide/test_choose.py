"""Decisions: the example of the notes, and arithmetic done by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from latently.decide import DecideMixin, Reward, decide, expected_reward, thresholds, value_of_information

TREATMENT = {"well": {"wait": 10, "treat": 7}, "ill": {"wait": 3, "treat": 5}}


def test_treatment_example_of_the_notes():
    assert_allclose(expected_reward([0.5, 0.5], [[10, 7], [3, 5]]), [6.5, 6.0])
    choice = decide({"well": 0.5, "ill": 0.5}, TREATMENT)
    assert choice.action == "wait"
    assert choice.runner_up == "treat"
    assert choice.reward == pytest.approx(6.5)
    assert choice.margin == pytest.approx(0.5)
    # 10 / 2 + 5 / 2 with the state known, 6.5 without
    assert choice.value_of_perfect_information == pytest.approx(1.0)
    assert decide([0.5, 0.5], [[10, 7], [3, 5]]).action == 0


def test_names_are_matched_and_not_positions():
    swapped = {"ill": {"treat": 5, "wait": 3}, "well": {"wait": 10, "treat": 7}}
    choice = decide({"well": 0.2, "ill": 0.8}, swapped)
    assert choice.action == "treat"
    assert choice.report() == [
        {
            "action": "treat",
            "reward": pytest.approx(5.4),
            "runner_up": "wait",
            "margin": pytest.approx(1.0),
            "expected": {"treat": pytest.approx(5.4), "wait": pytest.approx(4.4)},
        }
    ]
    table = pd.DataFrame(TREATMENT).T
    assert decide({"ill": 0.8, "well": 0.2}, table).action == "treat"


def test_loss_is_negative_reward():
    rows = [[0.9, 0.1], [0.3, 0.7]]
    gain = decide(rows, Reward([[0, -1], [-5, 0]]))
    loss = decide(rows, Reward([[0, 1], [5, 0]], loss=True))
    assert_allclose(gain.expected, loss.expected)
    assert loss.action.tolist() == [0, 1]
    assert_allclose(loss.margin, [0.4, 3.2])


def test_rewards_by_row():
    p = np.array([[0.5, 0.5], [0.2, 0.8]])
    r = np.array([[[1, 0], [0, 2]], [[9, 0], [0, 1]]])
    choice = decide(p, r)
    assert_allclose(choice.expected, [[0.5, 1.0], [1.8, 0.8]])
    assert choice.action.tolist() == [1, 0]
    assert_allclose(choice.value_of_perfect_information, [0.5, 0.8])
    # one belief, many rewards
    assert decide([0.5, 0.5], r).action.tolist() == [1, 0]


def test_abstaining_is_chows_rule():
    # 0/1 loss at price 0.2: abstain where the largest probability is below 0.8
    p = np.array([[0.95, 0.05], [0.75, 0.25], [0.1, 0.9], [0.5, 0.5]])
    choice = decide(p, Reward(np.eye(2) - 1), abstain=0.2)
    assert choice.abstained.tolist() == [False, True, False, True]
    by_row = decide(p, Reward(np.eye(2) - 1), abstain=[0.01, 0.3, 0.2, 0.2])
    assert by_row.abstained.tolist() == [True, False, False, True]
    assert by_row.action.tolist() == ["abstain", 0, 1, "abstain"]


def test_ties_take_the_first_action():
    choice = decide([1.0], [[2, 3, 3]])
    assert choice.action == 1
    assert choice.runner_up == 2
    assert choice.margin == 0
    only = decide([1.0], [[2]])
    assert only.margin == np.inf
    assert only.runner_up is None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_laws_of_decisions(seed):
    rng = np.random.default_rng(seed)
    n, k, a = rng.integers(1, 5, size=3)
    p, r = rng.dirichlet(np.ones(k), size=n), rng.normal(size=(k, a)) * 10
    choice = decide(p, r)
    by_hand = [[sum(p[i, s] * r[s, j] for s in range(k)) for j in range(a)] for i in range(n)]
    assert_allclose(choice.expected, by_hand)
    assert_allclose(choice.reward, choice.expected[np.arange(n), choice.action])
    assert np.all(choice.value_of_perfect_information >= 0)
    # adding a constant or scaling changes no action
    assert decide(p, 3 * r + 7).action.tolist() == choice.action.tolist()
    # any test is worth something between nothing and perfect information
    seen = rng.dirichlet(np.ones(3), size=k)
    gain = value_of_information(p, r, seen)
    assert np.all(gain >= 0)
    assert np.all(gain <= choice.value_of_perfect_information + 1e-9)


def test_value_of_information_by_hand():
    # a test right nine times in ten: treat if positive; 0.5 * (0.9 * 10 + 0.1 * 3) + ...
    positive, negative = 0.5 * (0.1 * 7 + 0.9 * 5), 0.5 * (0.9 * 10 + 0.1 * 3)
    gain = value_of_information([0.5, 0.5], [[10, 7], [3, 5]], [[0.9, 0.1], [0.1, 0.9]])
    assert gain == pytest.approx(positive + negative - 6.5)


def test_threshold_of_a_two_by_two_table():
    low, high = thresholds(TREATMENT)
    assert (low.action, high.action) == ("wait", "treat")
    assert low.high == high.low == pytest.approx(0.6)  # 3 / (3 + 2)
    three = thresholds(Reward([[0, 1], [1, 0]], loss=True), abstain=0.2)
    assert [r.action for r in three] == [0, "abstain", 1]
    assert [r.high for r in three] == pytest.approx([0.2, 0.8, 1.0])
    assert [r.action for r in thresholds([[1, 0], [1, 0]])] == [0]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_thresholds_agree_with_decide(seed):
    rng = np.random.default_rng(seed)
    r = rng.integers(-3, 4, size=(2, rng.integers(1, 5)))
    regions = thresholds(r)
    assert regions[0].low == 0
    assert regions[-1].high == 1
    for region in regions:
        p = (region.low + region.high) / 2
        values = expected_reward([1 - p, p], r)
        assert values[region.action] == pytest.approx(values.max())


class Bayes(DecideMixin, GaussianNB):
    pass


def test_mixin_on_a_classifier_with_names():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = Bayes().fit(X, names)
    wrong = Reward(1 - np.eye(3), states=sorted(set(names)), actions=sorted(set(names)), loss=True)
    assert model.decide(X, wrong).action.tolist() == model.predict(X).tolist()
    costly = {s: {"pick": -10 if s == "virginica" else 1, "leave": 0} for s in set(names)}
    choice = model.decide(X, costly)
    expected = model.predict_proba(X)[:, 2] < 1 / 11
    assert ((choice.action == "pick") == expected).all()
    assert len(choice) == len(X)
    assert np.asarray(choice).shape == (150,)
    with pytest.raises(TypeError, match="no filter"):
        model.decide(X, costly, filtered=True)


# -- bad input


@pytest.mark.parametrize(
    ("posterior", "reward", "message"),
    [
        ([0.5, 0.4], np.eye(2), r"sum to 0\.9, 0\.1 short"),
        ([[0.5, 0.5], [0.7, 0.5]], np.eye(2), r"of row 1 sum to 1\.2, 0\.2 too much"),
        ([1.5, -0.5], np.eye(2), r"state 1 is -0\.5"),
        ([[0.5, 0.5], [np.nan, 1.0]], np.eye(2), "state 0 in row 1 is nan"),
        ([0.5, 0.5], np.eye(3), "3 rows, but there are 2 states"),
        ({"a": 0.5, "b": 0.5}, np.eye(3), "2 states: 'a', 'b'"),
        ({"a": 0.5, "b": 0.5}, {"a": {"x": 1}, "c": {"x": 1}}, r"states \['a', 'c'\], expected \['a', 'b'\]"),
        ([0.5, 0.5], [[1, 2], [np.nan, 3]], "state 1, action 0 is nan"),
        ([0.5, 0.5], [[1, 2], [np.inf, 3]], "must be finite"),
        ([0.5, 0.5], [1, 2], "shape"),
        ([0.5, 0.5], {"a": {"x": 1}, "b": {"y": 1}}, "state 'b' has rewards for"),
        ([[0.5, 0.5]] * 3, np.ones((2, 2, 2)), "rewards for 2 rows, but 3 rows"),
        ([[[1.0]]], [[1.0]], "a posterior needs shape"),
    ],
)
def test_clear_errors(posterior, reward, message):
    with pytest.raises(ValueError, match=message):
        decide(posterior, reward)


def test_more_clear_errors():
    with pytest.raises(ValueError, match="already"):
        decide([1.0], Reward([[1.0]], actions=["abstain"]), abstain=1)
    with pytest.raises(ValueError, match="must be finite"):
        decide([1.0], [[1.0]], abstain=np.nan)
    with pytest.raises(ValueError, match="different names"):
        Reward(np.eye(2), actions=["a", "a"])
    with pytest.raises(ValueError, match="two states"):
        thresholds(np.eye(3))
    with pytest.raises(ValueError, match="3 rows, but there are 2 states"):
        value_of_information([0.5, 0.5], np.eye(2), np.eye(3))
    with pytest.raises(TypeError, match="mapping"):
        Reward({"a": [1, 2]})
