"""Sparse codes against scikit-learn's, and against the conditions of their optimum."""

import numpy as np
import pytest
from sklearn.decomposition import sparse_encode

from latently.factor.sparse.codes import Coder


def problem(n=60, k=30, d=16, seed=0):
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(k, d))
    return rng.normal(size=(n, d)), D / np.linalg.norm(D, axis=1, keepdims=True)


@pytest.mark.parametrize("alpha", [2.0, 1.0, 0.3, 0.05])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("algorithm", ["lasso_cd", "lasso_lars"])
def test_lasso_is_optimal(algorithm, positive, alpha):
    """Gradient alpha sign(s) where s is not zero, no larger elsewhere; no row has run out of steps."""
    X, D = problem()
    codes, missed = Coder(algorithm, alpha, positive=positive, max_iter=5000)(X, D)
    gradient = (X - codes @ D) @ D.T
    assert missed == 0
    np.testing.assert_allclose(gradient[codes != 0], alpha * np.sign(codes[codes != 0]), atol=2e-6 * max(alpha, 1))
    assert (gradient if positive else np.abs(gradient)).max() < alpha + 2e-6
    assert not positive or (codes >= 0).all()


@pytest.mark.parametrize("algorithm", ["lasso_cd", "lasso_lars"])
@pytest.mark.parametrize("positive", [False, True])
def test_lasso_is_that_of_scikit_learn(algorithm, positive):
    X, D = problem()
    codes, _ = Coder(algorithm, 0.4, positive=positive)(X, D)
    np.testing.assert_allclose(
        codes, sparse_encode(X, D, algorithm="lasso_lars", alpha=0.4, positive=positive), atol=1e-6
    )


@pytest.mark.parametrize("n_nonzero", [1, 3, 10])
def test_matching_pursuit_is_that_of_scikit_learn(n_nonzero):
    X, D = problem()
    codes, _ = Coder("omp", n_nonzero=n_nonzero)(X, D)
    np.testing.assert_allclose(codes, sparse_encode(X, D, algorithm="omp", n_nonzero_coefs=n_nonzero), atol=1e-10)


def test_least_angles_of_few_atoms_are_those_of_scikit_learn():
    X, D = problem()
    for n_nonzero in (1, 3):
        codes, _ = Coder("lars", n_nonzero=n_nonzero)(X, D)
        np.testing.assert_allclose(codes, sparse_encode(X, D, algorithm="lars", n_nonzero_coefs=n_nonzero), atol=1e-10)


def test_least_angles_are_equal():
    """Atoms in use are all as correlated with what is left, and more than the others (Efron et al. 2004)."""
    X, D = problem()
    codes, _ = Coder("lars", n_nonzero=8)(X, D)
    left = np.abs((X - codes @ D) @ D.T)
    for row, used in zip(left, codes != 0, strict=True):
        assert used.sum() == 8
        np.testing.assert_allclose(row[used], row[used][0], rtol=1e-9)
        assert row[~used].max() <= row[used][0] * (1 + 1e-9)


def test_threshold_is_that_of_scikit_learn():
    X, D = problem()
    for positive in (False, True):
        found, _ = Coder("threshold", 0.5, positive=positive)(X, D)
        np.testing.assert_allclose(found, sparse_encode(X, D, algorithm="threshold", alpha=0.5, positive=positive))


@pytest.mark.parametrize("algorithm", ["lasso_cd", "lasso_lars", "lars", "omp"])
def test_atoms_that_are_zero_or_twice_there(algorithm):
    """The objective is that of the distinct atoms alone; zero atoms are not used."""
    X, D = problem(k=8)
    both = np.vstack([D, D[:3], np.zeros((2, D.shape[1]))])
    coder = Coder(algorithm, 0.3, n_nonzero=4)
    one, two = coder(X, D)[0], coder(X, both)[0]
    assert (two[:, -2:] == 0).all()
    assert np.isfinite(two).all()
    np.testing.assert_allclose(two @ both, one @ D, atol=1e-6)


def test_all_of_alpha_makes_codes_zero():
    X, D = problem()
    for algorithm in ("lasso_cd", "lasso_lars"):
        assert not Coder(algorithm, alpha=100.0)(X, D)[0].any()


def test_no_penalty_is_least_squares():
    X, D = problem(k=6)
    expected = X @ np.linalg.pinv(D)
    for algorithm in ("lasso_cd", "lasso_lars"):
        np.testing.assert_allclose(Coder(algorithm, alpha=0.0)(X, D)[0], expected, atol=1e-7)


def test_running_out_of_steps_is_counted():
    X, D = problem()
    assert Coder("lasso_lars", 0.1, max_iter=2)(X, D)[1] == len(X)
    assert Coder("lasso_cd", 0.01, max_iter=0)(X, D)[1] == len(X)
