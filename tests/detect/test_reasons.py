"""Why a row is unusual: the value that was corrupted is named, and what is said of it is right."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import yeojohnson, yeojohnson_normmax
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.preprocessing import scale

from latently.detect import SVDD, CombinedDetector, KernelDensity, KernelPCADetector, ModelDetector, OneClassSVM
from latently.detect.reasons.columns import _greedy
from latently.detect.reasons.powers import Powers
from latently.detect.reasons.predictions import Reasons

IRIS = load_iris().data
DETECTORS = [
    KernelDensity(bandwidth="rule"), OneClassSVM(nu=0.1), SVDD(nu=0.1), KernelPCADetector(), ModelDetector(),
    CombinedDetector(),
]  # fmt: skip


def corrupted(X, seed, n=60):
    """Rows with one value moved to six deviations from what a regression on the others predicts."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.choice(len(X), n), rng.integers(X.shape[1], size=n)
    moved = X[rows].copy()
    for i, j in enumerate(columns):
        rest = np.delete(np.arange(X.shape[1]), j)
        design = np.column_stack([np.ones(len(X)), X[:, rest]])
        coefficients, *_ = np.linalg.lstsq(design, X[:, j], rcond=None)
        sd = (X[:, j] - design @ coefficients).std()
        predicted = coefficients[0] + moved[i, rest] @ coefficients[1:]
        moved[i, j] = predicted + rng.choice([-6.0, 6.0]) * sd
    return moved, columns


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: type(d).__name__)
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_explain_names_the_corrupted_column(detector, load):
    X = scale(load().data[:, :12])
    moved, columns = corrupted(X, 0)
    told = detector.fit(X).explain(moved)
    named = np.array([row["columns"][0]["column"] for row in told])
    assert (named == [f"x{j}" for j in columns]).mean() >= 0.9


def test_many_columns_are_compared_with_their_own_means():
    X = np.random.default_rng(0).normal(size=(60, 600))
    X[:, 5] = 3.0  # constant
    model = OneClassSVM().fit(X)
    odd = X[:1].copy()
    odd[0, 17] = 40.0
    assert model.explain(odd)[0]["columns"][0]["column"] == "x17"


def test_explanations_have_words_and_numbers():
    import pandas as pd

    frame = pd.DataFrame(IRIS, columns=["sepal length", "sepal width", "petal length", "petal width"])
    model = SVDD(nu=0.05).fit(frame)
    odd = frame.iloc[[0]].copy()
    odd["petal width"] = 2.0
    row = model.explain(odd)[0]
    first = row["columns"][0]
    assert (first["column"], first["value"]) == ("petal width", 2.0)
    assert abs(first["expected"] - 0.25) < 0.2
    assert first["deviation"] > 6
    assert first["score_if_expected"] > row["score"]
    assert "petal width is 2, where the others predict 0." in row["text"]
    usual = model.explain(frame.iloc[[100]])[0]
    assert "no single value is far" in usual["text"] or usual["columns"][0]["deviation"] < 6


def test_columns_that_nearly_determine_each_other_are_told_apart():
    """Of the blood values of diabetes three give the fourth; columns made normal tell more than the values alone."""
    X = scale(load_diabetes().data)
    named, alone = [], []
    for seed in range(5):
        seen = X[np.random.default_rng(seed).permutation(len(X))[:221]]
        moved, columns = corrupted(seen, seed, n=200)
        reasons = Reasons.of(seen, range(10))
        named.append((reasons.gains(moved).argmax(axis=1) == columns).mean())
        alone.append((replace(reasons, powers=None).gains(moved).argmax(axis=1) == columns).mean())
    assert np.mean(named) >= 0.92
    assert np.mean(named) > np.mean(alone)


@pytest.mark.parametrize("exponent", [0.0, 0.75, 1.0, 2.0])
def test_powers_are_those_of_yeo_and_johnson(exponent):
    rows = np.random.default_rng(0).normal(size=(50, 2))
    powers = Powers(np.array([1.0, 0.0]), np.array([2.0, 1.0]), np.full(2, exponent))
    peer = np.column_stack([yeojohnson((rows[:, 0] - 1) / 2, exponent), yeojohnson(rows[:, 1], exponent)])
    assert np.allclose(powers.apply(rows), peer)


def test_exponents_are_the_most_likely():
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.gamma(3.0, size=400), rng.normal(size=400), -rng.gamma(6.0, size=400)])
    powers = Powers.of(rows)
    z = (rows - powers.centre) / powers.unit
    best = [yeojohnson_normmax(column) for column in z.T]
    assert np.abs(powers.exponents - best).max() <= 0.125  # the nearest of the exponents that are tried


@pytest.mark.parametrize("factor", [1e-12, 1e8])
def test_reasons_do_not_depend_on_units(factor):
    X = load_wine().data[:, :5]
    moved, _ = corrupted(X, 3, n=20)
    shift = 1e3 * factor
    for detector in (OneClassSVM(), ModelDetector()):
        said = [row["columns"][0]["column"] for row in detector.fit(X).explain(moved, n_columns=1)]
        units = np.array([1.0, factor, 1.0, 1.0, 1.0])
        again = detector.fit(X * units + shift * (units == factor)).explain(moved * units + shift * (units == factor))
        assert [row["columns"][0]["column"] for row in again] == said


def test_the_second_reason_is_read_off_the_mended_row():
    """With a = b = c up to noise and two of them wrong, what is expected of the second comes from the third alone."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(500, 1))
    table = common + 0.1 * rng.normal(size=(500, 3))
    table = np.column_stack([table, rng.normal(size=500)])
    row = np.array([[9.0, -4.0, 1.0, 0.0]])
    reasons = Reasons.of(table, "abcd")
    order, expected = _greedy(reasons, row, 2)
    first, second = order[0, :2]
    mended = row.copy()
    mended[0, first] = reasons.expected(row)[0, first]
    assert np.isclose(expected[0, second], reasons.expected(mended)[0, second])
    assert not np.isclose(expected[0, second], reasons.expected(row)[0, second], atol=1.0)
    told = OneClassSVM().fit(table).explain(row, n_columns=2)[0]["columns"]
    assert np.isclose(told[1]["expected"], expected[0, second])


def test_values_of_any_size_have_reasons():
    reasons = Reasons.of(np.random.default_rng(0).exponential(size=(60, 3)), "abc")
    assert np.isfinite(reasons.gains(np.array([[1e150, 0.0, 1.0], [-1e150, 1.0, 1.0]]))).all()
    constant = Reasons.of(np.column_stack([np.full(30, 5.0), np.arange(30.0)]), "ab")
    assert constant.gains(np.array([[5.1, 3.0]])).argmax() == 0
