"""Beliefs that move: Russell and Norvig's umbrella, hmmlearn's forward pass by hand, waiting for more."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from latently.decide import BeliefState, DecideMixin

RAIN = BeliefState([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], states=["rain", "dry"])


def test_umbrella_of_russell_and_norvig():
    first = RAIN.observe([0.9, 0.2])
    assert_allclose(first.probabilities, [0.818, 0.182], atol=5e-4)
    assert_allclose(first.ahead(), [0.627, 0.373], atol=5e-4)
    assert_allclose(first.observe([0.9, 0.2]).probabilities, [0.883, 0.117], atol=5e-4)


def test_order_of_logs_and_scale_do_not_matter():
    plain = RAIN.observe([0.9, 0.2]).observe([0.1, 0.8])
    logs = RAIN.observe(np.log([0.9, 0.2]) - 5000, log=True).observe(np.log([0.1, 0.8]) + 3000, log=True)
    assert_allclose(plain.probabilities, logs.probabilities, rtol=1e-12)


def test_filter_equals_sum_over_all_paths():
    rng = np.random.default_rng(0)
    start, move = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), size=3)
    like = rng.random((4, 3))
    belief = BeliefState(start, move)
    for row in like:
        belief = belief.observe(row)
    total = np.zeros(3)
    for path in np.ndindex(3, 3, 3, 3):
        weight = start[path[0]] * np.prod([move[a, b] for a, b in pairwise(path)])
        total[path[-1]] += weight * np.prod(like[np.arange(4), path])
    assert_allclose(belief.probabilities, total / total.sum(), rtol=1e-12)


def test_decide_now_and_for_later():
    sure = RAIN.observe([1.0, 0.0])
    rewards = {"rain": {"walk": -5, "bus": -2}, "dry": {"walk": 0, "bus": -2}}
    assert sure.decide(rewards).action == "bus"
    # in the long run rain has one half: 2.5 for walking against 2
    assert sure.decide(rewards, ahead=50).expected[0] == pytest.approx([-2.5, -2])
    assert sure.decide(rewards, abstain=0.5).action == "abstain"


def test_waiting_by_hand():
    coin = BeliefState([0.5, 0.5], np.eye(2))
    test = [[0.8, 0.2], [0.2, 0.8]]
    one = coin.wait_or_act(np.eye(2), test, price=0.1)
    assert one.expected[0] == pytest.approx([0.5, 0.5, 0.7])  # right with 0.8, less the price
    assert coin.wait_or_act(np.eye(2), test, price=0.4).action == 0
    # two looks: after one the belief is 0.8, and a second cannot change the action
    two = coin.wait_or_act(np.eye(2), test, price=0.1, horizon=2)
    assert two.expected[0][2] == pytest.approx(0.7)
    three = coin.wait_or_act(np.eye(2), test, price=0.001, horizon=3)
    # the majority of three looks is right with 0.896; the third is saved if the first two agree (0.68)
    assert three.expected[0][2] == pytest.approx(0.896 - 0.001 * (2 + 0.32))


class Machine(DecideMixin):
    """Stands for a hidden Markov model: what the mixin asks of one."""

    transmat_ = np.array([[0.9, 0.1], [0.0, 1.0]])

    def filter(self, X, lengths=None):
        return np.array([[0.9, 0.1], [0.5, 0.5]])

    def predict_proba(self, X, lengths=None):
        return np.array([[0.2, 0.8], [0.5, 0.5]])


def test_mixin_decides_on_the_filtered_belief():
    repair = [[0, -3], [-10, -3]]
    model, X = Machine(), np.zeros((2, 1))
    assert model.decide(X, repair).action.tolist() == [1, 1]
    assert model.decide(X, repair, filtered=True, lengths=[2]).action.tolist() == [0, 1]
    later = model.decide(X, repair, filtered=True, ahead=3)
    assert_allclose(later.expected[:, 0], [-10 * (1 - 0.9**4), -10 * (1 - 0.5 * 0.9**3)])
    with pytest.raises(ValueError, match="filtered=True"):
        model.decide(X, repair, ahead=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BeliefState([0.5, 0.4], np.eye(2)), "sum to 0.9"),
        (lambda: BeliefState([0.5, 0.5], np.eye(3)), r"shape \(3, 3\), but there are 2 states"),
        (lambda: BeliefState([0.5, 0.5], [[0.5, 0.4], [0, 1]]), "of row 0 sum to 0.9"),
        (lambda: BeliefState([[0.5, 0.5]], np.eye(2)), "one row"),
        (lambda: RAIN.observe([0.0, 0.0]), "impossible"),
        (lambda: RAIN.observe([0.5, np.nan]), "none negative or NaN"),
        (lambda: RAIN.observe([0.5]), "each of the 2 states"),
        (lambda: RAIN.wait_or_act(np.eye(2), np.eye(3), 0.1), "3 rows, but there are 2 states"),
    ],
)
def test_clear_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
