"""Findings that a reader would call false, trivial or unreadable, and how they are told instead."""

import numpy as np
import pandas as pd

from latently.report import explore
from latently.report.findings.finding import Finding
from latently.report.findings.rank import ranked
from latently.report.reading.table import read_columns
from latently.report.study.columns import judge
from latently.report.study.pairs.aspects import RARER, classed
from latently.report.study.pairs.association import clearest_cell, compare


def insights(table, **how):
    return explore(table, **how).to_dict()["insights"]


def of_kind(found, kind, *columns):
    return [each for each in found if each["finding"] == kind and set(columns) <= set(each["columns"])]


def test_a_product_with_zeros_is_no_rule():
    rng = np.random.default_rng(0)
    pool, porch = ((rng.random(1500) < 0.008) * rng.integers(100, 900, 1500) for _ in range(2))
    area = rng.integers(500, 4000, 1500)
    assert not of_kind(insights({"area": area, "pool": pool, "porch": porch}), "determines")


def test_a_total_that_two_sums_give_is_told_once():
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 500, (2, 300))
    parts = {"a": a, "b": b, "also_a": a + (np.arange(300) == 7), "total": a + b}
    told = [each for each in of_kind(insights(parts), "determines", "total") if "+" in each["text"]]
    assert [each["rows"] for each in told] == [None]


def test_what_follows_from_a_sum_is_no_hidden_dependence():
    rng = np.random.default_rng(0)
    women = np.round(rng.normal(5000, 900, 300))
    men = np.round(women * rng.normal(1.07, 0.03, 300))
    found = insights({"women": women, "men": men, "all": women + men, "age": rng.normal(size=300)})
    assert of_kind(found, "determines", "women", "men", "all")
    assert not [each for each in found if each["text"].startswith("At equal")]


def test_a_word_among_many_names_is_a_suggestion():
    films = [f"Film {k}" for k in range(200)] * 6 + ["Missing"] * 6
    title, few = read_columns({"title": films, "few": ["yes", "no", "missing"] * 402})
    assert [code["applied"] for code in judge(title).codes] == [False]
    assert not judge(title).missing.any()
    assert [code["applied"] for code in judge(few).codes] == [True]


def test_columns_that_are_missing_together_are_named():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 4)), columns=["left", "landed", "flown", "far"])
    frame.loc[rng.choice(400, 110, replace=False), ["left", "landed", "flown"]] = np.nan
    (gaps,) = of_kind(insights(frame), "missingness", "left", "landed", "flown")
    assert "are missing together, with " in gaps["text"]
    assert "Much is missing of left (28 %), landed (28 %) and flown (28 %)." in gaps["text"]
    assert "far" not in gaps["columns"]


def test_missing_values_are_told_by_their_strongest_cause():
    rng = np.random.default_rng(0)
    died = rng.random(600) < 0.3
    cause = np.where(died, rng.choice(["heart", "lung"], 600), None)
    age = rng.normal(60, 9, 600) + 6 * died
    (gaps,) = of_kind(insights({"cause": cause, "died": died.astype(int), "age": age}), "missingness")
    assert gaps["columns"][:2] == ["cause", "died"]
    assert "over 99 % of the rows where died is 0, and in 0 % where it is 1" in gaps["text"]


def test_two_copies_of_the_target_are_leaks_though_each_vouches_for_the_other():
    rng = np.random.default_rng(0)
    grams = rng.normal(3300, 500, 400)
    table = {"grams": grams, "pounds": grams / 453.592, "log": np.log(grams), "age": rng.normal(27, 5, 400)}
    found = explore(table, target="grams").to_dict()
    assert {leak["column"] for leak in found["target"]["leakage"]} == {"pounds", "log"}
    assert not found["target"]["tells"]


def test_two_columns_with_gaps_of_their_own_make_no_clusters_of_rows():
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=600) + 9 * rng.integers(0, 2, 600) for _ in range(2))
    (alone,) = of_kind(insights({"a": a, "b": b, "c": rng.normal(size=600)}), "clusters")
    assert len(alone["columns"]) == 1
    assert "no other column goes with it" in alone["text"]


def test_groups_made_of_a_sum_turn_nothing_round():
    rng = np.random.default_rng(0)
    both = rng.normal(size=900)
    x, y = both + 0.7 * rng.normal(size=(2, 900))
    tenth = np.searchsorted(np.quantile(x + y, np.arange(1, 10) / 10), x + y) + 1
    assert not of_kind(insights({"x": x, "y": y, "tenth": tenth}), "reversal")
    side = rng.integers(0, 2, 900)  # groups that are not: Simpson's
    found = insights({"x": x + 4 * side, "y": y - 4 * side, "side": np.where(side, "a", "b")})
    assert of_kind(found, "reversal", "x", "y", "side")


def test_a_dependence_of_columns_told_before_comes_after_a_new_one():
    def goes(effect, *columns):
        return Finding("dependency", "", "", columns=columns, effect=effect, measure="correlation")

    made = [goes(0.9, "a", "b", "c"), goes(0.8, "b", "c"), goes(0.6, "d", "e")]
    assert [each.effect for each in ranked(made)] == [0.9, 0.6, 0.8]


def test_a_sentence_names_a_class_rather_than_the_rarer_ones():
    rng = np.random.default_rng(0)
    codes = np.r_[np.repeat([0.0, 1.0], 190), rng.integers(2, 12, 20)]  # ten classes of two rows or so
    a = classed("a", codes, tuple("abcdefghijkl"), ordered=False)
    b = classed("b", np.minimum(codes, 2), ("x", "y", "z"), ordered=False)
    pair = compare(a, b)
    i, j = clearest_cell(pair, a, b)
    assert a.labels[-1] == RARER
    assert (a.labels[i], b.labels[j]) in {("a", "x"), ("b", "y")}


def test_what_a_date_fixes_comes_after_what_is_news():
    rng = np.random.default_rng(0)
    day = pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 200, 900), unit="D")
    x = rng.normal(size=900)
    found = insights(pd.DataFrame({"day": day, "month": day.month, "x": x, "y": x + rng.normal(size=900)}))
    kinds = [each["finding"] for each in found]
    assert kinds.index("dependency") < kinds.index("determines")
    assert of_kind(found, "determines", "day", "month")
