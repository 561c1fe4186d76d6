"""The one base class: a model that is expect and update, and three lines of its own, fits and answers from files."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from tests.learn.toy import Coins, TwoCoins, tosses

from latently.cluster import BernoulliMixture, GaussianMixture, KMeans
from latently.data import ArraySource, as_source
from latently.data.sources.chunks import ChunkSource
from latently.learn import em, reducing
from latently.learn.estimator.table import OutOfCoreMixin, read_rows, read_source
from latently.predict import GaussianNB


class CoinMixture(OutOfCoreMixin, BaseEstimator):
    """All that a new model needs to say."""

    _is_iterative = True

    def fit(self, X, y=None, sample_weight=None):
        """Fit."""
        source = self._read(X, sample_weight)
        with reducing(source) as reduce:
            fit = em(TwoCoins(), Coins(0.5, np.array([0.3, 0.6])), reduce, tol=1e-9, max_iter=500)
        self.params_, self.converged_ = fit.params, fit.converged
        return self

    def _read(self, X, sample_weight):
        if isinstance(X, ChunkSource):
            return read_source(self, X, reset=True, allow_nan=False)
        return ArraySource(read_rows(self, X, reset=True), sample_weight)

    def predict(self, X):
        """Which coin is more likely."""
        return TwoCoins().log_joint(self.params_, read_rows(self, X, reset=False)).argmax(axis=1)


@pytest.fixture
def table(tmp_path):
    rows = pd.DataFrame({"heads": tosses(3000)[:, 0], "w": np.arange(3000) % 4})
    (tmp_path / "rows").mkdir()
    for i in range(3):
        rows.iloc[1000 * i : 1000 * (i + 1)].to_parquet(tmp_path / "rows" / f"{i}.parquet")
    return rows


def test_a_new_model_gets_it_all(table, tmp_path, monkeypatch):
    monkeypatch.setattr("latently.data.sources.bounds.CHUNK_ROWS", 256)
    memory = CoinMixture().fit(table[["heads"]], sample_weight=table["w"])
    stored = CoinMixture().fit(tmp_path / "rows", columns=["heads"], sample_weight="w")
    assert stored.converged_
    np.testing.assert_array_equal(stored.params_.heads, memory.params_.heads)
    assert stored.predict(tmp_path / "rows", to=tmp_path / "out.parquet") == tmp_path / "out.parquet"
    written = pd.read_parquet(tmp_path / "out.parquet")["prediction"]
    np.testing.assert_array_equal(written, memory.predict(table[["heads"]]))
    begun = CoinMixture().fit(tmp_path / "rows", columns=["heads"], checkpoint=tmp_path / "fit.ckpt", every=2)
    plain = CoinMixture().fit(tmp_path / "rows", columns=["heads"])
    np.testing.assert_array_equal(begun.params_.heads, plain.params_.heads)


def test_what_it_takes_is_in_the_signature():
    names = list(inspect.signature(KMeans.fit).parameters)
    assert names[:4] == ["self", "X", "y", "sample_weight"]
    assert {"columns", "filters", "sequences_by", "checkpoint", "every"} <= set(names)
    assert {"to", "columns", "filters", "keep"} <= set(inspect.signature(GaussianNB.predict_proba).parameters)
    assert "open_source" in KMeans.fit.__doc__


def test_a_source_in_memory_fits_too():
    rows = np.random.default_rng(0).normal(size=(500, 2))
    for make in (
        lambda: KMeans(3, random_state=0),
        lambda: GaussianMixture(2, random_state=0),
        lambda: BernoulliMixture(2, random_state=0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found, expected = make().fit(as_source(rows, chunk_rows=100)), make().fit(rows)
        np.testing.assert_array_equal(found.predict(rows), expected.predict(rows))
        assert not hasattr(found, "feature_names_in_")


def test_columns_are_compared(table, tmp_path):
    model = GaussianMixture(1).fit(tmp_path / "rows", columns=["heads"])
    with pytest.raises(ValueError, match=r"the columns are \['w'\], but were \['heads'\]"):
        model.partial_fit(tmp_path / "rows", columns=["w"])
    with pytest.raises(ValueError, match="X has 2 features, but GaussianMixture is expecting 1"):
        model.partial_fit(tmp_path / "rows", columns=["heads", "w"])
    assert model.partial_fit(tmp_path / "rows").statistics_.rows == 6000


def test_one_pass_needs_no_checkpoint(table, tmp_path):
    with pytest.raises(ValueError, match="GaussianNB learns in one pass"):
        GaussianNB().fit(tmp_path / "rows", "w", columns=["heads"], checkpoint=tmp_path / "fit.ckpt")


@pytest.mark.parametrize("make", [lambda: KMeans(3, random_state=0), lambda: GaussianMixture(2, random_state=0)])
def test_checkpoints_go_with_files_and_with_memory(make, table, tmp_path):
    expected = make().fit(table[["heads", "w"]])
    for i, X in enumerate((table[["heads", "w"]], tmp_path / "rows")):
        found = make().fit(X, checkpoint=tmp_path / f"{i}.ckpt", every=1)
        np.testing.assert_array_equal(found.predict(table[["heads", "w"]]), expected.predict(table[["heads", "w"]]))
