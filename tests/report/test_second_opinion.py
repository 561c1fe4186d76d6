"""Other detectors are asked about the rows that a report lists, and disagreement is told."""

import numpy as np

import latently
from latently.report.sections.second_opinion import second_opinion


def test_detectors_agree_on_a_plain_outlier():
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[7] = 9.0
    found = second_opinion(X, np.array([7]))
    assert found["disputed"] == []
    assert "agree" in found["text"]


def test_disagreement_is_told():
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[[3, 4]] = 0.01
    found = second_opinion(X, np.array([3, 4]))
    assert found["disputed"] == [3, 4]
    assert "find rows 3, 4 usual" in found["text"]
    assert "look at these rows yourself" in found["text"]


def test_nothing_to_ask():
    X = np.ones((50, 2))
    assert second_opinion(X, np.array([], dtype=int)) is None
    assert second_opinion(X, np.array([1])) is None


def test_the_report_has_it():
    import pandas as pd
    from sklearn.datasets import load_iris

    table = pd.DataFrame(load_iris().data, columns=list("abcd"))
    table.iloc[5, 3] = 9.0
    report = latently.explore(table)
    assert report.to_dict()["anomalies"]["agreement"]["detectors"] == ["kernel density", "one-class SVM"]
