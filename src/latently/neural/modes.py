"""Modes of Gaussian mixtures."""

import numpy as np

from latently.distributions.inputs import Array

STEPS = 500
SAME = 1e-3
"""Distance, in standard deviations of the narrowest component, below which two modes are one."""


def modes_of(weights: Array, means: Array, covariances: Array) -> Array:
    """Local maxima (m, t) of a mixture with weights (k,), means (k, t) and covariances (k, t, t).

    From the mean of each component, the fixed point of x = (sum_k r_k P_k)^-1 sum_k r_k P_k m_k with
    responsibilities r_k at x and precisions P_k, each step of which raises the density (Carreira-Perpinan, 2000).

    Examples
    --------
    >>> modes_of(np.array([0.5, 0.5]), np.array([[0.0], [9.0]]), np.ones((2, 1, 1))).round(3).ravel().tolist()
    [0.0, 9.0]
    >>> modes_of(np.array([0.5, 0.5]), np.array([[0.0], [1.0]]), np.ones((2, 1, 1))).round(3).ravel().tolist()
    [0.5]
    """
    precisions = np.asarray(np.linalg.inv(covariances), dtype=np.float64)
    logs = np.log(np.maximum(weights, 1e-300)) + 0.5 * np.linalg.slogdet(precisions)[1]
    unit = np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1).min(axis=0))  # (t,)
    x = means[weights > 1e-3 * weights.max()]
    for _ in range(STEPS):
        before, x = x, _risen(x, logs, means, precisions)
        if (np.abs(x - before) < 1e-9 * unit).all():
            break
    distinct: list[Array] = []
    for one in x[np.lexsort(x.T[::-1])]:
        if not any((np.abs(one - other) < np.maximum(SAME * unit, 1e-6 * np.abs(one))).all() for other in distinct):
            distinct.append(one)
    return np.array(distinct)


def _risen(x: Array, logs: Array, means: Array, precisions: Array) -> Array:
    apart = x[:, None] - means  # (s, k, t)
    joint = logs - 0.5 * np.einsum("ski,kij,skj->sk", apart, precisions, apart)
    shares = np.exp(joint - joint.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    left = np.einsum("sk,kij->sij", shares, precisions)
    right = np.einsum("sk,kij,kj->si", shares, precisions, means)
    return np.asarray(np.linalg.solve(left, right[..., None])[..., 0])
