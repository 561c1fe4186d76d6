"""Relations that luck, or a column that hardly varies, would bring are not told; those that it would not bring are."""

import numpy as np
import pytest
from scipy import stats

from latently.report import explore
from latently.report.findings.exact import exact_relations
from latently.report.findings.luck import log_chance
from latently.report.findings.rules import rules
from latently.report.reading.table import read_columns
from latently.report.sections import limits, missing
from latently.report.series.calendar import is_calendar
from latently.report.series.decompose import ALARM, decompose, movement
from latently.report.study.columns import judge
from latently.report.study.pairs.aspects import RARER, classed, ranked
from latently.report.study.pairs.association import _by_classes
from latently.report.study.words import stamp


def columns(table):
    return tuple(judge(raw) for raw in read_columns(table))


def fixed(table, n):
    return [(each.source, each.target) for each in exact_relations(columns(table), np.arange(n))]


def test_the_bound_is_above_the_chance_of_a_poisson_count():
    for found, expected in [(0, 5.0), (3, 20.0), (10, 30.0)]:
        assert stats.poisson.logcdf(found, expected) <= log_chance(found, expected) < 0


@pytest.mark.parametrize("seed", range(3))
def test_a_column_that_hardly_varies_is_not_fixed_by_everything(seed):
    rng, n = np.random.default_rng(seed), 2000
    late = np.full(n, "no")
    late[rng.choice(n, 9, replace=False)] = "yes"
    code = np.char.add("k", rng.integers(0, 200, n).astype(str))
    assert fixed({"code": code.tolist(), "late": late.tolist()}, n) == []


def test_a_rare_value_that_is_fixed_is_told():
    rng, n = np.random.default_rng(0), 2000
    code = np.char.add("k", rng.integers(0, 200, n).astype(str))
    late = np.where(np.isin(code, ["k3", "k5", "k9"]), "yes", "no")
    assert fixed({"code": code.tolist(), "late": late.tolist()}, n) == [("code", "late")]


def career(decimals, n=260):
    """Two numbers that grow with the years and have no unit in common, and a row that has little of one."""
    rng = np.random.default_rng(0)
    years = rng.integers(1, 20, n)
    hits = np.round(np.maximum(120.0 * years * rng.uniform(0.7, 1.3, n), 60))
    pay = np.round(40 * years * rng.uniform(0.3, 1.4, n), decimals)
    hits[17], pay[17] = 41, 2127
    return {"hits": hits, "pay": pay}


@pytest.mark.parametrize("decimals", [0, 1])
def test_numbers_without_a_common_unit_have_no_order(decimals):
    assert rules(columns(career(decimals)), np.arange(260)) == []


def test_a_part_above_its_whole_is_told_once():
    rng, n = np.random.default_rng(0), 300
    whole = rng.integers(5, 100, n)
    part = np.round(whole * rng.uniform(0.3, 1.0, n)).astype(int)
    part[17] = 120
    (found,) = rules(columns({"whole": whole, "part": part}), np.arange(n))
    assert found.rows == (17,)
    assert found.text.startswith("whole is below part in 1 row")


