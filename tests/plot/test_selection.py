"""The picture of a search shows the numbers of its table."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture
from latently.learn import select
from latently.plot import SelectionDisplay

pyplot = pytest.importorskip("matplotlib.pyplot")
GRID = {"n_components": [3, 1, 2], "covariance_type": ["full", "diag"]}


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


@pytest.mark.parametrize(("criterion", "label"), [("bic", "BIC"), ("held-out", "held-out")])
def test_shows_the_table(criterion, label):
    found = select((GaussianMixture(tol=1e-2), GRID), load_iris().data, criterion, folds=3, random_state=0)
    display = SelectionDisplay.from_selection(found)
    assert label in display.ax_.get_ylabel()
    assert len(display.lines_) == 2
    shown = {(int(k), v) for line in display.lines_ for k, v in zip(*line.get_data(), strict=True)}
    assert shown == {(line["n_components"], line[found.key]) for line in found.table}
    k, value = (float(v[0]) for v in display.best_.get_data())
    assert (k, value) == (found.best["n_components"], found.best[found.key])


def test_draws_on_given_axes_and_leaves_out_what_failed():
    figure, axes = pyplot.subplots(1, 2)
    X = load_iris().data[:20]
    found = select((GaussianMixture(tol=1e-2), {"n_components": [1, 2, 40]}), X, random_state=0)
    display = SelectionDisplay.from_selection(found, ax=axes[1])
    assert display.figure_ is figure
    assert display.ax_ is axes[1]
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), [1, 2])


def test_a_model_without_a_number_of_components_has_no_place():
    class Sizeless(GaussianMixture):
        def __init__(self):
            super().__init__(1)

    found = select([Sizeless()], load_iris().data)
    with pytest.raises(ValueError, match="Sizeless has no n_components"):
        SelectionDisplay.from_selection(found)
