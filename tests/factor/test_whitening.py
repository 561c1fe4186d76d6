"""The whitening: exact where covariances are not, and honest about rank."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from latently.factor import JADE, TDSEP, FastICA, InfoMax

MODELS = [FastICA(random_state=0), JADE(), TDSEP(lags=3), InfoMax(random_state=0)]


def sources(n, k, seed=0):
    return np.random.default_rng(seed).laplace(size=(n, k))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_white_coordinates_are_white(model):
    X = sources(3000, 4) @ np.random.default_rng(1).normal(size=(4, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # these sources have no time structure
        model.fit(X)
    Z = (X - model.mean_) @ model.whitening_.T
    np.testing.assert_allclose(np.cov(Z.T, bias=True), np.eye(4), atol=1e-12)
    np.testing.assert_allclose(np.var(model.transform(X), axis=0), 1, rtol=1e-9)
    np.testing.assert_allclose(model.components_ @ model.mixing_, np.eye(4), atol=1e-12)


def test_directions_are_those_of_the_singular_value_decomposition():
    X = sources(500, 5) @ np.random.default_rng(1).normal(size=(5, 5))
    _, sizes, V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    expected = V / sizes[:, None] * np.sqrt(500)
    model = FastICA(3, random_state=0).fit(X)
    signs = np.sign((model.whitening_ * expected[:3]).sum(axis=1))
    np.testing.assert_allclose(model.whitening_, expected[:3] * signs[:, None], rtol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_offset_and_scale_do_not_matter(offset, scale):
    S = sources(4000, 3)
    A = np.random.default_rng(2).normal(size=(3, 3))
    plain = FastICA(random_state=0, tol=1e-10).fit(S @ A)
    if offset and scale < 1:
        pytest.skip("there is nothing left of the data")
    moved = FastICA(random_state=0, tol=1e-10).fit(scale * (S @ A) + offset)
    np.testing.assert_allclose(moved.components_ * scale, plain.components_, rtol=1e-6, atol=1e-6)


def test_columns_of_very_different_scales():
    """The covariance matrix has a condition of 1e20; the rows have one of 1e10."""
    S = sources(5000, 2)
    X = S @ np.array([[1.0, 0.3], [0.5, 1.0]]) * [1e5, 1e-5]
    Z = (X - X.mean(axis=0)) @ FastICA(random_state=0).fit(X).whitening_.T
    np.testing.assert_allclose(np.cov(Z.T, bias=True), np.eye(2), atol=1e-5)


class TestRank:
    X = np.column_stack([sources(600, 3), sources(600, 3).sum(axis=1), np.full(600, 7.0)])

    @pytest.mark.parametrize("model", MODELS, ids=repr)
    def test_without_a_number_there_are_as_many_components_as_the_rank(self, model):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(self.X)
        assert model.components_.shape == (3, 5)
        assert np.isfinite(model.components_).all()

    def test_more_than_the_rank_is_told(self):
        with pytest.warns(ConvergenceWarning, match="rank 3, so that 3 components are found instead of 4"):
            model = FastICA(4, random_state=0).fit(self.X)
        assert len(model.components_) == 3

    def test_more_than_columns_is_told(self):
        with pytest.warns(UserWarning, match="n_components is too large: it will be set to 3"):
            FastICA(9, random_state=0).fit(self.X[:, :3])

    def test_fewer_rows_than_columns(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = JADE().fit(sources(6, 20))
        assert model.components_.shape == (5, 20)  # the mean takes one

    def test_a_constant_table_is_refused(self):
        with pytest.raises(ValueError, match="X is constant"):
            JADE().fit(np.full((50, 3), 4.2))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_missing_values_are_refused_with_a_way_out(model):
    X = sources(100, 3)
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"'x1'.*latently\.impute\.Imputer.*latently\.factor\.PCA"):
        model.fit(X)


def test_one_row_is_refused():
    with pytest.raises(ValueError, match="1 sample"):
        JADE().fit([[1.0, 2.0]])


def test_codes_of_the_wrong_width_are_refused():
    model = JADE().fit(sources(100, 3))
    with pytest.raises(ValueError, match="X has 2 sources, but the model has 3"):
        model.inverse_transform(np.zeros((4, 2)))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_checkpoint_is_refused(model, tmp_path):
    with pytest.raises(ValueError, match="keeps no checkpoints"):
        model.fit(sources(100, 2), checkpoint=tmp_path / "stored")
