"""Joints against full tables, and against numbers from books."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import mutual_info_score

from latently.infer import Conditional, Joint
from latently.infer.joint import eliminate


@pytest.fixture
def cells(monkeypatch):
    """The number of cells of every table that is made on the way to an answer."""
    sizes, multiply = [], eliminate.multiply

    def counted(*given):
        table = multiply(*given)
        sizes.append(table.size)
        return table

    monkeypatch.setattr(eliminate, "multiply", counted)
    return sizes


def random_network(seed, n=5):
    """A random directed network, its joint, and its full table made without us."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, size=n)
    names = [f"v{i}" for i in range(n)]
    joint, table = None, np.ones([1] * n)
    for i in range(n):
        parents = [j for j in range(i) if rng.random() < 0.5]
        cpt = rng.dirichlet(np.ones(sizes[i]), size=[sizes[j] for j in parents])
        shape = [sizes[j] if j in (*parents, i) else 1 for j in range(n)]
        table = table * cpt.reshape(shape)
        part = Conditional({names[i]: range(sizes[i])}, {names[j]: range(sizes[j]) for j in parents}, cpt)
        joint = Joint({names[i]: range(sizes[i])}, cpt) if joint is None else joint * part
    return joint, table, names


seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_elimination_agrees_with_full_table(seed):
    joint, table, names = random_network(seed)
    rng = np.random.default_rng(seed)
    assert_allclose(joint.table(), table, rtol=1e-12, atol=1e-15)
    keep = rng.permutation(len(names))[: rng.integers(1, 4)]
    away = tuple(i for i in range(len(names)) if i not in keep)
    expected = np.einsum(table.sum(axis=away), sorted(keep), list(keep))
    assert_allclose(joint.marginal(*(names[i] for i in keep)).table(), expected, rtol=1e-12, atol=1e-15)


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_order_of_evidence_does_not_matter(seed):
    joint, table, names = random_network(seed)
    drawn = joint.sample(1, random_state=seed)
    evidence = {name: int(drawn[name][0]) for name in names[1:4]}
    answers = []
    for order in permutations(evidence):
        after = joint
        for name in order:
            after = after.condition({name: evidence[name]})
        answers.append(after.table())
    at = (slice(None), *evidence.values(), slice(None))
    expected = table[at] / table[at].sum()
    for answer in [*answers, joint.condition(evidence).table()]:
        assert_allclose(answer, expected, rtol=1e-10, atol=1e-14)


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_map_entropy_kl_and_information_agree_with_full_table(seed):
    joint, table, names = random_network(seed)
    values, probability = joint.map()
    assert_allclose(probability, table.max(), rtol=1e-10)
    assert_allclose(table[tuple(values[n] for n in names)], table.max(), rtol=1e-10)
    assert_allclose(joint.entropy(), stats.entropy(table.ravel()), rtol=1e-9, atol=1e-12)
    pair = table.sum(axis=(0, 2, 3))
    some = joint.map("v1", "v4")
    assert_allclose(some.probability, pair.max(), rtol=1e-10)
    outer = pair.sum(1, keepdims=True) * pair.sum(0, keepdims=True)
    expected = stats.entropy(pair.ravel(), outer.ravel())
    assert_allclose(joint.mutual_information("v1", "v4"), expected, atol=1e-12)
    uniform = Joint(joint.variables, np.full(table.shape, 1 / table.size))
    expected = stats.entropy(table.ravel(), np.full(table.size, 1 / table.size))
    assert_allclose(joint.kl_divergence(uniform), expected, atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_product_rule_rebuilds_the_joint(seed):
    joint, table, names = random_network(seed)
    first = joint.marginal(*names[:2])
    rest = joint.conditional(names[2:], names[:2])
    assert_allclose((first * rest).table(), table, rtol=1e-10, atol=1e-14)


def chain(n, stay=0.9):
    joint = Joint({"x0": [0, 1]}, [0.3, 0.7])
    for i in range(1, n):
        joint *= Conditional({f"x{i}": [0, 1]}, {f"x{i - 1}": [0, 1]}, [[stay, 1 - stay], [0.2, 0.8]])
    return joint


def test_chain_of_thirty_is_small_tables(cells):
    joint = chain(30)
    last = joint.marginal("x29").table()
    back = joint.condition(x29=1).marginal("x0").table()
    assert len(cells) < 100
    assert max(cells) <= 8  # never one of 2^30
    power = np.linalg.matrix_power([[0.9, 0.1], [0.2, 0.8]], 29)
    assert_allclose(last, np.array([0.3, 0.7]) @ power, rtol=1e-12)
    joint_ends = np.array([0.3, 0.7])[:, None] * power
    assert_allclose(back, joint_ends[:, 1] / joint_ends[:, 1].sum(), rtol=1e-12)
    # chain rule: H(x0) + 29 terms H(x_i | x_{i-1})
    p, entropy = np.array([0.3, 0.7]), stats.entropy([0.3, 0.7])
    for _ in range(29):
        entropy += p @ [stats.entropy([0.9, 0.1]), stats.entropy([0.2, 0.8])]
        p = p @ [[0.9, 0.1], [0.2, 0.8]]
    assert_allclose(joint.entropy(), entropy, rtol=1e-10)
    assert joint.independent("x0", "x2", given="x1")
    assert not joint.independent("x0", "x2")


def test_chain_of_two_thousand_does_not_underflow():
    joint = chain(2000)
    assert_allclose(joint.marginal("x1999").table(), [2 / 3, 1 / 3], rtol=1e-12)  # stationary
    assert joint.map().probability == pytest.approx(0.3 * 0.9**1999, rel=1e-8, abs=0)


def grid_potentials(n, seed):
    rng = np.random.default_rng(seed)
    names = {(i, j): f"s{i}{j}" for i in range(n) for j in range(n)}
    pairs = [((i, j), (i + 1, j)) for i in range(n - 1) for j in range(n)]
    pairs += [((i, j), (i, j + 1)) for i in range(n) for j in range(n - 1)]
    return {n: [0, 1] for n in names.values()}, {(names[a], names[b]): rng.random((2, 2)) for a, b in pairs}


def test_grid_of_three_agrees_with_all_512_worlds():
    variables, potentials = grid_potentials(3, 1)
    weights = {}
    for world in product([0, 1], repeat=9):
        at = dict(zip(variables, world, strict=True))
        weights[world] = np.prod([t[at[a], at[b]] for (a, b), t in potentials.items()])
    joint = Joint.from_potentials(variables, potentials)
    expected = sum(w for world, w in weights.items() if world[0] == 1) / sum(weights.values())
    assert_allclose(joint.probability(s00=1), expected, rtol=1e-12)
    best = max(weights, key=weights.get)
    assert tuple(joint.map().values.values()) == best


def test_grid_of_five_is_tables_as_wide_as_a_row(cells):
    variables, potentials = grid_potentials(5, 2)
    joint = Joint.from_potentials(variables, potentials)
    corner, middle = joint.probability(s00=1), joint.condition(s44=1, s04=0).marginal("s22").table()
    joint.map()
    assert len(cells) <= 6 * 25  # one for each variable and question
    assert max(cells) <= 2**7  # never one of 2^25
    # the same by passing a whole row of 32 states along, as for a chain
    states = np.array(list(product([0, 1], repeat=5)))
    message = np.ones(32)
    for i in range(4, -1, -1):
        within = np.ones(32)
        for j in range(4):
            within *= potentials[f"s{i}{j}", f"s{i}{j + 1}"][states[:, j], states[:, j + 1]]
        row = within * message
        if i:
            across = np.ones((32, 32))
            for j in range(5):
                across *= potentials[f"s{i - 1}{j}", f"s{i}{j}"][states[:, None, j], states[None, :, j]]
            message = across @ row
    assert_allclose(corner, row[states[:, 0] == 1].sum() / row.sum(), rtol=1e-10)
    assert_allclose(middle.sum(), 1)


def test_medical_test_by_three_roads():
    # MacKay, exercise 2.? style: 95 % sensitivity and specificity, 1 % prevalence: 0.0095 / (0.0095 + 0.0495)
    exact = 0.0095 / 0.059
    test = Conditional({"test": "+-"}, {"ill": [1, 0]}, [[0.95, 0.05], [0.05, 0.95]])
    prior = Joint({"ill": [1, 0]}, [0.01, 0.99])
    assert_allclose(Joint.bayes(prior, test, test="+").probability(ill=1), exact, rtol=1e-14)
    assert_allclose(Joint.bayes(prior, [0.95, 0.05]).probability(ill=1), exact, rtol=1e-14)
    by_name = Joint.bayes({"ill": 0.01, "well": 0.99}, {"well": 0.05, "ill": 0.95})
    assert_allclose(by_name.as_dict()["ill"], exact, rtol=1e-14)
    assert by_name.as_dict().keys() == {"ill", "well"}


def test_bayes_twice_is_bayes_once():
    once = Joint.bayes({"a": 0.2, "b": 0.8}, {"a": 0.5 * 0.3, "b": 0.1 * 0.9})
    twice = Joint.bayes(Joint.bayes({"a": 0.2, "b": 0.8}, {"a": 0.5, "b": 0.1}), {"a": 0.3, "b": 0.9})
    assert_allclose(once.table(), twice.table(), rtol=1e-14)


def test_explaining_away():
    # two independent causes become dependent once their common effect is seen
    both = Joint({"a": [0, 1]}, [0.9, 0.1]) * Joint({"b": [0, 1]}, [0.8, 0.2])
    both *= Conditional({"c": [0, 1]}, {"a": [0, 1], "b": [0, 1]}, [[[1, 0], [0, 1]], [[0, 1], [0, 1]]])
    assert both.independent("a", "b")
    assert not both.independent("a", "b", given="c")
    assert both.condition(c=1).probability(a=1) == pytest.approx(0.1 / 0.28)
    assert both.condition(c=1, b=1).probability(a=1) == pytest.approx(0.1)


def test_sample_has_the_frequencies_of_the_table():
    joint, table, names = random_network(11)
    drawn = joint.sample(20_000, random_state=3)
    counts = np.zeros(table.shape)
    np.add.at(counts, tuple(drawn[n] for n in names), 1)
    seen = table.ravel() > 0
    assert counts.ravel()[~seen].sum() == 0
    rare = table.ravel()[seen] * 20_000 < 5
    chi = stats.chisquare(
        np.append(counts.ravel()[seen][~rare], counts.ravel()[seen][rare].sum() + 1e-9),
        np.append(table.ravel()[seen][~rare], table.ravel()[seen][rare].sum() + 1e-9 / 20_000) * 20_000,
    )
    assert chi.pvalue > 1e-4


def test_sample_keeps_the_types_of_values():
    joint = Joint({"a": ["x", "y"], "b": [1, "one"], "c": [(1, 2), (3, 4)]}, np.full((2, 2, 2), 1 / 8))
    drawn = joint.sample(50, random_state=0)
    assert set(drawn["a"]) == {"x", "y"}
    assert set(drawn["b"]) == {1, "one"}
    assert set(drawn["c"]) == {(1, 2), (3, 4)}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_from_frame_counts_rows(make):
    columns = {"sky": ["grey", "blue", "grey", "grey"], "wet": [True, False, False, True]}
    joint = Joint.from_frame(make(columns))
    assert joint.variables == {"sky": ("blue", "grey"), "wet": (False, True)}
    assert_allclose(joint.table(), [[0.25, 0], [0.25, 0.5]])
    expected = mutual_info_score(columns["sky"], columns["wet"])
    assert joint.mutual_information("sky", "wet") == pytest.approx(expected)
    smooth = Joint.from_frame(make(columns), prior=1)
    assert_allclose(smooth.table(), np.array([[2, 1], [2, 3]]) / 8)


def test_from_frame_weights_are_repeats():
    rows = {"a": [0, 1, 1], "b": ["x", "y", "x"]}
    repeated = {"a": [0, 0, 1, 1, 1], "b": ["x", "x", "y", "y", "x"]}
    left, right = Joint.from_frame(rows, weights=[2, 2, 1]), Joint.from_frame(repeated)
    assert_allclose(left.table(), right.table())


def test_forty_columns_stay_sparse():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, size=(500, 40)), columns=[f"c{i}" for i in range(40)])
    joint = Joint.from_frame(frame)
    at = (frame.c3 == 1) & (frame.c7 == 2)
    assert_allclose(joint.probability(c3=1, c7=2), at.mean(), rtol=1e-12)
    seen = frame[at].c11.value_counts(normalize=True).sort_index()
    assert_allclose(joint.condition(c3=1, c7=2).marginal("c11").table(), seen, rtol=1e-12)
    assert_allclose(joint.entropy(), np.log(500), rtol=1e-12)  # 500 rows, all different
    drawn = joint.condition(c0=0).sample(20, random_state=0)
    rows = {tuple(row) for row in frame[frame.c0 == 0].iloc[:, 1:].itertuples(index=False)}
    assert all(tuple(row) in rows for row in np.column_stack([drawn[f"c{i}"] for i in range(1, 40)]))
    # a dense factor on top, with a new variable
    more = joint * Conditional({"y": [0, 1]}, {"c3": [0, 1, 2]}, [[1, 0], [0.5, 0.5], [0, 1]])
    expected = (frame.c3 == 1).mean() / 2 + (frame.c3 == 2).mean()
    assert_allclose(more.probability(y=1), expected, rtol=1e-12)
    assert_allclose(more.condition(y=0).probability(c3=2), 0, atol=1e-15)
    assert more.map().probability > 0
    assert_allclose(joint.kl_divergence(joint), 0, atol=1e-12)
    with pytest.raises(ValueError, match="one table of"):
        joint.table()
    with pytest.raises(ValueError, match="one table of"):
        Joint.from_frame(frame, prior=1)


