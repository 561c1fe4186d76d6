"""TDSEP: lagged sums across chunks, lags that make no sense."""

import numpy as np
import pandas as pd
import pytest
from tests.factor.ica_signals import MIXING, coloured, waves

from latently.factor import TDSEP
from latently.factor.ica.joint.lagged import LaggedProducts, spectral_distance
from latently.factor.ica.quality import amari_error
from latently.learn.engine.tree import tree_sum


@pytest.mark.parametrize("cuts", [(30,), (3, 5, 40), (1, 2, 3, 4, 5), (50, 51, 52)])
def test_chunks_lose_nothing(cuts):
    """Chunks longer and shorter than the lags, against the products of the whole series."""
    Z, lags = np.random.default_rng(0).normal(size=(60, 3)), (1, 4, 13)
    found = tree_sum(LaggedProducts.of(part, lags) for part in np.split(Z, cuts))
    for lag, products in zip(lags, found.products, strict=True):
        np.testing.assert_allclose(products, Z[:-lag].T @ Z[lag:], atol=1e-12)
    np.testing.assert_array_equal(found.head, Z[:13])
    np.testing.assert_array_equal(found.tail, Z[-13:])


def test_rows_cannot_be_taken_out():
    part = LaggedProducts.of(np.ones((5, 2)), (1,))
    with pytest.raises(TypeError, match="cannot be taken out"):
        part - part


def test_files_give_the_same(tmp_path):
    X = coloured(40_000, (0.9, 0.2, -0.6)) @ MIXING.T
    pd.DataFrame(X, columns=list("abc")).to_parquet(tmp_path / "x.parquet", row_group_size=9000)
    np.testing.assert_allclose(
        TDSEP().fit(str(tmp_path / "x.parquet")).components_, TDSEP().fit(X).components_, rtol=1e-8
    )


def test_chosen_lags():
    X = coloured(5000, (0.9, 0.2, -0.6)) @ MIXING.T
    model = TDSEP(lags=np.array([1, 3])).fit(X)
    assert amari_error(model.components_, MIXING) < 0.03
    assert model.autocorrelations_.shape == (3, 2)


@pytest.mark.parametrize("lags", [[0, 1], [1.5], [-3], []])
def test_lags_must_be_whole_and_positive(lags):
    with pytest.raises(ValueError, match="lags must be whole numbers from 1 on"):
        TDSEP(lags=lags).fit(waves(100) @ MIXING.T)


def test_a_lag_beyond_the_rows_is_refused():
    with pytest.raises(ValueError, match="a lag of 100 needs more than 100 rows"):
        TDSEP(lags=[1, 100]).fit(waves(100) @ MIXING.T)


def test_distance_of_spectra():
    M = np.zeros((3, 3, 4))
    M[0, 0], M[1, 1], M[2, 2] = 0.5, 0.5, -0.5
    M[0, 1] = M[1, 0] = 0.1
    M[0, 2] = M[2, 0] = M[1, 2] = M[2, 1] = 0.05
    np.testing.assert_allclose(spectral_distance(M, 1e6), [0, 0, 10])
