"""`latently fit`, `latently apply` and `latently explore` take any detector."""

import json

import pandas as pd
import pytest
from sklearn.datasets import load_iris

import latently
from latently.cli import main
from latently.cli.answers import answers
from latently.detect import SVDD, KernelDensity, ModelDetector


@pytest.mark.parametrize("detector", [SVDD(nu=0.05), KernelDensity(bandwidth="rule"), ModelDetector()], ids=repr)
def test_detectors_say_which_rows_and_why(detector, tmp_path):
    table = pd.DataFrame(load_iris().data, columns=["a", "b", "c", "d"])
    latently.save(detector.fit(table), tmp_path / "detector")
    odd = table.head(20).copy()
    odd.loc[3, "d"] = 2.5
    found = answers(latently.load(tmp_path / "detector"), odd, rewards=None, reasons=2, level=0.9)
    assert found["outlier"][3] is True
    assert "d is 2.5" in found["reasons"][3]
    assert sum(text != "" for text in found["reasons"]) == 2
    assert json.dumps(found)
    assert "cluster" not in found


@pytest.fixture
def odd_rows(tmp_path, monkeypatch):
    """A file with a row that does not belong, and where it is."""
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(load_iris().data, columns=["a", "b", "c", "d"])
    table.loc[3, "d"] = 2.5
    table.to_csv("rows.csv", index=False)
    return 3


@pytest.mark.parametrize(
    "settings",
    [
        ["OneClassSVM", "--set", "nu=0.05"],
        ["ModelDetector", "--set", "model=Mixture", "--set", "model__n_components=2", "--set", "contamination=0.03"],
    ],
    ids=lambda settings: settings[0],
)
def test_a_detector_is_fitted_and_applied(settings, odd_rows, capsys):
    model, *rest = settings
    assert main(["fit", model, "rows.csv", *rest]) == 0
    assert f"{model}, fitted to 150 rows and 4 columns" in capsys.readouterr().out
    assert main(["apply", "model.latently", "rows.csv", "--json", "--reasons", "3"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows[odd_rows]["outlier"] is True
    assert 1 <= sum(row["outlier"] for row in rows) <= 9
    assert "d is 2.5" in rows[odd_rows]["reasons"]


def test_explore_asks_the_detectors_that_are_named(odd_rows, capsys):
    assert main(["explore", "rows.csv", "--detectors", "SVDD, kernel PCA", "--json"]) == 0
    said = capsys.readouterr().out
    assert "SVDD" in said
    assert "kernel PCA" in said
    assert "one-class SVM" not in said
    assert main(["explore", "rows.csv", "--detectors", "oracle"]) == 2
    assert "oracle" in capsys.readouterr().err
