"""Fixed points of a contrast on white data: Newton steps, and directions kept orthogonal."""

import numpy as np

from latently.factor.ica.contrast import Contrast
from latently.factor.ica.white_data import WhiteData
from latently.learn.engine.protocol import Array


def orthogonal(W: Array) -> Array:
    """(W W')^(-1/2) W: the orthogonal matrix nearest to W.

    Examples
    --------
    >>> orthogonal(np.diag([2.0, -3.0]))
    array([[ 1.,  0.], [ 0., -1.]])
    """
    values, vectors = np.linalg.eigh(W @ W.T)
    if values[0] <= 1e-14 * values[-1]:  # too flat for squares: by singular values
        left, _, right = np.linalg.svd(W)
        return np.asarray(left @ right)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T @ W)


def parallel(data: WhiteData, contrast: Contrast, start: Array, tol: float, max_iter: int) -> tuple[Array, int, bool]:
    """All directions at once: W (k, k), number of steps, and whether the last one was small."""
    W = orthogonal(start)
    for step in range(1, max_iter + 1):
        cross, derivative = contrast.means(data, W)
        moved = orthogonal(cross - derivative[:, None] * W)
        change = np.abs(np.abs((moved * W).sum(axis=1)) - 1).max()
        W = moved
        if change < tol:
            return W, step, True
    return W, max_iter, False


def deflation(data: WhiteData, contrast: Contrast, start: Array, tol: float, max_iter: int) -> tuple[Array, int, bool]:
    """One direction after the other, each orthogonal to those before it."""
    k = data.n_components
    W, most, converged = np.zeros((k, k)), 0, True
    for j in range(k):
        w = start[j] / np.linalg.norm(start[j])
        for step in range(1, max_iter + 1):
            cross, derivative = contrast.means(data, w[None])
            moved = cross[0] - derivative[0] * w
            moved -= (moved @ W[:j].T) @ W[:j]
            moved /= np.linalg.norm(moved)
            change = abs(abs(float(moved @ w)) - 1)
            w = moved
            if change < tol:
                break
        most, converged = max(most, step), converged and change < tol
        W[j] = w
    return W, most, converged
