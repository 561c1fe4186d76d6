"""The parameters of a Gaussian as a vector without constraints, and the gradient of its likelihood in it."""

from abc import abstractmethod
from dataclasses import replace
from typing import Self

import numpy as np

from latently.distributions import covariance as cov
from latently.distributions.family import ExponentialFamily
from latently.distributions.inputs import Array
from latently.distributions.statistics import Additive, Moments
from latently.distributions.unconstrained import (
    Directions,
    Reader,
    cholesky_gradient,
    cholesky_row,
    cholesky_units,
    from_cholesky_row,
)

LOG_2PI = float(np.log(2 * np.pi))


class GaussianVector(ExponentialFamily):
    """What a Gaussian with its mean, covariance and kind knows about itself as a vector."""

    covariance: Array
    kind: cov.Kind

    @abstractmethod
    def _moments(self, stats: Additive) -> Moments:
        """Read statistics as moments."""

    def pack(self) -> Array:
        """Means, and logarithms of variances or Cholesky factors."""
        spread = cholesky_row(self.covariance) if self.kind == "full" else np.log(np.atleast_1d(self.covariance))
        return np.concatenate([self.mean, spread])

    def unpack(self, reader: Reader) -> Self:
        """Mean and covariance."""
        d = self.n_columns
        mean = reader.take((d,))
        if self.kind == "full":
            covariance = from_cholesky_row(reader.take((d * (d + 1) // 2,)), d)
        else:
            covariance = np.exp(reader.take(self.covariance.shape))
        return replace(self, mean=mean, covariance=covariance)  # type: ignore[type-var]

    def directions(self) -> Directions:
        """All of them; means and Cholesky factors in the unit of their columns."""
        sd = np.sqrt(self.variance)
        spread = cholesky_units(sd) if self.kind == "full" else np.ones(np.size(self.covariance))
        return Directions.plain(np.concatenate([sd, spread]))

    def log_likelihood(self, stats: Additive) -> float:
        """Of the moments about the mean."""
        here = self._moments(stats).about(self.mean)
        weight = np.broadcast_to(here.weight, (self.n_columns,))
        if self.kind == "full":
            level = weight[0] * (np.linalg.slogdet(self.covariance)[1] + self.n_columns * LOG_2PI)
            return -0.5 * float(level + np.trace(np.linalg.solve(self.covariance, here.second)))
        return -0.5 * float((weight * (np.log(self.variance) + LOG_2PI) + here.second / self.variance).sum())

    def gradient(self, stats: Additive) -> Array:
        """In the vector of `pack`."""
        here = self._moments(stats).about(self.mean)
        if self.kind == "full":
            inverse = np.linalg.inv(self.covariance)
            inner = (inverse @ here.second @ inverse - here.weight * inverse) / 2
            return np.concatenate([inverse @ here.first, cholesky_gradient(self.covariance, inner)])
        spread = 0.5 * (here.second / self.covariance - here.weight)
        return np.concatenate([here.first / self.covariance, spread if self.kind == "diag" else [spread.sum()]])