def test_what_was_not_tested_of_many_columns_with_missing_values_is_said(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    X[rng.random(X.shape) < np.linspace(0.1, 0.45, 8)] = np.nan
    whole = explore(X).to_dict()
    assert whole["missing"]["untested"] == 0
    assert "not tested" not in whole["missing"]["text"] + " ".join(whole["limits"])
    monkeypatch.setattr(missing, "MOST_COLUMNS", 5)
    monkeypatch.setattr(limits, "MOST_TESTED", 5)
    monkeypatch.setattr(limits, "MOST_EXACT", 6)
    found = explore(X).to_dict()
    assert found["missing"]["untested"] == 3
    assert "3 more columns with missing values were not tested" in found["missing"]["text"]
    assert any("for the 5 columns" in line and "3 more columns" in line for line in found["limits"])
    assert any("among the first 6 columns" in line for line in found["limits"])


# pairs of classes


def test_pairs_of_many_rare_classes_are_tested_with_the_rare_ones_together():
    rng = np.random.default_rng(0)
    weights = 0.6 ** np.arange(9)
    a, b = (rng.choice(9, 150, p=weights / weights.sum()) for _ in range(2))
    alone, tied = np.zeros((2, 9, 9))
    np.add.at(alone, (a, b), 1)
    np.add.at(tied, (a, np.where(rng.random(150) < 0.8, a, b)), 1)
    assert 0.001 < _by_classes(alone)[0] < 1  # a test is made, although most cells are nearly empty
    assert _by_classes(tied)[0] < 1e-8


def test_few_rows_that_are_worth_independent_ones_tell_nothing_of_two_classes():
    table = np.array([[60.0, 4.0], [6.0, 30.0]])
    assert _by_classes(table)[0] < 1e-6
    assert _by_classes(table, share=25.0) == (1.0, 0.0)


def test_classes_have_names_that_a_sentence_can_use():
    assert ranked("x", np.arange(90.0)).labels == ("at most 22", "23 to 44", "45 to 66", "at least 67")
    assert ranked("x", np.repeat([1.0, 2.0, 3.0], 40)).labels == ("1", "2", "3")
    days = ranked("day", np.arange(90) * 86400.0, stamp)
    assert days.labels[0] == "at most 1970-01-23"
    calls = np.repeat(np.arange(8.0), [60, 60, 50, 40, 4, 3, 2, 1])
    levels = tuple(map(str, range(8)))
    assert classed("calls", calls, levels, ordered=True).labels[-1] == "at least 4"
    assert classed("calls", calls, levels, ordered=False).labels[-1] == RARER


# along time


def seconds(start, stop, unit):
    return np.arange(start, stop, dtype=f"datetime64[{unit}]").astype("datetime64[s]").astype(float)


def test_parts_of_the_time_are_no_series():
    months = seconds("2000-01", "2010-01", "M")
    i = np.arange(120)
    for part in (2000 + i // 12, i % 12 + 1, i % 12 // 3, 7.0 * i + 3):
        assert is_calendar(part.astype(float), months, dates=True)
    rng = np.random.default_rng(0)
    for series in (rng.normal(size=120).cumsum(), 100 * 1.01**i, rng.poisson(3, 120)):
        assert not is_calendar(np.asarray(series, dtype=float), months, dates=True)
    assert is_calendar(1990.0 + i // 12, 1990 + i / 12, dates=False)


def test_the_columns_that_move_most_are_looked_at_wherever_they_are():
    rng, t = np.random.default_rng(0), np.arange(120)
    table = {"month": [f"{2000 + k // 12}-{k % 12 + 1:02d}-01" for k in t], "year": 2000 + t // 12}
    table |= {f"noise{k}": rng.normal(size=120) for k in range(6)}
    table |= {"rises": 0.1 * t + rng.normal(size=120), "swings": 3 * np.sin(t * np.pi / 6) + rng.normal(size=120)}
    parts = explore(table, time="month").to_dict()["time"]["trend"]["parts"]
    assert {part["column"] for part in parts} == {"rises", "swings"}


def test_a_series_that_wanders_has_a_trend_if_its_steps_go_one_way():
    rng = np.random.default_rng(0)
    assert decompose(np.cumsum(0.5 + rng.normal(size=300))).p_trend < ALARM
    assert movement(np.cumsum(0.5 + rng.normal(size=300))) > 0.5


def test_a_year_of_days_is_a_season_after_three_of_them():
    rng, t = np.random.default_rng(0), np.arange(3 * 365 + 10)
    noise = rng.normal(size=len(t))
    for k in range(1, len(t)):
        noise[k] += 0.7 * noise[k - 1]
    parts = decompose(10 + 5 * np.sin(2 * np.pi * t / 365) + noise, (7, 365))
    assert parts.period == 365


def test_trends_are_one_sentence():
    rng, t = np.random.default_rng(0), np.arange(60)
    table = {f"c{k}": (k + 1) * t + 5 * rng.normal(size=60) for k in range(5)}
    insights = explore(table | {"year": 1950 + t}, time="year").to_dict()["insights"]
    (trend,) = [each for each in insights if each["finding"] == "trend"]
    assert set(trend["columns"]) == {"c0", "c1", "c2", "c3", "c4"}
    assert "; 1 more has a trend." in trend["text"]


def test_a_price_that_became_many_times_as_much_is_told_without_a_claim():
    rng = np.random.default_rng(7)
    steps = rng.normal(0.0, 0.1, size=120)
    price = 20 * np.exp(np.cumsum(steps - steps.mean() + 0.018))  # grows by a factor of 8.7, within what chance brings
    table = {"month": [f"{2000 + k // 12}-{k % 12 + 1:02d}-01" for k in range(120)], "price": price}
    (part,) = explore(table, time="month").to_dict()["time"]["trend"]["parts"]
    assert (part["trend"]["found"], part["trend"]["steady"], part["trend"]["probability"]) == (True, False, None)
    assert "without a steady trend" in part["text"]


def test_shares_that_turn_round_within_stretches_of_a_number():
    rng, n = np.random.default_rng(0), 1300
    age = rng.uniform(20, 85, n)
    smokes = rng.random(n) < np.where(age < 60, 0.55, 0.15)
    died = rng.random(n) < np.clip((age - 30) / 60, 0.02, 0.9) + 0.06 * smokes
    table = {"age": age, "smoker": np.where(smokes, "yes", "no"), "outcome": np.where(died, "dead", "alive")}
    found = explore({name: list(x) for name, x in table.items()}).to_dict()["insights"]
    (turned,) = [each for each in found if each["finding"] == "reversal"]
    assert set(turned["columns"]) == {"age", "smoker", "outcome"}
    assert "within stretches of equal age" in turned["text"]


def test_a_target_that_is_a_limit_of_a_column_is_a_leak():
    rng, n = np.random.default_rng(0), 200
    weight = rng.normal(3000, 700, n)
    table = {"weight": weight, "age": rng.normal(size=n), "low": np.where(weight < 2500, "yes", "no").tolist()}
    (leak,) = explore(table, target="low").to_dict()["target"]["leakage"]
    assert leak["column"] == "weight"
