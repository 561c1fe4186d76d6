"""Known sources come back, by every algorithm; where an algorithm cannot, it says so."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.factor.ica_signals import MIXING, coloured, heavy_and_light, waves

from latently.factor import JADE, TDSEP, FastICA, InfoMax
from latently.factor.ica.quality import amari_error, minimum_distance

EVERY = [
    FastICA(random_state=0),
    FastICA(random_state=0, fun="exp"),
    FastICA(random_state=0, algorithm="deflation"),
    JADE(),
    TDSEP(),
    InfoMax(random_state=0),
    InfoMax(random_state=0, algorithm="natural-gradient"),
]
ROWWISE = [FastICA(random_state=0), JADE(), InfoMax(random_state=0)]


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_waves_are_separated_as_well_as_by_the_packages_of_r(model):
    """R's fastICA and ica come to an Amari error of 0.0007 on such mixtures."""
    model.fit(waves() @ MIXING.T)
    assert amari_error(model.components_, MIXING) < 0.0007
    assert model.converged_


@pytest.mark.parametrize("model", ROWWISE, ids=repr)
@pytest.mark.parametrize("k", [2, 5, 8])
def test_heavy_and_light_tails_are_separated(model, k):
    X, A = heavy_and_light(20_000, k)
    assert amari_error(model.fit(X).components_, A) < 0.02


def test_more_columns_than_sources():
    rng = np.random.default_rng(0)
    S, A = rng.laplace(size=(5000, 3)), rng.normal(size=(7, 3))
    for model in (FastICA(3, random_state=0), JADE(3), InfoMax(3, random_state=0)):
        model.fit(S @ A.T + 0.01 * rng.normal(size=(5000, 7)))
        assert model.components_.shape == (3, 7)
        assert model.mixing_.shape == (7, 3)
        assert amari_error(model.components_, A) < 0.03


def test_infomax_without_extension_separates_heavy_tails():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4))
    model = InfoMax(extended=False, random_state=0).fit(rng.laplace(size=(20_000, 4)) @ A.T)
    assert amari_error(model.components_, A) < 0.02
    assert (model.signs_ == 1).all()


def test_infomax_finds_the_tails():
    X, A = heavy_and_light(5000, 4)
    model = InfoMax(random_state=0).fit(X)
    matched = np.abs(model.components_ @ A).argmax(axis=1)
    np.testing.assert_array_equal(model.signs_, np.where(matched % 2, 1, -1))


class TestGaussianSeries:
    """Series of unlike spectra: time structure separates them, and nothing else can."""

    S = coloured(5000, (0.9, -0.5, 0.3))
    X = S @ MIXING.T

    def test_tdsep_separates_them(self):
        model = TDSEP().fit(self.X)
        assert amari_error(model.components_, MIXING) < 0.02

    @pytest.mark.parametrize("model", ROWWISE, ids=repr)
    def test_the_others_fail_and_say_so(self, model):
        with pytest.warns(ConvergenceWarning, match="3 of 3 components are not identified"):
            model.fit(self.X)
        assert amari_error(model.components_, MIXING) > 0.1

    def test_tdsep_says_so_if_spectra_are_alike(self):
        with pytest.warns(ConvergenceWarning, match="2 of 3 components are not identified.*different spectra"):
            TDSEP(lags=10).fit(coloured(5000, (0.9, 0.9, 0.3)) @ MIXING.T)

    def test_autocorrelations_are_those_of_the_sources(self):
        model = TDSEP(lags=[1, 3]).fit(self.X)
        Y = model.transform(self.X)
        for j, found in enumerate(model.autocorrelations_):
            np.testing.assert_allclose(found, [np.mean(Y[:-lag, j] * Y[lag:, j]) for lag in (1, 3)], atol=1e-9)


@pytest.mark.parametrize("model", ROWWISE, ids=repr)
def test_one_gaussian_source_is_no_harm(model):
    rng = np.random.default_rng(0)
    S = np.column_stack([rng.laplace(size=5000), rng.normal(size=5000), rng.uniform(size=5000)])
    assert amari_error(model.fit(S @ MIXING.T).components_, MIXING) < 0.05


@pytest.mark.parametrize("model", ROWWISE, ids=repr)
def test_two_gaussian_sources_are_warned_of(model):
    rng = np.random.default_rng(0)
    S = np.column_stack([rng.laplace(size=5000), rng.normal(size=(5000, 2))])
    with pytest.warns(ConvergenceWarning, match="2 of 3 components are not identified"):
        model.fit(S @ MIXING.T)


def test_indices_of_separation():
    """A separation that is off by an angle, by hand."""
    c, s = np.cos(0.1), np.sin(0.1)
    turned = np.array([[0.0, -1.0], [1.0, 0.0]]) @ np.array([[c, s], [-s, c]])
    assert amari_error(turned, np.eye(2)) == pytest.approx(np.tan(0.1))
    assert minimum_distance(turned, np.eye(2)) == pytest.approx(np.sqrt(2) * s)
    assert amari_error([[2.0]], [[1.0]]) == minimum_distance([[2.0]], [[1.0]]) == 0
