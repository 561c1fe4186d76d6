"""Calibration against scikit-learn and against simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from latently.decide import Recalibrated, brier_score, expected_calibration_error, log_score, reliability_curve


def simulated(n=4000, bend=1.0, seed=0):
    """Labels drawn with probability p, and p^bend / (...) as what is claimed."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    y = (rng.random(n) < p).astype(int)
    return y, p**bend / (p**bend + (1 - p) ** bend)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_curve_agrees_with_scikit_learn(strategy):
    y, p = simulated(bend=2)
    observed, predicted = calibration_curve(y, p, n_bins=8, strategy=strategy)
    curve = reliability_curve(y, p, n_bins=8, strategy=strategy)
    assert_allclose(curve.observed, observed, rtol=1e-12)
    assert_allclose(curve.predicted, predicted, rtol=1e-12)
    interval = binomtest(int(curve.observed[0] * curve.weight[0] + 0.5), int(curve.weight[0])).proportion_ci(
        method="wilson"
    )
    assert_allclose([curve.low[0], curve.high[0]], [interval.low, interval.high], rtol=1e-9)


def test_calibration_error_of_a_known_miscalibration():
    y, p = simulated(200_000, bend=1)
    assert expected_calibration_error(y, p) < 0.006
    y, p = simulated(200_000, bend=2)
    grid = (np.arange(200_000) + 0.5) / 200_000
    exact = np.mean(np.abs(grid**2 / (grid**2 + (1 - grid) ** 2) - grid))  # E |claimed - true|
    assert expected_calibration_error(y, p, n_bins=50) == pytest.approx(exact, abs=0.006)


def test_scores_agree_with_scikit_learn():
    rng = np.random.default_rng(1)
    p, y = rng.dirichlet(np.ones(3), size=200), rng.integers(0, 3, size=200)
    names = np.array(["a", "b", "c"])[y]
    weight = rng.random(200)
    assert log_score(names, p).value == pytest.approx(log_loss(names, p))
    weighted = log_loss(names, p, sample_weight=weight)
    assert log_score(names, p, sample_weight=weight).value == pytest.approx(weighted)
    assert brier_score(names, p).value == pytest.approx(np.mean(np.sum((p - np.eye(3)[y]) ** 2, axis=1)))
    binary = (y == 0).astype(int)
    assert brier_score(binary, p[:, 0]).value == pytest.approx(brier_score_loss(binary, p[:, 0]))


def test_intervals_cover():
    inside = 0
    exact = 1 / 6  # E p (1 - p) for p uniform
    for seed in range(200):
        score = brier_score(*simulated(300, seed=seed))
        inside += score.low <= exact <= score.high
    assert 180 <= inside <= 199  # 190 expected at 95 %


def test_impossible_true_class():
    score = log_score([1, 0], [0.0, 0.5])
    assert score == (np.inf, np.inf, np.inf)


def test_top_label_and_chosen_class():
    p = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
    top = reliability_curve([0, 1, 0], p, n_bins=1, classes=[0, 1, 2])
    assert_allclose([top.predicted[0], top.observed[0]], [1.7 / 3, 2 / 3])
    zero = reliability_curve([0, 1, 0], p, n_bins=1, which=0, classes=[0, 1, 2])
    assert_allclose([zero.predicted[0], zero.observed[0]], [1.1 / 3, 2 / 3])


@pytest.mark.parametrize("method", ["temperature", "logistic", "isotonic"])
def test_recalibration_helps_naive_bayes(method):
    X, y = make_classification(4000, 20, n_informative=5, n_redundant=10, n_classes=3, random_state=0)
    plain = GaussianNB().fit(X[:2000], y[:2000])
    better = Recalibrated(GaussianNB(), method=method).fit(X[:2000], y[:2000])
    chances = better.predict_proba(X[2000:])
    assert_allclose(chances.sum(axis=1), 1)
    before, after = plain.predict_proba(X[2000:]), chances
    assert log_score(y[2000:], after).value < log_score(y[2000:], before).value
    assert expected_calibration_error(y[2000:], after) < 0.5 * expected_calibration_error(y[2000:], before)
    choice = better.decide(X[2000:], 1 - np.eye(3))
    assert len(choice) == 2000


def test_temperature_is_recovered():
    y, p = simulated(50_000, bend=2.5)
    X = np.log(p / (1 - p))[:, None]

    class Claims(LogisticRegression):
        def predict_proba(self, X):
            return np.column_stack([1 - 1 / (1 + np.exp(-X[:, 0])), 1 / (1 + np.exp(-X[:, 0]))])

    fitted = Claims().fit(X[:100], y[:100])
    model = Recalibrated(fitted, cv="prefit").fit(X, y)
    assert model.map_.temperature_ == pytest.approx(2.5, rel=0.03)
    assert model.estimator_ is fitted


FOLDS = "rows and repeats of rows fall into different folds"


@parametrize_with_checks(
    [Recalibrated(), Recalibrated(method="isotonic"), Recalibrated(method="logistic")],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": FOLDS,
        "check_sample_weight_equivalence_on_sparse_data": FOLDS,
    },
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log_score([0, 1], [0.5]), "one label per row"),
        (lambda: log_score([], []), "one label per row"),
        (lambda: log_score([0, 1], [[0.5, 0.4], [0.5, 0.5]]), "of row 0 sum to 0.9"),
        (lambda: log_score(["a", "b"], [[0.5, 0.5]] * 2, classes=["a", "c"]), "label 'b' is not among"),
        (lambda: log_score(["a", "b", "c"], [[0.5, 0.5]] * 3), "2 columns of probabilities"),
        (lambda: brier_score([0, 1], [0.1, 0.2], sample_weight=[1, -1]), "sample_weight"),
        (lambda: brier_score([0, 1], [0.1, 0.2], level=1.5), "level"),
        (lambda: reliability_curve([0, 1], [0.1, 0.2], n_bins=0), "n_bins"),
        (lambda: reliability_curve([0, 1], [0.1, 0.2], strategy="x"), "strategy"),
        (lambda: reliability_curve([0, 1], [0.1, 0.2], which=7), "which=7"),
        (lambda: Recalibrated(method="x").fit([[0], [1]], [0, 1]), "method"),
        (lambda: Recalibrated(cv=1).fit([[0], [1]] * 5, [0, 1] * 5), "cv must be"),
        (lambda: Recalibrated().fit([[0], [1], [2]], [0, 0, 1]), "single row"),
        (lambda: Recalibrated().fit([[0], [1], [2]], [0, 0, 0]), "one class only"),
    ],
)
def test_clear_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
