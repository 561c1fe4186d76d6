"""Rows far from a line that the others follow, in tables too small for a model of tails."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from latently.learn.engine.reduce import single_threaded_blas
from latently.report import explore
from latently.report.findings.rows.joint import rows_apart


def anomalies(table, **how):
    found = explore(pd.DataFrame(table), **how).to_dict()["insights"]
    return [each for each in found if each["finding"] == "anomaly"]


def power_law(rng, n=28):
    """Weights over many orders of magnitude, brains as their power of three quarters."""
    body = np.exp(rng.normal(1.3, 2.6, n))
    return body, 9 * body**0.75 * np.exp(rng.normal(size=n) * 0.5)


def test_three_rows_of_28_against_a_power_law():
    body, brain = power_law(np.random.default_rng(0))
    body[[5, 15, 25]], brain[[5, 15, 25]] = (11700, 9400, 87000), (50, 70, 154.5)
    (found,) = anomalies({"body": body, "brain": brain})
    assert set(found["rows"]) == {5, 15, 25}
    assert set(found["columns"]) == {"body", "brain"}


@pytest.mark.parametrize("seed", range(10))
def test_none_in_a_power_law_without_them(seed):
    assert anomalies(dict(zip("xy", power_law(np.random.default_rng([seed, 3]), 60), strict=True))) == []


def test_a_wrong_time_among_35_races():
    """Times of hill races are about 5 minutes a mile and 1 for each hundred feet; one is an hour too long."""
    rng = np.random.default_rng(2)
    dist = rng.uniform(2, 16, 35)
    climb = 200 * dist * np.exp(rng.normal(size=35) * 0.3)
    time = (5 * dist + climb / 100) * np.exp(rng.normal(size=35) * 0.08)
    dist[17], time[17] = 3.0, 80.0
    assert 17 in anomalies({"dist": dist, "climb": climb, "time": time})[0]["rows"]


NEWCOMB = [
    28, -44, 29, 30, 24, 28, 37, 32, 36, 27, 26, 28, 29, 26, 27, 22, 23, 20, 25, 25, 36, 23, 31, 32, 24, 27, 33, 16, 24,
    29, 36, 21, 28, 26, 27, 27, 32, 25, 28, 24, 40, 21, 31, 32, 28, 26, 30, 27, 26, 24, 32, 29, 34, -2, 25, 19, 36, 29,
    30, 22, 28, 33, 39, 25, 16, 23,
]  # fmt: skip


def test_two_numbers_far_out_of_one_normal_column():
    """Newcomb's measurements of the speed of light (Stigler, 1977): -44 and -2 are his outliers."""
    (found,) = anomalies({"x": NEWCOMB})
    assert set(found["rows"]) == {1, 53}
    assert "row 1 x is -44" in found["text"]


def test_long_tails_are_no_outliers():
    """The furthest of a hundred numbers with Student's tails (3 degrees) is the end of a tail, with rare exceptions."""
    rng, told = np.random.default_rng(11), 0
    for _ in range(20):
        x = rng.standard_t(3, size=100)
        found = anomalies({"x": x, "y": x + 0.3 * rng.standard_t(3, size=100)})
        told += any(each["text"].startswith("In row") for each in found)
    assert told <= 3


def test_rows_have_the_numbers_of_the_whole_table():
    """And a level that reads like a row stays as it is."""
    rng = np.random.default_rng(0)
    body, brain = power_law(rng, 40)
    brain[7] = 1e6
    kinds = np.array(["row 7", "row 8"])[(np.arange(40) % 2)]
    table = pd.DataFrame({"body": body, "brain": brain, "kind": kinds, "long": np.where(kinds == "row 7", 2.0, 1.0)})
    report = explore(table, row_numbers=1000 + 10 * np.arange(40)).to_dict()
    texts = [each["text"] for each in report["insights"]]
    (odd,) = [each for each in report["insights"] if each["finding"] == "anomaly"]
    assert odd["rows"] == [1070]
    assert "row 1070" in odd["text"]
    assert not any("row 1080" in text for text in texts)


def test_exceptions_to_what_a_column_fixes_have_the_numbers_of_the_whole_table():
    rng = np.random.default_rng(0)
    city = rng.integers(5, size=400)
    land = np.array(["a", "a", "b", "b", "c"])[city]
    land[123] = "c" if land[123] != "c" else "a"
    table = {"city": np.array(list("vwxyz"))[city], "land": land, "x": rng.normal(size=400)}
    found = explore(pd.DataFrame(table), row_numbers=5000 + np.arange(400)).to_dict()["insights"]
    (fixes,) = [each for each in found if each["finding"] == "determines"]
    assert fixes["rows"] == [5123]


