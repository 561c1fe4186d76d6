"""Other detectors are asked about the rows that a report lists, and disagreement is told."""

import numpy as np
import pytest

import latently
from latently.cluster import GaussianMixture
from latently.detect import ModelDetector, OneClassSVM
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


def test_the_rows_on_which_detectors_differ_are_named():
    """Row 3 is off the line that the others are on, but no further from their middle: odd for a model alone."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    X = np.column_stack([x, x + 0.3 * rng.normal(size=300)])
    X[3] = [0.9, -0.9]
    found = second_opinion(X, np.array([3]), [OneClassSVM(nu=0.5, gamma=0.1), ModelDetector(GaussianMixture(1))])
    assert found["split"] == [{"row": 3, "usual": ["OneClassSVM"]}]
    assert "disagree with each other on row 3 (usual: OneClassSVM alone on row 3)" in found["text"]


def test_detectors_are_asked_even_if_nothing_is_listed():
    X = np.random.default_rng(0).normal(size=(100, 2))
    X[9] = 4.0
    found = second_opinion(X, np.array([], dtype=int), ["SVDD"])
    assert 9 in found["oddest"]
    assert "none of which is listed" in found["text"]


def test_detectors_that_are_not_known_are_named():
    with pytest.raises(ValueError, match="no detector 'forest': choose some of kernel density"):
        latently.explore({"a": [1.0, 2.0]}, detectors=["forest"])
    with pytest.raises(ValueError, match="is a list"):
        latently.explore({"a": [1.0, 2.0]}, detectors="SVDD")
    with pytest.raises(ValueError, match="detectors is empty"):
        latently.explore({"a": [1.0, 2.0]}, detectors=[])


def test_the_report_has_it():
    import pandas as pd
    from sklearn.datasets import load_iris

    table = pd.DataFrame(load_iris().data, columns=list("abcd"))
    table.iloc[5, 3] = 9.0
    report = latently.explore(table)
    assert report.to_dict()["anomalies"]["agreement"]["detectors"] == ["kernel density", "one-class SVM"]


def test_detectors_that_are_given_are_not_fitted_themselves():
    X = np.random.default_rng(0).normal(size=(60, 2))
    mine = OneClassSVM()
    second_opinion(X, np.array([1]), [mine])
    assert not hasattr(mine, "offset_")
