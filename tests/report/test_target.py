"""A target: leakage, missingness as a signal, rare classes, blocks of columns, dates, and what is said of each."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from latently.report import explore


def titanic(n=700):
    """A lifeboat is known for those who lived, and for hardly anyone else."""
    rng = np.random.default_rng(0)
    woman = rng.random(n) < 0.35
    lived = rng.random(n) < np.where(woman, 0.72, 0.2)
    known = rng.random(n) < np.where(lived, 0.955, 0.012)
    return {
        "survived": np.where(lived, "yes", "no").tolist(),
        "sex": np.where(woman, "female", "male").tolist(),
        "age": rng.normal(30, 12, n),
        "boat": [str(rng.integers(1, 17)) if k else None for k in known],
        "name": [f"passenger number {i}" for i in range(n)],
    }


@pytest.fixture(scope="module")
def aboard():
    return explore(titanic(), target="survived").to_dict()


def test_a_column_that_gives_the_target_away_is_named_with_figures_and_left_out(aboard):
    target = aboard["target"]
    (leak,) = target["leakage"]
    assert (leak["column"], leak["by"]) == ("boat", "missing")
    assert leak["alone"] > 0.95
    assert leak["with"] > 0.95
    assert leak["baseline"] < leak["without"] == target["accuracy"] < 0.85
    assert target["score"] == target["accuracy"]
    assert "boat" not in [column for entry in target["importance"] for column in entry["columns"]]
    first = aboard["insights"][0]
    assert (first["finding"], first["columns"]) == ("leakage", ["boat", "survived"])
    assert "by whether it is missing" in first["text"]


def test_the_code_of_a_finding_runs(aboard):
    import pandas as pd

    frame = pd.DataFrame(titanic())
    for insight in aboard["insights"]:
        if insight["finding"] in ("leakage", "target"):
            assert len(eval(insight["code"], {"df": frame, "pd": pd}))


def test_text_is_said_to_be_left_out(aboard):
    assert aboard["target"]["unread"] == ["name"]
    assert "name is left out (text, or an identifier)." in aboard["target"]["text"]


@pytest.mark.parametrize("kinds", [3, 2])
def test_columns_that_tell_a_target_by_nature_are_no_leak(kinds):
    iris = load_iris(as_frame=True)
    frame = iris.data.assign(kind=[f"k{min(k, kinds - 1)}" for k in iris.target])
    target = explore(frame, target="kind").to_dict()["target"]
    assert target["leakage"] == []
    assert target["accuracy"] > 0.9
    # petals and sepals say the same: they are shuffled together, the one that says most first
    assert set(target["importance"][0]["columns"][:2]) == {"petal width (cm)", "petal length (cm)"}


def test_a_copy_of_a_number_is_a_leak_and_the_models_are_told_without_it():
    data = load_diabetes(as_frame=True)
    frame = data.frame.assign(copy=data.target * 2.54 + 1)
    found = explore(frame, target="target").to_dict()["target"]
    (leak,) = found["leakage"]
    assert (leak["column"], leak["by"], leak["metric"]) == ("copy", "values", "R2")
    assert leak["alone"] > 0.99
    assert 0.3 < leak["without"] == found["score"] < 0.6
    assert {entry["model"] for entry in found["models"]} == {
        "a random forest",
        "Bayesian linear regression with squares",
    }
    assert found["models"][0]["error"] <= found["models"][1]["error"]


def test_what_is_missing_tells_a_target_that_its_value_does_not():
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.5
    gone = rng.random(500) < np.where(y, 0.7, 0.2)
    table = {"y": np.where(y, "a", "b").tolist(), "z": rng.normal(size=500)}
    table["x"] = np.where(gone, np.nan, rng.normal(size=500))
    found = explore(table, target="y").to_dict()["target"]
    assert found["tells"]
    assert found["leakage"] == []
    assert found["accuracy"] > 0.65


def test_a_rare_class_is_judged_by_log_loss_and_area():
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000)
    rare = rng.random(3000) < 1 / (1 + np.exp(5 - 2 * x))
    found = explore({"x": x, "z": rng.normal(size=3000), "y": np.where(rare, "yes", "no").tolist()}, target="y")
    target = found.to_dict()["target"]
    assert target["metric"] == "AUC"
    assert 0.8 < target["interval"][0] < target["score"] < target["interval"][1] < 1
    assert "AUC" in target["text"]
    assert "log loss" in target["text"]
    assert "predicted right" not in target["text"]


def test_the_season_and_weekday_of_a_date_predict():
    rng = np.random.default_rng(0)
    days = rng.permutation(np.datetime64("2020-01-01") + np.arange(900))
    weekend = (days.astype("datetime64[D]").astype(int) + 3) % 7 >= 5
    sales = 10 + 5 * weekend + rng.normal(size=900)
    found = explore({"day": days, "x": rng.normal(size=900), "sales": sales}, target="sales").to_dict()["target"]
    assert found["importance"][0]["columns"] == ["day"]
    assert found["score"] > 0.7


def test_nothing_is_not_claimed_beside_a_column_that_goes_with_the_target():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    table = {"x": x, "y": 0.3 * x + rng.normal(size=300)} | {f"z{j}": rng.normal(size=300) for j in range(20)}
    found = explore(table, target="y").to_dict()
    target = found["target"]
    related = {pair["b"] if pair["a"] == "y" else pair["a"] for pair in found["dependencies"]["pairs"]}
    assert not target["tells"]
    assert related == {"x"}
    assert "no model predicts y better than guessing. x does go with it" in target["text"]


def test_a_target_with_one_class_says_so():
    with pytest.raises(ValueError, match=r"target: Column y has one value only \(yes\)"):
        explore({"x": np.arange(60.0), "y": ["yes"] * 60}, target="y")