def test_product_of_two_sparse_joints():
    a = Joint({"a": range(100), "b": range(100)}, {(3, 4): 0.5, (7, 8): 0.5})
    b = Joint({"c": range(100), "d": range(100)}, {(1, 1): 0.25, (2, 2): 0.75})
    both = a * b
    assert both.probability(a=3, c=2) == pytest.approx(0.375)
    assert both.map("d", "b").values["d"] == 2
    assert both.marginal("b", "c").as_dict() == pytest.approx(
        {(4, 1): 0.125, (4, 2): 0.375, (8, 1): 0.125, (8, 2): 0.375}
    )
    assert both.kl_divergence(both) == pytest.approx(0, abs=1e-12)
    other = Joint({"a": range(100), "b": range(100)}, {(3, 4): 1.0})
    assert a.kl_divergence(other) == np.inf
    assert other.kl_divergence(a) == pytest.approx(np.log(2))


def test_from_counts_is_the_mean_of_the_dirichlet_posterior():
    counts, prior = np.array([3.0, 0, 5]), np.array([0.5, 1, 2])
    joint = Joint.from_counts({"v": "abc"}, counts, prior)
    assert_allclose(joint.table(), stats.dirichlet(counts + prior).mean(), rtol=1e-14)


def test_event_may_be_a_list_of_values():
    die = Joint({"face": range(1, 7)}, np.full(6, 1 / 6))
    assert die.probability(face=[2, 4, 6]) == pytest.approx(0.5)
    even = die.condition(face={2, 4, 6})
    assert even.as_dict()[2] == pytest.approx(1 / 3)
    assert even.probability(face=3) == 0


