"""Draws of a Gaussian mixture's parameters from their posterior, given complete rows and their components."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.inputs import Array
from latently.distributions.statistics import Moments

Draws = np.random.RandomState | np.random.Generator

# Least share of the fitted covariance that is kept: columns that are functions of others stay invertible.
_LEAST_KEPT = 1e-3


def kept_share(rows: Array, d: int) -> Array:
    """Share of the fitted, regularised covariance that stays beside what rows say of it: all of it on d + 1 rows."""
    return np.maximum(((d + 1) / np.maximum(rows, d + 1)) ** 2, _LEAST_KEPT)


def drawn_params(fitted: GaussianParams, stats: Moments, order: NDArray[np.intp], rng: Draws) -> GaussianParams:
    """Weights, means and covariances from their posterior.

    The weights have Jeffreys' prior. Each column is a regression on those before it in `order`, with a flat prior on
    its coefficients and the logarithm of its variance (the right Haar prior): the posterior of a coefficient is
    Student's t of the textbook, with n - 1 - j degrees of freedom for the column with j before it.

    Parameters
    ----------
    fitted
        What components with hardly more rows than columns keep to.
    stats
        Moments of the rows of each component, in the same frame.
    order
        (d,) columns, best known first.
    rng
        Where the numbers come from.
    """
    shares = rng.standard_gamma(stats.weight + 0.5)
    rows = stats.weight[:, None]
    centres = np.where(rows > 0, stats.centre + stats.offsets(), fitted.means)
    noise = rng.standard_normal(centres.shape) / np.sqrt(np.maximum(rows, 1.0))
    if fitted.shape_of_roots == "elementwise":
        covariances = _drawn_variances(fitted, stats, rng)
        means = centres + noise * np.sqrt(covariances if fitted.kind == "diag" else covariances[:, None])
    else:
        lifts = _drawn_lifts(fitted, stats, order, rng)
        covariances = lifts @ np.swapaxes(lifts, -1, -2)
        means = centres + np.matmul(lifts, noise[:, :, None])[:, :, 0]
        covariances = covariances[0] if fitted.kind == "tied" else covariances
    return replace(fitted, weights=shares / shares.sum(), means=means, covariances=covariances)


def _drawn_variances(fitted: GaussianParams, stats: Moments, rng: Draws) -> Array:
    """(k, d) or (k,) variances: sums of squares over chi-square."""
    columns = fitted.means.shape[1] if fitted.kind == "spherical" else 1
    rows = np.maximum(stats.weight, 2.0).reshape((-1,) + (1,) * (fitted.covariances.ndim - 1))
    kept = kept_share(rows, 1)
    scatter = kept * rows * columns * fitted.covariances + (1 - kept) * stats.scatter()
    return np.asarray(scatter / rng.chisquare(columns * (rows - 1), size=scatter.shape))


def _drawn_lifts(fitted: GaussianParams, stats: Moments, order: NDArray[np.intp], rng: Draws) -> Array:
    """(k or 1, d, d) matrices that lift standard noise to that of a drawn covariance."""
    k, d = fitted.means.shape
    tied = fitted.kind == "tied"
    rows = np.maximum(stats.weight.sum(keepdims=True) - k + 1 if tied else stats.weight, d + 1.0)
    kept = kept_share(rows, d)[:, None, None]
    scatter = kept * rows[:, None, None] * fitted.covariances + (1 - kept) * stats.scatter()
    root = np.linalg.cholesky(scatter[:, order[:, None], order])
    # T with T A = root: the first column by itself, each further one a regression on those before it
    A = np.tril(rng.standard_normal(root.shape), -1)
    A[:, np.arange(d), np.arange(d)] = np.sqrt(rng.chisquare(rows[:, None] - 1 - np.arange(d)))
    lifts = np.swapaxes(np.linalg.solve(np.swapaxes(A, 1, 2), np.swapaxes(root, 1, 2)), 1, 2)
    return np.ascontiguousarray(lifts[:, np.argsort(order)])
