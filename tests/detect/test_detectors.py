"""What all detectors do: thresholds, probabilities, combination; and models and reconstruction."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import scale

from latently.cluster import GaussianMixture
from latently.detect import (
    CombinedDetector,
    KernelDensity,
    KernelPCADetector,
    ModelDetector,
    OneClassSVM,
    SemiSupervisedSVDD,
)
from latently.distributions import Gaussian, Poisson
from latently.kernel import RBF
from latently.predict import GaussianNB
from latently.sequence import GaussianHMM

IRIS = load_iris().data


@pytest.mark.parametrize("detector", [KernelDensity(bandwidth="rule"), OneClassSVM(nu=0.1), ModelDetector()], ids=repr)
def test_a_false_alarm_rate_holds_on_new_rows(detector):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(400, 3)), rng.normal(size=(4000, 3))
    model = detector.fit(X).calibrate(X).set_false_alarm_rate(0.05)
    assert abs((model.predict(new) == -1).mean() - 0.05) < 0.025
    tails = model.tail_probability(new)
    assert abs(tails.mean() - 0.5) < 0.03  # uniform
    assert abs((tails < 0.1).mean() - 0.1) < 0.03


def test_probabilities_are_calibrated():
    """A tenth of the rows is far out: among rows of about equal probability, so many are outliers."""
    rng = np.random.default_rng(1)

    def table(n):
        outlier = rng.random(n) < 0.1
        return np.where(outlier[:, None], rng.uniform(-9, 9, (n, 3)), rng.normal(size=(n, 3))), outlier

    X, _ = table(2000)
    new, truth = table(20_000)
    model = ModelDetector(GaussianMixture(2, random_state=0)).fit(X).calibrate(X)
    p = model.outlier_probability(new)
    bins = np.digitize(p, [0.2, 0.4, 0.6, 0.8])
    error = sum(abs(p[bins == b].mean() - truth[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins))
    assert error < 0.05
    y = np.where(truth[:2000], -1, 1)
    told = model.calibrate(new[:2000], y).outlier_probability(new[2000:])
    assert abs(told.mean() - truth[2000:].mean()) < 0.02
    assert np.mean((told - truth[2000:]) ** 2) < 0.03


def test_a_tail_probability_counts_the_row_itself():
    """The rank among n scores and itself: never zero."""
    from latently.detect.calibration import Tails

    assert Tails.of(np.arange(99.0)).probability(np.array([-5.0, 49.5, 200.0])).tolist() == [0.01, 0.51, 1.0]


def test_clean_data_have_no_outliers():
    X = np.random.default_rng(2).normal(size=(1000, 4))
    model = ModelDetector().fit(X).calibrate(X)
    assert model.outlier_probability(X).mean() < 0.05


def test_kernel_pca_is_the_residual_of_scikit_learns():
    X = scale(IRIS)
    width = RBF().adapted(X).width
    ours = KernelPCADetector(5).fit(X)
    peer = KernelPCA(5, kernel="rbf", gamma=0.5 / width**2).fit(X)
    new = X[::3] + 0.5
    centred = peer._centerer.transform(peer._get_kernel(new, X))
    K = peer._get_kernel(X, X)
    own = 1 - 2 * peer._get_kernel(new, X).mean(axis=1) + K.mean()
    assert np.allclose(-ours.score_samples(new), own - (peer.transform(new) ** 2).sum(axis=1), atol=1e-8)
    assert centred.shape == (50, 150)


def test_models_score_by_their_own_log_density():
    X = IRIS.copy()
    mixture = GaussianMixture(3, random_state=0)
    assert np.allclose(
        ModelDetector(mixture).fit(X).score_samples(X), GaussianMixture(3, random_state=0).fit(X).score_samples(X)
    )
    assert np.allclose(ModelDetector(Gaussian()).fit(X).score_samples(X), Gaussian().fit(X).log_prob(X))
    bayes = ModelDetector(GaussianNB()).fit(X, load_iris().target)
    assert np.allclose(bayes.score_samples(X), GaussianNB().fit(X, load_iris().target).score_samples(X))
    fitted = GaussianMixture(2, random_state=0).fit(X)
    assert ModelDetector(fitted, refit=False).fit(X).model_ is fitted


def test_missing_values_are_summed_out():
    X = IRIS.copy()
    X[::7, 1] = np.nan
    model = ModelDetector(contamination=0.05).fit(X)
    row = IRIS[:1].copy()
    row[0, 2] = np.nan
    alone = Gaussian(model.model_.means_[0, [0, 1, 3]], model.model_.covariances_[0][np.ix_([0, 1, 3], [0, 1, 3])])
    assert np.allclose(model.score_samples(row), alone.log_prob(row[:, [0, 1, 3]]))
    told = model.explain(row)[0]["columns"]
    assert [c["value"] for c in told if c["column"] == "x2"] == [None]


def test_hidden_markov_models_score_sequences_and_rows():
    rng = np.random.default_rng(0)
    sequences = [rng.normal(size=(30, 1)) for _ in range(20)]
    model = ModelDetector(GaussianHMM(1, n_iter=5, tol=10.0)).fit(sequences)
    assert model.score_samples(sequences).shape == (20,)
    assert model.predict([np.full((30, 1), 8.0)])[0] == -1
    table = ModelDetector(GaussianHMM(1, n_iter=5, tol=10.0)).fit(np.concatenate(sequences))
    found = table.score_samples(np.array([[0.0], [9.0]]))
    assert found[0] > found[1]
    total = table.model_.score(np.array([[0.0], [9.0]]))
    assert np.isclose(found.sum(), total)  # one row after the other


def test_a_combination_is_as_good_as_its_parts():
    data = load_breast_cancer()
    truth = data.target == 0
    keep = ~truth | (np.cumsum(truth) <= 40)
    X, truth = scale(data.data[keep]), truth[keep]
    for by in ("ranks", "tails"):
        both = CombinedDetector(by=by).fit(X)
        parts = [roc_auc_score(truth, -d.score_samples(X)) for d in both.detectors_.values()]
        assert roc_auc_score(truth, -both.score_samples(X)) > min(parts)
    assert both.tails(X).shape == (len(X), 3)
    assert (both.disagreement(X) >= 0).all()
    with pytest.raises(ValueError, match="empty"):
        CombinedDetector([]).fit(X)


def test_bad_input():
    model = OneClassSVM().fit(IRIS)
    with pytest.raises(ValueError, match="too few for a false-alarm rate"):
        model.set_false_alarm_rate(1e-4)
    with pytest.raises(ValueError, match="above 0 and below 1"):
        model.set_false_alarm_rate(2.0)
    with pytest.raises(ValueError, match="cv must be"):
        model.calibrate(IRIS, cv=1)
    with pytest.raises(ValueError, match="label for each row"):
        model.calibrate(IRIS, np.ones(3))
    with pytest.raises(ValueError, match="no columns to explain"):
        OneClassSVM(kernel="precomputed").fit(np.eye(4)).explain(np.eye(4))
    mixed = ModelDetector(Poisson())
    counts = np.round(IRIS[:, 1:2])
    assert np.isfinite(mixed.fit(counts).score_samples(counts)).all()


@pytest.mark.parametrize("method", ["convex", "ball"])
def test_semi_supervised_fits_that_stop_early_warn(method):
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = np.zeros(80)
    y[X[:, 0] > 1.5] = -1
    with pytest.warns(ConvergenceWarning):
        model = SemiSupervisedSVDD(method=method, max_iter=1).fit(X, y)
    assert (model.converged_, model.reason_) == (False, "max_iter")
    model = SemiSupervisedSVDD(method=method).fit(X, y)
    assert (model.converged_, model.reason_) == (True, "converged")
