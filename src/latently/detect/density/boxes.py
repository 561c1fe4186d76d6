"""Points sorted into boxes by halving, and sums of kernels over them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from latently import compiled
from latently.geometry.distances import squared_distances
from latently.kernel.base import Array
from latently.learn.engine.blocks import for_blocks

Ints = npt.NDArray[np.int64]

KINDS = ("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine")
_LEAF = 128  # points in a box at most
_GROUP = 64  # queries that are answered together
_TINY = 1e-280  # sums below this have lost digits, and are done again in logarithms


@dataclass(frozen=True, eq=False)
class Boxes:
    """Points in boxes.

    Parameters
    ----------
    points
        (n, d) points, those of a box side by side.
    edges
        (b + 1,) points of box i are edges[i] to edges[i + 1] - 1.
    weights
        (n,) their weights, or none.
    """

    points: Array
    edges: Ints
    weights: Array

    @classmethod
    def of(cls, points: Array, weights: Array | None = None) -> "Boxes":
        """Sort points into boxes."""
        order, edges = halved(points, _LEAF)
        return cls(points[order], edges, np.zeros(0) if weights is None else weights[order])

    def sums(self, queries: Array, bandwidth: float, kernel: str, rtol: float, atol: float) -> Array:
        """(m,) sums of kernels over all points, at each query; off by at most rtol times the sum, plus atol."""
        origin = self.points.mean(axis=0)
        points = (self.points - origin) / bandwidth
        order, starts = halved(queries, _GROUP)
        asked = np.ascontiguousarray((queries[order] - origin) / bandwidth)
        columns = np.ascontiguousarray(points.T)
        low = np.minimum.reduceat(points, self.edges[:-1], axis=0)
        high = np.maximum.reduceat(points, self.edges[:-1], axis=0)
        each = self.weights if len(self.weights) else np.ones(len(points))
        mass = np.add.reduceat(each, self.edges[:-1])
        out = np.zeros(len(asked))

        def fill(first: int, last: int) -> None:
            bits, row = np.empty(_LEAF, dtype=np.int64), np.empty(_LEAF)
            compiled.detect.kernel_density.sums(
                *(columns, self.weights, self.edges, low, high, mass, asked, starts, KINDS.index(kernel)),
                *(rtol, atol, first, last, row, bits, bits.view(np.float64), out),
            )

        for_blocks(len(starts) - 1, fill)
        found = np.empty(len(asked))
        found[order] = out
        return found

    def log_sums(self, queries: Array, bandwidth: float, kernel: str, rtol: float, atol: float) -> Array:
        """Logarithms of the sums; far from all points too, where the sums themselves are too small for a number."""
        with np.errstate(divide="ignore"):
            found = self.sums(queries, bandwidth, kernel, rtol, atol)
            logs = np.log(found)
        far = np.flatnonzero(found < _TINY) if kernel in ("gaussian", "exponential") else np.zeros(0, dtype=np.int64)
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights) if len(self.weights) else 0.0
        for first in range(0, len(far), _GROUP):
            rows = far[first : first + _GROUP]
            squared = squared_distances(queries[rows], self.points) / bandwidth**2
            powers = -0.5 * squared if kernel == "gaussian" else -np.sqrt(squared)
            logs[rows] = logsumexp(powers + log_weights, axis=1)
        return np.asarray(logs)


def halved(points: Array, most: int) -> tuple[Ints, Ints]:
    """An order of the points, and edges between groups of at most `most` that lie close together.

    Groups are halved along the column in which they are widest.

    Examples
    --------
    >>> order, edges = halved(np.array([[3.0], [0.0], [2.0], [1.0]]), 2)
    >>> sorted(order[:2].tolist()), edges.tolist()
    ([1, 3], [0, 2, 4])
    """
    order = np.arange(len(points))
    edges = [0]
    stack: list[tuple[int, int]] = [(0, len(points))]
    while stack:
        first, last = stack.pop()
        if last - first <= most:
            edges.append(last)
            continue
        rows = order[first:last]
        part = points[rows]
        column = part[:, np.ptp(part, axis=0).argmax()]
        middle = (last - first) // 2
        order[first:last] = rows[np.argpartition(column, middle)]
        stack += [(first + middle, last), (first, first + middle)]  # the lower half is next
    return order, np.array(edges, dtype=np.int64)


def log_norm(kernel: str, d: int, bandwidth: float) -> float:
    """Logarithm of the integral of a kernel over d columns."""
    from scipy.integrate import quad
    from scipy.special import gammaln

    log_ball = 0.5 * d * np.log(np.pi) - gammaln(0.5 * d + 1)
    inside: dict[str, Any] = {
        "gaussian": lambda: 0.5 * d * np.log(2 * np.pi),
        "tophat": lambda: log_ball,
        "epanechnikov": lambda: log_ball + np.log(2.0 / (d + 2)),
        "exponential": lambda: log_ball + gammaln(d + 1),
        "linear": lambda: log_ball - np.log(d + 1),
        "cosine": lambda: log_ball + np.log(quad(lambda r: d * r ** (d - 1) * np.cos(0.5 * np.pi * r), 0, 1)[0]),
    }
    return float(inside[kernel]() + d * np.log(bandwidth))
