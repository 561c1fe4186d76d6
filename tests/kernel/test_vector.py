"""Kernels of rows, against scikit-learn's functions and closed forms."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import latently
from latently.kernel import RBF, Laplace, Linear, Polynomial

IRIS = load_iris().data
WIDE = np.random.default_rng(0).normal(size=(40, 30))
KERNELS = [
    Linear(), Linear(normalize=True), Polynomial(), Polynomial(2, coef0=0.0, gamma=0.3, normalize=True), RBF(),
    RBF(width=0.7), RBF(gamma=0.2), Laplace(), Laplace(gamma=0.4), Linear() + RBF(), RBF() * Laplace(), 3.0 * RBF(),
    (Linear() + Polynomial(2)) * RBF(),
]  # fmt: skip


@pytest.mark.parametrize("X", [IRIS, WIDE], ids=["narrow", "wide"])
def test_values_are_those_of_scikit_learn(X):
    Y = X[::7] + 0.1
    assert np.allclose(Linear()(X, Y), pairwise.linear_kernel(X, Y))
    assert np.allclose(Linear(normalize=True)(X, Y), pairwise.cosine_similarity(X, Y))
    assert np.allclose(Polynomial(3)(X, Y), pairwise.polynomial_kernel(X, Y))
    assert np.allclose(RBF(gamma=0.3)(X, Y), pairwise.rbf_kernel(X, Y, gamma=0.3))
    assert np.allclose(Laplace(gamma=0.3)(X, Y), pairwise.laplacian_kernel(X, Y, gamma=0.3))


@pytest.mark.parametrize("k", KERNELS, ids=repr)
@pytest.mark.parametrize("X", [IRIS, WIDE], ids=["narrow", "wide"])
def test_every_kernel_is_symmetric_and_positive_semi_definite(k, X):
    K = k(X)
    assert np.allclose(K, K.T)
    values = np.linalg.eigvalsh(K)
    assert values[0] > -1e-9 * values[-1]
    assert np.allclose(np.diagonal(K), k.diag(X))
    assert np.allclose(k.adapted(X)(X[:3], X), K[:3])


def test_the_median_width_is_of_the_rows_a_model_was_fitted_to():
    gaps = pairwise.euclidean_distances(IRIS)[np.triu_indices(150, 1)]
    width = np.median(gaps[gaps > 0])
    assert np.isclose(RBF().adapted(IRIS).width, width)
    new = IRIS[:4] * 100
    assert np.allclose(RBF()(new, IRIS), pairwise.rbf_kernel(new, IRIS, gamma=0.5 / width**2))


@pytest.mark.parametrize("X", [IRIS, WIDE], ids=["narrow", "wide"])
def test_an_offset_changes_nothing(X):
    assert np.allclose(RBF()(X + 1e8), RBF()(X), atol=1e-6)


def test_a_constant_table_and_one_row_have_a_width():
    assert RBF().adapted(np.ones((5, 2))).width == 1.0
    assert RBF()([[3.0]]) == [[1.0]]


def test_scikit_learn_takes_kernels():
    y = load_iris().target
    ours = SVC(kernel=RBF(gamma=0.25)).fit(IRIS, y)
    theirs = SVC(gamma=0.25).fit(IRIS, y)
    assert np.array_equal(ours.predict(IRIS), theirs.predict(IRIS))
    search = GridSearchCV(SVC(kernel=RBF(width=1.0)), {"kernel__width": [0.001, 2.0]}, cv=3).fit(IRIS, y)
    assert search.best_params_ == {"kernel__width": 2.0}


@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_kernels_are_cloned_pickled_saved_and_printed(k, tmp_path):
    assert clone(k, safe=False) == k
    assert pickle.loads(pickle.dumps(k)) == k
    latently.save(k, tmp_path / "k")
    assert latently.load(tmp_path / "k") == k
    assert eval(repr(k), vars(latently.kernel)) == k


@pytest.mark.parametrize(
    ("k", "X", "message"),
    [
        (RBF(width=0.0), IRIS, "width must be a positive number"),
        (RBF(width="wide"), IRIS, "width must be a positive number"),
        (RBF(width=1.0, gamma=2.0), IRIS, "not both"),
        (Laplace(gamma=-1.0), IRIS, "gamma must be a positive number"),
        (Polynomial(0), IRIS, "degree"),
        (Polynomial(coef0=-1.0), IRIS, "coef0"),
        (RBF(), [[1.0, np.nan]], "x1.*NaN"),
        (RBF(), [[1.0, np.inf]], "x1.*inf"),
        (RBF(), np.zeros((0, 2)), "0 sample"),
    ],
)
def test_bad_input_is_named(k, X, message):
    with pytest.raises(ValueError, match=message):
        k(X)


def test_other_bad_input_is_named():
    with pytest.raises(ValueError, match="2 columns and Y has 3"):
        RBF(width=1.0)(np.ones((2, 2)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="no kernel"):
        -1.0 * RBF()
    with pytest.raises(ValueError, match="no parameter 'depth'"):
        RBF().set_params(depth=1)
    with pytest.raises(TypeError):
        RBF() + 1.0
