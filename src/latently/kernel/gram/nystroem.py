"""Nystroem's approximation: features whose inner products are about the kernel values."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.utils import check_random_state

from latently.kernel.base import Array, Kernel, length, take
from latently.kernel.gram.eigen import ROUNDING


@dataclass(frozen=True, eq=False)
class Nystroem:
    """Features from kernel values with a few landmarks.

    Parameters
    ----------
    kernel
        The kernel, with its width fixed.
    landmarks
        m things.
    projection
        (m, r) from kernel values with the landmarks to features.
    """

    kernel: Kernel
    landmarks: Any
    projection: Array

    def transform(self, X: Any) -> Array:
        """Features (n, r) of things."""
        return np.asarray(self.kernel(X, self.landmarks) @ self.projection)


def nystroem(kernel: Kernel, X: Any, n_landmarks: int = 100, *, random_state: Any = 0) -> Nystroem:
    """Choose landmarks among the things at random, and make features of kernel values with them.

    The features' inner products equal the kernel among the landmarks, and approximate it elsewhere. Directions with
    an eigenvalue of zero (or below) among the landmarks are left out.

    Parameters
    ----------
    kernel
        A kernel.
    X
        n things.
    n_landmarks
        How many landmarks; all things if there are no more.
    random_state
        Seed of the choice.

    Examples
    --------
    >>> from latently.kernel import RBF
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> features = nystroem(RBF(), X, 20).transform(X)
    >>> bool(np.abs(features @ features.T - RBF()(X)).max() < 1e-4)
    True
    """
    if n_landmarks < 1:
        raise ValueError(f"n_landmarks must be at least 1, got {n_landmarks}")
    fixed = kernel.adapted(X)
    n = length(X)
    chosen = np.sort(check_random_state(random_state).permutation(n)[:n_landmarks])
    landmarks = take(X, chosen)
    values, vectors = eigh(fixed(landmarks))
    kept = values > ROUNDING * max(values[-1], 0.0)
    return Nystroem(fixed, landmarks, vectors[:, kept] / np.sqrt(values[kept]))
