"""How far sources are from Gaussian ones, which no rotation can separate."""

import numpy as np

from latently.factor.ica.ascent.contrast import likelihood_means
from latently.factor.ica.white_data import WhiteData
from latently.learn.engine.protocol import Array

# For y ~ N(0, 1): deviation of tanh'(y) - y tanh(y) that is left once the variance of y is known, by quadrature.
_SPREAD = 0.35347


def non_gaussianity(data: WhiteData, W: Array) -> Array:
    """(k,) distance of each source y = w z from a Gaussian one, in standard errors.

    E[tanh'(y)] - E[y tanh(y)] is zero for a Gaussian y (Stein's identity), and what the fixed point of FastICA and
    the likelihood of InfoMax tell sources apart by.
    """
    gap, _ = _gap_and_spread(data, W)
    return np.asarray(np.abs(gap) * np.sqrt(data.n_rows) / _SPREAD)


def direction_variance(data: WhiteData, W: Array) -> Array:
    """(k,) asymptotic variance of the direction of each source, had it been the first that was found.

    Those found later have the errors of the earlier ones besides (Ollila 2010), so the least variance ought to come
    first (Nordhausen et al. 2011, Deflation-based FastICA reloaded).
    """
    gap, spread = _gap_and_spread(data, W)
    return np.asarray(spread / np.maximum(gap**2, np.finfo(float).tiny))


def _gap_and_spread(data: WhiteData, W: Array) -> tuple[Array, Array]:
    """(k,) E[tanh'(y)] - E[y tanh(y)], and the variance of tanh(y) that y does not explain."""
    W = W / np.linalg.norm(W, axis=1, keepdims=True)
    cross, columns = likelihood_means(data, W)
    along = (cross * W).sum(axis=1)
    return columns[:, 1] - along, np.maximum(1 - columns[:, 1] - along**2, 0.0)
