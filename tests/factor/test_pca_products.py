"""Directions from products of the rows, against the singular values of the rows themselves."""

import numpy as np
import pytest

from latently.factor import PCA
from latently.factor.pca.products import singular_of

SPECTRA = {
    "even": np.linspace(3, 1, 40),
    "decaying": np.logspace(0, -17, 40),
    "rank 10": np.where(np.arange(40) < 10, 1.0, 0.0),
    "two sizes": np.where(np.arange(40) < 10, 1.0, 1e-7),
    "nothing": np.zeros(40),
}


def matrix(sizes, m=90):
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.normal(size=(k, len(sizes))))[0] for k in (m, len(sizes)))
    return U * sizes @ V.T


@pytest.mark.parametrize("name", SPECTRA)
def test_singular_values_keep_their_digits(name):
    A = matrix(SPECTRA[name])
    found = singular_of(A, 40, needs_left=True)
    np.testing.assert_allclose(found.sizes, np.linalg.svd(A, compute_uv=False), rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.right.T @ found.right, np.eye(40), atol=1e-13)
    np.testing.assert_allclose(found.left.T @ found.left, np.eye(40), atol=1e-11)
    np.testing.assert_allclose(found.left * found.sizes @ found.right.T, A, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["even", "decaying", "rank 10"])
def test_some_are_the_first_of_all(name):
    A = matrix(SPECTRA[name])
    some, every = singular_of(A, 15, needs_left=True), singular_of(A, 40, needs_left=False)
    np.testing.assert_allclose(some.sizes, every.sizes[:15], rtol=0, atol=1e-14)
    assert some.left.shape == (90, 15)
    assert some.right.shape == (40, 15)


@pytest.mark.parametrize("shape", [(20, 50), (60, 40), (45, 45)])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_components_are_those_of_the_rows(shape, offset):
    X = np.random.default_rng(1).normal(size=shape) * np.linspace(3, 1, shape[1]) + offset
    products, rows = PCA(10).fit(X), PCA(10, svd_solver="full").fit(X)
    np.testing.assert_allclose(products.components_, rows.components_, atol=1e-8)
    np.testing.assert_allclose(products.explained_variance_, rows.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(products.noise_variance_, rows.noise_variance_, rtol=1e-9)
