"""From the curvature of an objective at its maximum to the covariance of what was estimated."""

import numpy as np

from latently.learn.engine.protocol import Array

FLAT = 1e-8
"""Curvature, beside a coordinate's own, that differences of scores cannot distinguish from zero."""

AWAY = 0.2
"""How many standard errors a fit may be away from its maximum."""


def covariance_at_maximum(information: Array, gradient: Array) -> Array:
    """Inverse of the observed information (f, f), whatever the units of its coordinates.

    Parameters
    ----------
    information
        Minus the second derivatives of the objective.
    gradient
        (f,) its first derivatives, which are zero at a maximum.

    Raises
    ------
    ValueError
        If this is no maximum: the curvature is not negative in all directions, or a step to the maximum would be
        more than a fifth of a standard error.

    Examples
    --------
    >>> covariance_at_maximum(np.diag([4.0, 1e-12]), np.zeros(2))
    array([[2.5e-01, 0.0e+00],
           [0.0e+00, 1.0e+12]])
    """
    covariance = inverse_information(information, FLAT)
    away = float(np.sqrt(gradient @ covariance @ gradient))
    if away > AWAY:
        raise ValueError(
            f"the fit is {away:.2g} standard errors away from a maximum of its objective, so that its curvature there "
            "gives no standard errors: fit the same rows (with the same labels and weights) with a smaller tol and "
            "more iterations"
        )
    return covariance


def inverse_information(information: Array, flat: float) -> Array:
    """Inverse of an information matrix (f, f), scaled first; an error where a curvature is at most `flat`, scaled."""
    scale = np.sqrt(np.abs(np.diagonal(information)))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(information / scale[:, None] / scale)
    if len(values) and values[0] <= flat:
        raise ValueError(
            "the observed information is not positive definite, so there are no standard errors: the fit is not at a "
            "maximum (fit the same rows with a smaller tol and more iterations), or a part of the model has too few "
            "rows to be distinguished from the others"
        )
    return np.asarray((vectors / values) @ vectors.T / scale[:, None] / scale)
