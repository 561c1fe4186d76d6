"""How far a map can be trusted: as a whole, and the place of every point."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from latently.data.tables.matrix import as_matrix
from latently.embed.inputs import check_distances
from latently.geometry.distances import Array, pairwise
from latently.learn.engine.blocks import for_blocks

_VALUES = 2_000_000  # distances that a thread looks at at a time


@dataclass(frozen=True)
class MapQuality:
    """How far a map can be trusted.

    Attributes
    ----------
    trustworthiness
        1 if all neighbours in the map are neighbours among the rows; falls with the ranks of those that are not
        (Venna and Kaski 2001).
    continuity
        The same the other way round: 1 if all neighbours among the rows are neighbours in the map.
    neighbour_preservation
        Share of the k nearest rows that are among the k nearest in the map.
    distance_correlation
        Pearson's correlation of distances among the rows and in the map.
    stress
        Kruskal's stress-1 of the map at its best scale: 0 if all distances are kept.
    trust
        (m,) how far to trust the place of each point, from 0 to 1: 1 if its neighbours are the same in both, 0 if those
        of one are the farthest of the other; between them by the logarithms of their ranks.
    preservation
        (m,) the share of kept neighbours of each point.
    rows
        (m,) which rows `trust` and `preservation` are of; all, or a sample.
    n_neighbors
        How many neighbours count.
    n_rows
        How many rows the map has.
    """

    trustworthiness: float
    continuity: float
    neighbour_preservation: float
    distance_correlation: float
    stress: float
    trust: Array
    preservation: Array
    rows: npt.NDArray[np.int64]
    n_neighbors: int
    n_rows: int

    @property
    def is_sampled(self) -> bool:
        """Whether only some rows were looked at; each of them was compared with all others."""
        return len(self.rows) < self.n_rows

    def summary(self) -> str:
        """The report in a few lines.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(50, 2))
        >>> print(map_quality(X, X).summary())
        trustworthiness 1.000, continuity 1.000, neighbours kept 100 %
        distances: correlation 1.000, stress 0.000
        places: 0 of 50 points stand where fewer than half of their neighbours are real
        """
        doubtful = int((self.preservation < 0.5).sum())
        of = f"{len(self.rows)} sampled" if self.is_sampled else f"{self.n_rows}"
        return (
            f"trustworthiness {self.trustworthiness:.3f}, continuity {self.continuity:.3f}, "
            f"neighbours kept {100 * self.neighbour_preservation:.0f} %\n"
            f"distances: correlation {self.distance_correlation:.3f}, stress {self.stress:.3f}\n"
            f"places: {doubtful} of {of} points stand where fewer than half of their neighbours are real"
        )


def map_quality(
    X: Any,
    embedding: Any,
    *,
    n_neighbors: int = 10,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    max_rows: int | None = 5000,
    random_state: int = 0,
) -> MapQuality:
    """Compare a map, whoever made it, with the rows that it shows.

    Parameters
    ----------
    X
        (n, d) rows, or (n, n) distances for the metric "precomputed".
    embedding
        (n, c) the map.
    n_neighbors
        How many neighbours count; less than half of the rows.
    metric, metric_params
        Of distances between rows. In the map they are Euclidean.
    max_rows
        Of more rows, this many are drawn and each is compared with all others; None for all.
    random_state
        Seed of the draw.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> quality = map_quality(X, X[:, 2:])
    >>> round(quality.trustworthiness, 3), quality.trust.shape
    (0.936, (150,))
    """
    rows = np.asarray(as_matrix(X), dtype=np.float64)
    places = np.asarray(as_matrix(embedding), dtype=np.float64)
    _check(rows, places, n_neighbors, metric)
    n = len(rows)
    chosen = np.arange(n)
    if max_rows is not None and n > max_rows:
        chosen = np.sort(np.random.default_rng(random_state).choice(n, max_rows, replace=False))
    found = _Comparison(len(chosen))

    def fill(start: int, stop: int) -> None:
        some = chosen[start:stop]
        near = rows[some] if metric == "precomputed" else pairwise(rows[some], rows, metric, metric_params)
        found.fill(start, near, pairwise(places[some], places, "euclidean"), some, n_neighbors)

    for_blocks(len(chosen), fill, rows=max(1, _VALUES // n))
    return found.quality(chosen, n_neighbors, n)


def _check(rows: Array, places: Array, k: int, metric: Any) -> None:
    if len(rows) != len(places):
        raise ValueError(f"X has {len(rows)} rows, the map has {len(places)}")
    if metric == "precomputed":
        if rows.shape[0] != rows.shape[1]:
            raise ValueError(f"precomputed distances must be square, their shape is {rows.shape}")
        check_distances(rows)
    if not 1 <= k < len(rows) / 2:
        raise ValueError(f"n_neighbors ({k}) should be at least 1 and less than half of the {len(rows)} rows")


class _Comparison:
    """Sums over blocks of points; every number of a point has a place of its own."""

    def __init__(self, m: int) -> None:
        self.intruding, self.missing = np.empty(m), np.empty(m)  # sums of ranks beyond k
        self.doubt, self.kept = np.empty(m), np.empty(m)
        self.sums = np.empty((m, 6))

    def fill(self, start: int, far: Array, near: Array, who: npt.NDArray[np.int64], k: int) -> None:
        """Compare distances (b, n) among the rows and in the map, of points `who`."""
        block = slice(start, start + len(who))
        self.sums[block] = _distance_sums(far, near)
        own = np.arange(len(who)), who
        far, near = far.copy(), near.copy()
        far[own] = near[own] = np.inf
        in_map, in_rows = _nearest(near, k), _nearest(far, k)
        ranks, places = _ranks(far, in_map), _ranks(near, in_rows)
        self.intruding[block] = np.maximum(ranks - k, 0).sum(axis=1)
        self.missing[block] = np.maximum(places - k, 0).sum(axis=1)
        self.kept[block] = (places <= k).mean(axis=1)
        deepest = np.log(max((far.shape[1] - 1) / k, 1.0 + 1e-9))
        beyond = np.log(np.maximum(ranks, k) / k) + np.log(np.maximum(places, k) / k)
        self.doubt[block] = beyond.mean(axis=1) / (2 * deepest)

    def quality(self, rows: npt.NDArray[np.int64], k: int, n: int) -> MapQuality:
        """The report."""
        worst = k * (2 * n - 3 * k - 1) / 2
        count, x, y, xx, yy, xy = self.sums.sum(axis=0)
        spread = np.sqrt(max(xx - x * x / count, 0.0) * max(yy - y * y / count, 0.0))
        return MapQuality(
            trustworthiness=float(1 - self.intruding.mean() / worst),
            continuity=float(1 - self.missing.mean() / worst),
            neighbour_preservation=float(self.kept.mean()),
            distance_correlation=float((xy - x * y / count) / spread) if spread > 0 else 0.0,
            stress=float(np.sqrt(max(1 - xy * xy / (xx * yy), 0.0))) if xx > 0 and yy > 0 else float(xx > 0),
            trust=np.clip(1 - self.doubt, 0.0, 1.0),
            preservation=self.kept,
            rows=rows,
            n_neighbors=k,
            n_rows=n,
        )


def _distance_sums(x: Array, y: Array) -> Array:
    """Of each row: how many, and the sums of x, y, x^2, y^2 and xy."""
    count = np.full(len(x), float(x.shape[1]))
    return np.stack(
        [count, x.sum(1), y.sum(1), (x * x).sum(1), (y * y).sum(1), (x * y).sum(1)],
        axis=1,
    )


def _nearest(distances: Array, k: int) -> npt.NDArray[Any]:
    return np.argpartition(distances, k - 1, axis=1)[:, :k]


def _ranks(distances: Array, who: npt.NDArray[Any]) -> Array:
    """(b, k) place of some points in the order of distances, from 1; equal distances have the first place of them."""
    values = np.take_along_axis(distances, who, axis=1)
    return 1.0 + np.stack([(distances < value[:, None]).sum(axis=1) for value in values.T], axis=1)
