"""The script that a report writes: it does what the report says, and nothing of the data becomes code."""

import ast
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from latently.report import Report, explore
from latently.report.fix.script import script
from latently.report.reading.dates import read_dates
from latently.report.reading.numerals import read_numerals

EVIL = [
    "a\nimport os; os.abort()",
    "'''; raise SystemExit(3)",
    '"""\nraise SystemExit(3)\n"""',
    "x\r\nraise SystemExit(3)",
    "# -*- coding: utf-7 -*-",
    "STEPS",
    "{df}",
    "\u2028raise SystemExit(3)",
    "\\",
]


def orders(n: int = 150) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    days = [f"{d:02d}/{m:02d}/2023" for d, m in zip(rng.integers(1, 29, n), rng.integers(1, 13, n), strict=True)]
    table = pd.DataFrame(
        {
            "order": [f"A{i:04d}" for i in range(n)],
            "price": [f"${v:,.2f}" for v in rng.lognormal(7, 1, n)],
            "weight": [f"{v:.2f}".replace(".", ",") for v in rng.gamma(3, 2, n)],
            "when": days,
            "age": np.where(np.arange(n) % 20 == 3, -999, rng.integers(20, 70, n)),
            "land": np.where(np.arange(n) < 6, "us", rng.choice(["USA", "Canada", "Mexico"], n)),
        }
    )
    return pd.concat([table, table.iloc[:8]], ignore_index=True)


def cleaner(text: str) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "cleaner"}
    exec(compile(text, "clean.py", "exec"), space)
    return space


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return orders()


@pytest.fixture(scope="module")
def text(table: pd.DataFrame) -> str:
    return explore(table, name="orders.csv").fix()


