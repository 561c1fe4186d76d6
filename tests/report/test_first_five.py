"""What takes a place among the first findings: one for what belongs together, and none for what follows anyway."""

import numpy as np
import pandas as pd
import pytest

from latently.report import explore
from latently.report.findings.finding import Finding
from latently.report.findings.rank import ranked
from latently.report.study.pairs.aspects import RARER, classed


def insights(table, **how):
    return explore(pd.DataFrame(table), **how).to_dict()["insights"]


def of_kind(found, kind, *columns):
    return [each for each in found if each["finding"] == kind and set(columns) <= set(each["columns"])]


def factor(n=300, members=4, noise=0.4):
    rng = np.random.default_rng(0)
    shared = rng.normal(size=n)
    return {f"c{j}": shared + noise * rng.normal(size=n) for j in range(members)}, shared, rng


def test_a_column_that_goes_with_a_block_is_told_beside_it():
    table, shared, rng = factor()
    table |= {"beside": shared + 1.7 * rng.normal(size=300), "alone": rng.normal(size=300)}
    (found,) = of_kind(insights(table), "dependency")
    assert set(found["columns"]) == {"c0", "c1", "c2", "c3", "beside"}
    assert "beside goes with most of them" in found["text"]


def test_the_closest_pairs_of_a_block_come_first():
    table, _, rng = factor(members=8, noise=0.5)
    table["c7"] = table["c3"] + 0.05 * rng.normal(size=300)
    (found,) = of_kind(insights(table), "dependency")
    assert set(found["columns"][:2]) == {"c3", "c7"}


def test_pairs_that_are_nearly_the_same_are_one_finding():
    rng = np.random.default_rng(0)
    firsts = rng.normal(size=(3, 300))
    table = {f"paid{k}": x for k, x in enumerate(firsts)}
    table |= {f"owed{k}": x + 0.03 * rng.normal(size=300) for k, x in enumerate(firsts)}
    (found,) = of_kind(insights(table), "dependency")
    assert "3 pairs of columns rise, or fall, almost exactly together" in found["text"]
    assert {frozenset(found["columns"][at : at + 2]) for at in (0, 2, 4)} == {
        frozenset((f"paid{k}", f"owed{k}")) for k in range(3)
    }


def test_one_of_a_block_stands_for_the_others_that_go_with_a_class():
    table, shared, rng = factor()
    side = np.where(shared + rng.normal(size=300) > 0, "left", "right")
    (found,) = of_kind(insights(table | {"side": side}), "dependency", "side")
    assert "(with 2 that move with it) goes with side too" in found["text"]


def test_states_each_of_which_is_rare_are_seen_one_by_one():
    rng = np.random.default_rng(0)
    state = np.repeat([f"S{k:02d}" for k in range(52)], 30)[rng.permutation(1560)]
    size = np.char.lstrip(state, "S").astype(float) * 100 + rng.normal(size=1560) * 300
    (found,) = of_kind(insights({"state": state, "size": size, "x": rng.normal(size=1560)}), "dependency")
    assert set(found["columns"]) == {"state", "size"}
    assert "for S51 " in found["text"]


def test_a_single_rare_class_keeps_its_name():
    codes = np.repeat([0.0, 1.0, 2.0], [500, 490, 10])
    assert classed("x", codes, ("a", "b", "c"), ordered=False).labels == ("a", "b", "c")
    codes = np.repeat([0.0, 1.0, 2.0, 3.0], [500, 484, 8, 8])
    assert classed("x", codes, ("a", "b", "c", "d"), ordered=False).labels == ("a", "b", RARER)


def test_a_sum_with_a_constant_is_a_rule_and_hides_no_dependence():
    """Experience is age less years at school less six."""
    rng = np.random.default_rng(0)
    school, worked = rng.integers(4, 21, 400), rng.integers(0, 45, 400)
    grade = np.where(school + rng.normal(size=400) > 12, "high", "low")
    found = insights({"age": school + worked + 6, "schooling": school, "worked": worked, "grade": grade})
    (rule,) = of_kind(found, "determines", "age", "schooling", "worked")
    assert "age is schooling + worked + 6 in all rows" in rule["text"]
    assert not any("At equal" in each["text"] for each in found)


