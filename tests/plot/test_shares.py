"""Responsibilities in pictures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from latently.cluster import GaussianMixture
from latently.plot import ResponsibilitiesDisplay


def test_bands_are_the_probabilities_in_their_order():
    shares = np.array([[0.4, 0.6], [0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    display = ResponsibilitiesDisplay.from_predictions(shares)
    assert display.order.tolist() == [1, 3, 2, 0]
    # the lower edge of the upper band is the probability of the first group
    lower = display.bands_[1].get_paths()[0].vertices
    for place, row in enumerate(display.order):
        near = lower[(lower[:, 0] == place) & (lower[:, 1] < 1)]
        assert np.isclose(near[:, 1], shares[row, 0]).any()
    assert "mean certainty 0.75" in display.ax_.get_xlabel()


def test_groups_of_a_mixture_and_classes_of_a_classifier():
    X, y = load_iris(return_X_y=True)
    mixture = GaussianMixture(3, random_state=0).fit(X)
    display = ResponsibilitiesDisplay.from_estimator(mixture, X)
    assert_allclose(display.responsibilities, mixture.predict_proba(X))
    assert [t.get_text() for t in display.ax_.get_legend().get_texts()] == ["0", "1", "2"]
    species = load_iris().target_names[y]
    display = ResponsibilitiesDisplay.from_estimator(GaussianNB().fit(X, species), X)
    assert list(display.names) == ["setosa", "versicolor", "virginica"]


@pytest.mark.parametrize(
    ("shares", "options", "message"),
    [
        ([0.5, 0.5], {}, "a table"),
        ([[0.5, 0.6]], {}, "sum of 1"),
        ([[-0.5, 1.5]], {}, "from 0 on"),
        ([[np.nan, 1.0]], {}, "from 0 on"),
        ([[0.5, 0.5]], {"names": ["a"]}, "2 groups and 1 names"),
        (np.empty((0, 2)), {}, "a table"),
    ],
)
def test_what_is_not_a_table_of_probabilities_is_refused(shares, options, message):
    with pytest.raises(ValueError, match=message):
        ResponsibilitiesDisplay.from_predictions(shares, **options)
