"""Pictures of detectors show what the detector says."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from latently.cluster import Mixture
from latently.detect import SVDD, ModelDetector, OneClassSVM
from latently.plot import OutlierReasonsDisplay, OutlierRegionsDisplay, OutlierScoresDisplay

X = load_iris(as_frame=True).data


def test_scores_are_split_at_the_threshold():
    detector = ModelDetector(contamination=0.1).fit(X)
    display = OutlierScoresDisplay.from_estimator(detector, X)
    heights = [int(bars[0].sum()) for bars in display.bars_]
    assert heights == [135, 15]
    assert display.threshold_.get_xdata()[0] == detector.offset_
    labelled = OutlierScoresDisplay.from_estimator(detector, X, np.where(np.arange(150) < 5, -1, 0))
    assert [int(bars[0].sum()) for bars in labelled.bars_] == [145, 5]


def test_the_boundary_is_where_the_decision_changes():
    detector = SVDD(nu=0.2).fit(X.iloc[:, :2])
    display = OutlierRegionsDisplay.from_estimator(detector, X.iloc[:, :2], n_points=20)
    corner = pd.DataFrame([[display.x[3], display.y[5]]], columns=X.columns[:2])
    assert np.isclose(display.decision[5, 3], detector.decision_function(corner)[0])
    assert display.boundary_ is not None
    assert display.outliers.sum() == (detector.predict(X.iloc[:, :2]) == -1).sum()


def test_columns_that_are_not_drawn_have_a_value():
    detector = OneClassSVM(nu=0.2).fit(X)
    middle = OutlierRegionsDisplay.from_estimator(detector, X, columns=(0, "petal width (cm)"), n_points=4)
    given = OutlierRegionsDisplay.from_estimator(detector, X, columns=(0, 3), given=X.median().to_frame().T, n_points=4)
    assert np.allclose(middle.decision, given.decision)
    with pytest.raises(ValueError, match="one row of 4 columns"):
        OutlierRegionsDisplay.from_estimator(detector, X, given=[[1.0, 2.0]])


def test_reasons_are_those_of_explain():
    detector = OneClassSVM(nu=0.1).fit(X)
    odd = X.iloc[:2].assign(**{"petal width (cm)": [0.2, 2.0]})
    display = OutlierReasonsDisplay.from_estimator(detector, odd, row=1, n_columns=3)
    told = detector.explain(odd)[1]
    assert np.allclose(display.deviations, [entry["deviation"] for entry in told["columns"][:3]])
    assert display.labels[0].startswith("petal width (cm) = 2, expected 0.")
    assert display.title.startswith("an outlier")
    with pytest.raises(ValueError, match="no row 2: X has 2"):
        OutlierReasonsDisplay.from_estimator(detector, odd, row=2)


def test_categories_have_labels():
    table = X.iloc[:, :2].assign(kind=load_iris().target.astype(str))
    detector = ModelDetector(Mixture(2, random_state=0)).fit(table)
    display = OutlierReasonsDisplay.from_estimator(detector, table.iloc[:1])
    assert any(label.startswith("kind = 0, expected ") for label in display.labels)
