"""Every engine model from files: the same parameters as from memory, however the rows are cut into files.

A model is one line in MODELS: how to make it, what it is given, and which numbers must agree.
"""

import itertools
import re
import subprocess
import sys
import textwrap
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from latently.cluster import BernoulliMixture, GaussianMixture, KMeans, Mixture
from latently.data import TablePrep, open_source
from latently.impute import Imputer
from latently.predict import BayesianLinearRegression, BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes
from latently.sequence import GMMHMM, CategoricalHMM, GaussianHMM, HiddenMarkovModel, MarkovChain, PoissonHMM

# Fits are stopped early here, which they tell.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N = 6000
TOLERANCE = 1e-10


def make_table():
    rng = np.random.default_rng(0)
    ids = np.sort(rng.integers(300, size=N))
    z = rng.integers(3, size=N)
    table = pd.DataFrame(
        {
            "id": ids,
            "x": rng.normal(3.0 * z),
            "v": rng.normal(-1.0 * z, 0.5),
            "count": rng.poisson(1 + 3 * z),
            "code": np.where(rng.random(N) < 0.8, z, rng.integers(3, size=N)),
            "flag": rng.random(N) < 0.2 + 0.3 * z,
            "word": np.array(["low", "mid", "top"])[np.where(rng.random(N) < 0.8, z, rng.integers(3, size=N))],
            "label": np.array(["a", "b", "c"])[z],
            "w": rng.integers(1, 4, size=N).astype(float),
            "share": (1.0 + np.arange(300) % 3)[ids],
        }
    )
    table["target"] = 2 * table["x"] - table["count"] + rng.normal(size=N)
    table["hole"] = np.where(rng.random(N) < 0.1, np.nan, table["x"] + rng.normal(size=N))
    return table


@dataclass(frozen=True)
class Case:
    make: Any
    columns: list[str]
    numbers: list[str]
    y: str | None = None
    weights: str | None = None
    sequences: bool = False
    options: dict[str, Any] = field(default_factory=dict)


START = np.array([[0.0, 0.0], [3.0, -1.0], [6.0, -2.0]])
MODELS = {
    "KMeans": Case(lambda: KMeans(3, random_state=0), ["x", "v"], ["cluster_centers_", "inertia_", "trace_"]),
    "KMeans with missing values and weights": Case(
        lambda: KMeans(3, random_state=0), ["hole", "v"], ["cluster_centers_", "cluster_weights_"], weights="w"
    ),
    "KMeans at random": Case(lambda: KMeans(3, init="random", random_state=0), ["x"], ["cluster_centers_"]),
    "KMeans from given centres": Case(lambda: KMeans(3, init=START), ["x", "v"], ["cluster_centers_"]),
    "KMeans from a function": Case(
        lambda: KMeans(3, init=lambda X, k, random_state: X[:k], n_init=1), ["x", "v"], ["cluster_centers_"]
    ),
    "GaussianMixture": Case(lambda: GaussianMixture(3, random_state=0), ["x", "v"], ["means_", "covariances_"]),
    "GaussianMixture tied": Case(
        lambda: GaussianMixture(3, covariance_type="tied", n_init=2, random_state=0), ["x", "v"], ["means_", "weights_"]
    ),
    "GaussianMixture with missing values and weights": Case(
        lambda: GaussianMixture(2, random_state=0), ["hole", "v", "x"], ["means_", "lower_bounds_"], weights="w"
    ),
    "GaussianMixture by gradient": Case(
        lambda: GaussianMixture(2, method="gradient", random_state=0), ["x"], ["means_", "weights_"]
    ),
    "BernoulliMixture": Case(
        lambda: BernoulliMixture(2, random_state=0), ["flag", "code"], ["probabilities_", "weights_"], weights="w"
    ),
    "Mixture": Case(
        lambda: Mixture(3, families={"count": "counts"}, max_iter=20, random_state=0),
        ["hole", "word", "count", "flag"],
        ["weights_", "lower_bounds_"],
        weights="w",
    ),
    "GaussianNB": Case(GaussianNB, ["hole", "v"], ["theta_", "var_"], "label", "w"),
    "BernoulliNB": Case(BernoulliNB, ["flag", "hole"], ["feature_log_prob_"], "label", "w"),
    "CategoricalNB": Case(CategoricalNB, ["code", "count"], ["class_log_prior_"], "label"),
    "MultinomialNB": Case(MultinomialNB, ["code", "count"], ["feature_log_prob_"], "label", "w"),
    "NaiveBayes": Case(NaiveBayes, ["hole", "word", "flag", "count"], ["class_prior_"], "label", "w"),
    "BayesianLinearRegression": Case(
        BayesianLinearRegression, ["x", "count"], ["coef_", "intercept_", "alpha_"], "target", "w"
    ),
    "MarkovChain": Case(lambda: MarkovChain(2), ["word"], ["startprob_"], sequences=True),
    "GaussianHMM": Case(
        lambda: GaussianHMM(3, n_iter=10, random_state=0), ["hole", "v"], ["means_", "transmat_"], sequences=True
    ),
    "GMMHMM": Case(
        lambda: GMMHMM(2, n_mix=2, n_iter=5, random_state=0), ["x", "v"], ["means_", "weights_"], sequences=True
    ),
    "CategoricalHMM": Case(
        lambda: CategoricalHMM(2, n_iter=10, random_state=0), ["code"], ["emissionprob_"], None, "share", True
    ),
    "PoissonHMM": Case(
        lambda: PoissonHMM(2, n_iter=10, random_state=0), ["count"], ["lambdas_", "startprob_"], sequences=True
    ),
    "HiddenMarkovModel": Case(
        lambda: HiddenMarkovModel(2, n_iter=5, random_state=0), ["x"], ["transmat_"], sequences=True
    ),
}


