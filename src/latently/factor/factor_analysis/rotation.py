"""Rotations of loadings: the same covariance, from factors that are easier to name."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ORTHOMAX = {"varimax": 1.0, "quartimax": 0.0}


def orthomax(loadings: Array, gamma: float, tol: float = 1e-14, max_iter: int = 1000) -> Array:
    """(q, q) rotation that makes squared loadings as unequal as can be, within the factors (varimax: gamma = 1).

    Parameters
    ----------
    loadings
        (d, q) loadings.
    gamma
        1 for varimax, 0 for quartimax.
    tol, max_iter
        When to stop: the criterion rises by less than a share of it, or after as many steps.

    Examples
    --------
    >>> turn = np.array([[np.cos(0.3), np.sin(0.3)], [-np.sin(0.3), np.cos(0.3)]])
    >>> simple = np.array([[1.0, 0.0], [0.9, 0.0], [0.0, 0.8], [0.0, 0.7]])
    >>> np.abs(simple @ turn @ orthomax(simple @ turn, 1.0)).round(4)
    array([[1. , 0. ], [0.9, 0. ], [0. , 0.8], [0. , 0.7]])
    """
    d, q = loadings.shape
    turn, before = np.eye(q), 0.0
    for _ in range(max_iter):
        turned = loadings @ turn
        gradient = loadings.T @ (turned**3 - turned * (gamma / d * (turned**2).sum(axis=0)))
        left, singular, right = np.linalg.svd(gradient)
        turn, after = left @ right, float(singular.sum())
        if after <= before * (1 + tol):
            break
        before = after
    return np.asarray(turn)


def promax(loadings: Array, power: float = 4.0) -> tuple[Array, Array]:
    """Oblique rotation: varimax, then each factor is turned towards its own powers (Hendrickson and White 1964).

    Returns
    -------
    tuple
        (q, q) matrix T with loadings @ T the rotated ones, and (q, q) correlations of the factors.
    """
    turn = kaiser_varimax(loadings)
    rotated = loadings @ turn
    target = rotated * np.abs(rotated) ** (power - 1)
    U = np.linalg.lstsq(rotated, target, rcond=None)[0]
    scale = np.sqrt(np.diagonal(np.linalg.inv(U.T @ U)))
    T = turn @ (U * scale)
    inverse = np.linalg.inv(T)
    return T, inverse @ inverse.T


def kaiser_varimax(loadings: Array) -> Array:
    """(q, q) varimax rotation in which every column counts alike, however much of it the factors explain."""
    size = np.sqrt((loadings**2).sum(axis=1))
    return orthomax(loadings / np.where(size > 0, size, 1.0)[:, None], 1.0)