def test_a_sum_of_shares_with_few_decimals_is_a_rule():
    rng = np.random.default_rng(0)
    leave, lead = np.round(rng.normal(0.42, 0.03, 150), 2), np.round(rng.normal(0.03, 0.04, 150), 2)
    (rule,) = of_kind(insights({"stay": np.round(leave + lead, 2), "leave": leave, "lead": lead}), "determines")
    assert "stay is leave + lead in all rows" in rule["text"]


def test_what_follows_from_a_copy_in_logarithms_is_no_hidden_dependence():
    rng = np.random.default_rng(0)
    pay, profit = np.exp(rng.normal(7, 0.6, 200)), rng.normal(size=200)
    found = insights({"pay": pay, "lpay": np.log(pay), "sales": pay * np.exp(rng.normal(size=200)), "profit": profit})
    assert not any("At equal" in each["text"] and {"pay", "lpay"} <= set(each["columns"]) for each in found)


def test_classes_cut_out_of_a_number_are_told_by_where_they_are_cut():
    rng = np.random.default_rng(0)
    weeks = rng.integers(30, 43, 300)
    (found,) = of_kind(insights({"weeks": weeks, "term": np.where(weeks < 37, "early", "full")}), "determines")
    assert "weeks fixes term: it is early up to 36 and full from 37 (all 300 rows)" in found["text"]


def test_a_link_of_a_chain_comes_after_what_is_new():
    fixes = [Finding("determines", "", "", columns=names, size=1.0) for names in (("a", "b", "c"), ("b", "c"))]
    new = Finding("dependency", "", "", columns=("d", "e"), effect=0.6, measure="correlation")
    assert [each.columns for each in ranked([*fixes, new])] == [("a", "b", "c"), ("d", "e"), ("b", "c")]


@pytest.mark.parametrize("kind", ["reversal", "missingness", "duplicates", "leakage"])
def test_a_second_finding_of_a_kind_comes_after_what_is_new(kind):
    again = [Finding(kind, "", "", columns=(name,), size=0.9) for name in "ab"]
    new = Finding("dependency", "", "", columns=("d", "e"), effect=0.75, measure="correlation")
    assert [each.finding for each in ranked([*again, new])] == [kind, "dependency", kind]


def test_the_weight_of_a_finding_is_its_size_or_its_effect_if_that_is_a_share():
    assert Finding("dependency", "", "", effect=-0.7, measure="correlation").weight == 0.7
    assert Finding("dependency", "", "", effect=-0.7, measure="correlation", size=0.2).weight == 0.2
    assert Finding("target", "", "", effect=0.1, measure="R2").weight == 1.0
    assert Finding("anomaly", "", "", effect=40, measure="rows", size=3.0).weight == 1.0


# reversals of shares


def months(seed, n=600, size=12):
    """Work month by month, each as the month before in nine cases of ten."""
    rng = np.random.default_rng([seed, 7])
    works = rng.random((n, size)) < 0.5
    for month in range(1, size):
        works[:, month] = np.where(rng.random(n) < 0.9, works[:, month - 1], ~works[:, month - 1])
    return pd.DataFrame(np.where(works, "yes", "no"), columns=[f"m{k}" for k in range(size)])


@pytest.mark.parametrize("seed", range(4))
def test_a_month_between_two_others_turns_nothing_round(seed):
    """What two months share goes within the one between: what is left has either sign by luck."""
    assert of_kind(insights(months(seed)), "reversal") == []


def admissions(rng, departments=40, rows=12):
    """Where most departments are too small to be seen by themselves."""
    place = np.repeat(np.arange(departments), rows)
    woman = rng.random(len(place)) < np.linspace(0.1, 0.9, departments)[place]
    taken = rng.random(len(place)) < np.linspace(0.9, 0.1, departments)[place] + 0.08 * woman
    names = np.array([f"D{k}" for k in range(departments)])[place]
    return {"dept": names, "sex": np.where(woman, "f", "m"), "taken": np.where(taken, "yes", "no")}


