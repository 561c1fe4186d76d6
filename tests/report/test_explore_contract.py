"""Every key of a report, its type, and that it is plain data."""

import json
import math

import numpy as np
import pytest

from latently.report import example_table, explore

FINDINGS = (
    *("clusters", "missing_code", "anomaly", "missingness", "dependency", "reversal", "trend", "season", "states"),
    *("change", "target", "leakage", "duplicates", "spelling", "identifier", "determines", "redundant", "order"),
    "drift",
)
KEYS = (
    *("finding", "text", "section", "columns", "rows", "effect", "measure", "probability", "interval", "code"),
    "kind",
)
SECTIONS = ("clusters", "selection", "map", "anomalies", "missing", "dependencies", "target", "time")


def is_plain(value):
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_plain(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(is_plain(inner) for inner in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or type(value) in (str, int, bool)


@pytest.fixture(scope="module")
def found():
    """A table with something for every section."""
    rng = np.random.default_rng(0)
    n = 400
    side = np.arange(n) >= n // 2
    table = {
        "day": np.datetime64("2024-01-01") + np.arange(n),
        "a": rng.normal(size=n) + 5 * side,
        "b": rng.normal(size=n) - 5 * side,
        "c": rng.exponential(size=n),
        "d": np.where(rng.random(n) < 0.03, -999.0, 50 + rng.normal(size=n)),
        "kind": np.where(side ^ (rng.random(n) < 0.1), "x", "y").tolist(),
        "stars": rng.integers(1, 6, n),
        "id": np.arange(n),
        "words": [f"this is text number {i}" for i in range(n)],
        "same": ["s"] * n,
        "nothing": [None] * n,
    }
    table["c"] += 0.5 * (table["stars"] - 3.0) + 2.0  # one jump of a and b together is no sign of dependence in time
    table["c"][7] = 90.0
    table["a"][rng.random(n) < 0.1] = np.nan
    table["b"] = np.where((rng.random(n) < 0.5) & side, np.nan, table["b"])
    return explore(table, target="kind", time="day", name="all of it").to_dict()


def test_it_is_plain_data_that_json_brings_back(found):
    assert is_plain(found)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_the_top(found):
    assert list(found)[:4] == ["version", "latently", "source", "insights"]
    others = {"columns", "table", "fixes", "limits", "warnings"}
    assert set(found) == {"version", "latently", "source", "insights", *SECTIONS, *others}
    assert found["version"] == 2
    source = found["source"]
    assert (source["name"], source["rows"], source["columns"], source["rows_used"]) == ("all of it", 400, 11, 400)
    assert source["sampled"] == []
    assert source["seed"] == 0
    assert source["seconds"] > 0
    assert all(isinstance(line, str) and line.endswith(".") for line in found["limits"] + found["warnings"])
    assert len(found["limits"]) >= 5


def test_insights_are_few_with_an_effect_and_lines_of_code(found):
    assert 4 <= len(found["insights"]) <= 12
    for insight in found["insights"]:
        assert set(insight) == set(KEYS)
        assert insight["finding"] in FINDINGS
        assert insight["section"] in ("columns", "clusters", "anomalies", "missing", "dependencies", "target", "time")
        assert insight["effect"] is not None
        assert insight["measure"]
        assert insight["code"]
        assert "100 %" not in insight["text"]


def test_columns(found):
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert kinds == {
        "day": "date",
        "a": "numeric",
        "b": "numeric",
        "c": "numeric",
        "d": "numeric",
        "kind": "categorical",
        "stars": "ordinal",
        "id": "identifier",
        "words": "text",
        "same": "constant",
        "nothing": "empty",
    }
    for column in found["columns"]:
        assert {"name", "kind", "used", "missing", "missing_share", "distinct", "codes", "note"} <= set(column)
        if column["kind"] == "numeric":
            assert {"mean", "sd", "min", "max", "skew"} <= set(column)
            assert list(column["quantiles"]) == ["0.05", "0.25", "0.5", "0.75", "0.95"]
            assert len(column["histogram"]["edges"]) == len(column["histogram"]["counts"]) + 1
            assert sum(column["histogram"]["counts"]) == 400 - column["missing"]
    assert [column["name"] for column in found["columns"] if column["used"]] == ["a", "b", "c", "d", "stars"]
    assert found["columns"][0]["min"] == "2024-01-01"
    assert sum(level["share"] for level in found["columns"][5]["levels"]) == pytest.approx(1)


def test_clusters_and_selection(found):
    clusters = found["clusters"]
    assert clusters["n"] == len(clusters["cards"]) == 2
    assert clusters["probability_more_than_one"] > 0.95
    assert 0 <= clusters["doubtful_share"] <= 1
    assert 0 <= clusters["mean_doubt"] <= 0.5
    for place, card in enumerate(clusters["cards"], 1):
        assert card["cluster"] == place
        assert card["interval"][0] < card["share"] < card["interval"][1]
        assert {"column", "text", "here", "overall", "probability"} == set(card["typical"][0])
    assert sum(card["share"] for card in clusters["cards"]) == pytest.approx(1)
    assert "kind" not in clusters["columns"]  # the target is a label, not a reason for clusters
    assert [label["column"] for label in clusters["labels"]] == ["kind"]
    assert clusters["finer"] is None or set(clusters["finer"]) == {"n", "probability", "sizes", "columns", "text"}
    table = found["selection"]["table"]
    assert sum(line["chosen"] for line in table) == 1
    assert min(table, key=lambda line: line["criterion"])["chosen"]
    assert set(table[0]) == {"model", "components", "criterion", "log_likelihood", "parameters", "chosen"}


def test_the_map(found):
    drawn = found["map"]
    sizes = {len(values) for values in (*drawn["points"].values(), *drawn["columns"].values())}
    assert sizes == {400}
    assert set(drawn["points"]) == {"row", "x", "y", "cluster", "doubt", "anomaly"}
    assert 1 >= drawn["explained"][0] >= drawn["explained"][1] >= 0
    assert set(drawn["columns"]) == {"a", "b", "c", "d", "kind", "stars"}
    assert {*drawn["points"]["cluster"]} == {1, 2}
    apart = drawn["discriminant"]
    assert set(apart) == {"x", "y", "x_title", "y_title", "apart", "text"}
    assert len(apart["x"]) == len(apart["y"]) == 400
    placed = drawn["tsne"]
    assert placed["rows"] == drawn["points"]["row"]
    assert {len(placed[name]) for name in ("x", "y", "rows", "trust")} == {400}
    assert all(0 <= trust <= 1 for trust in placed["trust"])
    assert set(placed) - {"x", "y", "rows", "trust"} == {"faint", "neighbours", "kept", "trustworthiness", "text"}
    assert "of the 10 nearest neighbours on this map are among the 10 nearest in the table" in placed["text"]


def test_anomalies_with_reasons(found):
    assert found["anomalies"]["count"] >= 1
    first = found["anomalies"]["rows"][0]
    assert first["row"] == 7
    assert first["probability"] > 0.99
    assert first["reasons"][0]["column"] == "c"
    assert first["reasons"][0]["value"] == "90"
    assert {"column", "value", "expected", "share", "text"} == set(first["reasons"][0])


def test_missing_values(found):
    missing = found["missing"]
    assert missing["cells"] == sum(column["missing"] for column in found["columns"])
    assert missing["share"] == pytest.approx(missing["cells"] / (400 * 11))
    assert missing["complete_rows"] == 0  # one column is empty
    assert sum(pattern["rows"] for pattern in missing["patterns"]) <= 400
    assert any(line["column"] == "b" for line in missing["depends"])
    for cell in missing["imputed"]:
        assert {"row", "column", "value", "interval", "probability"} == set(cell)
        if cell["interval"]:
            assert cell["interval"][0] <= cell["value"] <= cell["interval"][1]


def test_dependencies(found):
    dependencies = found["dependencies"]
    assert {"a", "b", "strength", "probability", "text"} == set(dependencies["pairs"][0])
    strengths = [pair["strength"] for pair in dependencies["pairs"]]
    assert strengths == sorted(strengths, reverse=True)
    values = np.array(dependencies["matrix"]["values"])
    assert values.shape == (len(dependencies["matrix"]["columns"]),) * 2
    assert np.array_equal(values, values.T)
    assert dependencies["order"] == []  # the rows are known to be in the order of time


def test_target_and_time(found):
    target = found["target"]
    assert (target["name"], target["kind"], target["metric"]) == ("kind", "class", "accuracy")
    assert target["interval"][0] < target["score"] < target["interval"][1]
    assert target["score"] > target["baseline"] + 0.2
    assert len({len(part) for part in target["calibration"].values()}) == 1
    assert {"column", "columns", "gain", "interval"} == set(target["importance"][0])
    assert [set(model) for model in target["models"]] == 3 * [{"model", "log_loss", "accuracy", "auc"}]
    assert target["leakage"] == []
    assert target["unread"] == ["id", "words"]
    time = found["time"]
    assert time["column"] == "day"
    assert time["states"] == len(time["cards"]) == 2
    assert any(abs(change["row"] - 200) < 5 for change in time["changes"])
    assert time["changes"][0]["at"].startswith("2024-")
    assert set(time["segments"][0]) == {"state", "start", "stop", "from", "to"}
    assert {len(part) for part in (time["series"]["at"], time["series"]["state"], time["series"]["doubt"])} == {400}


def test_the_same_seed_gives_the_same_report():
    table, name, _ = example_table()
    one, other = (explore(table, name=name, seed=3).to_dict() for _ in range(2))
    for report in (one, other):
        report["source"].pop("seconds")
    assert one == other


def test_a_sample_is_said_to_be_one():
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=4000), "b": rng.normal(size=4000)}
    found = explore(table, max_rows=500).to_dict()
    assert found["source"]["sampled"] == ["map", "missing", "dependencies"]
    whole = explore({"a": table["a"][:100], "b": table["b"][:100]}, total_rows=10**7).to_dict()["source"]
    assert (whole["rows"], whole["rows_used"]) == (10**7, 100)
    assert {"columns", "clusters", "anomalies"} <= set(whole["sampled"])


