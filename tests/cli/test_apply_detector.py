"""`latently apply` takes any detector."""

import json

import pandas as pd
import pytest
from sklearn.datasets import load_iris

import latently
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