# -- bad input


def test_probabilities_that_do_not_sum_to_one():
    with pytest.raises(ValueError, match=r"sum to 0\.9, 0\.1 short"):
        Joint({"a": [0, 1]}, [0.5, 0.4])
    with pytest.raises(ValueError, match=r"of row b='x' sum to 1\.1, 0\.1 too much"):
        Conditional({"a": [0, 1]}, {"b": ["w", "x"]}, [[0.5, 0.5], [0.5, 0.6]])


@pytest.mark.parametrize("bad", [-0.1, np.nan, np.inf])
def test_probabilities_that_are_none(bad):
    with pytest.raises(ValueError, match="at a=1: none may be negative, NaN or inf"):
        Joint({"a": [0, 1]}, [0.5, bad])
    with pytest.raises(ValueError, match="none may be negative, NaN or inf"):
        Joint({"a": [0, 1]}, {0: 0.5, 1: bad})


def test_impossible_evidence():
    joint = Joint({"a": [0, 1], "b": [0, 1]}, [[0.5, 0], [0, 0.5]])
    with pytest.raises(ValueError, match="condition on a=0, b=1: it has probability zero"):
        joint.condition(a=0, b=1)
    with pytest.raises(ValueError, match="probability zero"):
        Joint({"a": [0, 1], "b": [0, 1]}, [[0.5, 0.5], [0, 0]]).conditional("b", "a")
    with pytest.raises(ValueError, match="impossible under every hypothesis"):
        Joint.bayes({"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0})
    with pytest.raises(ValueError, match="contradict"):
        Joint.from_potentials({"a": [0, 1]}, {"a": [0, 0]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda j: j.condition(c=1), "no variable 'c': there are 'a', 'b'"),
        (lambda j: j.condition(a=7), "variable 'a' has no value 7: it has 0, 1"),
        (lambda j: j.marginal("z"), "no variable 'z'"),
        (lambda j: j.marginal("a", "a"), "named twice"),
        (lambda j: j * Joint({"a": [0]}, [1.0]), "'a' has a distribution already"),
        (lambda j: j * Conditional({"c": [0]}, {"a": ["x"]}, [[1.0]]), "the values of 'a' differ"),
        (lambda j: j.kl_divergence(Joint({"a": [0]}, [1.0])), "same variables"),
        (lambda j: Joint({"a": []}, []), "has no values"),
        (lambda j: Joint({"a": [1, 1]}, [0.5, 0.5]), "value 1 twice"),
        (lambda j: Joint({"a": [0, 1]}, [1.0]), r"shape \(1,\), but the variables need \(2,\): a \(2\)"),
        (lambda j: Joint({"a": [0], "b": [0]}, {0: 1.0, (0, 0, 0): 2.0}), "names"),
        (lambda j: Joint.from_counts({"a": [0, 1]}, [0, 0], prior=0), "every count is zero"),
        (lambda j: Joint.from_counts({"a": [0, 1]}, [1, 0], prior=[1, 2, 3]), "prior has shape"),
        (lambda j: Joint.from_counts({"a": [0, 1]}, [1, 0], prior=-1), "pseudo-counts"),
        (lambda j: Joint.bayes({"a": 0.5, "b": 0.5}, {"a": 1.0}), "lacks hypothesis 'b'"),
        (lambda j: Joint.from_frame({"a": [1, None]}), "column 'a' has missing values"),
        (lambda j: Joint.from_frame({"a": [None]}, missing="drop"), "nothing to count"),
        (lambda j: Joint.from_frame({"a": [1]}, ["b"]), "column 'b' is not in the table"),
        (lambda j: Joint.from_frame({"a": [1]}, weights=[-1]), "weights"),
        (lambda j: Joint.from_frame({"a": [1]}, missing="guess"), "missing must be one of"),
        (lambda j: Joint.from_frame({"a": [1], "b": [1, 2]}), "differ in length"),
    ],
)
def test_clear_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call(Joint({"a": [0, 1], "b": [0, 1]}, [[0.5, 0], [0, 0.5]]))


def test_missing_values_of_a_frame():
    frame = pd.DataFrame({"a": ["x", None, "x", "y"], "b": [1.0, 2.0, np.nan, 1.0]})
    assert_allclose(Joint.from_frame(frame, missing="drop").table(), [[0.5, 0], [0.5, 0]])
    kept = Joint.from_frame(frame, missing="value")
    assert kept.variables == {"a": ("x", "y", None), "b": (1.0, 2.0, None)}
    assert kept.probability(b=None) == pytest.approx(0.25)
