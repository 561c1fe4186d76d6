"""Matching the components of two Gaussian mixtures."""

import numpy as np
from numpy.typing import NDArray

from latently.distributions.components.gaussian.moments import GaussianMoments
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.order import matched_order
from latently.learn.engine.protocol import Array


def aligned(
    mine: GaussianParams, theirs: GaussianParams, stats: GaussianMoments, stay: NDArray[np.bool_]
) -> GaussianMoments:
    """Their moments in the order in which their components are nearest to ours, but for those that stay."""
    return stats.permuted(matched_order(_divergences(mine, theirs), stay))


def _divergences(mine: GaussianParams, theirs: GaussianParams) -> Array:
    """(k, k) symmetric Kullback-Leibler divergence of each of our components from each of theirs, up to a constant."""
    means = theirs.frame.outward(theirs.means)
    ours, others = _own_units(mine), _own_units(theirs)
    gaps = mine.frame.outward(mine.means)[:, None] - means[None]  # (k, k, d)
    precisions = np.linalg.inv(ours)[:, None] + np.linalg.inv(others)[None]
    distance = np.einsum("abi,abij,abj->ab", gaps, precisions, gaps)
    shapes = np.einsum("aij,bji->ab", np.linalg.inv(ours), others) + np.einsum(
        "aij,bji->ab", ours, np.linalg.inv(others)
    )
    return np.asarray(distance + shapes)


def _own_units(params: GaussianParams) -> Array:
    """(k, d, d) covariances in the data's own units."""
    return np.asarray(params.matrices * np.outer(params.frame.scale, params.frame.scale))
