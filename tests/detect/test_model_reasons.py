"""Reasons of models over mixed tables; the ball with few labels; what combination adds up."""

import numpy as np
import pandas as pd
import pytest

from latently.cluster import Mixture
from latently.detect import CombinedDetector, KernelDensity, ModelDetector, OneClassSVM, SemiSupervisedSVDD


def mixed_table(n=120):
    rng = np.random.default_rng(0)
    side = rng.integers(0, 2, n)
    return pd.DataFrame({"height": rng.normal(6.0 * side, 1.0), "kind": np.where(side == 1, "tall", "short")})


def test_a_category_is_told_in_words():
    table = mixed_table()
    detector = ModelDetector(Mixture(2, random_state=0), contamination=0.01).fit(table)
    odd = pd.DataFrame({"height": [6.0, 0.0, 0.5], "kind": ["short", "short", None]})
    told = detector.explain(odd)
    first = told[0]["columns"][0]
    assert {entry["column"] for entry in told[0]["columns"]} == {"height", "kind"}
    assert "kind is short, where the others predict tall (chance 1 in" in told[0]["text"]
    kind = next(entry for entry in told[0]["columns"] if entry["column"] == "kind")
    assert (kind["value"], kind["expected"], kind["sd"]) == ("short", "tall", None)
    assert first["surprise"] > 3
    missing = next(entry for entry in told[2]["columns"] if entry["column"] == "kind")
    assert (missing["value"], missing["surprise"]) == (None, 0.0)
    assert "no single value" in told[1]["text"]


def test_surprise_is_minus_the_log_of_the_conditional():
    """p(kind | height) from the joint densities of all kinds."""
    table = mixed_table()
    detector = ModelDetector(Mixture(2, random_state=0)).fit(table)
    rows = pd.DataFrame({"height": [3.0, 3.0], "kind": ["short", "tall"]})
    joint = np.exp(detector.score_samples(rows))
    kinds = [next(e for e in told["columns"] if e["column"] == "kind") for told in detector.explain(rows)]
    assert np.allclose([entry["surprise"] for entry in kinds], -np.log(joint / joint.sum()))


@pytest.mark.parametrize("labels", [[1] * 5, [-1], [1] * 8 + [-1]])
def test_the_ball_has_a_size_whatever_labels_there_are(labels):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.zeros(60)
    y[: len(labels)] = labels
    model = SemiSupervisedSVDD(method="ball").fit(X, y)
    assert -model.offset_ < 10  # a squared radius; distances of a Gaussian kernel are below 2
    assert model.margin_ < 10


def test_a_combination_adds_up_its_parts():
    X = np.random.default_rng(0).normal(size=(80, 2))
    both = CombinedDetector([KernelDensity(bandwidth="rule"), OneClassSVM()]).fit(X)
    parts = [detector.tail_probability(X) for detector in both.detectors_.values()]
    assert np.allclose(both.score_samples(X), np.log(parts[0]) + np.log(parts[1]))
