"""The solver of quadratic programmes, against scikit-learn, a general optimiser and the KKT conditions."""

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from latently.learn import qp


def programme(seed, n=12, linear=True):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    y = np.where(rng.random(n) < 0.4, -1.0, 1.0)
    upper = rng.uniform(0.3, 2.0, n)
    start = upper * rng.uniform(0.2, 0.8, n)
    return A @ A.T / n, y, upper, start, rng.normal(size=n) if linear else np.zeros(n)


def violation(K, y, upper, p, alpha):
    """The KKT conditions, from the gradient itself."""
    gradient = y * ((K * np.outer(y, y)) @ alpha + p)
    rise = np.where(y > 0, alpha < upper, alpha > 0)
    fall = np.where(y > 0, alpha > 0, alpha < upper)
    return max(gradient[fall].max(initial=-np.inf) - gradient[rise].min(initial=np.inf), 0.0)


@pytest.mark.parametrize("seed", range(8))
def test_a_general_optimiser_finds_the_same_minimum(seed):
    K, y, upper, start, p = programme(seed)
    found = qp.minimise(qp.MatrixGram(K), start, upper, p=p, y=y, tol=1e-9)
    Q = K * np.outer(y, y)
    peer = scipy_minimize(
        lambda a: 0.5 * a @ Q @ a + p @ a, start, jac=lambda a: Q @ a + p, method="SLSQP",
        bounds=list(zip(np.zeros(12), upper, strict=True)),
        constraints={"type": "eq", "fun": lambda a: y @ (a - start), "jac": lambda a: y},
        options={"ftol": 1e-14, "maxiter": 1000},
    )  # fmt: skip
    assert np.isclose(found.objective, peer.fun, atol=1e-7)
    assert found.objective <= peer.fun + 1e-9
    assert found.converged
    assert np.isclose(y @ found.alpha, y @ start)
    assert ((found.alpha >= 0) & (found.alpha <= upper)).all()
    assert violation(K, y, upper, p, found.alpha) < 1e-8


@pytest.fixture(scope="module")
def many():
    X = np.random.default_rng(0).normal(size=(2500, 3))
    return X, rbf_kernel(X, gamma=0.4)


@pytest.mark.parametrize("shrinking", [True, False])
@pytest.mark.parametrize("cache", [200.0, 0.5])
def test_many_variables_by_working_sets(many, shrinking, cache):
    """From a bad start, with and without room for columns: the KKT conditions hold for all variables."""
    _, K = many
    n = len(K)
    start = np.zeros(n)
    start[: n // 5] = 1.0
    found = qp.minimise(qp.MatrixGram(K), start, np.ones(n), tol=1e-5, shrinking=shrinking, cache_mb=cache)
    assert found.converged
    assert violation(K, np.ones(n), np.ones(n), np.zeros(n), found.alpha) < 2e-5
    assert np.allclose(found.gradient, K @ found.alpha)
    assert np.isclose(found.objective, 0.5 * found.alpha @ K @ found.alpha)


def test_a_solution_is_a_start_that_needs_no_step(many):
    _, K = many
    start = np.zeros(len(K))
    start[::5] = 1.0
    found = qp.minimise(qp.MatrixGram(K), start, np.ones(len(K)), tol=1e-4)
    again = qp.minimise(qp.MatrixGram(K), found.alpha, np.ones(len(K)), tol=1e-4)
    assert again.n_iter == 0
    assert again.objective == pytest.approx(found.objective, rel=1e-12)  # its gradient is summed anew


def test_a_classifier_is_the_same_programme():
    """C-SVM: p = -1, y'a = 0."""
    data = load_iris()
    X, y = data.data[50:], np.where(data.target[50:] == 1, 1.0, -1.0)
    K = rbf_kernel(X, gamma=0.5)
    found = qp.minimise(qp.MatrixGram(K), np.zeros(100), np.full(100, 2.0), p=-np.ones(100), y=y, tol=1e-8)
    peer = SVC(C=2.0, gamma=0.5, tol=1e-8).fit(X, y)
    coefficients = np.zeros(100)
    coefficients[peer.support_] = peer.dual_coef_[0]
    assert np.allclose(y * found.alpha, coefficients, atol=1e-5)
    assert np.isclose(-found.level, peer.intercept_[0], atol=1e-6)


def test_running_out_of_steps_is_told(many):
    _, K = many
    start = np.zeros(len(K))
    start[:500] = 1.0
    found = qp.minimise(qp.MatrixGram(K), start, np.ones(len(K)), tol=1e-6, max_iter=3)
    assert not found.converged
    assert found.n_iter == 3
    assert found.gap > 1e-6


def test_no_free_variable_and_no_variable():
    found = qp.minimise(qp.MatrixGram(np.eye(3)), np.ones(3), np.ones(3))
    assert found.converged
    assert found.level == 1.0
    assert qp.minimise(qp.MatrixGram(np.zeros((0, 0))), np.zeros(0), np.zeros(0)).objective == 0.0


def test_an_indefinite_matrix_ends():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(60, 60))
    K = K + K.T
    found = qp.minimise(qp.MatrixGram(K), np.full(60, 0.5), np.ones(60), tol=1e-3, max_iter=100_000)
    assert np.isfinite(found.objective)
    assert found.objective <= 0.5 * np.full(60, 0.5) @ K @ np.full(60, 0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.array([1.0, 0.5])}, "signs"),
        ({"upper": np.array([1.0, np.inf])}, "finite"),
        ({"start": np.array([2.0, 0.0])}, "within its bounds"),
    ],
)
def test_bad_programmes_are_refused(change, message):
    given = {"start": np.zeros(2), "upper": np.ones(2)} | change
    with pytest.raises(ValueError, match=message):
        qp.minimise(qp.MatrixGram(np.eye(2)), **given)
