"""A file that is sorted by some of its columns has independent rows, and its dependences are found."""

import numpy as np
import pandas as pd
import pytest

from latently.report import explore
from latently.report.study.rows.sorting import sort_keys


def found_in(table, **how):
    return explore(pd.DataFrame(table), **how).to_dict()["insights"]


def names_of(insights, kind="dependency"):
    return [set(each["columns"]) for each in insights if each["finding"] == kind]


def test_keys_are_found_one_within_the_other():
    sex, age = np.repeat([1.0, 0.0], 40), np.tile(np.repeat([2.0, 0.0, 1.0, 3.0], 10), 2)
    noise = np.random.default_rng(0).normal(size=80)
    found = sort_keys([noise, age, sex], [False, True, True])
    assert found.keys == found.named == (2, 1)
    assert sorted(np.bincount(found.stretches)) == [10] * 8


def test_a_column_that_follows_from_a_key_is_not_named():
    city = np.repeat(np.arange(5.0), 20)
    found = sort_keys([city, city // 3], [True, True])
    assert found.keys == (0, 1)
    assert found.named == (0,)


def test_a_random_order_has_no_keys():
    rng = np.random.default_rng(0)
    assert sort_keys([rng.normal(size=100), rng.integers(4, size=100) * 1.0], [False, True]) is None


def test_a_number_that_differs_by_the_class_that_sorts_the_table():
    """Of six feeds of twelve chicks (a standard deviation of 50): group means 100 apart between the ends."""
    rng = np.random.default_rng(1)
    feed = np.repeat(["linseed", "meat", "soy", "casein", "bean", "seed"], 12)
    weight = rng.normal(250, 50, 72) + np.repeat([-30, 20, 0, 70, -90, 60], 12)
    insights = found_in({"weight": weight, "feed": feed})
    assert insights[0]["finding"] == "dependency"
    assert {"weight", "feed"} == set(insights[0]["columns"])
    order = next(each for each in insights if each["finding"] == "order")
    assert "sorted by feed" in order["text"]


def test_a_table_of_counts_written_out_row_by_row():
    """Hair and eyes, 592 rows in the order of a cross table; Pearson's chi-square of the two is 138 with 9 degrees."""
    counts = {
        ("black", "brown"): 68, ("black", "blue"): 20, ("black", "hazel"): 15, ("black", "green"): 5,
        ("brown", "brown"): 119, ("brown", "blue"): 84, ("brown", "hazel"): 54, ("brown", "green"): 29,
        ("red", "brown"): 26, ("red", "blue"): 17, ("red", "hazel"): 14, ("red", "green"): 14,
        ("blond", "brown"): 7, ("blond", "blue"): 94, ("blond", "hazel"): 10, ("blond", "green"): 16,
    }  # fmt: skip
    hair, eye = zip(*[pair for pair, n in counts.items() for _ in range(n)], strict=True)
    insights = found_in({"hair": hair, "eye": eye})
    assert {"hair", "eye"} in names_of(insights)
    text = insights[0]["text"]
    assert "blond" in text
    assert "blue" in text
    assert "44 %" in text  # 94 of 215, against 33 of 377


@pytest.mark.parametrize("seed", range(4))
def test_blocks_of_a_label_along_a_wandering_series_are_no_dependence(seed):
    rng = np.random.default_rng([seed, 7])
    noise = rng.normal(size=300)
    for t in range(1, 300):
        noise[t] += 0.9 * noise[t - 1]
    insights = found_in({"x": noise, "regime": np.repeat(["one", "two", "three"], 100)})
    assert not names_of(insights)


def test_numbers_that_name_schools_are_labels():
    """Numbers of schools have gaps, by which no clusters are told."""
    rng = np.random.default_rng(0)
    school = np.repeat(np.r_[1000:1020, 5000:5020], 10)
    report = explore(pd.DataFrame({"school": school, "score": rng.normal(size=400)})).to_dict()
    assert report["clusters"]["n"] == 1
    assert not [each for each in report["insights"] if each["finding"] == "clusters"]


def test_an_identifier_with_a_few_repeats_is_no_measure():
    rng = np.random.default_rng(0)
    ids = rng.choice(10**6, 200, replace=False)
    ids[:3], ids[5] = 13_000_000, ids[6]
    insights = found_in({"ID": ids, "x": rng.normal(size=200)})
    assert not [each for each in insights if each["finding"] == "anomaly"]


def test_what_is_left_of_a_day_has_a_round_rate():
    """Hours asleep and awake, rounded to a tenth: 24 less the other, not -0.9996 times it."""
    rng = np.random.default_rng(0)
    awake = rng.uniform(4, 22, 83)
    table = {"awake": awake.round(1), "sleep_total": (24 - awake).round(1)}
    insights = found_in(table | {"x": rng.normal(size=83)})
    (same,) = [each for each in insights if each["finding"] == "redundant"]
    assert "sleep_total is 24 - awake" in same["text"]
