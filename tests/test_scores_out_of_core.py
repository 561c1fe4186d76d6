"""Scores and criteria of tables that are not in memory are those of the same rows in memory."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from latently.cluster import BernoulliMixture, GaussianMixture, KMeans, Mixture
from latently.data import open_source
from latently.predict import BayesianLinearRegression, GaussianNB, NaiveBayes
from latently.sequence import CategoricalHMM, GaussianHMM, MarkovChain

# Fits are stopped early here, which they tell.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    z = rng.integers(3, size=900)
    table = pd.DataFrame({"x": rng.normal(3.0 * z), "v": rng.normal(-1.0 * z), "flag": rng.random(900) < 0.2 + 0.3 * z})
    table["id"] = np.sort(rng.integers(40, size=900))
    table["code"] = z
    table["height"] = 1e6 + table["x"] + rng.normal(size=900)
    table["word"] = np.array(["low", "mid", "top"])[z]
    table.loc[rng.random(900) < 0.1, "v"] = np.nan
    return table


@pytest.fixture
def places(table, tmp_path):
    """The rows in three files, one behind the other, and in a Dask frame with an empty partition."""
    for i, part in enumerate(np.split(np.arange(900), [100, 550])):
        table.iloc[part].to_parquet(tmp_path / f"{i}.parquet")
    empty = dd.from_pandas(table, npartitions=4)
    return [str(tmp_path), dd.concat([empty, empty.partitions[:1].loc[-5:-1]])]


MIXTURES = {
    "GaussianMixture": (lambda: GaussianMixture(3, random_state=0), ["x", "v"]),
    "BernoulliMixture": (lambda: BernoulliMixture(2, random_state=0), ["flag"]),
    "Mixture": (lambda: Mixture(2, random_state=0), ["x", "v", "flag", "word"]),
}


@pytest.mark.parametrize("name", MIXTURES)
def test_mixtures(name, table, places):
    make, columns = MIXTURES[name]
    model = make().fit(table[columns])
    path, spread = places
    for verb in ("score", "aic", "bic", "icl"):
        ask = getattr(model, verb)
        expected = ask(table[columns])
        for place in (path, open_source(path, columns=columns, chunk_rows=64), spread):
            assert ask(place) == pytest.approx(expected, rel=1e-12), verb


def test_clusters(table, places):
    model = KMeans(3, random_state=0).fit(table[["x", "v"]])
    for place in (*places, open_source(places[0], columns=["x", "v"], chunk_rows=64)):
        assert model.score(place) == pytest.approx(model.score(table[["x", "v"]]), rel=1e-12)


@pytest.mark.parametrize(
    ("make", "columns", "target"),
    [
        (GaussianNB, ["x", "v"], "word"),
        (NaiveBayes, ["v", "flag"], "word"),
        (BayesianLinearRegression, ["x", "code"], "height"),
    ],
)
def test_predictions(make, columns, target, table, places):
    model = make().fit(table[columns], table[target])
    path, spread = places
    expected = model.score(table[columns], table[target])
    assert 0.3 < expected < 1
    assert model.score(path, target) == pytest.approx(expected, rel=1e-9)
    stored = open_source(path, columns=columns, target=target, chunk_rows=64)
    for asked in (lambda: model.score(stored), lambda: model.score(spread, target)):
        assert asked() == pytest.approx(expected, rel=1e-9)
    assert model.score(spread[columns], spread[target]) == pytest.approx(expected, rel=1e-9)
    with pytest.raises(ValueError, match="name of one of its columns"):
        model.score(path, table[target])


@pytest.mark.parametrize(
    ("make", "column"),
    [
        (lambda: GaussianHMM(2, n_iter=3, random_state=0), "v"),
        (lambda: CategoricalHMM(2, n_iter=3, random_state=0), "code"),
        (MarkovChain, "word"),
    ],
)
def test_sequences(make, column, table, places):
    lengths = table.groupby("id").size().to_numpy()
    rows = table[column].to_numpy() if column == "word" else table[[column]]
    model = make().fit(rows, lengths)
    stored = open_source(places[0], columns=[column], sequences_by="id", chunk_rows=64)
    for verb in ("score", "aic", "bic", "icl", "perplexity"):
        if hasattr(model, verb):
            ask = getattr(model, verb)
            assert ask(stored) == pytest.approx(ask(rows, lengths), rel=1e-12), verb


def test_sequences_must_be_told_apart(table, places, tmp_path):
    model = GaussianHMM(2, n_iter=3, random_state=0).fit(table[["v"]], table.groupby("id").size().to_numpy())
    for ask in (model.score, lambda path: model.predict(path, to=tmp_path / "states.parquet")):
        with pytest.raises(ValueError, match="sequences_by='id'"):
            ask(places[0])
