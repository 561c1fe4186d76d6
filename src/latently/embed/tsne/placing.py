"""New points in a map that stays: each descends its own divergence from the points that are there."""

import numpy as np

from latently import compiled
from latently.embed.tsne.affinities import conditional
from latently.embed.tsne.kernels import Gaussian, Student
from latently.embed.tsne.repulsion import Grid
from latently.geometry.distances import Array, squared_distances
from latently.geometry.neighbours import Neighbours
from latently.learn.engine.blocks import for_blocks

_ITERATIONS = 200
_RATE, _MOMENTUM = 0.1, 0.8
_PAIRS = 3000  # points of the map from which on repulsion is read from a grid
_ROWS = 512


class Placing:
    """Places for new points, given their nearest neighbours among the points of a map.

    Each new point minimises KL(P_i || Q_i) over its neighbours' p(j | i) and the similarities q(j | i) to all points of
    the map, from the mean of its neighbours on; so it does not matter which others are placed with it. A point at no
    distance from one of the map is put on it.

    Parameters
    ----------
    embedding
        (n, d) the map.
    perplexity, kernel
        As of the fit.
    """

    def __init__(self, embedding: Array, perplexity: list[float], kernel: Student | Gaussian) -> None:
        self.map = np.ascontiguousarray(embedding, dtype=float)
        self.perplexity = perplexity
        self.kernel = kernel
        self.grid: Grid | None = None
        if len(embedding) > _PAIRS and embedding.shape[1] == 2 and isinstance(kernel, Student):
            self.grid = Grid(kernel)
            self.grid.prepare(self.map)

    def place(self, found: Neighbours, squares: Array) -> Array:
        """(m, d) places of new points whose neighbours in the map are at the given squared distances."""
        p = conditional(squares, self.perplexity)
        Y = np.einsum("ik,ikc->ic", p, self.map[found.indices])
        velocity, gains = np.zeros_like(Y), np.ones_like(Y)
        for _ in range(_ITERATIONS):
            pull, push = self._forces(Y, p, found)
            compiled.embed.descent.step(
                Y, pull, push, 2 * self.kernel.factor, 2 * self.kernel.factor, _RATE, _MOMENTUM, 1.0, velocity, gains
            )
            if self.grid is not None:
                np.clip(Y, self.map.min(axis=0), self.map.max(axis=0), out=Y)
        same = found.distances[:, 0] == 0
        Y[same] = self.map[found.indices[same, 0]]
        return np.asarray(Y)

    def _forces(self, Y: Array, p: Array, found: Neighbours) -> tuple[Array, Array]:
        pull, push = np.empty_like(Y), np.empty_like(Y)

        def fill(start: int, stop: int) -> None:
            rows = Y[start:stop]
            gaps = rows[:, None] - self.map[found.indices[start:stop]]
            weights = p[start:stop] * self.kernel.force((gaps**2).sum(axis=2))
            pull[start:stop] = np.einsum("ik,ikc->ic", weights, gaps)
            push[start:stop] = self._repelled(rows)

        for_blocks(len(Y), fill, rows=_ROWS)
        return pull, push

    def _repelled(self, rows: Array) -> Array:
        """sum_j q(j | i) f_ij (y_i - y_j)."""
        if self.grid is not None:
            force, mass = np.empty_like(rows), np.empty(len(rows))
            self.grid.fill(rows, 0, len(rows), force, mass, own=False)
            return force / np.maximum(mass, 1e-6)[:, None]
        squares = squared_distances(rows, self.map)
        similar = self.kernel.value(squares)
        weights = similar * self.kernel.force(squares) / np.maximum(similar.sum(axis=1, keepdims=True), 1e-300)
        return np.asarray(weights.sum(axis=1, keepdims=True) * rows - weights @ self.map)
