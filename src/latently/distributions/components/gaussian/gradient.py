"""Gaussian components as a vector without constraints, and gradients by Fisher's identity from expected moments."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.prior import GaussianPrior
from latently.distributions.inputs import Array
from latently.distributions.statistics import Moments
from latently.distributions.unconstrained import (
    Directions,
    Reader,
    cholesky_gradient,
    cholesky_row,
    cholesky_units,
    from_cholesky_row,
)


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


def directions(params: GaussianParams, learn: str = "mc") -> Directions:
    """Where the vector of `pack` is free to move: means and Cholesky factors in the unit of their columns."""
    sd = np.sqrt(params.variances)
    if params.is_matrix:
        spread = cholesky_units(sd[:1] if params.kind == "tied" else sd)
    else:
        spread = np.ones(params.covariances.size)
    pieces = [Directions.plain(sd).if_learnt("m" in learn), Directions.plain(spread).if_learnt("c" in learn)]
    return Directions.joined(pieces)