def test_rare_classes_taken_together_are_not_each_of_them():
    """Within 20 large groups and 60 of five rows, all of one kind: the latter are most of the rows."""
    rng = np.random.default_rng(0)
    for each in of_kind(insights(admissions(rng, 90, 4)), "reversal"):
        assert "within each dept" not in each["text"]


# missing values


def along_years(rng, n=1200):
    year = np.sort(rng.integers(1900, 2000, n))
    return pd.DataFrame({"year": year, "x": rng.normal(size=n), "y": rng.normal(size=n), "z": rng.normal(size=n)})


def test_what_was_not_counted_in_early_years_is_told_by_the_year():
    frame = along_years(np.random.default_rng(0))
    frame["x"] = frame["x"].where(frame["year"] > 1932)
    (found,) = of_kind(insights(frame, time=False), "missingness", "x", "year")
    assert "x is missing in" in found["text"]


def test_what_is_missing_at_one_value_is_told_though_rows_are_in_blocks():
    """Animals week by week, each for twelve weeks; in the first nothing was eaten."""
    rng = np.random.default_rng(0)
    week, animal = np.tile(np.arange(1, 13), 60), np.repeat(np.arange(60), 12)
    eaten = np.where(week == 1, np.nan, 10 * week + rng.normal(size=720))
    frame = pd.DataFrame({"animal": animal, "week": week, "weight": 20 + 8 * week + rng.normal(size=720)})
    assert of_kind(insights(frame.assign(eaten=eaten)), "missingness", "eaten", "week")


@pytest.mark.parametrize("seed", range(5))
def test_two_wandering_columns_explain_no_gap(seed):
    """A stretch in which one is missing lies high or low in another by chance."""
    rng = np.random.default_rng([seed, 9])
    walk = rng.normal(size=(600, 2)).cumsum(axis=0)
    gone = np.arange(600) < 200
    frame = pd.DataFrame({"x": np.where(gone, np.nan, rng.normal(size=600)), "a": walk[:, 0], "b": walk[:, 1]})
    assert of_kind(insights(frame, time=False), "missingness") == []


def test_two_causes_of_missing_values_are_two_findings():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(800, 4)), columns=["a", "b", "age", "job"])
    frame["a"], frame["b"] = frame["a"].where(frame["age"] > -1), frame["b"].where(frame["job"] < 1)
    first, second = of_kind(insights(frame), "missingness")
    assert {tuple(first["columns"][:2]), tuple(second["columns"][:2])} == {("a", "age"), ("b", "job")}


# the target and clusters


def test_parts_of_a_date_that_only_the_dead_have_are_all_leaks():
    rng = np.random.default_rng(0)
    died = rng.random(600) < 0.3
    table = {name: np.where(died, rng.integers(1, 28, 600), np.nan) for name in ("year_died", "month_died", "day_died")}
    for x in table.values():
        x[rng.choice(np.flatnonzero(died), 2, replace=False)] = np.nan
    found = explore(table | {"x": rng.normal(size=600), "died": died.astype(int)}, target="died").to_dict()
    assert {leak["column"] for leak in found["target"]["leakage"]} == set(table)


def test_groups_in_two_columns_go_together_though_the_file_is_sorted_by_them():
    rng = np.random.default_rng(0)
    group = np.sort(rng.integers(0, 3, 900))
    x, y = (np.array(centres)[group] + 1.6 * rng.normal(size=900) for centres in ([0, 9, 18], [0, 12, 3]))
    (found,) = of_kind(insights({"x": x, "y": y}), "clusters")
    assert "no other column goes with it" not in found["text"]
    assert found["effect"] == 3


def test_a_number_that_counts_a_date_is_told_in_words():
    day = pd.date_range("2020-01-01", periods=200, freq="36h")
    years = (day - day[0]) / pd.Timedelta(days=365.25) + 2020
    frame = pd.DataFrame({"day": day, "years": years, "x": np.arange(200) % 7})
    (found,) = of_kind(insights(frame, time=False), "redundant")
    assert "rises evenly with" in found["text"]
