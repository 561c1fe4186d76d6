"""The likelihood of InfoMax on white data: its value, relative gradient and approximate curvature, in one pass."""

from dataclasses import dataclass

import numpy as np

from latently.factor.ica.ascent.contrast import likelihood_means
from latently.factor.ica.white_data import WhiteData
from latently.learn.engine.protocol import Array

# Logarithms of the integrals of 1 / cosh(y), exp(-y^2 / 2) / cosh(y) and exp(-y^2 / 2) cosh(y).
_LOG_PI, _LOG_HEAVY, _LOG_LIGHT = 1.1447298858494002, 0.6195404611792522, 1.4189385332046727
_LEAST = 0.01  # eigenvalues of the curvature are kept above it


@dataclass(frozen=True, eq=False)
class Point:
    """Minus the mean log-likelihood at W, and what one pass tells about its surroundings.

    Sources are y = W z with minus log density s log cosh(y), plus y^2 / 2 if extended; s is 1 for sources with heavy
    tails and -1 for those with light ones. Directions are relative: D stands for the step to (1 + D) W.

    Parameters
    ----------
    W : (k, k)
    loss : minus the mean log-likelihood
    gradient : (k, k) E[psi(y) y'] - 1
    derivative : (k,) E[psi'(y)]
    curvature : (k,) E[psi'(y) y^2]
    power : (k,) E[y^2]
    signs : (k,) s
    better_signs : (k,) signs that the sources at W ask for
    """

    W: Array
    loss: float
    gradient: Array
    derivative: Array
    curvature: Array
    power: Array
    signs: Array
    better_signs: Array

    def preconditioned(self, G: Array) -> Array:
        """(k, k) D that solves H D = G, with the curvature H of independent sources: pairs (i, j), (j, i) alone."""
        a = self.derivative[:, None] * self.power[None, :]  # (k, k) of d_ij
        b = a.T
        least = (a + b - np.sqrt((a - b) ** 2 + 4)) / 2
        more = np.maximum(_LEAST - least, 0.0)
        a, b = a + more, b + more
        D = (b * G - G.T) / (a * b - 1)
        np.fill_diagonal(D, np.diag(G) / np.maximum(self.curvature + 1, _LEAST))
        return np.asarray(D)


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Minus the mean log-likelihood of white data as a function of W."""

    data: WhiteData
    extended: bool

    def at(self, W: Array, signs: Array) -> Point:
        """One pass over the data."""
        cross, columns = likelihood_means(self.data, W)
        C = W @ W.T  # E[y y'], since z is white
        tanh_y = cross @ W.T  # (k, k) E[tanh(y) y']
        share = float(self.extended)
        loss = -np.linalg.slogdet(W)[1] + float(signs @ columns[:, 0]) + share * np.trace(C) / 2 + self._norms(signs)
        power = np.diag(C).copy()
        excess = columns[:, 1] * power - np.diag(tanh_y)  # above 0 for heavy tails
        return Point(
            W,
            float(loss),
            signs[:, None] * tanh_y + share * C - np.eye(len(W)),
            signs * columns[:, 1] + share,
            signs * columns[:, 2] + share * power,
            power,
            signs,
            np.where(excess < 0, -1.0, 1.0) if self.extended else signs,
        )

    def _norms(self, signs: Array) -> float:
        """Logarithms of the integrals of all densities."""
        if not self.extended:
            return len(signs) * _LOG_PI
        return float(np.where(signs > 0, _LOG_HEAVY, _LOG_LIGHT).sum())

    def begin(self, W: Array) -> Point:
        """The first point, with the signs that its sources ask for."""
        point = self.at(W, np.ones(len(W)))
        same = np.array_equal(point.better_signs, point.signs)
        return point if same else self.at(W, point.better_signs)
