"""Values beyond what can be squared end a command with exit code 2, and the column is named."""

import numpy as np
import pandas as pd
import pytest

from latently.cli import main


@pytest.mark.parametrize("model", ["Mixture", "GaussianMixture", "KMeans"])
@pytest.mark.parametrize("scale", [1e154, 1e300])
@pytest.mark.parametrize("rows", [slice(None), 5])
def test_fit_names_the_column(model, scale, rows, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    table.loc[rows, "b"] = scale * np.sign(table.loc[rows, "b"]) * 1.5
    table.to_csv("t.csv", index=False)
    assert main(["fit", model, "t.csv", "-o", "m.latently"]) == 2
    told = capsys.readouterr().err
    assert "'b'" in told
    assert "rescale" in told


@pytest.mark.parametrize("model", ["Mixture", "GaussianMixture"])
def test_fit_names_a_column_that_hardly_varies(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    table["b"] *= 1e-200
    table.to_csv("t.csv", index=False)
    assert main(["fit", model, "t.csv", "-o", "m.latently"]) == 2
    assert "'b'" in capsys.readouterr().err
