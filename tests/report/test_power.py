"""Effects of the size that a report says it would have found in 9 of 10 tables are found about that often."""

import numpy as np
import pytest
from scipy import stats

from latently.report import explore
from latently.report.reading.table import read_columns
from latently.report.sections.dependencies import ALARM, dependencies
from latently.report.study.columns import judge
from latently.report.study.groups import separate
from latently.report.study.model import fit_model
from latently.report.study.power import association, correlation, gap
from latently.report.study.prepare import prepare
from latently.report.study.study import Study


def prepared(X):
    return prepare([judge(raw) for raw in read_columns(X)], len(X), 20_000, 0)


def follows(noise, phi):
    out = noise.copy()
    for t in range(1, len(out)):
        out[t] += phi * out[t - 1]
    return out[100:]


@pytest.mark.parametrize(("rows", "phi"), [(60, 0.0), (400, 0.0), (300, 0.7)])
def test_a_correlation_of_the_size_told_is_found(rows, phi):
    rng = np.random.default_rng(0)
    size = dependencies(Study(prepared(follows(rng.normal(size=(rows + 100, 4)), phi))))["finds"]
    hits = []
    for _ in range(100):
        X = rng.normal(size=(rows + 100, 4))
        X[:, 1] = size * X[:, 0] + np.sqrt(1 - size**2) * X[:, 1]
        found = dependencies(Study(prepared(follows(X, phi))))["pairs"]
        hits.append(any({pair["a"], pair["b"]} == {"x0", "x1"} for pair in found))
    assert 0.8 <= np.mean(hits) <= 0.97


def test_the_correlation_told_allows_for_the_number_of_pairs():
    X = np.random.default_rng(0).normal(size=(200, 5))
    found = dependencies(Study(prepared(X)))
    assert found["tests"] == 10
    assert found["finds"] == pytest.approx(correlation(200, ALARM / 10 / 2))
    assert f"{found['finds']:.2f} would have been found in 9 of 10" in found["text"]


@pytest.mark.parametrize(("rows", "p"), [(30, 0.01), (200, 1e-4), (2000, 1e-5)])
def test_power_of_a_correlation_by_simulation(rows, p):
    rng, size = np.random.default_rng(1), correlation(rows, p)
    x, y = rng.normal(size=(2, 3000, rows))
    y = size * x + np.sqrt(1 - size**2) * y
    x, y = (v - v.mean(axis=1, keepdims=True) for v in (x, y))
    r = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    t = r * np.sqrt((rows - 2) / (1 - r**2))
    assert (2 * stats.t.sf(np.abs(t), rows - 2) <= p).mean() == pytest.approx(0.9, abs=0.02)


def test_power_of_an_association_by_simulation():
    rng, w = np.random.default_rng(2), association(300, 1e-3, 1)
    table = np.array([1 + w, 1 - w, 1 - w, 1 + w]) / 4
    p = [
        stats.chi2_contingency(drawn.reshape(2, 2), correction=False).pvalue
        for drawn in rng.multinomial(300, table, size=1000)
    ]
    assert np.mean(np.array(p) <= 1e-3) == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize(("rows", "columns"), [(80, 3), (400, 6)])
def test_clusters_as_far_apart_as_told_are_found(rows, columns):
    size, hits = gap(rows), []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        way = rng.normal(size=columns)
        centres = np.outer(rng.integers(0, 2, rows), size * way / np.linalg.norm(way))
        table = prepared(rng.normal(size=(rows, columns)) + centres)
        hits.append(len(separate(table, fit_model(table)).groups) == 2)
    assert 0.8 <= np.mean(hits) <= 0.99  # 9 of 10, within chance


def test_a_number_moved_as_far_as_told_is_found():
    hits = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150 if seed % 2 else 400, 4))
        size = explore(X).to_dict()["anomalies"]["finds"]
        X[7, rng.integers(4)] += size * rng.choice([-1, 1])
        hits.append(7 in [line["row"] for line in explore(X).to_dict()["anomalies"]["rows"]])
    assert 0.78 <= np.mean(hits) <= 0.99  # 9 of 10, within chance


def test_too_few_rows_find_nothing():
    assert gap(30) is None
    assert correlation(7, 0.01) is None
    assert association(10, 1e-4, 4) is None


def test_of_nothing_there_is_no_probability_but_what_was_tested_and_would_have_been_found():
    found = explore(np.random.default_rng(3).normal(size=(300, 4))).to_dict()
    first = found["insights"][0]
    assert first["kind"] == "nothing"
    assert first["probability"] is None
    sizes = {name: found[name]["finds"] for name in ("dependencies", "clusters", "anomalies")}
    assert f"a correlation of {sizes['dependencies']:.2f}" in first["text"]
    assert f"{sizes['clusters']:.1f} standard deviations apart" in first["text"]
    assert f"moved by {sizes['anomalies']:.1f} standard deviations" in first["text"]
    assert "6 pairs of columns" in first["text"]
    assert "probability" not in explore(np.random.default_rng(3).normal(size=(300, 4))).to_markdown().split("##")[1]
