"""What a person does with a report: rows, labels, new rows, row numbers of a file, a report that was read back."""

import json
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from latently.cli.words import MAX_ROWS
from latently.cluster import Mixture
from latently.data.files.read import SAMPLE_ROWS, read_numbered
from latently.report import Report, explore
from latently.report.act.excerpt import HEAD


def people(n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    side = rng.integers(2, size=n)
    table = pd.DataFrame(
        {
            "name": [f"Person {i}" for i in range(n)],
            "height": 10 + rng.normal(size=n) + 7 * side,
            "weight": 50 + rng.normal(size=n) - 7 * side,
            "kind": np.where(rng.random(n) < 0.9, np.where(side, "tall", "short"), "other"),
            "score": np.where(rng.random(n) < 0.4, 0.0, rng.normal(size=n)),
            "stars": rng.integers(1, 6, n),
        }
    )
    table.loc[rng.random(n) < 0.1, "height"] = np.nan
    table.loc[rng.random(n) < 0.1, "kind"] = None
    table.loc[7, "weight"] = 500.0
    return table


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return people()


@pytest.fixture(scope="module")
def report(table: pd.DataFrame) -> Report:
    return explore(table)


def test_every_row_has_its_answers(table: pd.DataFrame, report: Report) -> None:
    rows = report.rows()
    assert list(rows.columns)[:5] == ["row", "cluster", "probability", "surprise", "reason"]
    assert rows["row"].tolist() == list(range(len(table)))
    assert set(rows["cluster"]) == {1, 2}
    assert rows["probability"].between(0.5, 1).all()
    assert rows["surprise"].idxmax() == 7
    assert rows.loc[7, "reason"].startswith("weight is 500")
    counts = rows["cluster"].value_counts()
    cards = {card["cluster"]: card["rows"] for card in report.to_dict()["clusters"]["cards"]}
    assert counts.to_dict() == cards
    assert report.labels.tolist() == rows["cluster"].tolist()


def test_missing_values_are_filled_with_intervals(table: pd.DataFrame, report: Report) -> None:
    rows, gone = report.rows(), table["height"].isna()
    assert (rows.loc[~gone, "height"] == table.loc[~gone, "height"]).all()
    assert rows.loc[~gone, "height_low"].isna().all()
    filled = rows[gone]
    assert (filled["height_low"] <= filled["height"]).all()
    assert (filled["height"] <= filled["height_high"]).all()
    assert filled["height_low"].min() >= table["height"].min()
    assert filled["height_high"].max() <= table["height"].max()
    unknown = table["kind"].isna()
    assert set(rows.loc[unknown, "kind"]) <= {"tall", "short", "other"}
    assert rows.loc[unknown, "kind_probability"].between(0, 1).all()
    assert rows.loc[~unknown, "kind_probability"].isna().all()


def test_new_rows_are_assigned(table: pd.DataFrame, report: Report) -> None:
    again = report.assign(table)
    assert (again["cluster"] == report.labels).mean() > 0.99
    assert np.corrcoef(again["surprise"], report.rows()["surprise"])[0, 1] > 0.99
    new = {"height": [10.0, 17.0, None], "weight": [50.0, 43.0, 50.0], "kind": ["short", "unheard of", None]}
    found = report.assign(new | {"score": [0.0, 0.3, None], "stars": [1, 2, 9]}, as_frame=False)
    assert found["cluster"][0] != found["cluster"][1]
    assert found["cluster"][0] == found["cluster"][2]
    assert isinstance(report.model, Mixture)
    with pytest.raises(ValueError, match="'stars' of the report is not in the table"):
        report.assign(new | {"score": [0.0, 0.3, None]})
    with pytest.raises(ValueError, match="'weight' held numbers in the report, and holds 'heavy'"):
        report.assign(table.assign(weight="heavy"))


def test_a_report_that_was_read_back_has_no_model(report: Report) -> None:
    stored = pickle.dumps(report)
    assert len(stored) < 3 * len(json.dumps(report.to_dict()))
    for again in (Report(report.to_dict()), pickle.loads(stored)):
        assert again.to_dict() == report.to_dict()
        for ask in (
            again.rows,
            lambda r=again: r.model,
            lambda r=again: r.labels,
            lambda r=again: r.assign({"a": [1]}),
        ):
            with pytest.raises(ValueError, match="read back from a dict or a file"):
                ask()


def test_a_table_without_a_model_says_why() -> None:
    small = explore({"a": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="3 rows"):
        small.rows()
    with pytest.raises(ValueError, match="3 rows"):
        small.labels  # noqa: B018


def test_columns_called_like_answers_keep_their_names() -> None:
    rng = np.random.default_rng(1)
    table = {"cluster": rng.normal(size=50), "row": rng.normal(size=50), "row_low": rng.normal(size=50)}
    table["cluster"][3] = table["row"][4] = table["row_low"][5] = np.nan
    rows = explore(table).rows()
    assert rows.columns.is_unique
    assert rows["row"].tolist() == list(range(50))
    assert rows["cluster_"].notna().all()


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_a_path_is_read_as_on_the_command_line(end: str, tmp_path: Any, table: pd.DataFrame, report: Report) -> None:
    path = tmp_path / f"people.{end}"
    table.to_csv(path, index=False) if end == "csv" else table.to_parquet(path)
    found = explore(str(path) if end == "csv" else path)
    assert repr(found).startswith(f"Report on people.{end}: 240 rows, 6 columns")
    assert found.labels.tolist() == report.labels.tolist()
    assert MAX_ROWS == SAMPLE_ROWS


@pytest.mark.parametrize("end", ["csv", "parquet", "feather", "xlsx"])
def test_a_sample_of_a_file_knows_its_rows(end: str, tmp_path: Any) -> None:
    path = tmp_path / f"many.{end}"
    whole = pd.DataFrame({"at": np.arange(700), "x": np.arange(700) * 2.0})
    {"csv": whole.to_csv, "parquet": whole.to_parquet, "feather": whole.to_feather, "xlsx": whole.to_excel}[end](
        path, **({"index": False} if end in ("csv", "xlsx") else {})
    )
    found = read_numbered(path, max_rows=100, seed=1)
    kept = found.table["at"].to_pylist() if hasattr(found.table["at"], "to_pylist") else found.table["at"].tolist()
    assert found.row_numbers is not None
    assert found.row_numbers.tolist() == kept
    assert read_numbered(path).row_numbers is None


def test_a_sampled_table_is_told_by_the_rows_of_the_whole(table: pd.DataFrame) -> None:
    numbers = 10 * np.arange(len(table)) + 3
    found = explore(table, total_rows=5000, row_numbers=numbers, detectors=["kernel density"])
    contents = found.to_dict()
    assert contents["anomalies"]["rows"][0]["row"] == 73
    assert contents["anomalies"]["rows"][0]["name"] == "Person 7"
    told = next(each for each in contents["insights"] if each["finding"] == "anomaly")
    assert told["rows"][0] == 73
    assert "73" in told["text"]
    assert set(contents["map"]["points"]["row"]) <= set(numbers.tolist())
    assert set(contents["anomalies"]["agreement"]["oddest"]) <= set(numbers.tolist())
    assert "73" in contents["anomalies"]["agreement"]["text"]
    assert set(contents["table"]["row"]) <= set(numbers.tolist())
    assert found.rows()["row"].tolist() == numbers.tolist()
    with pytest.raises(ValueError, match="row_numbers must be 240 different whole numbers"):
        explore(table, row_numbers=[1, 2])


def test_the_report_carries_rows_of_the_table(table: pd.DataFrame) -> None:
    rng = np.random.default_rng(2)
    wide = pd.concat([table, pd.DataFrame(rng.normal(size=(240, 120))).add_prefix("x")], axis=1)
    kept = explore(wide).to_dict()["table"]
    assert len(kept["columns"]) == len(kept["values"]) == 100
    assert len(kept["row"]) == 240
    assert kept["head"] == HEAD
    assert kept["values"][0][:2] == ["Person 0", "Person 1"]
    assert kept["name"] == "name"
    assert kept["values"][1][0] == pytest.approx(table["height"][0], rel=1e-6)
    long = explore(pd.concat([table] * 9, ignore_index=True)).to_dict()
    assert long["table"]["row"][:HEAD] == list(range(HEAD))
    assert len(long["table"]["row"]) <= 1000
    assert {row["row"] for row in long["anomalies"]["rows"]} <= set(long["table"]["row"])
