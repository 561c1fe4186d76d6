"""Normal distributions of every column in every class."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from latently import compiled
from latently.learn.estimator.classes import Codes
from latently.predict.statistics import GaussianStatistics, pooled

Array = NDArray[np.float64]
_LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Gaussians:
    """Normal distributions of every column in every class.

    Parameters
    ----------
    theta : (K, d) means
    var : (K, d) variances
    epsilon : (d,) what was added to the variances
    known : (d,) whether anything was ever observed; a column of which nothing was says nothing
    """

    theta: Array
    var: Array
    epsilon: Array
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, stats: GaussianStatistics, smoothing: float) -> Self:
        """Fit to statistics.

        A class that has nothing observed in a column gets the mean and variance of all classes together; a
        column without any observation gets 0 and 1.
        """
        if not smoothing >= 0:
            raise ValueError(f"var_smoothing must not be negative, got {smoothing}")
        features = stats.by_class
        seen, mean, variance = pooled(features)
        epsilon = _variance_floor(seen, mean, np.maximum(variance, stats.powers.unit()), smoothing)
        here = features.weight > 0
        own = np.maximum(features.scatter(), 0.0) / np.where(here, features.weight, 1.0)
        theta = np.where(here, features.mean(), mean)
        return cls(theta, np.where(here, own, variance) + epsilon, epsilon, seen > 0)

    def joint(self, X: Array, constant: Array) -> Array:
        """(n, K) a constant per class plus the log density of the observed entries."""
        out = np.zeros((X.shape[0], len(self.theta)))
        root = np.where(self.known, 1.0 / np.sqrt(self.var), 0.0)
        peak = np.where(self.known, -0.5 * (np.log(self.var) + _LOG_2PI), 0.0)
        compiled.predict.naive_bayes.gaussian_joint(np.ascontiguousarray(X), self.theta, root, peak, constant, out)
        return out

    def draw(self, codes: Codes, rng: np.random.Generator) -> Array:
        """Draw a row for each class code."""
        noise = rng.standard_normal((len(codes), self.theta.shape[1]))
        return self.theta[codes] + np.sqrt(self.var[codes]) * noise


def _variance_floor(seen: Array, mean: Array, unit: Array, smoothing: float) -> Array:
    # A unit at the rounding of the mean is none: such a column is constant, and its size is all there is.
    rounding = (8 * np.finfo(float).eps * mean) ** 2
    constant = unit <= rounding
    size = np.where(constant, np.where(mean != 0, mean**2, 1.0), unit)
    least = np.maximum(smoothing * size, np.where(constant, np.finfo(float).eps * size, rounding))
    return np.where(seen > 0, np.maximum(least, np.finfo(float).tiny), 1.0)
