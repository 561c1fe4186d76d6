"""Decision regions in pictures: the class by colour, doubt by paleness."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from latently.cluster import GaussianMixture
from latently.plot import DecisionRegionsDisplay
from latently.predict import GaussianNB, NaiveBayes

X, Y = load_iris(return_X_y=True)


def test_probabilities_are_those_of_the_estimator():
    model = LogisticRegression().fit(X[:, :2], Y)
    display = DecisionRegionsDisplay.from_estimator(model, X[:, :2], Y, n_points=9)
    for i, j in [(0, 0), (3, 8), (8, 2)]:
        assert_allclose(display.proba[i, j], model.predict_proba([[display.x[j], display.y[i]]])[0])
    assert_allclose(display.strength, (display.proba.max(axis=-1) - 1 / 3) * 1.5)
    assert len(display.points_) == 3
    assert_allclose(display.points_[1].get_offsets(), X[Y == 1, :2])


def test_doubt_is_pale_and_certainty_is_the_colour_of_the_class():
    proba = np.array([[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.75, 0.25]]])
    display = DecisionRegionsDisplay(np.array([0.0, 1]), np.array([0.0, 1]), proba, ["a", "b"]).plot()
    image = display.image_.get_array()
    assert_allclose(image[0, 0], 1.0)  # white
    assert_allclose(1 - image[1, 1], (1 - image[0, 1]) / 2)  # half as strong
    assert not np.allclose(image[0, 1], image[1, 0])
    assert display.points_ == []


def test_other_columns_are_missing_or_given():
    model = GaussianNB().fit(X, Y)
    display = DecisionRegionsDisplay.from_estimator(model, X, Y, columns=(2, 3), n_points=4)
    at = [[np.nan, np.nan, display.x[1], display.y[2]]]
    assert_allclose(display.proba[2, 1], model.predict_proba(at)[0])
    display = DecisionRegionsDisplay.from_estimator(model, X, Y, columns=(2, 3), given=X[:1], n_points=4)
    at = [[X[0, 0], X[0, 1], display.x[1], display.y[2]]]
    assert_allclose(display.proba[2, 1], model.predict_proba(at)[0])


def test_a_peer_that_takes_no_missing_values_needs_the_other_columns():
    model = LogisticRegression(max_iter=1000).fit(X, Y)
    with pytest.raises(ValueError, match="LogisticRegression has 4 columns and takes no missing values"):
        DecisionRegionsDisplay.from_estimator(model, X)
    with pytest.raises(ValueError, match="one row of 4 columns"):
        DecisionRegionsDisplay.from_estimator(model, X, given=X[:2])
    assert DecisionRegionsDisplay.from_estimator(model, X, given=X[:1]).labels.shape == (150,)


def test_tables_of_mixed_types():
    table = pd.DataFrame({"length": X[:, 2], "width": X[:, 3], "colour": np.where(X[:, 1] > 3, "blue", "white")})
    model = NaiveBayes().fit(table, Y)
    display = DecisionRegionsDisplay.from_estimator(model, table, Y, columns=("length", "width"), n_points=3)
    at = pd.DataFrame({"length": display.x[:1], "width": display.y[:1], "colour": pd.Series([None], dtype=object)})
    assert_allclose(display.proba[0, 0], model.predict_proba(at)[0])
    with pytest.raises(ValueError, match="'colour' holds categories"):
        DecisionRegionsDisplay.from_estimator(model, table, Y, columns=("length", "colour"))


def test_regions_of_a_mixture():
    mixture = GaussianMixture(2, random_state=0).fit(X)
    display = DecisionRegionsDisplay.from_estimator(mixture, X, columns=(2, 3), n_points=5)
    assert list(display.classes) == [0, 1]
    assert (display.labels == mixture.predict(X)).all()


def test_a_single_class_has_no_boundary():
    display = DecisionRegionsDisplay.from_estimator(GaussianNB().fit(X, np.zeros(150)), X, n_points=3)
    assert display.boundaries_ == []
    assert np.isfinite(display.strength).all()
