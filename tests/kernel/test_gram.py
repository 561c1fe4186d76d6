"""Gram matrices: centring, eigenvectors, low rank."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import KernelPCA
from sklearn.preprocessing import KernelCenterer

from latently.kernel import RBF, Kernel, Linear
from latently.kernel.gram import (
    Centring,
    centred,
    incomplete_cholesky,
    leading,
    negative_share,
    nystroem,
    warn_indefinite,
)

IRIS = load_iris().data
K = RBF()(IRIS)


def test_centring_is_that_of_scikit_learn_for_training_and_new_rows():
    new = IRIS[:20] + 0.3
    cross = RBF()(new, IRIS)
    peer = KernelCenterer().fit(K)
    centring = Centring.of(K)
    assert np.allclose(centring.training(K), peer.transform(K))
    assert np.allclose(centring.rows(cross), peer.transform(cross))
    assert np.allclose(centred(K), peer.transform(K))


def test_the_centred_diagonal_is_the_squared_distance_from_the_mean():
    new = IRIS[:20] + 0.3
    k = Linear()
    found = Centring.of(k(IRIS)).diagonal(k.diag(new), k(new, IRIS))
    assert np.allclose(found, ((new - IRIS.mean(axis=0)) ** 2).sum(axis=1))


@pytest.mark.parametrize("n", [150, 700], ids=["dense", "lanczos"])
def test_leading_eigenvectors_are_those_of_kernel_pca(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    width = RBF().adapted(X).width
    found = leading(centred(RBF()(X)), 4)
    peer = KernelPCA(4, kernel="rbf", gamma=0.5 / width**2, eigen_solver="dense").fit(X)
    assert np.allclose(found.values, peer.eigenvalues_)
    assert np.allclose(np.abs(found.vectors), np.abs(peer.eigenvectors_), atol=1e-6)
    axes = found.coefficients
    assert np.allclose(axes.T @ centred(RBF()(X)) @ axes, np.eye(4), atol=1e-8)


def test_an_indefinite_matrix_is_told():
    matrix = np.diag([4.0, 1.0, -1.0])
    found = leading(matrix)
    assert found.negative == 0.25
    assert found.values.tolist() == [4.0, 1.0]
    assert negative_share(matrix) == 0.25
    with pytest.warns(UserWarning, match=r"most negative eigenvalue is 0.25 of the largest"):
        warn_indefinite(matrix)
    assert warn_indefinite(K) == 0.0
    large = np.diag(np.r_[np.linspace(1, 10, 700), -5.0])
    assert np.isclose(negative_share(large), 0.5)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), "square"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (np.full((2, 2), np.nan), "finite"),
    ],
)
def test_what_is_no_gram_matrix_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        leading(matrix)


class Counted(Kernel):
    """A kernel that counts the values it computes."""

    def __init__(self):
        self.values = 0

    def _matrix(self, X, Y):
        found = RBF(width=2.0)(X, Y)
        self.values += found.size
        return found

    def _diagonal(self, X):
        return np.ones(len(X))


def test_incomplete_cholesky_computes_columns_only_and_is_exact_at_its_pivots():
    k = Counted()
    found = incomplete_cholesky(k, IRIS, rank=12, tol=0.0)
    assert k.values == 12 * len(IRIS)
    product = found.factor @ found.factor.T
    whole = RBF(width=2.0)(IRIS)
    assert np.allclose(product[found.pivots], whole[found.pivots], atol=1e-8)
    assert np.isclose(found.residual, np.trace(whole - product), atol=1e-8)
    assert np.linalg.eigvalsh(whole - product)[0] > -1e-9
    assert np.allclose(found.transform(IRIS), found.factor, atol=1e-7)


def test_incomplete_cholesky_of_full_rank_is_the_matrix():
    found = incomplete_cholesky(RBF(width=0.5), IRIS, tol=1e-12)
    assert np.allclose(found.factor @ found.factor.T, RBF(width=0.5)(IRIS), atol=1e-6)


def test_incomplete_cholesky_says_how_far_a_kernel_is_from_one():
    class Indefinite(Kernel):
        def _matrix(self, X, Y):
            return 1.0 - np.abs(X - (X if Y is None else Y).T) ** 3

        def _diagonal(self, X):
            return np.ones(len(X))

    with pytest.raises(ValueError, match="not positive semi-definite"):
        incomplete_cholesky(Indefinite(), np.linspace(0, 3, 20)[:, None])


def test_nystroem_with_all_landmarks_is_exact():
    features = nystroem(RBF(), IRIS, 1000).transform(IRIS)
    assert np.allclose(features @ features.T, K, atol=1e-7)
    few = nystroem(RBF(), IRIS, 30, random_state=1)
    among = few.transform(few.landmarks)
    assert np.allclose(among @ among.T, RBF().adapted(IRIS)(few.landmarks), atol=1e-6)


def test_a_matrix_of_zeros_has_no_leading_vectors():
    assert leading(np.zeros((3, 3))).values.shape == (0,)
