"""Loadings and noise variances of highest likelihood, from the covariance of the columns alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Array = NDArray[np.float64]
SMALL = 1e-12
"""Least noise of a column, as a share of its variance."""
LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Factors:
    """Loadings (q, d), noise (d,), the log-likelihood after each step, and whether it stood still."""

    components: Array
    noise: Array
    trace: list[float]
    converged: bool


def fit_covariance(S: Array, n: float, q: int, start: Array, tol: float, max_iter: int) -> Factors:
    """Alternate: best loadings given the noise (eigenvectors), then best noise given the loadings.

    Parameters
    ----------
    S
        (d, d) covariance with the weight of the rows in the denominator.
    n
        That weight.
    q
        Number of factors.
    start
        (d,) noise to begin with.
    tol
        Converged when the log-likelihood rises by less.
    max_iter
        Steps at most.
    """
    variance = np.diagonal(S).copy()
    floor = SMALL * np.where(variance > 0, variance, max(float(variance.mean()), 1.0))
    noise = np.maximum(start, floor)
    trace: list[float] = []
    components = np.zeros((q, len(S)))
    for _ in range(max_iter):
        root = np.sqrt(noise)
        values, vectors, rest = _leading(S / root / root[:, None], q)
        components = (np.sqrt(np.maximum(values - 1, 0.0)) * vectors).T * root
        size = len(S) * LOG_2PI + np.log(noise).sum() + np.log(np.maximum(values, 1e-300)).sum()
        trace.append(float(-n / 2 * (size + q + rest)))
        if len(trace) > 1 and trace[-1] - trace[-2] < tol:
            return Factors(components, noise, trace, True)
        noise = np.maximum(variance - (components**2).sum(axis=0), floor)
    return Factors(components, noise, trace, False)


def _leading(S: Array, q: int) -> tuple[Array, Array, float]:
    """The q largest eigenvalues with vectors, and the sum of the others."""
    d = len(S)
    if q == 0:
        return np.empty(0), np.empty((d, 0)), float(np.trace(S))
    few = d > 100 and q < d // 5
    values, vectors = linalg.eigh(S, check_finite=False, subset_by_index=(d - q, d - 1) if few else None)
    values, vectors = values[::-1][:q], vectors[:, ::-1][:, :q]
    return values, vectors, float(np.trace(S) - values.sum())
