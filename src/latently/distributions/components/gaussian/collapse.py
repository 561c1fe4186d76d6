"""Components that have shrunk to a point, a line or a plane: found before their numbers mean nothing."""

import numpy as np

from latently.distributions.components.gaussian.params import ILL_DEFINED, GaussianParams
from latently.distributions.inputs import Array

_EPS = float(np.finfo(float).eps)
# Standard deviation, in the frame, below which the rows of a component differ by rounding alone.
_POINT = 8 * _EPS
# What is left of a column's variance, per column, once the others are known, below which it is rounding alone.
_FLAT = 8 * _EPS


def refuse_collapsed(params: GaussianParams) -> GaussianParams:
    """The parameters, if every covariance is numerically non-singular; an error otherwise."""
    lost = ~(_variances(params) > _POINT**2 * (1 + _size(params))).all(axis=1)
    if not lost.any() and params.shape_of_roots == "triangular":
        lost = ~(remainders(params) > _FLAT * params.means.shape[1]).all(axis=1)
    if lost.any():
        raise ValueError(ILL_DEFINED + f" (components {np.flatnonzero(lost).tolist()})")
    return params


def lost_nats(params: GaussianParams) -> float:
    """Nats per row that rounding of the moments may cost.

    They are sums of products, so the variance that is left of a column once the others are known is exact to some
    epsilon of the whole; a variance that is off by a share s costs s^2 / 4.
    """
    if params.shape_of_roots == "elementwise":
        return 0.0
    return float((16 * _EPS / remainders(params).min()) ** 2)


def remainders(params: GaussianParams) -> Array:
    """(k or 1, d) share of a column's variance that the columns before it leave unexplained, in matrices."""
    return np.asarray(1 / (np.diagonal(params.roots, axis1=1, axis2=2) ** 2 * _variances(params)))


def _variances(params: GaussianParams) -> Array:
    C = params.covariances
    if params.kind in ("full", "tied"):
        return np.atleast_2d(np.diagonal(C, axis1=-2, axis2=-1))
    return C.reshape(len(params.weights), -1)


def _size(params: GaussianParams) -> Array:
    """Squared distance of the means from the origin, shaped to go with the variances."""
    squares = params.means**2
    if params.kind == "tied":
        return np.asarray(squares.min(axis=0, keepdims=True))
    return np.asarray(squares.mean(axis=1, keepdims=True) if params.kind == "spherical" else squares)
