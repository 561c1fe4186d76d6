"""Gaussian components as a vector without constraints, and gradients by Fisher's identity from expected moments."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.prior import GaussianPrior
from latently.distributions.inputs import Array, patterns
from latently.distributions.statistics import Moments
from latently.distributions.unconstrained import (
    Directions,
    Reader,
    cholesky_gradient,
    cholesky_row,
    cholesky_units,
    from_cholesky_row,
)

_NUMBERS = 1 << 21  # of gradients in covariances that are made at a time


class Gradients(NamedTuple):
    """Derivatives of the objective in the frame; that in the covariances takes their entries as independent."""

    means: Array  # (k, d)
    covariances: Array  # shaped as the covariances


def gradients(params: GaussianParams, stats: Moments, prior: GaussianPrior) -> Gradients:
    """Derivatives at the parameters that the moments were taken under."""
    here = stats.about(params.means)
    pulled = here.first + (prior.kappa * (prior.location - params.means) if prior.pulls else 0.0)
    spread = here.second + prior.scatter + prior.pull(params.kind, params.means)
    mass = stats.mass() + prior.power
    if not params.is_matrix:
        C = params.covariances
        return Gradients(pulled / C.reshape(len(pulled), -1), (spread / C - mass) / C / 2)
    P = params.precision.reshape(params.covariances.shape)
    return Gradients(np.matmul(pulled[:, None, :], P)[:, 0], (P @ spread @ P - mass * P) / 2)


def pack(params: GaussianParams) -> Array:
    """Means, and logarithms of variances or Cholesky factors with logarithms on the diagonal, as one vector."""
    spread = cholesky_row(params.covariances) if params.is_matrix else np.log(params.covariances)
    return np.concatenate([params.means.ravel(), spread.ravel()])


def unpack(like: GaussianParams, reader: Reader) -> GaussianParams:
    """Parameters of the same shape from such a vector."""
    means, d = reader.take(like.means.shape), like.means.shape[1]
    if like.is_matrix:
        rows = reader.take((*like.covariances.shape[:-2], d * (d + 1) // 2))
        return replace(like, means=means, covariances=from_cholesky_row(rows, d))
    # a trial step of a search may lie anywhere
    return replace(like, means=means, covariances=np.exp(np.clip(reader.take(like.covariances.shape), -600.0, 600.0)))


def packed_gradient(params: GaussianParams, stats: Moments, prior: GaussianPrior) -> Array:
    """Gradient of the objective in the vector of `pack`."""
    means, inner = gradients(params, stats, prior)
    spread = cholesky_gradient(params.covariances, inner) if params.is_matrix else params.covariances * inner
    return np.concatenate([means.ravel(), spread.ravel()])


def packed_scores(params: GaussianParams, X: Array, R: Array) -> Array:
    """Gradients (n, P) of the log density of each row in the vector of `pack`, with responsibilities R (k, n).

    Missing entries (NaN) are left out: of a matrix only the part of what is observed has a say.
    """
    if params.is_matrix:
        return _matrix_scores(params, X, R)
    shares, seen = R.T[:, :, None], ~np.isnan(X)[:, None, :]
    gaps = np.where(seen, X[:, None, :] - params.means, 0.0)
    pulls = gaps / params.variances
    spread = shares * (gaps * pulls - seen) / 2
    spread = spread if params.kind == "diag" else spread.sum(axis=2)
    return np.hstack([(shares * pulls).reshape(len(X), -1), spread.reshape(len(X), -1)])


def _matrix_scores(params: GaussianParams, X: Array, R: Array) -> Array:
    (k, d), n = params.means.shape, len(X)
    means, spread = np.zeros((n, k, d)), np.zeros((n, k, d * (d + 1) // 2))
    for observed, rows in patterns(X):
        inside = np.ix_(observed, observed)
        for j, (mean, matrix) in enumerate(zip(params.means, params.matrices, strict=True)):
            precision = np.zeros((d, d))
            precision[inside] = np.linalg.inv(matrix[inside])
            for part in np.array_split(rows, -(-len(rows) * d * d // _NUMBERS)):
                pulls = np.where(observed, X[part] - mean, 0.0) @ precision
                inner = (pulls[:, :, None] * pulls[:, None, :] - precision) / 2
                means[part, j] = R[j, part, None] * pulls
                spread[part, j] = R[j, part, None] * cholesky_gradient(matrix, inner)
    spread = spread.sum(axis=1, keepdims=True) if params.kind == "tied" else spread
    return np.hstack([means.reshape(n, -1), spread.reshape(n, -1)])


def directions(params: GaussianParams, learn: str = "mc") -> Directions:
    """Where the vector of `pack` is free to move: means and Cholesky factors in the unit of their columns."""
    sd = np.sqrt(params.variances)
    if params.is_matrix:
        spread = cholesky_units(sd[:1] if params.kind == "tied" else sd)
    else:
        spread = np.ones(params.covariances.size)
    pieces = [Directions.plain(sd).if_learnt("m" in learn), Directions.plain(spread).if_learnt("c" in learn)]
    return Directions.joined(pieces)
