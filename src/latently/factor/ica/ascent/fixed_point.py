"""Fixed points of a contrast on white data: Newton steps, and directions kept orthogonal."""

import numpy as np

from latently.factor.ica.ascent.contrast import Contrast
from latently.factor.ica.gaussianity import direction_variance
from latently.factor.ica.white_data import WhiteData
from latently.learn.engine.protocol import Array

_PATIENCE = 50  # full steps, before they are halved


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
        kept = (moved * W).sum(axis=1)
        change = np.abs(np.abs(kept) - 1).max()
        if change >= tol and step > _PATIENCE:  # in a cycle, maybe: half a step leads to the same fixed points
            moved = orthogonal(moved * np.where(kept < 0, -1.0, 1.0)[:, None] + W)
        W = moved
        if change < tol:
            return W, step, True
    return W, max_iter, False


def deflation(data: WhiteData, contrast: Contrast, start: Array, tol: float, max_iter: int) -> tuple[Array, int, bool]:
    """One direction after the other, each orthogonal to those before it."""
    W, most, converged = np.zeros(start.shape), 0, True
    for j, w in enumerate(start):
        W[j], steps, settled = _one_direction(data, contrast, w, W[:j], tol, max_iter)
        most, converged = max(most, steps), converged and settled
    return W, most, converged


def reloaded(data: WhiteData, contrast: Contrast, start: Array, tol: float, max_iter: int) -> tuple[Array, int, bool]:
    """Deflation in the order of precision, since a direction inherits the errors of earlier ones.

    All directions at once, found roughly, say what the order is and are near the ones wanted: that is quicker than to
    start afresh.
    """
    W, most, _ = parallel(data, contrast, start, np.sqrt(tol), max_iter)
    order = np.argsort(direction_variance(data, W), kind="stable")
    W[order], steps, converged = deflation(data, contrast, W[order], tol, max_iter)
    return W, max(most, steps), converged


def _one_direction(
    data: WhiteData, contrast: Contrast, w: Array, earlier: Array, tol: float, max_iter: int
) -> tuple[Array, int, bool]:
    w = w / np.linalg.norm(w)
    for step in range(1, max_iter + 1):
        cross, derivative = contrast.means(data, w[None])
        moved = cross[0] - derivative[0] * w
        moved -= (moved @ earlier.T) @ earlier
        moved /= np.linalg.norm(moved)
        change = abs(abs(float(moved @ w)) - 1)
        w = moved
        if change < tol:
            return w, step, True
    return w, max_iter, False
