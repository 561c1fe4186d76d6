"""Boundary methods, against scikit-learn's one-class SVM, closed forms and each other."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

from latently.detect import SVDD, OneClassSVM, SemiSupervisedSVDD
from latently.kernel import RBF, Linear, NGramKernel, Polynomial, TreeKernel

IRIS = load_iris().data
CANCER = scale(load_breast_cancer().data)


@pytest.mark.parametrize("nu", [0.05, 0.5])
@pytest.mark.parametrize(("X", "kernel"), [(IRIS, "rbf"), (CANCER, "rbf"), (IRIS, "linear")])
def test_the_dual_objective_is_scikit_learns(X, nu, kernel):
    ours = OneClassSVM(kernel=kernel, nu=nu, tol=1e-6).fit(X)
    theirs = svm.OneClassSVM(kernel=kernel, nu=nu, tol=1e-6, max_iter=100_000).fit(X)
    K = ours._kernel(X[theirs.support_])
    assert np.isclose(ours.objective_, 0.5 * theirs.dual_coef_[0] @ K @ theirs.dual_coef_[0], rtol=1e-6)
    size = np.abs(theirs.score_samples(X)).max()
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5 * size)
    assert np.isclose(ours.offset_, theirs.offset_[0], rtol=1e-5)


def test_weights_are_scikit_learns():
    weights = np.linspace(0.1, 2, len(IRIS))
    ours = OneClassSVM(nu=0.2, tol=1e-7).fit(IRIS, sample_weight=weights)
    theirs = svm.OneClassSVM(nu=0.2, tol=1e-7).fit(IRIS, sample_weight=weights)
    assert np.allclose(ours.decision_function(IRIS), theirs.decision_function(IRIS), atol=1e-4)


def test_svdd_with_a_gaussian_kernel_ranks_as_the_one_class_svm():
    ball, plane = SVDD(nu=0.1, tol=1e-8).fit(CANCER), OneClassSVM(nu=0.1, tol=1e-8).fit(CANCER)
    assert spearmanr(ball.score_samples(CANCER), plane.score_samples(CANCER)).statistic > 1 - 1e-6
    assert np.array_equal(ball.predict(CANCER), plane.predict(CANCER))


def test_svdd_is_the_smallest_ball():
    """Four corners of a square and points inside it: the circle through the corners."""
    X = np.array([[0, 0], [2, 0], [0, 2], [2, 2], [1, 1], [0.5, 1.2]], dtype=float)
    ball = SVDD(kernel="linear", nu=1e-3, tol=1e-9).fit(X)
    assert np.allclose(ball.dual_coef_ @ ball.support_vectors_, [[1, 1]])
    assert np.isclose(ball.radius_, np.sqrt(2))
    assert np.allclose(ball.score_samples(X), -((X - 1) ** 2).sum(axis=1))
    moved = SVDD(kernel="linear", nu=1e-3, tol=1e-9).fit(X + 1e6)
    assert np.isclose(moved.radius_, np.sqrt(2), atol=1e-3)


def test_svdd_keeps_known_outliers_out():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (60, 2)), [[0.9, 0.0], [1.0, 0.2]]]
    y = np.r_[np.ones(60), -np.ones(2)]
    plain, told = SVDD(kernel=RBF(width=1.0), nu=0.05).fit(X[:60]), SVDD(kernel=RBF(width=1.0), nu=0.05).fit(X, y)
    assert (plain.decision_function(X[60:]) > 0).all()
    assert (told.decision_function(X[60:]) < plain.decision_function(X[60:])).all()


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.6])
@pytest.mark.parametrize("kernel", [RBF(), Linear() + RBF(), Polynomial(2)], ids=repr)
def test_nu_bounds_the_share_outside(nu, kernel):
    for model in (OneClassSVM(kernel=kernel, nu=nu, tol=1e-6), SVDD(kernel=kernel, nu=nu, tol=1e-6)):
        model.fit(CANCER[:, :6])
        outside = (model.decision_function(CANCER[:, :6]) < -1e-4 * abs(model.offset_)).mean()
        assert outside <= nu + 1e-9
        assert len(model.support_) / len(CANCER) >= nu - 1e-9


def test_without_labels_the_semi_supervised_form_is_the_one_class_svm():
    plane = OneClassSVM(nu=0.2, tol=1e-7).fit(CANCER)
    for y in (None, np.zeros(len(CANCER))):
        model = SemiSupervisedSVDD(nu=0.2, tol=1e-7).fit(CANCER, y)
        assert np.isclose(model.objective_, plane.objective_, rtol=1e-9)
        assert np.allclose(model.decision_function(CANCER), plane.decision_function(CANCER), atol=1e-5)


def known_rows(truth, seed, each=5):
    rng = np.random.default_rng(seed)
    y = np.zeros(len(truth))
    y[rng.choice(np.flatnonzero(truth), each, replace=False)] = -1
    y[rng.choice(np.flatnonzero(~truth), each, replace=False)] = 1
    return y


@pytest.mark.parametrize("method", ["convex", "ball"])
def test_a_few_labels_raise_the_auc(method):
    truth = load_breast_cancer().target == 0
    keep = ~truth | (np.cumsum(truth) <= 60)  # malignant tumours are the rare ones
    X, truth = CANCER[keep], truth[keep]
    plain = roc_auc_score(truth, -OneClassSVM().fit(X).score_samples(X))
    for seed in range(3):
        y = known_rows(truth, seed)
        model = SemiSupervisedSVDD(method=method).fit(X, y)
        assert roc_auc_score(truth[y == 0], -model.score_samples(X[y == 0])) > plain


def test_the_dual_conditions_of_goernitz_hold():
    """The weights satisfy sum y a = nu n, and labelled rows carry the share kappa or the margin is zero."""
    truth = load_breast_cancer().target == 0
    y = known_rows(truth, 0)
    model = SemiSupervisedSVDD(nu=0.2, kappa=0.6, labelled_weight=2.0, tol=1e-6).fit(CANCER, y)
    total = 0.2 * (y == 0).sum()
    weights = np.zeros(len(y))
    weights[model.support_] = model.dual_coef_[0]
    assert np.isclose(weights.sum(), total)
    assert model.margin_ > 0
    assert np.isclose(np.abs(weights[y != 0]).sum(), 0.6 * 2.0 * total, rtol=0.01)
    slack = y * (model.score_samples(CANCER) - model.offset_) - model.margin_
    inside = np.abs(weights) < 2.0 * total / 10 - 1e-9  # labelled rows below their bound keep their margin
    assert (slack[(y != 0) & inside] > -0.02 * model.margin_).all()


def test_strings_trees_and_matrices():
    words = ["banana", "bananas", "ananas", "bandana", "cabana", "qwxyz"]
    for model in (OneClassSVM(kernel=NGramKernel(2, normalize=True)), SVDD(kernel=NGramKernel(2, normalize=True))):
        assert model.fit(words).predict(["banana"])[0] == 1
        assert model.score_samples(words).argmin() == 5
    trees = ["(S (N a) (V b))"] * 4 + ["(S (N a) (V c))"] * 3
    scores = OneClassSVM(kernel=TreeKernel(normalize=True)).fit(trees).score_samples(["(S (N a) (V b))", "(X y)"])
    assert scores[0] > scores[1]
    K = rbf_kernel(IRIS, gamma=0.3)
    given = OneClassSVM(kernel="precomputed", tol=1e-7).fit(K)
    assert np.allclose(
        given.score_samples(K), OneClassSVM(gamma=0.3, tol=1e-7).fit(IRIS).score_samples(IRIS), atol=1e-4
    )


def test_an_indefinite_kernel_is_told_how_far():
    with pytest.warns(UserWarning, match=r"not positive semi-definite: its most negative eigenvalue is [\d.]+ of"):
        OneClassSVM(kernel=lambda X, Y: -np.abs(X - Y.T)).fit(IRIS[:50, :1])
    with pytest.warns(UserWarning, match="precomputed kernel matrix is not positive semi-definite"):
        OneClassSVM(kernel="precomputed").fit(-rbf_kernel(IRIS[:20]) + 2 * np.eye(20) - 1.5)


@pytest.mark.parametrize("cls", [OneClassSVM, SVDD, SemiSupervisedSVDD])
def test_bad_input_is_named(cls):
    with pytest.raises(ValueError, match="nu.*range"):
        cls(nu=1.5).fit(IRIS)
    with pytest.raises(ValueError, match=r"'x1'.*NaN.*ModelDetector"):
        cls().fit([[1.0, np.nan], [2.0, 3.0]])
    with pytest.raises(ValueError, match="square"):
        cls(kernel="precomputed").fit(IRIS)


def test_bad_labels_are_named():
    with pytest.raises(ValueError, match="1 for rows that belong, -1 for outliers and 0"):
        SemiSupervisedSVDD().fit(IRIS, np.r_[-1, np.full(149, 2)])
    with pytest.raises(ValueError, match="calls every row an outlier"):
        SemiSupervisedSVDD().fit(IRIS, -np.ones(150))
    with pytest.raises(ValueError, match="calls every row an outlier"):
        SVDD().fit(IRIS, -np.ones(150))
    only_inliers = np.zeros(150)
    only_inliers[:5] = 1  # no labelled outliers: still a boundary
    for method in ("convex", "ball"):
        assert np.isfinite(SemiSupervisedSVDD(method=method).fit(IRIS, only_inliers).decision_function(IRIS)).all()


def test_running_out_of_steps_warns():
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning, match="terminated early"):
        OneClassSVM(max_iter=1, tol=1e-9).fit(CANCER)


def test_the_order_in_memory_does_not_matter():
    """Columns side by side, as a data frame may hold them, give the same bits as rows."""
    by_rows, by_columns = (OneClassSVM(nu=0.3).fit(np.array(IRIS, order=order)) for order in "CF")
    assert np.array_equal(by_rows.score_samples(IRIS), by_columns.score_samples(np.asfortranarray(IRIS)))


def test_rows_that_are_all_the_same_belong():
    assert SVDD().fit(np.ones((20, 2))).predict(np.ones((1, 2))).tolist() == [1]


@pytest.mark.parametrize("nu", [0.1, 0.5])
@pytest.mark.parametrize("detector", [OneClassSVM, SVDD, SemiSupervisedSVDD])
def test_rows_on_the_boundary_are_inside_wherever_the_table_lies(detector, nu):
    """Scores are found to within tol: support vectors on the boundary must not fall to either side by chance."""
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(60, 3))
        here, there = detector(nu=nu).fit(X), detector(nu=nu).fit(X + 1e8)
        assert (here.predict(X) == -1).mean() <= nu
        assert np.array_equal(here.predict(X), there.predict(X + 1e8))


@pytest.mark.parametrize(
    ("kernel", "X", "things"),
    [(NGramKernel(2), "banana", "strings"), (2.0 * TreeKernel() + TreeKernel(), "(S (A a))", "trees")],
)
def test_a_single_string_is_no_file(kernel, X, things):
    with pytest.raises(TypeError, match=f"compares {things}: give a list of them"):
        OneClassSVM(kernel=kernel).fit(X)
    fitted = OneClassSVM(kernel=kernel).fit([X, X])
    for ask in (fitted.predict, fitted.calibrate):
        with pytest.raises(TypeError, match="give a list of them"):
            ask(X)
