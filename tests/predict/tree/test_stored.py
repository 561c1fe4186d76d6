"""Trees from Parquet files and Dask collections are those of the same table in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from latently.data import open_source
from latently.learn import threads
from latently.predict import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from latently.predict.tree.growth import levels, stored

N = 3000
X, Y = make_classification(N, 6, n_informative=4, n_classes=3, random_state=0)
Z = X[:, 0] * 2 + np.sin(3 * X[:, 1])
NAMES = [f"c{j}" for j in range(6)]


def frame():
    table = pd.DataFrame(X, columns=NAMES)
    table["c5"] = np.where(X[:, 5] > 0.5, "high", np.where(X[:, 5] < -0.5, "low", "middle"))
    table.loc[::9, "c0"] = np.nan
    table.loc[::17, "c5"] = None
    return table


@pytest.fixture
def parquet(tmp_path):
    table = frame().assign(label=np.array(["a", "b", "c"])[Y], number=Z, weight=1.0 + np.arange(N) % 3)
    table.to_parquet(tmp_path / "rows.parquet", row_group_size=400)
    return str(tmp_path / "rows.parquet")


def same(here, there):
    assert len(here) == len(there)
    # nodes come in another order: compare the leaves by what they hold
    for a, b in ((here.threshold, there.threshold), (here.weight, there.weight), (here.impurity, there.impurity)):
        assert np.sort(a) == pytest.approx(np.sort(b), rel=1e-9, abs=1e-12)
    assert sorted(here.feature) == sorted(there.feature)


MODELS = [
    (DecisionTreeClassifier(random_state=0, max_bins=40), "label"),
    (
        DecisionTreeClassifier(random_state=0, criterion="entropy", max_features=2, min_samples_leaf=5, max_bins=40),
        "label",
    ),
    (DecisionTreeClassifier(random_state=0, class_weight="balanced", max_depth=4, max_bins=40), "label"),
    (DecisionTreeRegressor(random_state=0, min_samples_leaf=20, max_bins=40), "number"),
    (DecisionTreeRegressor(random_state=0, max_bins=20, ccp_alpha=0.001), "number"),
    (RandomForestClassifier(3, random_state=0, max_bins=40, max_depth=8), "label"),
    (RandomForestRegressor(2, random_state=0, max_depth=6, max_samples=0.5, max_bins=40), "number"),
]


@pytest.mark.parametrize(("model", "target"), MODELS, ids=str)
@pytest.mark.parametrize(
    ("held", "fetched"), [(True, 0), (False, levels.FETCHED_ROWS), (False, 300), (False, 0)],
    ids=["codes held", "rows fetched", "both", "by sums"],
)  # fmt: skip
def test_parquet_gives_the_tree_of_the_table(model, target, held, fetched, parquet, monkeypatch):
    monkeypatch.setattr(levels, "FETCHED_ROWS", fetched)
    monkeypatch.setattr(stored, "CODES_BYTES", stored.CODES_BYTES if held else 0)
    y = np.array(["a", "b", "c"])[Y] if target == "label" else Z
    here = model.fit(frame(), y)
    inside, answers = [t.nodes_ for t in getattr(here, "estimators_", [here])], here.predict(frame())
    there = model.fit(parquet, target, columns=NAMES)
    for a, b in zip(inside, [t.nodes_ for t in getattr(there, "estimators_", [there])], strict=True):
        same(a, b)
    found = there.predict(frame())
    assert (found == answers).all() if target == "label" else found == pytest.approx(answers)


def test_weights_from_a_column_count(parquet):
    y, w = np.array(["a", "b", "c"])[Y], 1.0 + np.arange(N) % 3
    here = DecisionTreeClassifier(max_depth=5).fit(frame(), y, sample_weight=w)
    there = DecisionTreeClassifier(max_depth=5).fit(parquet, "label", sample_weight="weight", columns=NAMES)
    same(here.nodes_, there.nodes_)
    assert there.nodes_.weight[0] == w.sum()


def test_dask_by_sums_gives_the_same(monkeypatch):
    import dask
    import dask.array as da

    monkeypatch.setattr(levels, "FETCHED_ROWS", 200)
    monkeypatch.setattr(stored, "CODES_BYTES", 0)
    with dask.config.set(scheduler="synchronous"):
        there = RandomForestClassifier(3, random_state=0).fit(
            da.from_array(X, chunks=(700, 6)), da.from_array(Y, chunks=700)
        )
    here = RandomForestClassifier(3, random_state=0).fit(X, Y)
    assert np.array_equal(here.predict(X), there.predict(X))
    assert here.predict_proba(X) == pytest.approx(there.predict_proba(X))


def test_threads_change_nothing_by_sums(parquet, monkeypatch):
    monkeypatch.setattr(levels, "FETCHED_ROWS", 200)
    monkeypatch.setattr(stored, "CODES_BYTES", 0)
    found = []
    for n in (1, 2):
        with threads(n):
            tree = DecisionTreeRegressor(max_depth=6).fit(open_source(parquet, columns=NAMES, target="number"), None)
            found.append((tree.nodes_.threshold.tolist(), tree.nodes_.value.tolist()))
    assert found[0] == found[1]


def test_answers_are_written_and_scores_summed(parquet, tmp_path):
    tree = DecisionTreeClassifier(max_depth=4).fit(parquet, "label", columns=NAMES)
    path = tree.predict_proba(parquet, to=str(tmp_path / "out.parquet"))
    assert pd.read_parquet(path).to_numpy() == pytest.approx(tree.predict_proba(frame()))
    assert tree.score(parquet, "label") == pytest.approx(tree.score(frame(), np.array(["a", "b", "c"])[Y]))


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (DecisionTreeRegressor(criterion="absolute_error"), "absolute_error"),
        (DecisionTreeRegressor(max_leaf_nodes=4), "max_leaf_nodes"),
        (DecisionTreeRegressor.m5(), "linear"),
        (DecisionTreeRegressor(missing="fractional"), "memory"),
        (RandomForestRegressor(2, oob_score=True), "oob_score"),
    ],
    ids=str,
)
def test_what_needs_rows_side_by_side_is_refused(model, word, parquet, monkeypatch):
    monkeypatch.setattr(stored, "CODES_BYTES", 0)
    with pytest.raises(ValueError, match=word):
        model.fit(parquet, "number", columns=NAMES)
