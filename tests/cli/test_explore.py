"""`latently explore`: from a file to a report, and from a bad file to a sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from latently.cli import main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 200
    old = rng.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "age": np.where(old, rng.normal(65, 5, n), rng.normal(30, 5, n)).round(1),
            "income": np.where(old, rng.normal(20, 3, n), rng.normal(45, 6, n)).round(1),
            "home": np.where(old, "house", rng.choice(["flat", "room"], n)),
            "when": pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"),
        }
    )
    frame.loc[::11, "income"] = np.nan
    frame.to_csv("people.csv", index=False)
    return frame


def test_a_report_is_written_and_told(people: pd.DataFrame, capsys: Any) -> None:
    assert main(["explore", "people.csv"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Report on people.csv: 200 rows, 4 columns\n1. ")
    assert "Report: report.html" in said.err
    page = Path("report.html").read_text(encoding="utf-8")
    assert "<title>people.csv" in page
    assert len(page.encode()) < 3_000_000


def test_json_is_for_machines_and_writes_no_page(people: pd.DataFrame, capsys: Any) -> None:
    assert main(["explore", "people.csv", "--json", "--seed", "3", "--target", "income", "--time", "when"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["source"]["name"] == "people.csv"
    assert told["source"]["seed"] == 3
    assert told["target"]["name"] == "income"
    assert told["time"]["column"] == "when"
    assert not Path("report.html").exists()


@pytest.mark.parametrize(("name", "start"), [("r.json", "{"), ("r.md", "# people.csv"), ("r.html", "<!doctype html>")])
def test_the_name_of_the_output_tells_its_form(people: pd.DataFrame, name: str, start: str) -> None:
    assert main(["explore", "people.csv", "-o", name]) == 0
    assert Path(name).read_text(encoding="utf-8").lstrip().startswith(start)


def test_markdown_is_printed(people: pd.DataFrame, capsys: Any) -> None:
    assert main(["explore", "people.csv", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("# people.csv\n")


def test_without_a_file_the_example_is_explored_and_it_says_so(capsys: Any) -> None:
    assert main(["explore", "--max-rows", "300"]) == 0
    said = capsys.readouterr()
    assert "the example table that comes with latently" in said.err
    assert Path("report.html").stat().st_size < 3_000_000


def test_a_sample_is_told(people: pd.DataFrame, capsys: Any) -> None:
    assert main(["explore", "people.csv", "--max-rows", "100", "--json"]) == 0
    source = json.loads(capsys.readouterr().out)["source"]
    assert source["rows"] == 200
    assert source["rows_used"] <= 100
    assert source["sampled"]


def _written(case: str) -> list[str]:
    """Write a bad file; give the arguments that name it."""
    files: dict[str, bytes] = {
        "empty.csv": b"",
        "not.parquet": b"a,b\n1,2\n",
        "twice.csv": b"a,a\n1,2\n3,4\n",
        "ragged.csv": b"a,b\n1,2\n3\n",
        "latin.csv": "a,b\n1,café\n".encode("latin1"),
        "nul.csv": b"a,b\n1,\x00\n",
        "wide.csv": b",".join(b"c%d" % i for i in range(10**6)) + b"\n",
        "header.csv": b"a,b\n",
    }
    if case in files:
        Path(case).write_bytes(files[case])
    if case == "directory":
        Path(case).mkdir()
    return ["explore", case]


BAD = {
    "none.csv": "there is no file",
    "directory": "is a directory",
    "empty.csv": "is empty",
    "not.parquet": "begins like text",
    "twice.csv": "several columns called 'a'",
    "ragged.csv": "row 3",
    "latin.csv": "not UTF-8",
    "nul.csv": "NUL byte on line 2",
    "wide.csv": "1,000,000 columns",
    "header.csv": "no rows",
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_end_in_one_sentence_and_code_2(case: str, capsys: Any) -> None:
    _fails(_written(case), BAD[case], capsys)


def _fails(arguments: list[str], words: str, capsys: Any) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert words in said.err
    assert said.err.count("\n") == 1
    assert not Path("report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "nonsense"], "nonsense"),
        (["--time", "nonsense"], "nonsense"),
        (["-o", "none/r.html"], "no directory"),
        (["-o", "r.exe"], "a report is .html, .json or .md"),
        (["--json", "--markdown"], "choose one"),
    ],
)
def test_bad_options_end_in_one_sentence(people: pd.DataFrame, arguments: list[str], words: str, capsys: Any) -> None:
    _fails(["explore", "people.csv", *arguments], words, capsys)


SHOWN = {
    "constant": "a,b\n" + "1,x\n" * 30,
    "one row": "a,b\n1,x\n",
    "only text": "a\n" + "".join(f"sentence number {i} about nothing\n" for i in range(40)),
    "dates": "d\n" + "".join(f"2024-01-{1 + i % 28:02d}\n" for i in range(40)),
}


@pytest.mark.parametrize("case", SHOWN)
def test_poor_tables_are_shown_as_far_as_can_be_or_end_in_a_sentence(case: str, capsys: Any) -> None:
    Path("poor.csv").write_text(SHOWN[case])
    code = main(["explore", "poor.csv", "--json"])
    said = capsys.readouterr()
    assert code == 0, said.err
    told = json.loads(said.out)
    assert len(told["columns"]) == SHOWN[case].split("\n")[0].count(",") + 1
    skipped = [told[name]["skipped"] for name in ("clusters", "anomalies", "dependencies") if "skipped" in told[name]]
    assert skipped
    assert all(sentence.endswith(".") for sentence in skipped)


def test_a_hostile_table_makes_a_harmless_page(capsys: Any) -> None:
    evil = "<script>window.pwned = 1</script>"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({evil: rng.choice([evil, "=1+1", "\x1b[31m"], 60), "n": rng.normal(size=60)})
    frame.loc[3, evil] = "x" * 1_000_000
    frame.to_csv("evil.csv", index=False)
    assert main(["explore", "evil.csv"]) == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    page = Path("report.html").read_text(encoding="utf-8")
    assert evil not in page
    assert len(page) < 2_000_000


def test_the_process_as_a_user_runs_it(people: pd.DataFrame) -> None:
    command = [sys.executable, "-m", "latently", "explore", "people.csv"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    assert done.returncode == 0
    assert done.stderr.strip() == "Report: report.html"
    assert Path("report.html").exists()