def hidden(rng, n=60):
    """Length of teeth: dose explains most of it, and the way it is given the rest."""
    dose = np.tile(np.repeat([0.5, 1.0, 2.0], n // 6), 2)
    way = np.repeat(["juice", "acid"], n // 2)
    return {"length": 10 * np.log2(dose) + 4 * (way == "juice") + rng.normal(size=n) * 2.5, "dose": dose, "way": way}


def test_what_a_third_column_hides():
    table = hidden(np.random.default_rng(0))
    found = explore(pd.DataFrame(table)).to_dict()["insights"]
    (told,) = [each for each in found if each["columns"] == ["length", "way", "dose"]]
    assert told["finding"] == "dependency"
    assert told["text"].startswith("At equal dose")
    assert 2.5 < told["effect"] < 5.5
    assert "higher for juice than for acid" in told["text"]
    shown = {}
    exec(f"{told['code'].rsplit(chr(10), 1)[0]}" if "\n" in told["code"] else "", shown)
    means = eval(told["code"].splitlines()[-1], shown | {"df": pd.DataFrame(table)})
    assert (means["juice"] - means["acid"]).mean() == pytest.approx(told["effect"], abs=1e-6)


def test_nothing_hidden_is_told_where_there_is_nothing():
    rng = np.random.default_rng(3)
    table = hidden(rng) | {"other": rng.normal(size=60)}
    found = explore(pd.DataFrame(table)).to_dict()["insights"]
    assert not [each for each in found if "other" in each["columns"] and each["finding"] == "dependency"]


def test_a_short_series_that_always_rises_grows():
    """24 years; states take more rows, which is said and is no error."""
    rng = np.random.default_rng(0)
    miles = 400 * np.cumprod(1 + rng.uniform(0.05, 0.3, 24))
    report = explore(pd.DataFrame({"year": np.arange(1937, 1961), "miles": miles}), time="year").to_dict()
    (trend,) = [each for each in report["insights"] if each["finding"] == "trend"]
    assert trend["text"].startswith("miles grows by")
    assert "a year" in trend["text"]
    assert "at least 40 rows" in report["time"]["text"]


def test_ten_shuffles_of_the_irises_have_no_outliers():
    frame = load_iris(as_frame=True).frame
    for seed in range(10):
        rng = np.random.default_rng(seed)
        shuffled = frame.apply(lambda column: rng.permutation(column.to_numpy()), axis=0)  # noqa: B023
        assert [each for each in anomalies(shuffled) if len(each["columns"]) > 1] == []


def test_fifteen_rows_are_enough_for_a_strong_line():
    x = np.arange(15.0)
    found = explore(pd.DataFrame({"x": x, "y": 2 * x + np.sin(7 * x)})).to_dict()["insights"]
    assert found[0]["finding"] in ("dependency", "redundant")
    assert found[0]["columns"] == ["x", "y"]


def test_pairs_beside_a_sure_one_count_by_their_share_of_false_ones():
    """Thirty rows, seven columns that share one factor: the surest pair opens the door to weaker ones."""
    rng = np.random.default_rng(5)
    shared = rng.normal(size=(30, 1))
    X = shared + rng.normal(size=(30, 7))
    X[:, 1] = X[:, 0] + 0.3 * rng.normal(size=30)
    found = explore(pd.DataFrame(X, columns=list("abcdefg"))).to_dict()["dependencies"]
    assert found["count"] >= 6


def test_rows_that_hide_each_other_in_several_columns_are_told():
    """Five rows off a plane, none of them far out in any column or off any line by itself."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    y = X @ [1.0, -1.0, 1.0, 1.0] + 0.1 * rng.normal(size=60)
    y[[4, 17, 30, 31, 50]] -= 3.0
    table = {f"x{j}": X[:, j] for j in range(4)} | {"y": y}
    found = anomalies(table)
    assert [sorted(each["rows"]) for each in found] == [[4, 17, 30, 31, 50]]
    assert sorted(found[0]["columns"]) == ["x0", "x1", "x2", "x3", "y"]


def test_normal_rows_and_long_tails_seldom_lie_apart():
    rng = np.random.default_rng(0)
    turned = rng.normal(size=(4, 4))
    with single_threaded_blas():
        assert not any(rows_apart(rng.normal(size=(50, 4)) @ turned) for _ in range(10))
        assert sum(rows_apart(rng.standard_t(5, size=(50, 4)) @ turned) is not None for _ in range(10)) <= 1
