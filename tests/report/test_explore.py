"""What a report says of tables whose truth is known, of noise, and of tables that are hard to read."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import latently
from latently.report import explore

SECTIONS = {
    "version", "latently", "source", "insights", "columns", "clusters", "selection", "map", "anomalies", "missing",
    "dependencies", "target", "time", "limits", "warnings", "table", "fixes",
}  # fmt: skip


def planted(n=400, seed=0):
    """Two groups, a column of codes, missing values that depend on another column, and one absurd row."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    table = pd.DataFrame(
        {
            "height": rng.normal(size=n) + 6 * group,
            "weight": rng.normal(size=n) - 6 * group,
            "income": rng.lognormal(3, 0.5, size=n),
            "age": rng.normal(40, 10, size=n).round(1),
        }
    )
    table["town"] = np.array(["north", "south"])[np.where(rng.random(n) < 0.9, group, 1 - group)]
    table.loc[rng.random(n) < 0.05, "age"] = -999.0
    table.loc[(table["height"] > 3) & (rng.random(n) < 0.5), "income"] = np.nan
    table.loc[7, ["height", "weight"]] = [40.0, 40.0]
    return table


@pytest.fixture(scope="module")
def found():
    return explore(planted(), name="planted").to_dict()


def numbers(value):
    if isinstance(value, dict):
        for each in value.values():
            yield from numbers(each)
    elif isinstance(value, list):
        for each in value:
            yield from numbers(each)
    elif isinstance(value, float):
        yield value


def test_every_section_is_plain_data_that_survives_json(found):
    assert set(found) == SECTIONS
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert all(map(math.isfinite, numbers(found)))
    assert 1 <= len(found["insights"]) <= 12
    assert all(insight["effect"] is not None and insight["measure"] for insight in found["insights"])


def test_two_groups_are_found(found):
    assert found["clusters"]["n"] == 2
    assert found["clusters"]["probability_more_than_one"] > 0.9
    cards = found["clusters"]["cards"]
    assert sum(card["rows"] for card in cards) == 400
    for card in cards:
        low, high = card["interval"]
        assert low <= card["share"] <= high
        assert {"height", "weight"} & {line["column"] for line in card["typical"]}


def test_every_card_says_what_is_typical_and_no_number_is_beyond_its_bounds(found):
    for card in found["clusters"]["cards"]:
        assert {"height", "weight"} <= {line["column"] for line in card["typical"]}
        assert 0 <= card["doubt"] <= 1
    for insight in found["insights"]:
        assert insight["probability"] is None or insight["probability"] < 1


def test_codes_for_missing_are_found(found):
    codes = {column["name"]: [code["value"] for code in column["codes"]] for column in found["columns"]}
    assert codes["age"] == [-999.0]
    assert not any(values for name, values in codes.items() if name != "age")


def test_the_absurd_row_comes_with_its_reason(found):
    first = found["anomalies"]["rows"][0]
    assert first["row"] == 7
    assert first["probability"] > 0.9
    assert first["reasons"][0]["column"] in {"height", "weight"}


def test_holes_that_are_not_random_are_found(found):
    depends = {(line["column"], line["on"]) for line in found["missing"]["depends"] if line["probability"] > 0.99}
    assert {("income", "height"), ("income", "weight"), ("income", "town")} & depends
    assert found["missing"]["imputed"]


def test_dependencies_are_found(found):
    strongest = {frozenset((pair["a"], pair["b"])) for pair in found["dependencies"]["pairs"][:3]}
    assert frozenset(("height", "weight")) in strongest
    assert not any("age" in (pair["a"], pair["b"]) for pair in found["dependencies"]["pairs"])


def test_the_map_has_a_point_for_each_row(found):
    points = found["map"]["points"]
    assert sorted(points["row"]) == list(range(400))
    assert {len(values) for values in points.values()} == {400}
    assert set(points["cluster"]) == {1, 2}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["normal", "skewed", "counts"])
def test_of_noise_it_says_that_there_is_nothing(kind, seed):
    rng = np.random.default_rng(seed)
    draw = {"normal": rng.normal, "skewed": rng.exponential, "counts": lambda size: rng.poisson(3.0, size=size)}[kind]
    told = explore({f"c{j}": draw(size=300) for j in range(4)}).to_dict()
    assert told["clusters"]["n"] == 1
    assert told["dependencies"]["pairs"] == []
    assert told["insights"][0]["kind"] == "nothing"


def test_the_same_seed_gives_the_same_report():
    one, two = (explore(planted(150), seed=3).to_dict() for _ in range(2))
    for told in (one, two):
        told["source"].pop("seconds")
    assert one == two


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas, lambda t: t.to_dict("list")])
def test_any_kind_of_table_gives_the_same_report(make):
    table = planted(150)
    told = explore(make(table), name="t").to_dict()
    assert told["clusters"]["n"] == explore(table, name="t").to_dict()["clusters"]["n"]
    assert [column["name"] for column in told["columns"]] == list(table.columns)


def test_a_class_is_predicted_better_than_by_guessing():
    told = explore(planted(), target="town").to_dict()["target"]
    assert told["kind"] == "class"
    assert told["score"] > told["baseline"] + 0.2
    assert set(told["importance"][0]["columns"]) <= {"height", "weight"}
    assert told["interval"][0] <= told["score"] <= told["interval"][1]


def test_a_number_is_predicted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    table = pd.DataFrame(X, columns=list("abc")).assign(y=3 * X[:, 1] + rng.normal(size=300))
    told = explore(table, target="y").to_dict()["target"]
    assert told["kind"] == "number"
    assert told["importance"][0]["column"] == "b"


def test_states_in_time_are_found():
    rng = np.random.default_rng(0)
    state = np.repeat([0, 1, 0], 100)
    day = pd.date_range("2024-01-01", periods=300).astype(str)
    table = {"day": list(day), "load": rng.normal(size=300) + 5 * state, "heat": rng.normal(size=300) - 4 * state}
    told = explore(table, time="day").to_dict()["time"]
    assert told["states"] == 2
    assert [change["row"] for change in told["changes"]] == pytest.approx([100, 200], abs=2)


@pytest.mark.parametrize(
    "table",
    [
        {"a": [1.0]},
        {"a": [2, 2, 2], "b": ["x", "x", "x"]},
        {"a": ["one text", "another text", "a third, longer text"] * 20},
        {"a": [None, None], "b": [1.0, 2.0]},
        {"when": ["2024-01-01", "2024-02-01", "2024-03-01"] * 10},
        {"a": [float("inf"), 1.0, 2.0, 3.0] * 10},
    ],
)
def test_whatever_can_be_shown_is_shown(table):
    told = explore(table).to_dict()
    assert len(told["columns"]) == len(table)
    assert json.dumps(told, allow_nan=False)
    assert latently.explore(table).to_markdown()


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"a": [1, 2, 3]}, {"target": "b"}, "b"),
        ({"a": [1, 2, 3]}, {"time": "when"}, "when"),
        ({}, {}, "column"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "a"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(table, options, message):
    with pytest.raises(ValueError, match=message):
        explore(table, **options)
