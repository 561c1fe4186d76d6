"""Stress of a map of points, and the gradient that lowers it."""

from dataclasses import dataclass

import numpy as np

from latently import compiled
from latently.geometry.distances import Array
from latently.learn.engine.blocks import for_blocks

_ROWS = 64  # points in a block


@dataclass(frozen=True, eq=False)
class Pulls:
    """What the dissimilarities do to a map.

    Parameters
    ----------
    pulls
        (n, k) sum_j w_ij (D_ij - d_ij) / d_ij (x_i - x_j): half the negative gradient of the stress.
    stress
        sum over pairs i < j of w_ij (D_ij - d_ij)^2.
    squares
        sum over pairs i < j of d_ij^2.
    """

    pulls: Array
    stress: float
    squares: float


def pulls_of(points: Array, D: Array, weights: Array | None = None) -> Pulls:
    """The pulls of dissimilarities (n, n) on a map (n, k), with weights (n, n) or none.

    Examples
    --------
    >>> found = pulls_of(np.array([[0.0], [1.0]]), np.array([[0.0, 3.0], [3.0, 0.0]]))
    >>> found.pulls.ravel(), found.stress, found.squares
    (array([-2.,  2.]), 4.0, 1.0)
    """
    n, k = points.shape
    columns, out = np.ascontiguousarray(points.T), np.empty((k, n))
    stress, squares = np.empty(n), np.empty(n)
    W = D[:0] if weights is None else weights

    def fill(first: int, last: int) -> None:
        compiled.embed.stress.pulls(
            columns, D, W, weights is not None, first, last, np.empty(n), out, stress, squares
        )  # fmt: skip

    for_blocks(n, fill, rows=_ROWS)
    return Pulls(np.ascontiguousarray(out.T), float(stress.sum()) / 2, float(squares.sum()) / 2)


@dataclass(frozen=True, eq=False)
class MonotoneOrder:
    """The order of dissimilarities (n, n) above the diagonal; zeros are missing.

    Parameters
    ----------
    order
        (m,) places of the known pairs in the list of all pairs i < j, from the smallest dissimilarity on.
    groups
        Where each set of equal dissimilarities begins in that order, and m.
    """

    order: np.ndarray[tuple[int], np.dtype[np.int64]]
    groups: np.ndarray[tuple[int], np.dtype[np.int64]]

    @classmethod
    def of(cls, pairs: Array) -> "MonotoneOrder":
        """The order of the dissimilarities of all pairs i < j."""
        order = np.argsort(pairs, kind="stable")
        order = order[pairs[order] > 0].astype(np.int64)
        ranked = pairs[order]
        starts = np.flatnonzero(np.concatenate([[True], ranked[1:] > ranked[:-1]])) if len(ranked) else np.zeros(0)
        return cls(order, np.concatenate([starts, [len(order)]]).astype(np.int64))

    def disparities(self, distances: Array) -> Array:
        """The numbers closest to the distances of all pairs that rise with the dissimilarities.

        Missing pairs keep their distances. Disparities are scaled to a mean square of one.

        Examples
        --------
        >>> MonotoneOrder.of(np.array([1.0, 2.0, 3.0])).disparities(np.array([1.0, 3.0, 2.0])).round(3)
        array([0.471, 1.179, 1.179])
        """
        found = distances.copy()
        space = len(self.groups)
        fitted = np.empty(len(self.order))
        compiled.embed.stress.isotonic(
            distances[self.order], self.groups, np.empty(space), np.empty(space), np.empty(space, np.int64), fitted
        )  # fmt: skip
        found[self.order] = fitted
        size = float(found @ found)
        return found * np.sqrt(len(found) / size) if size > 0 else found
