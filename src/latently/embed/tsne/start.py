"""Where the points of a map start."""

from typing import Any

import numpy as np
from scipy import sparse

from latently.embed.tsne.affinities import Affinities
from latently.geometry.distances import Array

SPREAD = 1e-4  # standard deviation of the first column
_SMALL = 1000  # rows or columns up to which principal components come from all eigenvectors


def random_start(n: int, n_components: int, rng: np.random.RandomState) -> Array:
    """Normal draws, as scikit-learn draws them."""
    return np.asarray(SPREAD * rng.standard_normal((n, n_components)).astype(np.float32), dtype=float)


def pca_start(X: Array, n_components: int, rng: np.random.RandomState) -> Array:
    """The first principal components, small."""
    n, d = X.shape
    if min(n, d) < n_components:
        raise ValueError(
            f"init='pca' gives at most {min(n, d)} columns of a map, not {n_components}: use init='random'"
        )
    moved = X - X.mean(axis=0)
    if d <= min(n, _SMALL):
        _, axes = np.linalg.eigh(moved.T @ moved)
        scores = moved @ axes[:, ::-1][:, :n_components]
    elif n <= _SMALL:
        values, axes = np.linalg.eigh(moved @ moved.T)
        scores = (axes * np.sqrt(np.maximum(values, 0.0)))[:, ::-1][:, :n_components]
    else:
        from sklearn.utils.extmath import randomized_svd

        left, values, _ = randomized_svd(moved, n_components, random_state=rng)
        scores = left * values
    return scaled(_one_sign(scores))


def spectral_start(affinities: Affinities, n_components: int, rng: np.random.RandomState) -> Array:
    """Leading eigenvectors of the graph of affinities, without the constant one (Laplacian eigenmaps), small."""
    from scipy.sparse.linalg import eigsh

    P = affinities.matrix()
    n = affinities.n
    if n <= n_components + 2:
        raise ValueError(f"init='spectral' needs more than {n_components + 2} rows, here are {n}: use init='random'")
    degree = np.sqrt(np.asarray(P.sum(axis=1)).ravel())
    scale = sparse.diags_array(1 / degree)
    lifted = scale @ P @ scale + sparse.eye_array(n)  # eigenvalues from 0 to 2: the wanted ones are the largest
    _, vectors = eigsh(lifted, n_components + 1, which="LM", v0=rng.uniform(0.5, 1.0, n), tol=1e-4)
    found = scaled(_one_sign(vectors[:, ::-1][:, 1:] / degree[:, None]))
    return np.asarray(found + 0.01 * SPREAD * rng.standard_normal(found.shape))  # equal rows of a component part


def scaled(Y: Array) -> Array:
    """Start as small as others; all zeros stay zeros."""
    size = float(np.std(Y[:, 0]))
    return np.asarray(Y / size * SPREAD if size > 0 else np.zeros_like(Y))


def given_start(init: Any, n: int, n_components: int) -> Array:
    """A start given as an array, checked."""
    Y = np.array(init, dtype=float)
    if Y.shape != (n, n_components):
        raise ValueError(f"init has the shape {Y.shape}, but the map needs {(n, n_components)}")
    if not np.isfinite(Y).all():
        raise ValueError("init contains NaN or infinite values")
    return Y


def _one_sign(scores: Array) -> Array:
    largest = scores[np.abs(scores).argmax(axis=0), np.arange(scores.shape[1])]
    return np.asarray(scores * np.where(largest < 0, -1.0, 1.0))
