"""Drift: found where it was planted, in the column it was planted in, and not where there is none."""

from typing import Any

import numpy as np
import pytest

from latently.report import compare
from latently.report.drift_test import permuted


def _table(rng: np.random.Generator, n: int = 300) -> dict[str, Any]:
    a = rng.normal(size=n)
    return {
        "a": a,
        "b": 2 * a + 0.5 * rng.normal(size=n),
        "c": rng.choice(["x", "y", "z"], n, p=[0.6, 0.3, 0.1]),
        "d": np.where(rng.random(n) < 0.1, np.nan, rng.exponential(size=n)),
    }


def _changed(found: dict[str, Any]) -> set[str]:
    return {column["column"] for column in found["columns"] if column["changed"]}


def test_no_alarm_where_nothing_changed() -> None:
    alarms = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        alarms += compare(_table(rng, 100), _table(rng, 100), seed=seed, permutations=99)["p_value"] <= 0.05
    assert alarms <= 5  # of 30 at 5 %: more than 5 has a probability of 0.3 %


@pytest.mark.parametrize("what", ["a shift", "a spread", "shares", "a new level", "absent"])
def test_what_was_planted_is_found_in_its_column(what: str) -> None:
    rng = np.random.default_rng(1)
    old, new = _table(rng), _table(rng)
    if what == "a shift":
        new["d"] = new["d"] + 0.6
    elif what == "a spread":
        new["d"] = 1 + 2.5 * (new["d"] - 1)
    elif what == "shares":
        new["c"] = rng.choice(["x", "y", "z"], 300, p=[0.3, 0.3, 0.4])
    elif what == "a new level":
        new["c"] = np.where(rng.random(300) < 0.1, "w", new["c"])
    else:
        new["d"] = np.where(rng.random(300) < 0.35, np.nan, new["d"])
    found = compare(old, new)
    assert _changed(found) == {"c" if what in ("shares", "a new level") else "d"}
    assert found["p_value"] <= 0.01
    if what == "a new level":
        assert found["columns"][0]["new_levels"] == ["w"]


def test_a_broken_relation_is_found_though_no_column_changed_alone() -> None:
    rng = np.random.default_rng(2)
    old, new = _table(rng), _table(rng)
    new["b"] = rng.permutation(new["b"])
    found = compare(old, new)
    assert found["fall"] > 0.3
    assert found["p_value"] == found["p_together"] <= 0.01
    assert _changed(found) == set()
    assert "go together" in found["text"]


def test_the_same_seed_gives_the_same_answer() -> None:
    rng = np.random.default_rng(3)
    old, new = _table(rng, 80), _table(rng, 80)
    assert compare(old, new, seed=4, permutations=99) == compare(old, new, seed=4, permutations=99)


def test_columns_without_a_partner_and_of_another_kind_are_told() -> None:
    n = 60
    rng = np.random.default_rng(4)
    old = {"a": rng.normal(size=n), "k": rng.normal(size=n), "gone": range(n), "id": [f"r{i}" for i in range(n)]}
    new = {"a": rng.normal(size=n), "k": ["x", "y"] * 30, "fresh": range(n), "id": [f"s{i}" for i in range(n)]}
    found = compare(old, new, permutations=99)
    assert (found["only_old"], found["only_new"]) == (["gone"], ["fresh"])
    assert {left["column"] for left in found["left_out"]} == {"k", "id"}


