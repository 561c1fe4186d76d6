"""How far sources are from Gaussian ones, which no rotation can tell apart."""

import numpy as np

from latently.factor.ica.contrast import likelihood_means
from latently.factor.ica.white_data import WhiteData
from latently.learn.engine.protocol import Array

# For y ~ N(0, 1): deviation of tanh'(y) - y tanh(y) that is left once the variance of y is known, by quadrature.
_SPREAD = 0.35347


def non_gaussianity(data: WhiteData, W: Array) -> Array:
    """(k,) distance of each source y = w z from a Gaussian one, in standard errors.

    E[tanh'(y)] - E[y tanh(y)] is zero for a Gaussian y (Stein's identity), and what the fixed point of FastICA and
    the likelihood of InfoMax tell sources apart by.
    """
    W = W / np.linalg.norm(W, axis=1, keepdims=True)
    cross, columns = likelihood_means(data, W)
    gap = columns[:, 1] - (cross * W).sum(axis=1)
    return np.asarray(np.abs(gap) * np.sqrt(data.n_rows) / _SPREAD)