@pytest.fixture(scope="module")
def table():
    return make_table()


@pytest.fixture(scope="module")
def places(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    table.to_parquet(folder / "one.parquet", row_group_size=577)
    (folder / "seven").mkdir()
    edges = [0, 1, 1, 900, 2700, 2701, 4500, N]
    for i, (start, stop) in enumerate(itertools.pairwise(edges)):
        table.iloc[start:stop].to_parquet(folder / "seven" / f"{i}.parquet", row_group_size=151 + i)
    table.to_csv(folder / "one.csv", index=False)
    frames = lambda: (table.iloc[i : i + 313] for i in range(0, N, 313))  # noqa: E731
    return {"one file": folder / "one.parquet", "seven files": folder / "seven", "frames": frames}


def in_memory(case, table):
    lengths = np.bincount(table["id"]) if case.sequences else None
    weights = None if case.weights is None else table[case.weights].to_numpy()
    rows = table[case.columns]
    if case.sequences:
        if weights is not None:
            weights = weights[np.cumsum(lengths) - lengths]
        rows = rows["word"].to_numpy() if case.columns == ["word"] else rows.to_numpy(float)
        return case.make().fit(rows, lengths, **({} if weights is None else {"sample_weight": weights}))
    args = () if case.y is None else (table[case.y],)
    return case.make().fit(rows, *args, sample_weight=weights)


def from_place(case, place):
    options = {"columns": case.columns} | ({"sequences_by": "id"} if case.sequences else {})
    options |= {} if case.y is None else {"y": case.y}
    return case.make().fit(place, **options, **({} if case.weights is None else {"sample_weight": case.weights}))


def numbers(model, names):
    return {name: np.concatenate([np.ravel(part) for part in np.atleast_1d(getattr(model, name))]) for name in names}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("reads", ["once", "copy", "again"])
def test_the_same_parameters(name, reads, table, places, monkeypatch):
    if reads != "once":  # tables larger than memory: from a decoded copy, or from the files again and again
        monkeypatch.setattr("latently.data.stored.source.KEEP_BYTES", 0)
    if reads == "again":
        monkeypatch.setattr("latently.data.stored.source.has_disk_space", lambda size: False)
    for place in ("latently.data.sources.bounds.CHUNK_ROWS", "latently.learn.kmeans.rows.CHUNK_ROWS"):
        monkeypatch.setattr(place, 500)  # many chunks of few rows
    case = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        expected = numbers(in_memory(case, table), case.numbers)
        for place in places.values() if reads == "once" else [places["seven files"]]:
            found = numbers(from_place(case, place), case.numbers)
            for key, value in expected.items():
                np.testing.assert_allclose(found[key], value, rtol=TOLERANCE, atol=TOLERANCE, err_msg=key)


def test_a_source_is_as_good_as_a_path(table, places):
    source = open_source(places["seven files"], columns=["x", "v"], weights="w", chunk_rows=1000)
    found = GaussianMixture(3, random_state=0).fit(source)
    expected = GaussianMixture(3, random_state=0).fit(table[["x", "v"]], sample_weight=table["w"])
    np.testing.assert_allclose(found.means_, expected.means_, rtol=TOLERANCE)
    assert list(found.feature_names_in_) == ["x", "v"]


def test_partial_fit_from_files(table, places):
    model = GaussianNB()
    model.partial_fit(places["one file"], "label", ["a", "b", "c"], columns=["x", "v"])
    model.partial_fit(places["seven files"], "label")  # the columns of the first call
    both = pd.concat([table, table])
    expected = GaussianNB().fit(both[["x", "v"]], both["label"])
    np.testing.assert_allclose(model.theta_, expected.theta_, rtol=TOLERANCE)
    mixture = GaussianMixture(2, random_state=0).fit(places["one file"], columns=["x"])
    twice = GaussianMixture(2, random_state=0).fit(table[["x"]]).partial_fit(table[["x"]])
    np.testing.assert_allclose(mixture.partial_fit(places["seven files"]).means_, twice.means_, rtol=TOLERANCE)


@pytest.mark.parametrize("small", [False, True])
def test_preparation_from_files(table, places, tmp_path, monkeypatch, small):
    columns = ["hole", "word", "count", "target"]
    prep = TablePrep(missing="fill", outliers="clip", threshold=2.0)
    if small:  # only a part of the rows is looked at together; counts and scales are still those of all rows
        monkeypatch.setattr("latently.data.stored.source.StoredSource.some_rows.__defaults__", (8 * 4 * 5000, 0))
    expected = TablePrep(**prep.get_params()).fit(table[columns])
    prep.fit(places["seven files"], columns=columns)
    for found, wanted in zip(prep.account(), expected.account(), strict=True):
        assert found["n_missing"] == wanted["n_missing"]
        assert small or found == wanted
    prep.transform(places["seven files"], to=tmp_path / "out.parquet")
    written = pd.read_parquet(tmp_path / "out.parquet")
    assert list(written) == columns
    np.testing.assert_array_equal(written["word"], table["word"])
    if not small:
        np.testing.assert_array_equal(written["hole"], expected.transform(table[columns])["hole"])


def test_scales_of_all_rows(table, places, monkeypatch):
    monkeypatch.setattr("latently.data.stored.source.StoredSource.some_rows.__defaults__", (8 * 1000, 0))
    for scale in ("standard", "range"):
        expected = TablePrep(skew="none", scale=scale).fit(table[["hole"]]).account()[0]
        found = TablePrep(skew="none", scale=scale).fit(places["seven files"], columns=["hole"]).account()[0]
        assert found["centre"] == pytest.approx(expected["centre"], rel=1e-10)
        assert found["unit"] == pytest.approx(expected["unit"], rel=1e-10)


@pytest.mark.parametrize("columns", [["hole", "v"], ["hole", "word", "v"]])
def test_imputation_from_files(table, places, tmp_path, columns):
    expected = Imputer(max_components=2, random_state=0).fit(table[columns])
    imputer = Imputer(max_components=2, random_state=0).fit(places["seven files"], columns=columns)
    np.testing.assert_allclose(imputer.model_.weights_, expected.model_.weights_, rtol=TOLERANCE)
    imputer.transform(places["one file"], to=tmp_path / "out.parquet", keep=["id"])
    written = pd.read_parquet(tmp_path / "out.parquet")
    filled = expected.transform(table[columns])
    np.testing.assert_allclose(written["hole"], filled["hole"], rtol=TOLERANCE)
    assert not written.isna().to_numpy().any()


@pytest.mark.parametrize("columns", [["hole", "v"], ["hole", "word", "v"]])
def test_imputation_learns_from_all_rows_of_long_files(places, monkeypatch, columns):
    monkeypatch.setattr("latently.data.stored.source.StoredSource.some_rows.__defaults__", (8 * len(columns) * 3000, 0))
    imputer = Imputer(max_components=2, random_state=0).fit(places["seven files"], columns=columns)
    assert imputer.model_.statistics_.rows == N


def test_a_start_is_drawn_alike_from_files_and_memory(table, places, monkeypatch):
    """More rows than a start looks at, with missing values: drawn in the order of a table in memory."""
    monkeypatch.setattr("latently.cluster.gaussian.start.START_ROWS", 2000)
    expected = GaussianMixture(3, random_state=0).fit(table[["hole", "v"]])
    found = GaussianMixture(3, random_state=0).fit(places["seven files"], columns=["hole", "v"])
    np.testing.assert_allclose(found.means_, expected.means_, rtol=TOLERANCE)


def test_sequences_that_are_only_sampled_for_the_start(table, places, monkeypatch):
    monkeypatch.setattr("latently.sequence.hmm.stored.START_BYTES", 8 * 2000)
    model = CategoricalHMM(2, n_iter=5, random_state=0).fit(places["seven files"], columns=["code"], sequences_by="id")
    assert model.emissionprob_.shape == (2, 3)
    one = CategoricalHMM(2, n_iter=5, random_state=0).fit(places["frames"], columns=["code"], sequences_by="id")
    np.testing.assert_allclose(one.emissionprob_, model.emissionprob_, rtol=TOLERANCE)
    absent = GaussianHMM(2, n_iter=5, random_state=0).fit(places["one file"], columns=["hole"], sequences_by="id")
    assert np.isfinite(absent.means_).all()


def test_states_are_written_by_sequence(table, places, tmp_path):
    model = GaussianHMM(2, n_iter=5, random_state=0).fit(places["one file"], columns=["x"], sequences_by="id")
    model.predict(places["seven files"], sequences_by="id", to=tmp_path / "out.parquet")
    expected = model.predict(table[["x"]], np.bincount(table["id"]))
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "out.parquet")["prediction"], expected)


