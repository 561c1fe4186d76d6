"""The command line: what it prints, where it writes, and with which code it ends."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import latently
from latently.cli import main
from latently.cluster import Mixture


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def iris() -> pd.DataFrame:
    frame = load_iris(as_frame=True).frame
    frame["species"] = load_iris().target_names[frame.pop("target")]
    frame.columns = ["sl", "sw", "pl", "pw", "species"]
    frame.loc[::15, "sw"] = np.nan
    frame.loc[3, "pl"] = 30.0
    frame.to_csv("iris.csv", index=False)
    return frame


def _printed(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def _fails(arguments: list[str], words: str, capsys: Any) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("latently: ")
    assert said.err.count("\n") == 1
    assert words in said.err
    assert "Traceback" not in said.err


# help and the process


@pytest.mark.parametrize("command", [[], ["explore"], ["fit"], ["apply"], ["compare"], ["models"], ["completion"]])
def test_help_comes_from_the_docstrings(command: list[str], capsys: Any) -> None:
    assert main([*command, "--help"]) == 0
    text = capsys.readouterr().out
    assert "Usage: latently" in text
    assert "Usage" in text
    if not command:
        assert all(name in text for name in ("explore", "fit", "apply", "compare", "models"))


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; from latently.cli import main; main(['--help']); print([m for m in %r if m in sys.modules])"
    heavy = ["numpy", "sklearn", "numba", "pyarrow", "scipy", "narwhals", "pandas", "jinja2"]
    done = subprocess.run([sys.executable, "-c", code % heavy], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_module_is_the_command(iris: pd.DataFrame) -> None:
    for command in ([sys.executable, "-m", "latently"], [str(Path(sys.executable).parent / "latently")]):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == latently.__version__
    bad = subprocess.run([sys.executable, "-m", "latently", "explore", "none.csv"], capture_output=True, text=True)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == "latently: there is no file none.csv: check the path\n"


def test_debug_shows_where_an_error_came_from() -> None:
    bad = subprocess.run(
        [sys.executable, "-m", "latently", "explore", "none.csv", "--debug"], capture_output=True, text=True
    )
    assert bad.returncode == 2
    assert "Traceback" in bad.stderr


def test_a_fault_of_ours_has_a_code_of_its_own(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("latently.cli.models.known", broken)
    assert main(["models"]) == 1
    assert "--debug" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error(iris: pd.DataFrame) -> None:
    assert main(["fit", "Mixture", "iris.csv"]) == 0
    command = f"'{sys.executable}' -m latently apply model.latently iris.csv; echo code $? >&2"
    done = subprocess.run(f"({command}) | true", shell=True, capture_output=True, text=True, check=True)
    assert done.stderr.strip() in ("code 0", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_the_commands(shell: str, capsys: Any) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert "explore" in text
    assert "--max-rows" in text or "max-rows" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "nonsense"),
        (["explore", "--nonsense"], "--nonsense"),
        (["fit"], "MODEL"),
        (["fit", "Mixtur", "x.csv"], "did you mean Mixture"),
        (["fit", "Mixture", "x.csv", "--seed", "abc"], "abc"),
        (["apply", "none.latently", "x.csv"], "there is no file none.latently"),
    ],
)
def test_bad_arguments_end_in_one_sentence(arguments: list[str], words: str, capsys: Any) -> None:
    _fails(arguments, words, capsys)


def test_models_lists_what_fit_knows(capsys: Any) -> None:
    assert main(["models"]) == 0
    text = capsys.readouterr().out
    assert "GaussianMixture" in text
    assert main(["models", "--json"]) == 0
    listed = {model["model"]: model for model in json.loads(capsys.readouterr().out)}
    assert "n_components" in listed["Mixture"]["settings"]


# fit and apply


def test_fit_saves_what_the_library_would_fit(iris: pd.DataFrame, capsys: Any) -> None:
    assert main(["fit", "mixture", "iris.csv", "-o", "m.latently", "--set", "n_components=2", "--seed", "3"]) == 0
    assert "saved: m.latently" in capsys.readouterr().out
    loaded = latently.load("m.latently")
    twin = Mixture(2, random_state=3).fit(pd.read_csv("iris.csv"))
    np.testing.assert_allclose(loaded.weights_, twin.weights_, rtol=1e-6)
    assert list(loaded.feature_names_in_) == ["sl", "sw", "pl", "pw", "species"]


def test_fit_tells_as_json(iris: pd.DataFrame, capsys: Any) -> None:
    assert main(["fit", "KMeans", "iris.csv", "--columns", "sl,pl", "-s", "n_clusters=2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["columns"] == ["sl", "pl"]
    assert (told["rows"], told["total_rows"]) == (150, 150)


def test_apply_gives_clusters_probabilities_reasons_and_imputations(iris: pd.DataFrame, capsys: Any) -> None:
    main(["fit", "Mixture", "iris.csv", "--set", "n_components=3"])
    capsys.readouterr()
    assert main(["apply", "model.latently", "iris.csv", "--reasons", "5"]) == 0
    rows = _printed(capsys.readouterr().out)
    model, table = latently.load("model.latently"), pd.read_csv("iris.csv")
    assert [int(row["cluster"]) for row in rows] == model.predict(table).tolist()
    shares = [[float(row[f"p({k})"]) for k in range(3)] for row in rows]
    np.testing.assert_allclose(shares, model.predict_proba(table))
    np.testing.assert_allclose([float(row["surprise"]) for row in rows], -model.score_samples(table))
    assert rows[3]["reasons"].startswith("pl is 30, expected ")
    assert sum(bool(row["reasons"]) for row in rows) <= 5
    filled = rows[0]
    assert float(filled["sw low"]) < float(filled["sw"]) < float(filled["sw high"])
    assert rows[1]["sw low"] == ""


def test_apply_decides_by_rewards(iris: pd.DataFrame, capsys: Any) -> None:
    main(["fit", "NaiveBayes", "iris.csv", "--target", "species"])
    Path("reward.csv").write_text("state,keep,toss\nsetosa,1,0\nversicolor,0,1\nvirginica,0,1\n")
    capsys.readouterr()
    assert main(["apply", "model.latently", "iris.csv", "--reward", "reward.csv", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert all((row["action"] == "keep") == (row["prediction"] == "setosa") for row in rows)
    assert all(row["expected reward"] == pytest.approx(max(row["p(setosa)"], 1 - row["p(setosa)"])) for row in rows)


def test_apply_gives_states_numbers_and_fillings(iris: pd.DataFrame, capsys: Any) -> None:
    cases: list[tuple[list[str], set[str]]] = [
        (["GaussianHMM", "iris.csv", "--columns", "sl,pw", "-s", "n_components=2"], {"row", "state", "p(0)", "p(1)"}),
        (
            ["BayesianLinearRegression", "iris.csv", "--columns", "sl,pl", "--target", "pw"],
            {"row", "prediction", "low", "high"},
        ),
        (
            ["GaussianHMM", "iris.csv", "--columns", "sl,sw", "-s", "n_components=2"],
            {"row", "state", "p(0)", "p(1)", "sw", "sw low", "sw high"},
        ),
        (["Imputer", "iris.csv", "--drop", "species"], {"row", "sw", "sw low", "sw high"}),
        (["KMeans", "iris.csv", "--columns", "sl", "-s", "n_clusters=2"], {"row", "cluster"}),
    ]
    for arguments, names in cases:
        assert main(["fit", *arguments]) == 0
        capsys.readouterr()
        assert main(["apply", "model.latently", "iris.csv"]) == 0
        rows = _printed(capsys.readouterr().out)
        assert len(rows) == 150
        assert set(rows[0]) == names


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".parquet", ".feather"])
def test_apply_writes_files(iris: pd.DataFrame, suffix: str, capsys: Any) -> None:
    main(["fit", "Mixture", "iris.csv"])
    assert main(["apply", "model.latently", "iris.csv", "-o", f"out{suffix}"]) == 0
    readers = {".csv": pd.read_csv, ".json": pd.read_json, ".parquet": pd.read_parquet, ".feather": pd.read_feather}
    read = readers.get(suffix, lambda path: pd.read_csv(path, sep="\t"))
    assert len(read(f"out{suffix}")) == 150
    assert f"written: out{suffix}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "KMeans", "iris.csv"], "column 'species'"),
        (["fit", "Mixture", "iris.csv", "--set", "n_components"], "name=value"),
        (["fit", "Mixture", "iris.csv", "--set", "nonsense=1"], "no setting 'nonsense'"),
        (["fit", "Mixture", "iris.csv", "--set", "n_components=-1"], "n_components"),
        (["fit", "Mixture", "iris.csv", "--columns", "nonsense"], "column 'nonsense' is not in the table"),
        (["fit", "Mixture", "iris.csv", "--drop", "sl,sw,pl,pw,species"], "no column is left"),
        (["fit", "NaiveBayes", "iris.csv"], "--target"),
        (["fit", "Mixture", "iris.csv", "--target", "species"], "leave out --target"),
        (["fit", "Mixture", "iris.csv", "-o", "none/m.latently"], "no directory none"),
        (["apply", "iris.csv", "iris.csv"], "iris.csv"),
        (["compare", "iris.csv", "none.csv"], "there is no file none.csv"),
    ],
)
def test_bad_input_ends_in_one_sentence(iris: pd.DataFrame, arguments: list[str], words: str, capsys: Any) -> None:
    _fails(arguments, words, capsys)


def test_apply_says_which_column_is_absent(iris: pd.DataFrame, capsys: Any) -> None:
    main(["fit", "Mixture", "iris.csv"])
    iris.drop(columns="pl").to_csv("less.csv", index=False)
    capsys.readouterr()
    _fails(["apply", "model.latently", "less.csv"], "less.csv lacks column 'pl'", capsys)


def test_apply_finds_columns_in_any_order(iris: pd.DataFrame, capsys: Any) -> None:
    main(["fit", "Mixture", "iris.csv", "-s", "n_components=2"])
    iris[iris.columns[::-1]].assign(more=1).to_csv("turned.csv", index=False)
    capsys.readouterr()
    main(["apply", "model.latently", "iris.csv"])
    first = capsys.readouterr().out
    main(["apply", "model.latently", "turned.csv"])
    assert capsys.readouterr().out == first


# compare


def test_compare_finds_the_column_that_changed(iris: pd.DataFrame, capsys: Any) -> None:
    iris.assign(pw=iris["pw"] + 1).to_csv("new.csv", index=False)
    assert main(["compare", "iris.csv", "new.csv"]) == 0
    text = capsys.readouterr().out
    assert "differs from the old one in 'pw'." in text
    assert [line for line in text.splitlines() if line.startswith("* ")] == [
        line for line in text.splitlines() if line.startswith("* pw")
    ]
    assert main(["compare", "iris.csv", "new.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"][0]["column"] == "pw"


def test_names_from_a_file_do_not_command_the_terminal(capsys: Any) -> None:
    frame = pd.DataFrame({"\x1b[31mred": np.arange(60.0), "b": np.arange(60.0) % 7})
    frame.to_csv("evil.csv", index=False)
    assert main(["compare", "evil.csv", "evil.csv"]) == 0
    assert "\x1b" not in capsys.readouterr().out
    main(["fit", "Mixture", "evil.csv", "--columns", "\x1b[31m"])
    assert "\x1b" not in capsys.readouterr().err


def test_output_for_people_stays_off_the_output_for_machines(iris: pd.DataFrame) -> None:
    environment = {**os.environ, "NO_COLOR": "1"}
    command = [sys.executable, "-m", "latently", "compare", "iris.csv", "iris.csv", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert json.loads(done.stdout)["p_value"] > 0.05
    assert done.stderr == ""
