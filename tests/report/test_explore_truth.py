"""What is planted is found, and noise is quiet: few tables, with fixed seeds. The benchmark has the rates."""

import numpy as np
import pytest
from benchmarks.explore_truth import SETTINGS, any_finding

from latently.report import explore

QUIET = [name for name in SETTINGS if name.startswith(("noise", "not independent")) and "0.95" not in name]
PLANTED = [
    name
    for name in SETTINGS
    if not name.startswith(("noise", "not independent", "size told"))
    and "any other" not in name
    and "1 sd," not in name
]


def told(name, seed):
    make, check = SETTINGS[name]
    table, how = make(np.random.default_rng([seed, 77]))
    found = explore(table, **{key: how[key] for key in ("target", "time") if key in how}).to_dict()
    return check(found, how), found


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found(name):
    # rates are 75 % and more: two tables out of three
    assert sum(told(name, seed)[0] for seed in range(3)) >= 2


@pytest.mark.parametrize("name", QUIET)
def test_noise_is_quiet(name):
    # at most one alarm in twenty tables is promised; none in two is all but sure
    assert not any(told(name, seed)[0] for seed in range(2))


def test_nothing_is_said_as_such():
    _, found = told("noise: gaussian", 0)
    assert not any_finding(found, {})
    assert found["insights"][0]["text"].startswith("Nothing stands out")
    assert found["insights"][0]["probability"] is None  # none of the tests gives a probability of nothing
    assert "No clusters" in found["clusters"]["text"]


def test_codes_are_missing_afterwards():
    _, found = told("codes: 2 % are -999", 0)
    column = found["columns"][0]
    assert column["missing"] == column["codes"][0]["count"]
    assert column["min"] > 0
    assert found["anomalies"]["count"] == 0


@pytest.mark.parametrize(
    ("column", "codes"),
    [
        (np.r_[np.linspace(20, 60, 80), [99.0] * 3], [99]),
        (np.r_[np.linspace(60, 120, 80), [0.0] * 5], [0]),
        (np.r_[np.tile([1.0, 2, 3, 4, 5], 20), [9.0] * 6], [9]),
        (np.r_[np.linspace(0, 50, 80), [-999.0] * 3, [-998.0] * 3], [-998, -999]),
        (np.linspace(-2, 99, 80), []),
        (np.tile([0.0, 1, 2, 3, 4], 20), []),
        (np.r_[np.linspace(0, 1, 80), 50.0], []),
    ],
)
def test_codes_are_told_from_values(column, codes):
    found = explore({"v": column, "x": np.arange(len(column)) % 7.0}).to_dict()["columns"][0]["codes"]
    assert sorted(code["value"] for code in found) == sorted(codes)


def test_words_for_missing_are_codes():
    found = explore({"s": ["a", "b", "N/A", "?"] * 20}).to_dict()
    assert {code["value"] for code in found["columns"][0]["codes"]} == {"N/A", "?"}
    assert found["columns"][0]["missing"] == 40


def test_skewed_clouds_are_no_clusters_whatever_the_mixture_needs():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 3))
    X[:, 1] = X[:, 0] ** 2 + 0.3 * X[:, 1]  # a banana, which takes several components
    found = explore(X).to_dict()
    assert found["clusters"]["components"] > 1
    assert found["clusters"]["n"] == 1
    assert found["clusters"]["probability_more_than_one"] is None


def test_irises_fall_into_two_clusters():
    from sklearn.datasets import load_iris

    iris = load_iris(as_frame=True)
    found = explore(iris.data).to_dict()["clusters"]
    assert found["n"] == 2  # the gap between setosa and the others; the others overlap
    assert [card["rows"] for card in found["cards"]] == [100, 50]


def test_probabilities_of_a_target_come_true():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    X[:, 1:3] = X[:, :1] + 0.2 * X[:, 1:3]  # copies, which make naive Bayes too sure
    y = rng.random(4000) < 1 / (1 + np.exp(-2 * X[:, 0]))
    table = {f"c{j}": x for j, x in enumerate(X.T)} | {"y": np.where(y, "yes", "no").tolist()}
    calibration = explore(table, target="y").to_dict()["target"]["calibration"]
    assert np.abs(np.subtract(calibration["predicted"], calibration["observed"])).max() < 0.12


def test_intervals_of_imputed_values_hold():
    rng = np.random.default_rng(0)
    n = 2000
    x = rng.normal(size=n)
    truth = np.exp(0.5 * (x + 0.5 * rng.normal(size=n)))
    gone = rng.random(n) < 0.1
    found = explore({"x": x, "y": np.where(gone, np.nan, truth)}).to_dict()["missing"]["imputed"]
    inside = [cell["interval"][0] <= truth[cell["row"]] <= cell["interval"][1] for cell in found]
    assert len(inside) == 50
    assert 0.75 <= np.mean(inside) <= 1.0  # 90 % of 50, within chance
