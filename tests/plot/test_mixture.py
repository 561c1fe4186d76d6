"""Mixtures in pictures: the numbers are those of scipy's normal distributions, the artists show the numbers."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture, KMeans
from latently.plot import MixtureDisplay

IRIS = load_iris(as_frame=True).data


def fitted(kind="full", k=2):
    return GaussianMixture(k, covariance_type=kind, random_state=0).fit(IRIS)


def full(mixture):
    """(k, d, d) covariances, whatever the type."""
    d = mixture.means_.shape[1]
    spread = {
        "full": lambda c: c,
        "tied": lambda c: np.stack([c] * mixture.n_components),
        "diag": lambda c: np.stack([np.diag(v) for v in c]),
        "spherical": lambda c: np.stack([v * np.eye(d) for v in c]),
    }
    return spread[mixture.covariance_type](mixture.covariances_)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_density_and_ellipses_are_those_of_the_two_columns(kind):
    mixture = fitted(kind)
    display = MixtureDisplay.from_estimator(mixture, columns=(3, 1), n_points=7)
    place = np.ix_([3, 1], [3, 1])
    grid = np.stack(np.meshgrid(display.x, display.y), axis=-1)
    by_scipy = sum(
        w * stats.multivariate_normal(m[[3, 1]], c[place]).pdf(grid)
        for w, m, c in zip(mixture.weights_, mixture.means_, full(mixture), strict=True)
    )
    assert_allclose(np.exp(display.log_density), by_scipy, rtol=1e-9)
    assert display.names == ("petal width (cm)", "sepal width (cm)")
    assert display.ax_.get_xlabel() == "petal width (cm)"


def test_an_ellipse_holds_its_share_of_draws():
    mixture = GaussianMixture(1).fit(np.random.RandomState(0).multivariate_normal([5, -2], [[4, 1.5], [1.5, 1]], 400))
    display = MixtureDisplay.from_estimator(mixture, levels=(0.5, 0.9))
    draws = np.random.default_rng(1).multivariate_normal(display.means[0], display.covariances[0], 40_000)
    inside = [patch.get_path().transformed(patch.get_patch_transform()).contains_points(draws).mean()
              for patch in display.ellipses_]  # fmt: skip
    assert_allclose(inside, [0.5, 0.9], atol=0.01)


def test_a_slice_is_the_conditional_density():
    mixture = fitted("full", 3)
    given = {"sepal length (cm)": 5.5, 1: 3.0}
    display = MixtureDisplay.from_estimator(mixture, columns=(2, 3), given=given, n_points=5)
    grid = np.stack(np.meshgrid(display.x, display.y), axis=-1).reshape(-1, 2)
    whole = pd.DataFrame(np.column_stack([np.full((25, 2), [5.5, 3.0]), grid]), columns=IRIS.columns)
    known = pd.DataFrame([[5.5, 3.0, np.nan, np.nan]], columns=IRIS.columns)
    expected = mixture.score_samples(whole) - mixture.score_samples(known)
    assert_allclose(display.log_density.ravel(), expected, rtol=1e-9)
    assert_allclose(display.weights, mixture.predict_proba(known)[0], rtol=1e-9)


def test_points_are_the_rows_in_the_colours_of_their_component():
    absent = IRIS.copy()
    absent.iloc[::7, 2] = np.nan
    mixture = GaussianMixture(2, random_state=0).fit(absent)
    display = MixtureDisplay.from_estimator(mixture, absent, columns=(2, 3))
    shown = np.ma.filled(display.points_.get_offsets(), np.nan)
    seen = absent.iloc[:, 2].notna().to_numpy()
    assert_allclose(shown[seen], absent.iloc[:, [2, 3]].to_numpy()[seen])
    colours = display.points_.get_facecolors()
    assert len(np.unique(colours, axis=0)) == 2
    assert (colours[mixture.predict(absent) == 0] == colours[np.argmax(mixture.predict(absent) == 0)]).all()
    assert [t.get_text() for t in display.ax_.get_legend().get_texts()] == [
        f"{k}: weight {w:.2f}" for k, w in enumerate(mixture.weights_)
    ]


def test_draws_on_given_axes():
    figure, ax = plt.subplots()
    display = MixtureDisplay.from_estimator(fitted(), ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    again = display.plot()
    assert again.ax_ is not ax


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": (0, 0)}, "two different columns"),
        ({"columns": (0, 1, 2)}, "two different columns"),
        ({"columns": (0, 4)}, "no column 4"),
        ({"columns": (0, "petal")}, "no column 'petal'"),
        ({"given": {0: 1.0}}, "both drawn and given"),
        ({"levels": (0.5, 1.0)}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_drawn_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        MixtureDisplay.from_estimator(fitted(), **options)


def test_k_means_has_no_density():
    with pytest.raises(TypeError, match="KMeans is not a fitted mixture"):
        MixtureDisplay.from_estimator(KMeans(2, random_state=0).fit(IRIS))
