"""Scores and criteria of tables that are not in memory are those of the same rows in memory."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from tacit.cluster import BernoulliMixture, GaussianMixture, Mixture
from tacit.data import open_source


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    z = rng.integers(3, size=900)
    table = pd.DataFrame({"x": rng.normal(3.0 * z), "v": rng.normal(-1.0 * z), "flag": rng.random(900) < 0.2 + 0.3 * z})
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