def test_text_files(table, tmp_path):
    table.to_csv(tmp_path / "rows.csv", index=False)
    bayes = NaiveBayes().fit(tmp_path / "rows.csv", "label", columns=["hole", "word", "flag"])
    expected = NaiveBayes().fit(table[["hole", "word", "flag"]], table["label"])
    rows = table[["hole", "word", "flag"]]
    np.testing.assert_allclose(bayes.predict_proba(rows), expected.predict_proba(rows), rtol=1e-9)
    assert KMeans(2, random_state=0).fit(tmp_path / "rows.csv", columns=["x", "code"]).converged_


def test_memory_is_bounded(tmp_path):
    """Five times the rows, 150 MB more of them, take hardly more memory."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("asks Linux for the peak of a process's memory")
    code = """
        import sys, warnings
        from pathlib import Path
        import numpy as np, pyarrow as pa, pyarrow.parquet as pq
        import latently.data.stored.source
        from latently.cluster import GaussianMixture, KMeans
        warnings.simplefilter("ignore")
        latently.data.stored.source.KEEP_BYTES = 0
        rng = np.random.default_rng(0)
        X = rng.normal(size=(600_000, 8)) + 5 * rng.integers(2, size=(600_000, 1))
        table = pa.table({f"x{j}": X[:, j] for j in range(8)})
        folder, start = Path(sys.argv[1]), X[:4].copy()
        for i in range(8):
            pq.write_table(table, folder / f"{i}.parquet", compression="none", use_dictionary=False)
        del X, table
        peaks = []
        for place in ([folder / "0.parquet", folder / "1.parquet"], folder):
            Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
            KMeans(4, init=start, max_iter=2).fit(place)
            GaussianMixture(2, max_iter=2, random_state=0).fit(place)
            peaks.append(int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]))
        print(*peaks)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    two, eight = map(int, done.stdout.split())
    assert eight < two + 150_000  # kilobytes, where the rows take 230 000 more; chunks wait where threads are slow


def test_the_page_about_it_is_true(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[1] / "docs" / "out_of_core.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL))
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "out_of_core.md", "exec"), {})
    assert capsys.readouterr().out.splitlines()[-1] == "60"
