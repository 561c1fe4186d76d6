"""Both forces of t-SNE on every point, and the cost they descend: the Kullback-Leibler divergence."""

from typing import Any

import numpy as np

from latently import compiled
from latently.embed.tsne.affinities import Affinities
from latently.embed.tsne.kernels import Student
from latently.embed.tsne.repulsion import Exact, Grid, Repulsion
from latently.geometry.distances import Array
from latently.learn.engine.blocks import for_blocks

_EXACT = 2500  # points of a flat map up to which pairs are faster than transforms
_EXACT_DEEP = 15_000  # the same with three columns, where a grid has many more nodes
_BLOCK = 512  # fewest points in a block


class Forces:
    """Forces on the points of a map with one, two or three columns, for affinities between neighbours.

    A map of one column is computed as a flat one whose second column is zero.

    Parameters
    ----------
    affinities
        p_ij.
    n_components
        Columns of the map.
    exact
        Whether repulsion is summed over all pairs; None for whatever is faster.
    """

    n_placed = None

    def __init__(self, affinities: Affinities, n_components: int, exact: bool | None = None) -> None:
        n, width = affinities.n, max(n_components, 2)
        self.affinities, self.n_components = affinities, n_components
        self.kernel = Student(max(n_components - 1, 1))
        if exact is None:
            exact = n <= (_EXACT if width == 2 else _EXACT_DEEP)
        self.repulsion: Repulsion = Exact() if exact else Grid(self.kernel)
        self.attraction, self.repelled, self.mass = np.zeros((n, width)), np.zeros((n, width)), np.zeros(n)
        self.rows = max(_BLOCK, -(-n // 16))

    @property
    def factor(self) -> float:
        """By what the difference of the forces is multiplied to give the gradient."""
        return 2 * self.kernel.factor

    def widened(self, Y: Array) -> Array:
        """The map as it is computed with: at least two columns."""
        wide = np.zeros((len(Y), max(self.n_components, 2)))
        wide[:, : self.n_components] = Y
        return wide

    def compute(self, Y: Array) -> float:
        """Fill `attraction` and `repelled`; gives the sum of similarities over all pairs of different points."""
        given, attract = self.affinities, compiled.embed.attraction
        pull = attract.flat if Y.shape[1] == 2 else attract.deep
        self.repulsion.prepare(Y)

        def fill(start: int, stop: int) -> None:
            pull(Y, given.ends, given.who, given.p, start, stop, self.attraction)
            self.repulsion.fill(Y, start, stop, self.repelled, self.mass)

        for_blocks(len(Y), fill, rows=self.rows)
        self.repelled[:, self.n_components :] = 0.0  # rounding must not lead a map of one column into two dimensions
        return max(float(self.mass.sum()) - len(Y), np.finfo(float).tiny)

    def divergence(self, Y: Array, total: float) -> float:
        """KL(P || Q) of a map whose similarities sum to `total`."""
        out, given = np.empty(len(Y)), self.affinities

        def fill(start: int, stop: int) -> None:
            compiled.embed.attraction.divergence(
                Y, given.ends, given.who, given.p, self.kernel.freedom, start, stop, out
            )

        for_blocks(len(Y), fill, rows=self.rows)
        return float(out.sum() + np.log(total) * given.p.sum())

    def gradient(self, Y: Array) -> Array:
        """Gradient (n, d) of the divergence at a map."""
        wide = self.widened(Y)
        total = self.compute(wide)
        found: Any = self.factor * (self.attraction - self.repelled / total)
        return np.asarray(found[:, : self.n_components])

    def cost(self, Y: Array) -> float:
        """KL(P || Q) of a map."""
        wide = self.widened(Y)
        return self.divergence(wide, self.compute(wide))
