"""Values and scales at the ends of what floats can hold: a right answer, or an error that names the column."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from latently.cluster import GaussianMixture, KMeans, Mixture
from latently.data.tables.matrix import as_matrix
from latently.distributions import Categorical, Poisson
from latently.predict import GaussianNB

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(size=(50, 2)), RNG.normal(8, 1, size=(50, 2))])
MAKE = [lambda: GaussianMixture(2, random_state=0), lambda: Mixture(2, random_state=0)]


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("scale", [1e-140, 1e-100, 1e100, 1e145])
def test_scales_far_from_one_give_the_same_clusters(make, scale):
    here, there = make().fit(X), make().fit(X * scale)
    assert_allclose(there.predict_proba(X * scale), here.predict_proba(X), atol=1e-9)
    assert there.score(X * scale) == pytest.approx(here.score(X) - 2 * np.log(scale), rel=1e-9)


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-160])
def test_scales_whose_squares_vanish_are_named(make, scale):
    tiny = X * [1.0, scale]
    with pytest.raises(ValueError, match=r"column 'x1' varies by .* rescale it"):
        make().fit(tiny)


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-160])
def test_k_means_names_the_widest_column_where_no_distance_is_a_number(scale):
    with pytest.raises(ValueError, match=r"column 'x1' varies by .* rescale it"):
        KMeans(2, random_state=0).fit(X * [0.1 * scale, scale])
    incomplete = X.copy()
    incomplete[::7, 0] = np.nan
    with pytest.raises(ValueError, match=r"column 'x[01]' varies by .* rescale it"):
        KMeans(2, random_state=0).fit(incomplete * scale)
    beside = KMeans(2, random_state=0).fit(X * [1.0, scale])  # the other column tells the clusters
    assert_allclose(np.bincount(beside.labels_), [50, 50])


@pytest.mark.parametrize("scale", [1e-140, 1e-100, 1e100, 1e140])
def test_k_means_far_from_one_gives_the_same_clusters(scale):
    here, there = KMeans(2, random_state=0).fit(X), KMeans(2, random_state=0).fit(X * scale)
    assert_allclose(there.labels_, here.labels_)
    assert_allclose(there.cluster_centers_ / scale, here.cluster_centers_, rtol=1e-9)


@pytest.mark.parametrize("value", [0.0, 1e-200, 0.1])
def test_equal_rows_are_one_cluster_at_any_scale(value):
    with pytest.warns(UserWarning, match="distinct clusters"):
        found = KMeans(2, random_state=0).fit(np.full((7, 1), value))
    assert_allclose(found.cluster_centers_[found.labels_[0]], value)
    assert_allclose(found.predict([[value]]), found.labels_[0])


@pytest.mark.parametrize("make", [*MAKE, lambda: KMeans(2), lambda: GaussianMixture(2, covariance_type="spherical")])
@pytest.mark.parametrize("value", [1e154, -1e200, 1e308])
def test_values_whose_squares_are_no_numbers_are_named(make, value):
    wide = X.copy()
    wide[3, 1] = value
    with pytest.raises(ValueError, match=r"column 'x1'.* has values of extreme size .* rescale it"):
        make().fit(wide)


@pytest.mark.parametrize("make", MAKE)
def test_a_fitted_mixture_names_them_too(make):
    model = make().fit(X)
    for ask in (model.predict_proba, model.score_samples, model.predict):
        with pytest.raises(ValueError, match=r"column 'x0'.* rescale it"):
            ask([[1e200, 0.0]])


def test_values_that_cancel_in_a_sum_are_seen():
    with pytest.raises(ValueError, match="column 'x0' of X has values of extreme size"):
        as_matrix([[1e200], [-1e200]])
    with pytest.raises(ValueError, match="column 'x0' of X has values of extreme size"):
        as_matrix(np.array([[1e200, 1.0, 1.0], [np.nan, 1.0, 1.0]])[:, ::2], allow_nan=True)
    large = np.array([[3e38, 1.0]], dtype=np.float32)  # its own squares overflow, those of float64 do not
    assert as_matrix(large) is large


def test_a_classifier_names_the_column():
    wide = X.copy()
    wide[0, 0] = 1e160
    with pytest.raises(ValueError, match=r"column 'x0' .*rescale it"):
        GaussianNB().fit(wide, [0, 1] * 50)


@pytest.mark.parametrize("value", [1e9, -1e50, 1e140])
def test_the_density_of_a_row_far_away_is_a_number(value):
    model = Mixture(1).fit(X[:, :1])
    part = model.components_[0]
    expected = norm(part.mean[0], np.sqrt(part.variance[0])).logpdf(value)
    assert model.score_samples([[value]])[0] == pytest.approx(expected, rel=1e-9)
    assert_allclose(Mixture(2, random_state=0).fit(X).predict_proba([[value, 0.0]]).sum(), 1.0)


def test_what_is_improbable_beside_a_sure_category_keeps_its_density():
    table = [["a", 1.0], ["a", 2.0], ["a", 3.0], ["a", 2.5]]
    model = Mixture(1, prior="ml").fit(table)
    values = np.array([1.0, 2.0, 3.0, 2.5])
    expected = norm(values.mean(), values.std()).logpdf(1e9)  # the category is certain: log 1
    assert model.score_samples([["a", 1e9]])[0] == pytest.approx(expected, rel=1e-9)


def test_the_impossible_has_no_density():
    zeros = Mixture(1, families=Poisson(), prior="ml").fit(np.zeros((9, 1)))
    assert_allclose(zeros.score_samples([[0.0], [1.0], [np.nan]]), [0.0, -np.inf, 0.0], atol=1e-12)
    table = np.column_stack([np.repeat([0.0, 1.0], 20), np.repeat([5.0, 9.0], 20) + np.linspace(-1, 1, 40)])
    only_first = Mixture(1, families={0: Categorical()}, prior="ml", fixed={0: {0: Categorical([1.0, 0.0])}})
    with pytest.raises(ValueError, match="probability zero under the fixed"):
        only_first.fit(table)


def test_files_name_the_column(tmp_path):
    pd = pytest.importorskip("pandas")
    wide = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    wide.loc[7, "b"] = 1e200
    wide.to_parquet(tmp_path / "t.parquet")
    for make in MAKE:
        with pytest.raises(ValueError, match=r"column 'b'.* has values of extreme size"):
            make().fit(tmp_path / "t.parquet")
