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
    problem = _Problem(S, n, q)
    point = problem.at(np.maximum(start, problem.floor))
    trace = [point.log_likelihood]
    while len(trace) < max_iter:
        ahead = problem.at(point.next_noise)
        new = problem.beyond(point, ahead)
        trace.append(new.log_likelihood)
        if new.log_likelihood - point.log_likelihood < tol:
            return Factors(new.components, new.noise, trace, True)
        point = new
    return Factors(point.components, point.noise, trace, False)


@dataclass(frozen=True, eq=False)
class _Point:
    """Noise variances, the best loadings for them, the log-likelihood, and the best noise for these loadings."""

    noise: Array
    components: Array
    log_likelihood: float
    next_noise: Array


class _Problem:
    """A covariance that is to be explained by q factors."""

    def __init__(self, S: Array, n: float, q: int) -> None:
        self.S, self.n, self.q = S, n, q
        self.variance = np.diagonal(S).copy()
        typical = max(float(self.variance.mean()), np.finfo(float).tiny)
        self.floor = SMALL * np.where(self.variance > 0, self.variance, typical)

    def at(self, noise: Array) -> _Point:
        """One step: loadings from the leading eigenvectors of the covariance in units of the noise."""
        root = np.sqrt(noise)
        values, vectors, rest = _leading(self.S / root / root[:, None], self.q)
        clipped = np.maximum(values, 1.0)  # a factor that explains less than noise explains nothing
        components = (np.sqrt(clipped - 1) * vectors).T * root
        size = len(self.S) * LOG_2PI + np.log(noise).sum() + np.log(clipped).sum()
        log_likelihood = float(-self.n / 2 * (size + (values / clipped).sum() + rest))
        return _Point(
            noise, components, log_likelihood, np.maximum(self.variance - (components**2).sum(axis=0), self.floor)
        )

    def beyond(self, point: _Point, ahead: _Point) -> _Point:
        """Go on along two steps, as far as they let expect (Varadhan and Roland 2008), if that is better."""
        first = np.log(ahead.noise / point.noise)
        bend = np.log(ahead.next_noise / ahead.noise) - first
        size = float(np.linalg.norm(bend))
        if size == 0:
            return ahead
        reach = max(float(np.linalg.norm(first)) / size, 1.0)
        step = np.clip(2 * reach * first + reach**2 * bend, -3.0, 3.0)
        far = self.at(np.clip(point.noise * np.exp(step), self.floor, np.maximum(self.variance, self.floor)))
        return far if far.log_likelihood >= ahead.log_likelihood else ahead


def _leading(S: Array, q: int) -> tuple[Array, Array, float]:
    """The q largest eigenvalues with vectors, and the sum of the others."""
    d = len(S)
    if q == 0:
        return np.empty(0), np.empty((d, 0)), float(np.trace(S))
    few = d > 100 and q < d // 5
    values, vectors = linalg.eigh(S, check_finite=False, subset_by_index=(d - q, d - 1) if few else None)
    values, vectors = values[::-1][:q], vectors[:, ::-1][:, :q]
    return values, vectors, float(np.trace(S) - values.sum())
