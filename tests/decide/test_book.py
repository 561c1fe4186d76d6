"""Dutch books: every claim is checked by going through all worlds."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from latently.decide import Bet, coherence, dutch_book
from latently.decide.logic import parse, parse_belief


def truth(expression, world):
    return bool(expression.holds({name: np.array([value]) for name, value in world.items()})[0])


def worlds_of(beliefs):
    parsed = [parse_belief(text) for text in beliefs]
    names = sorted({name for pair in parsed for part in pair for name in part.names()})
    return [dict(zip(names, values, strict=True)) for values in product([True, False], repeat=len(names))]


def random_expression(rng, names, most):
    picked = rng.choice(names, size=rng.integers(1, most + 1), replace=False)
    text = ""
    for name in picked:
        operator = rng.choice([" & ", " | ", " -> ", " ^ ", " <-> "])
        text = (f"({text}){operator}" if text else "") + ("not " if rng.random() < 0.4 else "") + name
    return text


def random_beliefs(rng, d, n, *, noise, conditional=0.3):
    """Beliefs of a random distribution over worlds, with noise on top."""
    names = [f"p{i}" for i in range(d)]
    worlds, q = rng.random((40, d)) < 0.5, rng.dirichlet(np.full(40, 0.3))
    at = {name: worlds[:, i] for i, name in enumerate(names)}
    beliefs = {}
    for _ in range(n):
        text = random_expression(rng, names, min(d, 3))
        if rng.random() < conditional:
            text += " given " + random_expression(rng, names, min(d, 2))
        event, condition = (np.broadcast_to(part.holds(at), 40) for part in parse_belief(text))
        if q @ condition > 1e-3:
            value = q @ (event & condition) / (q @ condition)
            beliefs[text] = float(np.clip(value + noise * rng.normal(), 0, 1))
    return beliefs


def check_book(beliefs, book):
    assert book.loss > 0
    assert book.bets
    asked = []
    for world in worlds_of(beliefs):
        on = any(truth(parse_belief(bet.event)[1], world) for bet in book.bets)
        asked.append(on)
        if book.sure or on:
            assert book.payoff(world) <= -book.loss + 1e-12
    assert any(asked)
    for bet in book.bets:
        ends = np.broadcast_to(beliefs[bet.event], 2)
        assert bet.price == (ends[0] if bet.stake > 0 else ends[1])  # fair under the beliefs
        assert abs(bet.stake) <= 1 + 1e-12


def check_joint(beliefs, book):
    assert sum(book.joint.as_dict().values()) == pytest.approx(1)
    assert min(book.joint.as_dict().values()) >= 0
    for text, value in beliefs.items():
        condition = str(text).partition("given")[2] or "true"
        layer = next(layer for layer in book.layers if layer.probability(condition) > 1e-9)
        low, high = np.broadcast_to(value, 2)
        assert low - 1e-9 <= layer.probability(text) <= high + 1e-9


@settings(max_examples=700, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_incoherent_beliefs_lose_in_every_world_or_a_joint_agrees(seed):
    rng = np.random.default_rng(seed)
    d = rng.integers(1, 5)
    beliefs = random_beliefs(rng, d, rng.integers(1, 7), noise=0.1)
    if rng.random() < 0.3:  # all sorts of zeros and ones: conditions of probability zero
        beliefs = {text: float(rng.choice([0, 0.5, 1])) for text in beliefs}
    if rng.random() < 0.2:
        beliefs = {text: (value - 0.05, value + 0.05) for text, value in beliefs.items()}
    if not beliefs:
        return
    book = dutch_book(beliefs)
    (check_joint if book.coherent else check_book)(beliefs, book)
    if not book.coherent:
        assert dutch_book(book.nearest).coherent


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_coherent_beliefs_are_found_coherent(seed):
    rng = np.random.default_rng(seed)
    beliefs = random_beliefs(rng, rng.integers(1, 6), rng.integers(1, 9), noise=0)
    if beliefs:
        book = dutch_book(beliefs)
        assert book.coherent
        check_joint(beliefs, book)
        assert book.nearest == beliefs


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_nearest_beliefs_are_the_projection_and_beat_the_given_ones(seed):
    rng = np.random.default_rng(seed)
    beliefs = random_beliefs(rng, 3, rng.integers(2, 7), noise=0.3, conditional=0)
    book = dutch_book(beliefs)
    given_, near = np.array(list(beliefs.values())), np.array(list(book.nearest.values()))
    points = np.array([[truth(parse(t), w) for t in beliefs] for w in worlds_of(beliefs)], dtype=float)
    # squared error is no larger in any world (de Finetti)
    assert np.all(((points - near) ** 2).sum(1) <= ((points - given_) ** 2).sum(1) + 1e-9)
    if not book.coherent:
        other = minimize(
            lambda q: np.sum((q @ points - given_) ** 2),
            np.full(len(points), 1 / len(points)),
            jac=lambda q: 2 * points @ (q @ points - given_),
            bounds=[(0, 1)] * len(points),
            constraints={"type": "eq", "fun": lambda q: q.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert np.sum((near - given_) ** 2) <= other.fun + 1e-7
        assert_allclose(near, other.x @ points, atol=1e-3)


@pytest.fixture
def programs(monkeypatch):
    """The number of variables of every linear program that is solved."""
    sizes, solve = [], coherence._solve

    def counted(cost, *given, **named):
        sizes.append(len(cost))
        return solve(cost, *given, **named)

    monkeypatch.setattr(coherence, "_solve", counted)
    return sizes


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_twenty_propositions_and_fifty_beliefs_need_few_worlds(noise, programs):
    rng = np.random.default_rng(5)
    beliefs = random_beliefs(rng, 20, 50, noise=noise)
    assert len(beliefs) == 50
    book = dutch_book(beliefs)
    assert len(programs) < 300
    assert max(programs) < 2000  # of 2^20 worlds
    assert book.coherent == (noise == 0)
    if book.coherent:
        for text, value in beliefs.items():
            assert book.joint.probability(text) == pytest.approx(value, abs=1e-9)
        return
    # all 2^20 worlds, a million at a time
    bits = (np.arange(2**20)[:, None] >> np.arange(20)) & 1 == 1
    at = {f"p{i}": bits[:, i] for i in range(20)}
    total = np.zeros(2**20)
    for bet in book.bets:
        event, condition = (part.holds(at) for part in parse_belief(bet.event))
        total += np.where(condition, np.where(event, bet.if_true, bet.if_false), 0.0)
    assert total.max() <= -book.loss + 1e-9
    assert book.loss > 0.01


def test_the_bet_of_the_notes():
    bet = Bet.on("x", 0.9, win=1)
    assert bet.if_true == pytest.approx(1)
    assert bet.if_false == pytest.approx(-9)
    # at 0.9 for x and 0.9 for its opposite both bets are taken, and 8 is lost either way
    other = Bet.on("not x", 0.9, win=1)
    for world in ({"x": True}, {"x": False}):
        assert bet.payoff(world) + other.payoff(world) == pytest.approx(-8)
    book = dutch_book({"x": 0.9, "not x": 0.9}, stake=10)
    assert book.loss == pytest.approx(8)
    assert sorted(b.stake for b in book.bets) == pytest.approx([10, 10])
    assert book.nearest == pytest.approx({"x": 0.5, "not x": 0.5})


def test_product_rule_violated():
    # p(rain & cold) must be 0.6 * 0.5 = 0.3
    beliefs = {"cold": 0.6, "rain given cold": 0.5, "rain & cold": 0.4}
    book = dutch_book(beliefs)
    assert not book.coherent
    check_book(beliefs, book)
    assert dutch_book({**beliefs, "rain & cold": 0.3}).coherent


def test_linda():
    # a conjunction more probable than its part
    beliefs = {"teller": 0.1, "teller & feminist": 0.3}
    book = dutch_book(beliefs)
    assert book.loss == pytest.approx(0.2)
    assert book.nearest == pytest.approx({"teller": 0.2, "teller & feminist": 0.2})


def test_odds_and_intervals():
    assert dutch_book({"a": "3:1", "not a": "3:1 against"}).coherent
    assert dutch_book({"a": "3 to 1"}).joint.probability("a") == pytest.approx(0.75)
    assert dutch_book({"a": (0.2, 0.4), "not a": (0.7, 0.9)}).coherent
    book = dutch_book({"a": (0.5, 0.6), "not a": (0.6, 0.9)})
    assert book.loss == pytest.approx(0.1)  # both tickets are bought at 0.5 and 0.6
    turned = dutch_book({"a": (0.6, 0.4)})  # buys at 0.6 what it sells at 0.4
    assert turned.loss == pytest.approx(0.2)


def test_beliefs_outside_zero_and_one_are_their_own_book():
    for value, gain in ((1.2, 0.2), (-0.1, 0.1)):
        book = dutch_book({"a": value})
        assert book.loss == pytest.approx(gain)
        assert book.nearest["a"] == pytest.approx(np.clip(value, 0, 1))


def test_contradictions_and_tautologies():
    assert dutch_book({"a & not a": 0.0, "a | not a": 1.0}).coherent
    book = dutch_book({"a & not a": 0.3})
    assert book.loss == pytest.approx(0.3)
    assert book.nearest["a & not a"] == pytest.approx(0)
    assert dutch_book({"true": 0.9}).loss == pytest.approx(0.1)


def test_conditions_of_probability_zero():
    # nothing is ever paid if b is false, and something is always lost if it is true
    book = dutch_book({"a given b": 0.5, "not a given b": 0.6})
    assert not book.coherent
    assert not book.sure
    assert book.payoff({"a": True, "b": True}) == pytest.approx(-0.1)
    assert book.payoff({"a": True, "b": False}) == 0
    # coherent: a further layer says what to believe should b happen after all
    book = dutch_book({"b": 0.0, "a given b": 0.25})
    assert book.coherent
    assert len(book.layers) == 2
    assert book.layers[1].probability("a given b") == pytest.approx(0.25)


def test_groups_that_share_nothing_are_kept_apart(programs):
    beliefs = {f"p{i} {op} q{i}": 0.5 for i in range(30) for op in ("&", "|")}
    book = dutch_book(beliefs)
    assert max(programs) <= 4 + 3 * 2  # four worlds, and what two beliefs may be off by
    assert {len(names) for names, _, _ in book.joint.groups} == {2}
    assert book.coherent
    assert book.joint.probability("p3 & q3 & p9") == pytest.approx(0.5 * book.joint.probability("p9"))


def test_losses_of_groups_that_share_nothing_add_up():
    beliefs = {"a": 0.6, "not a": 0.6, "b": 0.9, "not b": 0.5, "c": 0.3}
    book = dutch_book(beliefs)
    assert book.loss == pytest.approx(0.2 + 0.4)
    check_book(beliefs, book)
    worst = max(book.payoff(world) for world in worlds_of(beliefs))
    assert worst == pytest.approx(-0.6)
    # bets that may all be called off: only the smallest loss is certain, where one of them is not
    book = dutch_book({"a given b": 0.5, "not a given b": 0.8, "c given d": 0.5, "not c given d": 0.6})
    assert not book.sure
    assert book.loss == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("a & b", [1, 0, 0, 0]),
        ("a and not b", [0, 1, 0, 0]),
        ("a or b", [1, 1, 1, 0]),
        ("a | b & not a", [1, 1, 1, 0]),
        ("(a | b) & not a", [0, 0, 1, 0]),
        ("a -> b", [1, 0, 1, 1]),
        ("a implies b implies a", [1, 1, 1, 1]),
        ("a iff b", [1, 0, 0, 1]),
        ("a xor b", [0, 1, 1, 0]),
        ("~a ∧ ¬b", [0, 0, 0, 1]),
        ("!a || b && a", [1, 0, 1, 1]),
        ('"a" <-> false', [0, 0, 1, 1]),
    ],
)
def test_logic(text, table):
    expression = parse(text)
    assert [truth(expression, {"a": a, "b": b}) for a, b in product([True, False], repeat=2)] == table


@pytest.mark.parametrize(
    ("beliefs", "message"),
    [
        ({}, "no beliefs"),
        ({"a": np.nan}, "'a' is nan"),
        ({"a": (0.1, 0.2, 0.3)}, "a pair"),
        ({"a": "good odds"}, "write them as"),
        ({"a": "0:0"}, "write them as"),
        ({"a &": 0.5}, "it ends where"),
        ({"a b": 0.5}, "'b' is not expected"),
        ({"(a": 0.5}, "not closed"),
        ({"a & ) b": 0.5}, "not expected"),
        ({"a # b": 0.5}, "from '# b' on"),
        ({"a given b given c": 0.5}, "at most one"),
        ({"": 0.5}, "it ends where"),
        ({"a given b & not b": 0.5}, "can never be true"),
    ],
)
def test_clear_errors(beliefs, message):
    with pytest.raises(ValueError, match=message):
        dutch_book(beliefs)


def test_more_clear_errors():
    with pytest.raises(ValueError, match="stake"):
        dutch_book({"a": 0.5}, stake=0)
    with pytest.raises(ValueError, match="no proposition 'z'"):
        dutch_book({"a": 0.5}).joint.probability("z")
    with pytest.raises(ValueError, match="probability zero"):
        dutch_book({"a": 0.0, "b": 0.5}).joint.probability("b given a")
    with pytest.raises(ValueError, match="below 1"):
        Bet.on("x", 1.0)
