"""Matching the components of two Gaussian mixtures."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from tacit.cluster.gaussian_params import GaussianParams
from tacit.cluster.gaussian_stats import GaussianMoments
from tacit.learn.protocol import Array


def aligned(mine: GaussianParams, theirs: GaussianParams, stats: GaussianMoments) -> GaussianMoments:
    """Their moments in the order in which their components are nearest to ours."""
    _, order = linear_sum_assignment(_divergences(mine, theirs))
    return stats.permuted(order)


def _divergences(mine: GaussianParams, theirs: GaussianParams) -> Array:
    """(k, k) symmetric Kullback-Leibler divergence of each of our components from each of theirs, up to a constant."""
    means = theirs.frame.outward(theirs.means)
    ours, others = _matrices(mine), _matrices(theirs)
    gaps = mine.frame.outward(mine.means)[:, None] - means[None]  # (k, k, d)
    precisions = np.linalg.inv(ours)[:, None] + np.linalg.inv(others)[None]
    distance = np.einsum("abi,abij,abj->ab", gaps, precisions, gaps)
    shapes = np.einsum("aij,bji->ab", np.linalg.inv(ours), others) + np.einsum(
        "aij,bji->ab", ours, np.linalg.inv(others)
    )
    return np.asarray(distance + shapes)


def _matrices(params: GaussianParams) -> Array:
    """(k, d, d) covariances in the data's own units, whatever the kind."""
    k, d = params.means.shape
    scaled = params.covariances * params.frame.covariance_factor(params.kind)
    if params.kind == "full":
        return scaled
    if params.kind == "tied":
        return np.broadcast_to(scaled, (k, d, d))
    return np.asarray(scaled.reshape(k, -1)[:, :, None] * np.eye(d))
