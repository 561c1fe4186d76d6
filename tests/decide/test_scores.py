"""Scores, bins and recalibration, to the last factor: against scikit-learn and against rows that are repeated."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest, norm
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from latently.decide import Recalibrated, brier_score, log_score, reliability_curve
from latently.decide.recalibrate import TemperatureMap


@pytest.mark.parametrize("score", [log_score, brier_score, reliability_curve])
@pytest.mark.parametrize("labels", [[1, 2, 1, 2], [0, 2, 2, 0], ["b", "c", "c", "b"], [1, 1, 1, 1]])
def test_a_class_that_is_absent_must_be_named(score, labels):
    # {1, 2} could be the last two of 0, 1, 2 or the first two of 1, 2, 3: nobody can tell
    p = np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])
    with pytest.raises(ValueError, match="3 columns of probabilities: give classes="):
        score(labels, p)
    with pytest.raises(ValueError, match="labels"):
        log_loss(labels, p)  # scikit-learn refuses as well


def test_scores_of_labels_of_which_one_is_absent():
    p = np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])
    y, classes = [1, 2, 1, 2], [1, 2, 3]
    assert log_score(y, p, classes=classes).value == pytest.approx(log_loss(y, p, labels=classes))
    ones = np.eye(3)[[0, 1, 0, 1]]
    assert brier_score(y, p, classes=classes).value == pytest.approx(np.mean(np.sum((p - ones) ** 2, axis=1)))
    # one column, all events happened: only booleans say which of the two classes that is
    with pytest.raises(ValueError, match="give classes="):
        log_score([1, 1], [0.9, 0.8])
    assert log_score([True, True], [0.9, 0.8]).value == pytest.approx(-np.log([0.9, 0.8]).mean())
    assert log_score([1, 1], [0.9, 0.8], classes=[0, 1]).value == pytest.approx(-np.log([0.9, 0.8]).mean())


def test_probabilities_on_an_edge_go_to_the_bin_below():
    p = np.repeat(np.arange(9) / 8, 3)
    y = np.tile([0, 1, 1], 9)
    y[:3] = 0
    observed, predicted = calibration_curve(y, p, n_bins=4)
    curve = reliability_curve(y, p, n_bins=4)
    assert_allclose(curve.observed, observed)
    assert_allclose(curve.predicted, predicted)
    assert_allclose(curve.weight, [9, 6, 6, 6])


def test_intervals_of_bins_count_weighted_rows_for_what_they_are_worth():
    y, p = np.array([0, 1, 1, 0, 1, 1, 0, 1]), np.full(8, 0.6)
    plain = reliability_curve(y, p, n_bins=1)
    wilson = binomtest(5, 8).proportion_ci(method="wilson")
    assert_allclose([plain.low[0], plain.high[0]], [wilson.low, wilson.high])
    # the unit of the weights does not matter, and rows of weight zero are not there
    weight = np.array([3.0, 3, 3, 3, 3, 0, 0, 0])
    curve = reliability_curve(y, p, n_bins=1, sample_weight=weight)
    fewer = binomtest(3, 5).proportion_ci(method="wilson")
    assert_allclose([curve.low[0], curve.high[0]], [fewer.low, fewer.high])
    # unequal weights are worth (sum w)^2 / sum w^2 rows: 8 of them 6.4 here
    uneven = reliability_curve(y, p, n_bins=1, sample_weight=[1, 1, 1, 1, 3, 3, 3, 3])
    share, n, z = 11 / 16, 16**2 / 40, norm.ppf(0.975)
    middle, half = share + z**2 / (2 * n), z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    assert_allclose([uneven.low[0], uneven.high[0]], np.array([middle - half, middle + half]) / (1 + z**2 / n))


def test_intervals_of_scores_are_those_of_a_mean():
    y, p = [0, 1, 1, 0, 1], np.array([0.2, 0.7, 0.9, 0.4, 0.3])
    rows = (p - y) ** 2
    score = brier_score(y, p, level=0.9)
    half = norm.ppf(0.95) * rows.std(ddof=1) / np.sqrt(5)
    assert_allclose([score.value, score.low, score.high], [rows.mean(), rows.mean() - half, rows.mean() + half])
    # equal weights change nothing, and rows of weight zero are not counted
    assert_allclose(brier_score(y, p, level=0.9, sample_weight=np.full(5, 7.0)), score)
    assert_allclose(brier_score([*y, 1], [*p, 0.0], level=0.9, sample_weight=[1, 1, 1, 1, 1, 0]), score)


def noisy(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


def test_recalibration_is_learnt_from_rows_that_were_held_out():
    # a tree knows its own rows by heart: on them it is always right, and a map learnt there would sharpen it
    X, y = noisy()
    tree = DecisionTreeClassifier(max_depth=6, random_state=0)
    model = Recalibrated(tree, cv=5).fit(X, y)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    held_out = cross_val_predict(tree, X, y, cv=folds, method="predict_proba")
    outside, inside = (
        TemperatureMap().fit(p, y, np.ones(len(y))).temperature_ for p in (held_out, tree.fit(X, y).predict_proba(X))
    )
    assert model.map_.temperature_ == pytest.approx(outside, rel=1e-6)
    assert outside > 2 * inside


def test_the_temperature_minds_weights():
    rng = np.random.default_rng(1)
    p = rng.dirichlet([0.5, 0.5, 0.5], size=200)
    code, weight = rng.integers(0, 3, size=200), rng.integers(0, 4, size=200)
    weight[code == 0] *= 3
    weighted = TemperatureMap().fit(p, code, weight.astype(float)).temperature_
    repeated = TemperatureMap().fit(np.repeat(p, weight, axis=0), np.repeat(code, weight), np.ones(weight.sum()))
    assert weighted == pytest.approx(repeated.temperature_, rel=1e-6)
    assert abs(weighted - TemperatureMap().fit(p, code, np.ones(200)).temperature_) > 1e-3


def test_weights_reach_the_classifier_and_the_map():
    X, y = noisy()
    weight = np.where(y == 1, 5.0, 1.0)
    model = Recalibrated(LogisticRegression()).fit(X, y, weight)
    assert_allclose(model.estimator_.coef_, LogisticRegression().fit(X, y, weight).coef_)
    prefit = LogisticRegression().fit(X[:100], y[:100])
    maps = [Recalibrated(prefit, cv="prefit", method="logistic").fit(X, y, w).map_ for w in (None, weight)]
    assert maps[1].regression_.intercept_[0] > maps[0].regression_.intercept_[0] + 1
