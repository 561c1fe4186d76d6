"""Records of earlier versions, as the ones that took their place."""

from typing import Any

import numpy as np

from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.prior import GaussianPrior
from latently.distributions.inputs import Array
from latently.distributions.statistics import Moments


def numeric_params(means: Array, variances: Array) -> GaussianParams:
    """Columns one by one."""
    return GaussianParams.in_own_units("diag", means, variances)


def full_params(means: Array, covariances: Array) -> GaussianParams:
    """Columns together."""
    return GaussianParams.in_own_units("full", means, covariances)


def moments(**fields: Array) -> Moments:
    """Moments of several components."""
    return Moments(**fields)


def class_moments(moments: Moments, shape: tuple[int, int]) -> Moments:
    """Moments of every column in every class, once in one row."""
    parts = (moments.weight, moments.centre, moments.first, moments.second)
    return Moments(*(np.reshape(part, shape) for part in parts))


def prior(location: Array, pull: Any, scatter: Array, rows: Any) -> GaussianPrior:
    """Of means and covariances."""
    return GaussianPrior(location=location, kappa=np.asarray(pull), scatter=scatter, power=np.asarray(rows))
