"""Forces and costs from all pairs of points, for maps of any number of columns and any kernel."""

from typing import Any

import numpy as np

from latently.embed.tsne.kernels import Gaussian, Student
from latently.geometry.distances import Array, squared_distances
from latently.learn.engine.blocks import for_blocks

_TINY = np.finfo(float).tiny


class JointField:
    """KL(P || Q) with joint probabilities p_ij (n, n) and q_ij = k_ij / sum of all k: symmetric SNE, and t-SNE.

    Parameters
    ----------
    P
        (n, n) symmetric, sum 1, with zeros on the diagonal.
    kernel
        Similarity in the map.
    """

    n_placed = None

    def __init__(self, P: Array, kernel: Student | Gaussian) -> None:
        self.P, self.kernel = P, kernel
        self.attraction = self.repelled = np.zeros((0, 0))

    @property
    def factor(self) -> float:
        """By what the difference of the forces is multiplied to give the gradient."""
        return 2 * self.kernel.factor

    def compute(self, Y: Array) -> float:
        """Fill both forces; the second is to be divided by the sum of similarities, which is returned."""
        self.attraction, self.repelled, mass = np.empty_like(Y), np.empty_like(Y), np.empty(len(Y))

        def fill(start: int, stop: int) -> None:
            squares, similar = self._pairs(Y, start, stop)
            pull = self.kernel.force(squares)
            mass[start:stop] = similar.sum(axis=1)
            self.attraction[start:stop] = drawn(self.P[start:stop] * pull, Y, start)
            self.repelled[start:stop] = drawn(similar * pull, Y, start)

        for_blocks(len(Y), fill)
        return max(float(mass.sum()), _TINY)

    def divergence(self, Y: Array, total: float) -> float:
        """The cost, if similarities sum to `total`."""
        out = np.empty(len(Y))

        def fill(start: int, stop: int) -> None:
            squares, _ = self._pairs(Y, start, stop)
            p = self.P[start:stop]
            out[start:stop] = (p * self.kernel.minus_log(squares)).sum(axis=1) + _entropy_terms(p)

        for_blocks(len(Y), fill)
        return float(out.sum() + np.log(total) * self.P.sum())

    def _pairs(self, Y: Array, start: int, stop: int) -> tuple[Array, Array]:
        squares = _squares(Y, start, stop)
        similar = self.kernel.value(squares)
        similar[np.arange(stop - start), np.arange(start, stop)] = 0.0
        return squares, similar


class ConditionalField:
    """The mean over points of KL(P_i || Q_i) with p(j | i) and q(j | i) = exp(-d_ij^2) / sum_k exp(-d_ik^2): SNE.

    Parameters
    ----------
    P
        (n, n) rows p(j | i), each with sum 1 and zero on the diagonal.
    """

    n_placed = None

    def __init__(self, P: Array) -> None:
        self.P, self.both = P, P + P.T
        self.attraction = self.repelled = np.zeros((0, 0))

    @property
    def factor(self) -> float:
        """By what the difference of the forces is multiplied to give the gradient."""
        return 2.0 / len(self.P)

    def compute(self, Y: Array) -> float:
        """Fill both forces; gives 1."""
        self.attraction, self.repelled = np.empty_like(Y), np.empty_like(Y)
        logs = self._log_masses(Y)

        def fill(start: int, stop: int) -> None:
            squares = _squares(Y, start, stop)
            q = np.exp(-squares - logs[start:stop, None]) + np.exp(-squares - logs)
            q[np.arange(stop - start), np.arange(start, stop)] = 0.0
            self.attraction[start:stop] = drawn(self.both[start:stop], Y, start)
            self.repelled[start:stop] = drawn(q, Y, start)

        for_blocks(len(Y), fill)
        return 1.0

    def divergence(self, Y: Array, total: float) -> float:
        """The cost."""
        logs = self._log_masses(Y)
        out = np.empty(len(Y))

        def fill(start: int, stop: int) -> None:
            p = self.P[start:stop]
            out[start:stop] = (p * (_squares(Y, start, stop) + logs[start:stop, None])).sum(axis=1) + _entropy_terms(p)

        for_blocks(len(Y), fill)
        return float(out.mean())

    def _log_masses(self, Y: Array) -> Array:
        out = np.empty(len(Y))

        def fill(start: int, stop: int) -> None:
            squares = _squares(Y, start, stop)
            squares[np.arange(stop - start), np.arange(start, stop)] = np.inf
            least = squares.min(axis=1)
            out[start:stop] = np.log(np.exp(least[:, None] - squares).sum(axis=1)) - least

        for_blocks(len(Y), fill)
        return out


def drawn(weights: Array, Y: Array, start: int) -> Array:
    """sum_j w_ij (y_i - y_j) of the rows from `start` on."""
    rows = Y[start : start + len(weights)]
    return np.asarray(weights.sum(axis=1, keepdims=True) * rows - weights @ Y)


def gradient(field: Any, Y: Array) -> Array:
    """Gradient of the cost of a field at a map."""
    total = field.compute(Y)
    return np.asarray(field.factor * (field.attraction - field.repelled / total))


def _squares(Y: Array, start: int, stop: int) -> Array:
    return squared_distances(Y[start:stop], Y)


def _entropy_terms(p: Array) -> Array:
    return np.asarray((p * np.log(np.maximum(p, _TINY))).sum(axis=1))