def test_progress_goes_from_nothing_to_all():
    told = []
    explore({"a": [1.0, 2.0]}, progress=lambda part, share: told.append((part, share)))
    assert told[0] == ("reading", 0.0)
    assert told[-1] == ("done", 1.0)
    assert [share for _, share in told] == sorted(share for _, share in told)


def test_the_example_table_is_described_and_has_something_to_tell():
    table, name, description = example_table()
    assert name == "irises"
    assert "scikit-learn" in description
    sections = {insight["section"] for insight in explore(table, target="species").to_dict()["insights"]}
    assert sections == {"clusters", "columns", "anomalies", "missing", "dependencies", "target"}


def test_rows_that_it_carries_and_what_there_is_to_mend(found):
    table = found["table"]
    assert set(table) == {"columns", "row", "head", "values", "taken", "name"}
    assert len(table["columns"]) == len(table["values"]) == 11
    assert {len(values) for values in table["values"]} == {len(table["row"])} == {400}
    assert table["name"] == "id"
    codes = {text for column, _, text in table["taken"] if table["columns"][column] == "d"}
    assert {float(text) for text in codes} == {-999.0}
    for step in found["fixes"]:
        assert {"step", "column", "rows", "text"} <= set(step)
    assert [(step["step"], step["column"]) for step in found["fixes"]] == [("code", "d")]
