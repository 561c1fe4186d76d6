"""Trees by the command line: fit, save, apply."""

import io

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from latently.cli import main


@pytest.mark.parametrize("model", ["DecisionTreeClassifier", "RandomForestClassifier"])
def test_fit_and_apply(model, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = load_iris(as_frame=True).frame
    table["target"] = table["target"].map({0: "setosa", 1: "versicolor", 2: "virginica"})
    table.loc[::7, "petal width (cm)"] = None
    table.to_csv("iris.csv", index=False)
    options = ["--set", "n_estimators=5"] if "Forest" in model else []
    assert main(["fit", model, "iris.csv", "--target", "target", "-o", "m.latently", *options]) == 0
    assert model in capsys.readouterr().out
    assert main(["apply", "m.latently", "iris.csv"]) == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert (found.iloc[:, 1] == table["target"]).mean() > 0.9
