"""Kernel sums from distances of any metric."""

import numpy as np
from scipy.special import logsumexp

from latently.kernel.base import Array


def log_profile_sums(distances: Array, kernel: str, weights: Array) -> Array:
    """(n,) logarithms of sums over points of kernels of the distances (n, m), in units of the bandwidth.

    Examples
    --------
    >>> log_profile_sums(np.array([[0.0, 2.0]]), "tophat", np.zeros(0))
    array([0.])
    """
    r = distances
    with np.errstate(divide="ignore", invalid="ignore"):
        if kernel == "gaussian":
            logs = -0.5 * r * r
        elif kernel == "exponential":
            logs = -r
        else:
            shape = {"tophat": r * 0 + 1, "epanechnikov": 1 - r * r, "linear": 1 - r, "cosine": np.cos(0.5 * np.pi * r)}
            logs = np.log(np.where(r < 1, shape[kernel], 0.0))
        return np.asarray(logsumexp(logs, axis=1, b=weights if len(weights) else None))