def test_too_few_rows_and_nothing_in_common_are_errors() -> None:
    with pytest.raises(ValueError, match="the new table has 3 rows"):
        compare({"a": np.arange(50.0)}, {"a": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="no column in common"):
        compare({"a": np.arange(50.0)}, {"b": np.arange(50.0)})


def test_p_values_are_those_of_all_permutations() -> None:
    # with 3 and 3 rows there are 20 ways; the observed split is the most extreme of them, and so is its mirror image
    X = np.array([[1.0], [2.0], [3.0], [10.0], [11.0], [12.0]])
    found = permuted(X, np.array([0]), 3, 4999, np.random.default_rng(0))
    assert abs(found.p[0] - 2 / 20) < 0.015
    assert found.adjusted == pytest.approx(found.p)


def test_adjusted_p_values_are_those_of_the_smallest_of_all() -> None:
    # of m independent columns, the smallest p-value is at most p with probability 1 - (1 - p)^m
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    X[30:, 0] += 0.75
    found = permuted(X, np.arange(8), 30, 4999, rng)
    assert 0.001 < found.p[0] < 0.05
    assert found.adjusted[0] == pytest.approx(1 - (1 - found.p[0]) ** 8, rel=0.2)
    assert all(adjusted >= p for adjusted, p in zip(found.adjusted, found.p, strict=True))


def test_a_column_counts_as_changed_by_the_adjusted_p_value() -> None:
    rng = np.random.default_rng(3)
    old, new = ({f"c{j}": rng.normal(size=60) for j in range(12)} for _ in range(2))
    found = compare(old, new)
    assert any(column["p_value"] <= 0.1 for column in found["columns"])
    for column in found["columns"]:
        assert column["changed"] == (column["adjusted"] <= 0.04)
        assert column["adjusted"] > column["p_value"]


def test_the_fall_of_the_likelihood_is_that_of_old_over_new_rows() -> None:
    rng = np.random.default_rng(4)
    found = compare({"a": rng.normal(size=4000)}, {"a": rng.normal(size=4000) + 1.0})
    # of two normal distributions one apart: half a nat, for the column and for the row
    assert found["fall"] == pytest.approx(0.5, abs=0.08)
    assert found["columns"][0]["fall"] == pytest.approx(0.5, abs=0.08)


def test_halves_of_one_table_do_not_differ_by_a_column_of_many_levels() -> None:
    """Levels that are frequent in one half are less so in the other, by chance alone."""
    alarms = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        words = np.array([f"level {i}" for i in rng.integers(0, 60, size=400)])
        x = rng.normal(size=400)
        halves = [{"word": words[part].tolist(), "x": x[part]} for part in (slice(0, 200), slice(200, 400))]
        alarms += compare(*halves, seed=seed, permutations=199)["p_value"] <= 0.05
    assert alarms <= 4  # 5 % are one; four or fewer have a probability of 99.7 %


def test_halves_of_one_table_do_not_differ_by_whether_a_column_is_compared() -> None:
    """Where about half of the rows have a level of their own, chance decides which half has more levels."""
    alarms = 0
    species = np.array(["human"] * 44 + [f"species {k}" for k in range(46)])
    for seed in range(30):
        rng = np.random.default_rng(seed)
        words, x = rng.permutation(species), rng.normal(size=90)
        halves = [{"species": words[part].tolist(), "x": x[part]} for part in (slice(0, 45), slice(45, 90))]
        alarms += compare(*halves, seed=seed, permutations=199)["p_value"] <= 0.05
    assert alarms <= 5  # 5 % are one or two; five or fewer have a probability of 99.7 %


def test_a_column_whose_new_values_are_all_different_is_named() -> None:
    old = {"a": ["x", "y"] * 50, "b": np.arange(100.0)}
    (left,) = compare(old, {"a": [f"v{k}" for k in range(100)], "b": np.arange(100.0)})["left_out"]
    assert left["text"] == "is different in most rows of the new table, so there is nothing to compare"


def test_a_change_of_one_column_among_many_is_found() -> None:
    rng = np.random.default_rng(0)
    old, new = ({f"c{j}": rng.normal(size=300) for j in range(120)} for _ in range(2))
    new["c7"] += 3.0
    found = compare(old, new)
    assert [column["column"] for column in found["columns"] if column["changed"]] == ["c7"]
    assert found["p_value"] <= 0.01


def test_many_owners_give_no_more_false_alarms_than_one() -> None:
    rng = np.random.default_rng(1)
    alarms = sum(
        min(permuted(rng.standard_t(3, size=(40, 60)), np.arange(60), 20, 99, rng).adjusted) <= 0.05 for _ in range(200)
    )
    assert 2 <= alarms <= 19  # 10 of 200 expected: binomial limits of 1 in 1000 on each side
