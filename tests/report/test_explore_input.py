"""Tables as they come: any make, any shape; whatever can be shown is shown, or an error says what to do."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from latently.report import explore

RNG = np.random.default_rng(0)
X = RNG.normal(size=60)


def told(table, **how):
    return explore(table, **how).to_dict()


def kinds(table):
    return [column["kind"] for column in told(table)["columns"]]


@pytest.mark.parametrize(
    "make",
    [dict, pd.DataFrame, pl.DataFrame, pa.table, lambda columns: pd.DataFrame(columns).convert_dtypes()],
    ids=["dict", "pandas", "polars", "arrow", "nullable"],
)
def test_every_make_of_table_says_the_same(make):
    columns = {"x": X, "y": X**2, "s": ["a", "b", "c"] * 20, "t": [True, False] * 30}
    found, plain = told(make(columns)), told(columns)
    for report in (found, plain):
        report["source"].pop("seconds")
    assert found == plain


def test_an_array_has_columns_by_number():
    found = told(np.column_stack([X, X + RNG.normal(size=60)]))
    assert [column["name"] for column in found["columns"]] == ["x0", "x1"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "no columns"),
        ({"a": []}, "no rows"),
        ({"a": [1, 2], "b": [1]}, "different numbers of rows"),
        ({"a": 5}, "a list for each column"),
        ({1: [1], "1": [2]}, "names repeat"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "names repeat: 'a'"),
        (np.arange(5), "1-D"),
        ("text", "there is no file text"),
        (None, "2-D table"),
        (pl.LazyFrame({"a": [1]}), "collect"),
    ],
)
def test_what_is_no_table_is_refused(table, message):
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=message):
        explore(table)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"target": "q"}, "target: column 'q' is not in the table, which has 'x'"),
        ({"time": "q"}, "time: column 'q'"),
        ({"seed": -1}, "seed must be"),
        ({"max_rows": 3}, "max_rows must be"),
        ({"total_rows": 0}, "total_rows must be"),
    ],
)
def test_wrong_wishes_are_refused(how, message):
    with pytest.raises(ValueError, match=message):
        explore({"x": X}, **how)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"a": [1.0], "b": ["x"]}, "1 row"),
        ({"a": [1.0] * 50, "b": ["x"] * 50}, "nothing to model"),
        ({"t": [f"some long text number {i}" for i in range(50)]}, "nothing to model"),
        ({"a": [None] * 30}, "nothing to model"),
    ],
    ids=["one row", "constant", "only text", "empty"],
)
def test_what_cannot_be_modelled_is_still_described(table, reason):
    found = told(table)
    assert reason in found["clusters"]["skipped"]
    assert len(found["columns"]) == len(table)
    assert found["insights"][0]["kind"] == "nothing"
    assert reason in found["insights"][0]["text"]


def test_only_categories_are_explored_without_anomalies():
    found = told({"s": ["a", "b", "c"] * 40, "t": ["u", "v"] * 60})
    assert "number" in found["anomalies"]["skipped"]
    assert found["clusters"]["n"] == 1


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([dt.date(2024, 1, 1) + dt.timedelta(i) for i in range(60)], "date"),
        (pd.date_range("2024", periods=60, tz="Europe/Berlin"), "date"),
        ([f"2024-01-{1 + i % 28:02d}" for i in range(60)], "date"),
        (np.arange("2024-01", "2029-01", dtype="datetime64[M]"), "date"),
        ([str(v) for v in X], "numeric"),
        ([*map(str, X[:-1]), "NA"], "numeric"),
        (pd.to_timedelta(X, unit="h"), "numeric"),
        (["only"] * 60, "constant"),
        ([f"u{i}" for i in range(60)], "identifier"),
        ([[1], [2]] * 30, "categorical"),
        ([1, "a", None] * 20, "categorical"),
        (pd.Categorical(["lo", "hi"] * 30, ["lo", "hi"], ordered=True), "ordinal"),
    ],
)
def test_kinds(values, kind):
    assert kinds(pd.DataFrame({"v": values, "x": X}))[0] == kind


def test_infinite_values_are_missing_and_said():
    found = told({"x": np.r_[X, np.inf, 1e200], "y": np.r_[X, 0.5, 0.1]})["columns"][0]
    assert found["missing"] == 2
    assert "infinite" in found["note"]


def test_long_and_hostile_strings_are_cut_but_not_changed():
    name = "<script>alert(1)</script>"
    found = told({name: ["y" * 100_000, "=1+1"] * 30, "x": X})
    assert found["columns"][0]["name"] == name
    levels = {level["level"] for level in found["columns"][0]["levels"]}
    assert levels == {"y" * 199 + "…", "=1+1"}


@pytest.mark.parametrize("values", [np.full(60, 1e17), np.r_[np.full(59, 1e17), 1e17 + 16], np.full(60, 1e-300)])
def test_values_too_close_for_bars_have_one_bar(values):
    column = told({"v": values, "x": X})["columns"][0]
    assert sum(column.get("histogram", {"counts": [60]})["counts"]) == 60


def test_copies_of_a_column_and_odd_scales_do_not_kill_the_fit():
    found = told({"x": X, "y": X, "z": 1e-12 * X, "w": 1e8 + X})
    assert found["dependencies"]["pairs"][0]["strength"] > 0.99


def test_almost_everything_missing():
    X = RNG.normal(size=(200, 5))
    X[RNG.random(X.shape) < 0.9] = np.nan
    found = told(X)
    assert found["clusters"]["n"] == 1
    assert found["missing"]["share"] == pytest.approx(0.9, abs=0.05)


def test_more_columns_than_the_model_takes():
    found = told({f"c{j}": RNG.normal(size=50) for j in range(70)})
    assert sum(column["used"] for column in found["columns"]) == 60
    assert "60 columns" in next(c["note"] for c in found["columns"] if not c["used"])
    assert found["insights"][0]["kind"] == "nothing"


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (["c"] * 60, "one value only"),
        (["a"] * 58 + ["b"] * 2, "fewer than two classes"),
        ([None] * 50 + ["a", "b"] * 5, "10 rows"),
    ],
)
def test_a_target_that_cannot_be_predicted_says_why(column, reason):
    with pytest.raises(ValueError, match=f"target: .*{reason}"):
        told({"x": X, "y": column}, target="y")


def test_a_time_that_is_none_says_why():
    with pytest.raises(ValueError, match="time: .* must be a date or a number"):
        told({"x": X, "t": ["a", "b"] * 30}, time="t")
