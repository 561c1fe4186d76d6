"""Pre-images: rows whose image in feature space is close to a point given by its scores."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve

from latently.geometry.distances import squared_distances
from latently.kernel.base import Array, Kernel
from latently.kernel.vector import RBF

_STEPS = 300  # of the fixed-point iteration
_SETTLED = 1e-9  # change of a row, as a share of the width, at which it is found
_BLOCK = 1000  # rows at a time


@dataclass(frozen=True, eq=False)
class RidgePreImages:
    """Kernel ridge regression from scores to rows (Bakir, Weston and Schoelkopf, 2004).

    Parameters
    ----------
    kernel
        Kernel between scores.
    scores
        (m, k) scores of the rows it is fitted to.
    coefficients
        (m, d) dual coefficients.
    """

    kernel: Kernel
    scores: Array
    coefficients: Array

    @classmethod
    def fitted(cls, kernel: Kernel, scores: Array, rows: Array, alpha: float) -> "RidgePreImages":
        """Learn the map from scores to rows with a ridge of alpha."""
        fixed = kernel.adapted(scores)
        K = fixed(scores)
        K.flat[:: len(K) + 1] += alpha
        return cls(fixed, scores, np.asarray(solve(K, rows, assume_a="sym")))

    def __call__(self, scores: Array) -> Array:
        """Rows (n, d) for scores (n, k)."""
        return np.asarray(self.kernel(scores, self.scores) @ self.coefficients)


@dataclass(frozen=True, eq=False)
class FixedPointPreImages:
    """Rows z with z = sum_i g_i k(z, x_i) x_i / sum_i g_i k(z, x_i), for the RBF kernel (Mika et al., 1999).

    Each iteration begins at the row of the fit with the nearest scores. Where the weights come to nothing, or the
    iteration does not settle, that row is the answer.

    Parameters
    ----------
    kernel
        The RBF kernel.
    scores, rows
        (m, k) and (m, d), of the rows of the fit or the landmarks.
    weights, mean
        (m, k) and (m,) expansions of the components and of the mean in feature space.
    """

    kernel: RBF
    scores: Array
    rows: Array
    weights: Array
    mean: Array

    def __call__(self, scores: Array) -> Array:
        """Rows (n, d) for scores (n, k)."""
        parts = [self._some(scores[start : start + _BLOCK]) for start in range(0, len(scores), _BLOCK)]
        return np.concatenate(parts) if parts else np.empty((0, self.rows.shape[1]))

    def _some(self, scores: Array) -> Array:
        gains = scores @ self.weights.T + self.mean  # (n, m) expansion of the points in feature space
        start = self.rows[squared_distances(scores, self.scores).argmin(axis=1)]
        found, settled = start.copy(), np.zeros(len(start), dtype=bool)
        for _ in range(_STEPS):
            rest = np.flatnonzero(~settled)
            if not len(rest):
                break
            shares = gains[rest] * self.kernel(found[rest], self.rows)
            total = shares.sum(axis=1)
            lost = np.abs(total) <= 1e-12 * np.abs(shares).sum(axis=1)
            step = np.where(lost[:, None], start[rest], shares @ self.rows / np.where(lost, 1.0, total)[:, None])
            moved = np.abs(step - found[rest]).max(axis=1)
            found[rest] = step
            settled[rest] = lost | (moved <= _SETTLED * float(self.kernel.width))
        found[~settled] = start[~settled]
        return np.asarray(found)
