"""Detectors and tables that are not in memory: the same answers as in memory, or an error that says what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

from latently.cluster import GaussianMixture, Mixture
from latently.detect import (
    SVDD,
    CombinedDetector,
    KernelDensity,
    KernelPCADetector,
    ModelDetector,
    OneClassSVM,
    SemiSupervisedSVDD,
    read,
)
from latently.distributions import Gaussian
from latently.sequence import GaussianHMM

TABLE = load_wine(as_frame=True).data.iloc[:, [0, 1, 6, 9]]
DETECTORS = [
    OneClassSVM(nu=0.1), SVDD(nu=0.1), SemiSupervisedSVDD(nu=0.1), KernelPCADetector(3),
    KernelDensity(bandwidth="rule"), ModelDetector(GaussianMixture(2, random_state=0)), ModelDetector(Gaussian()),
    CombinedDetector(),
]  # fmt: skip
VERBS = {
    "score_samples": "score", "decision_function": "decision", "predict": "prediction",
    "tail_probability": "tail_probability", "outlier_probability": "outlier_probability",
}  # fmt: skip


def named(detector):
    return type(detector).__name__


@pytest.fixture
def files(tmp_path):
    for part in range(3):
        TABLE.iloc[part::3].assign(part=part).to_parquet(tmp_path / f"part-{part}.parquet")
    return tmp_path, pd.concat([TABLE.iloc[part::3] for part in range(3)])


@pytest.mark.parametrize("detector", DETECTORS, ids=named)
def test_files_are_as_good_as_memory(detector, files):
    folder, table = files
    here = detector.fit(table)
    expected = {verb: getattr(here, verb)(table) for verb in VERBS}
    there = detector.fit(f"{folder}/part-*.parquet", columns=list(TABLE.columns))
    assert list(there.feature_names_in_) == list(TABLE.columns)
    for verb, column in VERBS.items():
        path = getattr(there, verb)(f"{folder}/part-*.parquet", to=folder / "out.parquet", keep=["part"])
        found = pd.read_parquet(path)
        assert np.allclose(found[column], expected[verb], rtol=1e-8), verb
        assert found["part"].tolist() == sorted(found["part"])


def test_labels_and_weights_are_columns(tmp_path):
    rng = np.random.default_rng(0)
    table = TABLE.assign(label=np.where(rng.random(len(TABLE)) < 0.1, -1, 0), copies=rng.integers(1, 4, len(TABLE)))
    table.to_csv(tmp_path / "table.csv", index=False)
    where, names = tmp_path / "table.csv", list(TABLE.columns)
    ball = SVDD(nu=0.2).fit(where, y="label", sample_weight="copies", columns=names)
    assert np.isclose(ball.radius_, SVDD(nu=0.2).fit(TABLE, table["label"], table["copies"]).radius_)
    semi = SemiSupervisedSVDD(nu=0.2).fit(where, y="label", columns=names)
    assert np.allclose(
        semi.score_samples(TABLE), SemiSupervisedSVDD(nu=0.2).fit(TABLE, table["label"]).score_samples(TABLE)
    )


def test_dask(tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    lazy = dd.from_pandas(TABLE, npartitions=3)
    for detector in (OneClassSVM(nu=0.1), ModelDetector(GaussianMixture(2, random_state=0))):
        here, there = detector.fit(TABLE).score_samples(TABLE), detector.fit(lazy).score_samples(lazy)
        assert np.allclose(np.asarray(there.compute()), here, rtol=1e-6)


def test_what_is_too_large_to_keep_is_refused(files, monkeypatch):
    folder, table = files
    small = OneClassSVM().fit(table)
    monkeypatch.setattr(read, "_drawn", lambda source: (None, False))
    with pytest.raises(ValueError, match="OneClassSVM keeps the rows of its fit.*ModelDetector"):
        OneClassSVM().fit(f"{folder}/part-*.parquet", columns=list(TABLE.columns))
    with pytest.raises(ValueError, match="say where, to="):
        small.predict(f"{folder}/part-*.parquet")


def test_calibrate_takes_files(files):
    folder, table = files
    here = OneClassSVM(nu=0.1).fit(table).calibrate(table)
    there = OneClassSVM(nu=0.1).fit(table).calibrate(f"{folder}/part-*.parquet")
    assert np.allclose(here.tail_probability(table), there.tail_probability(table))


def test_mixed_tables_from_files(tmp_path):
    table = load_iris(as_frame=True).frame
    table["target"] = table["target"].map({0: "a", 1: "b", 2: "c"})
    table.to_parquet(tmp_path / "t.parquet")
    here = ModelDetector(Mixture(2, random_state=0)).fit(table)
    there = ModelDetector(Mixture(2, random_state=0)).fit(tmp_path / "t.parquet")
    assert np.allclose(here.score_samples(table), there.score_samples(table))
    path = there.predict(tmp_path / "t.parquet", to=tmp_path / "out.parquet")
    assert np.array_equal(pd.read_parquet(path)["prediction"], here.predict(table))


def test_sequences_from_files_are_refused(files):
    folder, _ = files
    with pytest.raises(ValueError, match="refit=False"):
        ModelDetector(GaussianHMM(2)).fit(f"{folder}/part-*.parquet", columns=list(TABLE.columns), sequences_by="part")