def test_it_cleans_and_is_silent(table: pd.DataFrame, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = table.copy()
    done = cleaner(text)["clean"](table)
    assert capsys.readouterr().err == ""
    pd.testing.assert_frame_equal(table, before)  # the table that was given is as it was
    assert len(done) == 150
    assert done["price"].iloc[0] == float(table["price"].iloc[0].strip("$").replace(",", ""))
    assert done["weight"].iloc[1] == float(table["weight"].iloc[1].replace(",", "."))
    assert done["when"].iloc[2] == pd.to_datetime(table["when"].iloc[2], format="%d/%m/%Y")
    assert done["age"].isna().sum() == 8
    assert set(done["land"]) == {"USA", "Canada", "Mexico"}


def test_each_step_has_its_evidence(text: str) -> None:
    lines = [line.strip() for line in text.splitlines()]
    steps = [at for at, line in enumerate(lines) if line.startswith("df = ") and "rows=" in line]
    assert len(steps) == 6
    assert all(lines[at - 1].startswith("# ") for at in steps)
    assert "# age: -999 stands for a missing value (in 9 rows, probability over 99 %)" in lines


def test_a_changed_table_is_told(table: pd.DataFrame, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    changed = table.drop(columns="weight").iloc[:100].assign(price="dear")
    cleaner(text)["clean"](changed)
    said = capsys.readouterr().err.splitlines()
    assert "the table had 158 rows when it was explored and has 100 now" in said
    assert "'weight': there is no such column any more; this step is left out" in said
    assert "'price': 100 values cannot be read as numbers and are missing now" in said
    assert "'age' is one of [-999]: 9 rows when it was explored, 5 now" in said
    assert "copies of rows: 8 rows when it was explored, 0 now" in said


def test_a_clean_table_has_nothing_to_mend() -> None:
    rng = np.random.default_rng(1)
    done = explore({"a": rng.normal(size=60), "b": rng.normal(size=60)}).fix()
    assert "# There is nothing to mend." in done


def test_a_suggestion_is_a_comment(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(2)
    given = {"a": np.where(np.arange(90) % 20 == 3, -999, rng.integers(20, 70, 90)), "b": rng.normal(size=90)}
    done = explore(given, codes="suggest").fix()
    assert "    # only suggested: df = missing(df, 'a', [-999], rows=5)" in done
    assert (cleaner(done)["clean"](pd.DataFrame(given))["a"] == -999).sum() == 5


@pytest.mark.parametrize("evil", EVIL)
def test_nothing_of_the_data_becomes_code(evil: str) -> None:
    rng = np.random.default_rng(3)
    land = np.where(np.arange(120) < 5, evil + " ", np.where(np.arange(120) % 2, evil, "no"))
    given = pd.DataFrame({evil: np.where(np.arange(120) % 20 == 3, -999, rng.integers(20, 70, 120)), "land": land})
    report = explore(given, name=evil, max_rows=200)
    done = report.fix()
    fixed = [node.name for node in ast.parse(script({})).body if isinstance(node, ast.FunctionDef)]
    tree = ast.parse(done)
    assert [node.name for node in tree.body if isinstance(node, ast.FunctionDef)] == fixed
    clean = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "clean")
    calls = {node.func.id for node in ast.walk(clean) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert calls <= {"same_rows", "missing", "spellings", "numbers", "dates", "without_copies"}
    assert "missing" in calls
    assert cleaner(done)["clean"](given)[evil].isna().sum() == 6


def test_a_step_holds_plain_data_only() -> None:
    step = {"step": "code", "column": "a", "rows": 1, "text": "", "value": object(), "applied": True}
    with pytest.raises(TypeError, match="plain data"):
        script({"source": {}, "fixes": [step]})


def test_a_report_that_was_read_back_can_write_it(table: pd.DataFrame, text: str) -> None:
    report = Report(explore(table, name="orders.csv").to_dict())
    assert report.fix() == text


def test_dates_and_numbers_are_read_as_the_report_reads_them() -> None:
    space = cleaner(script({}))
    days = [
        *(["31/12/2023", "01/02/2023"], ["Jan 1 2000", "Feb 28 2001"], ["2012/01/31", "2012/02/01"]),
        *(["31.12.2023 10:30", "01.02.2023 00:15"], ["2020-01", "2020-11"], ["3 Mar 1999", "12 Apr 2001"]),
        *(["20231231", "20230102"], ["2024-01-01T10:00:00+02:00", "2024-06-01T10:00:00+00:00"]),
    ]
    for texts in days:
        found = read_dates(texts)
        assert found is not None
        frame = space["dates"](pd.DataFrame({"d": texts}), "d", found.day_first, [], None)
        assert [v.timestamp() for v in frame["d"].dt.tz_localize("UTC")] == [found.values[t] for t in texts]
    amounts = [
        *(["$1,200.50", "-$3", "($4.50)"], ["1.234,5", "7,25"], ["5 %", "12.5 %"], ["1 234", "5 678,9"]),
        *(["1e3", "€ 5.5"], ["USD 12", "USD -1,000"], [".5 EUR", "3 EUR"]),
    ]
    for texts in amounts:
        read = read_numerals(texts)
        assert read is not None
        frame = space["numbers"](pd.DataFrame({"d": texts}), "d", read.decimal, [], None)
        assert frame["d"].tolist() == [read.values[t] for t in texts]


def test_the_command_line_writes_it(tmp_path: Any, table: pd.DataFrame, monkeypatch: Any) -> None:
    from latently.cli import main

    monkeypatch.chdir(tmp_path)
    table.to_csv("orders.csv", sep=";", index=False)
    assert main(["explore", "orders.csv", "--fix", "clean.py", "-o", "rows.csv", "-o", "page.html"]) == 0
    assert len(pd.read_csv("rows.csv")) == 158
    assert (tmp_path / "page.html").exists()
    assert not (tmp_path / "report.html").exists()
    monkeypatch.setattr(sys, "argv", ["clean.py", "orders.csv", "cleaned.csv"])
    space = cleaner((tmp_path / "clean.py").read_text())
    space["write"](space["clean"](space["read"]("orders.csv")), "cleaned.csv")
    done = pd.read_csv("cleaned.csv")
    assert len(done) == 150
    assert done["price"].dtype == float
    assert main(["explore", "orders.csv", "--fix", "clean.txt"]) == 2
    assert main(["explore", "orders.csv", "-o", "orders.csv"]) == 2


def test_a_few_copies_of_rows_are_a_step_as_they_are_a_finding() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.normal(size=300) for name in "abcde"})
    table = pd.concat([table, table.iloc[[3, 77, 150]]], ignore_index=True)
    report = explore(table)
    assert [f["effect"] for f in report.to_dict()["insights"] if f["finding"] == "duplicates"] == [3]
    assert [step["rows"] for step in report.to_dict()["fixes"] if step["step"] == "duplicates"] == [3]
