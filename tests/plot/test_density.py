"""One column of a mixture in a picture."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.datasets import load_iris

from latently.cluster import BernoulliMixture, GaussianMixture, Mixture
from latently.distributions import Poisson
from latently.plot import DensityDisplay

IRIS = load_iris(as_frame=True).data


def test_density_of_one_column_is_that_of_scipy():
    mixture = GaussianMixture(3, random_state=0).fit(IRIS)
    display = DensityDisplay.from_estimator(mixture, IRIS, column="petal length (cm)")
    for part, w, m, c in zip(display.parts, mixture.weights_, mixture.means_, mixture.covariances_, strict=True):
        assert_allclose(part, w * stats.norm(m[2], np.sqrt(c[2, 2])).pdf(display.x), rtol=1e-9)
    assert_allclose([line.get_ydata() for line in display.parts_], display.parts)
    assert sum(bar.get_height() * bar.get_width() for bar in display.rows_) == pytest.approx(1)


def test_counts_and_categories_are_probabilities():
    rng = np.random.RandomState(0)
    visits = np.r_[rng.poisson(2, 60), rng.poisson(15, 60)]
    town = np.r_[rng.choice(["a", "b"], 60), rng.choice(["b", "c"], 60)]
    table = pd.DataFrame({"visits": visits, "town": town})
    mixture = Mixture(2, families={"visits": Poisson()}, random_state=0).fit(table)
    counts = DensityDisplay.from_estimator(mixture, table, column="visits")
    rates = [float(part.marginal(0).mean[0]) for part in mixture.components_]
    expected = [w * stats.poisson(r).pmf(counts.x) for w, r in zip(mixture.weights_, rates, strict=True)]
    assert_allclose(counts.parts, expected, rtol=1e-9)
    assert_allclose(counts.rows_.get_ydata(), [np.mean(visits == x) for x in counts.x])
    for container, part in zip(counts.parts_, counts.parts, strict=True):
        assert_allclose([bar.get_height() for bar in container], part, atol=1e-12)
    towns = DensityDisplay.from_estimator(mixture, table, column="town")
    assert towns.x.tolist() == [0, 1, 2]
    assert towns.density.sum() == pytest.approx(1)
    assert [t.get_text() for t in towns.ax_.get_xticklabels()] == ["a", "b", "c"]
    assert towns.ax_.get_ylabel() == "probability"


def test_binary_columns_are_drawn_too():
    X = np.random.RandomState(0).rand(40, 3) < [0.2, 0.5, 0.8]
    display = DensityDisplay.from_estimator(BernoulliMixture(2, random_state=0).fit(X), column=2)
    assert display.density.sum() == pytest.approx(1)
