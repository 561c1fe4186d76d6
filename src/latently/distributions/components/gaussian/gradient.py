"""Gradients of a Gaussian mixture's objective, by Fisher's identity from the expected moments."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from latently.distributions.components.gaussian.moments import GaussianMoments
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.prior import FramePrior
from latently.distributions.inputs import Array


class Gradients(NamedTuple):
    """Derivatives of the objective in the frame; that in the covariances takes their entries as independent."""

    counts: Array  # (k,) w times the derivative in each weight w
    means: Array  # (k, d)
    covariances: Array  # shaped as the covariances


def gradients(params: GaussianParams, stats: GaussianMoments, prior: FramePrior) -> Gradients:
    """Derivatives at the parameters that the moments were taken under."""
    here = stats.about(params.means)
    pulled = here.first + (prior.kappa * (prior.location - params.means) if prior.pulls else 0.0)
    spread = here.second + prior.scatter + prior.pull(params.kind, params.means)
    counts, mass = stats.weight + prior.excess, stats.mass() + prior.power
    if params.shape_of_roots == "elementwise":
        C = params.covariances
        return Gradients(counts, pulled / C.reshape(len(pulled), -1), (spread / C - mass) / C / 2)
    P = params.precision.reshape(params.covariances.shape)
    means = np.matmul(pulled[:, None, :], P)[:, 0]
    return Gradients(counts, means, (P @ spread @ P - mass * P) / 2)


def packed(params: GaussianParams) -> Array:
    """Logarithms of the weights, means, and Cholesky factors with logarithms on the diagonal, as one vector."""
    logits = np.log(np.maximum(params.weights, np.finfo(float).tiny))
    if params.shape_of_roots == "elementwise":
        factors = np.log(params.covariances) / 2
    else:
        L = np.linalg.cholesky(params.covariances)
        rows, columns = np.tril_indices(L.shape[-1])
        entries = L[..., rows, columns]
        factors = np.where(rows == columns, np.log(np.where(rows == columns, entries, 1.0)), entries)
    return np.concatenate([logits, params.means.ravel(), factors.ravel()])


def unpacked(like: GaussianParams, vector: Array) -> GaussianParams:
    """Parameters of the same shape from such a vector."""
    k, d = like.means.shape
    logits, means, factors = np.split(vector, [k, k + k * d])
    weights = np.exp(logits - logits.max())
    if like.shape_of_roots == "elementwise":
        covariances = np.exp(2 * factors.reshape(like.covariances.shape))
    else:
        L = _lower(factors.reshape(*like.covariances.shape[:-2], -1), d)
        covariances = L @ np.swapaxes(L, -1, -2)
    return replace(like, weights=weights / weights.sum(), means=means.reshape(k, d), covariances=covariances)


def _lower(factors: Array, d: int) -> Array:
    rows, columns = np.tril_indices(d)
    L = np.zeros((*factors.shape[:-1], d, d))
    L[..., rows, columns] = np.where(rows == columns, np.exp(np.where(rows == columns, factors, 0.0)), factors)
    return L


def packed_gradient(params: GaussianParams, stats: GaussianMoments, prior: FramePrior) -> Array:
    """Gradient of the objective in the vector of `packed`."""
    counts, means, inner = gradients(params, stats, prior)
    logits = counts - params.weights * counts.sum()
    if params.shape_of_roots == "elementwise":
        factors = 2 * params.covariances * inner
    else:
        L = np.linalg.cholesky(params.covariances)
        rows, columns = np.tril_indices(L.shape[-1])
        by_entry = (2 * inner @ L)[..., rows, columns]
        factors = np.where(rows == columns, by_entry * L[..., rows, columns], by_entry)
    return np.concatenate([logits, means.ravel(), factors.ravel()])
