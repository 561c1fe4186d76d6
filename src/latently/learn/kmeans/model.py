"""K-means as a latent model: hard assignments for expectation, means for maximisation."""

import math
import threading
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from latently import compiled
from latently.data.sources.chunks import Chunk
from latently.learn.engine.cores import single_threaded_blas
from latently.learn.engine.protocol import Reduce, Statistics
from latently.learn.kmeans.groups import Groups, Packed
from latently.learn.kmeans.rows import (
    DIRECT_WORK,
    Frame,
    in_pairs,
    is_worth_products,
    products,
    ready,
    transposed_block,
)
from latently.learn.kmeans.split import Farthest, farthest_rows, refilled

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]

# Up to this many multiplications per pass, some milliseconds, bounds are not worth the time to compile them.
BOUNDS_WORK = 20_000_000
# From so many centres on, bounds for groups of them are better than one for all others.
BOUNDS_CENTRES = 512
_BLOCK = 1024
_NONE = np.empty(0)
_of_thread = threading.local()


def is_worth_bounds(start: Array, rows: int) -> bool:
    """Whether bounds for groups of centres pay, for centres (K, d) and so many rows."""
    return len(start) >= BOUNDS_CENTRES and start.size > DIRECT_WORK and start.size * rows > BOUNDS_WORK


@dataclass(frozen=True, eq=False)
class LloydParams:
    """Centres (K, d) about the frame's origin, and the same as the compiled code wants them."""

    centres: Array
    packed: Packed | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class LloydStatistics(Statistics):
    """What a pass over rows leaves behind.

    Attributes
    ----------
    cost
        Sum of weighted squared distances to the nearest centre.
    weight
        (K,) weight of the rows of each cluster.
    share
        (K, 1) the same, or (K, d) what each coordinate's mean is over where values are missing.
    first
        (K, d) weighted sum of the rows about the origin.
    """

    cost: float
    weight: Array
    share: Array
    first: Array

    def means(self, otherwise: Array) -> Array:
        """(K, d) mean of each cluster; `otherwise` where there is nothing to average."""
        return np.divide(self.first, self.share, out=otherwise.copy(), where=self.share > 0)


@dataclass
class _Trail:
    """What the pass before left in a chunk's memo: it makes the next one faster, never different."""

    model: "LloydModel"
    centres: Array
    labels: Labels
    bounds: npt.NDArray[np.float32]
    drift: Array


class LloydModel:
    """K-means to the engine: the limit of equal spherical Gaussians with every row wholly in one of them.

    The free energy of hard assignments under K equally likely components of variance 1/2 is minus the cost, up
    to a constant, so the trace of the engine rises as the cost falls.

    Parameters
    ----------
    frame
        Origin and unit of the rows that will be seen.
    start
        (K, d) centres about the origin; they decide which centres share a bound, and nothing else.
    again
        For a second look at the rows: a cluster without rows is then given one that lies far from its centre.
        None to let its centre stay where it is.
    once
        For a single pass: bounds pay only from pass to pass.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.data.sources.chunks import Chunk
    >>> rows = np.array([[0.0], [1.0], [9.0]])
    >>> model = LloydModel(Frame(np.zeros(1), 0.1, 1.0, False, 3), np.array([[0.0], [9.0]]))
    >>> stats = model.expect(model.params(np.array([[0.0], [9.0]])), Chunk(rows))
    >>> stats.cost, stats.weight
    (1.0, array([2., 1.]))
    """

    def __init__(self, frame: Frame, start: Array, again: Reduce | None = None, *, once: bool = False) -> None:
        self.frame = frame
        self.again = again
        bounded = not (once or frame.missing) and is_worth_bounds(start, frame.rows)
        self.groups = Groups.of(start) if bounded else None
        K, d = start.shape
        self.per_row = d / 2 * math.log(math.pi) + math.log(K)

    def params(self, centres: Array) -> LloydParams:
        """Parameters of centres about the origin."""
        return LloydParams(centres, self.groups.pack(centres, self.frame.unit) if self.groups else None)

    def expect(self, params: LloydParams, chunk: Chunk) -> LloydStatistics:
        """Weights and sums of the rows nearest to each centre."""
        return self.label(params, chunk, told=False)[1]

    def label(
        self, params: LloydParams, chunk: Chunk, *, told: bool = True, summed: bool = True
    ) -> tuple[Labels, LloydStatistics]:
        """The nearest centre of each row, and the statistics of that; the labels are the memo's, so copy them.

        It is faster without being told the labels, and without sums; what is not asked for is not to be used.
        """
        X = ready(chunk.X)
        weights = _NONE if chunk.weights is None else ready(chunk.weights)
        if params.packed is None:
            labels = np.empty(len(X) if told else 0, np.int32)
            cost, weight, share, first = self._direct(X, weights, params.centres, labels, summed=summed)
        else:
            labels, cost, weight, share, first = self._bounded(X, weights, params, chunk.memo)
        return labels, self.statistics(chunk.total_weight, cost, weight, share, first)

    def statistics(self, rows: float, cost: float, weight: Array, share: Array, first: Array) -> LloydStatistics:
        """What a pass has found, with the free energy that belongs to its cost."""
        return LloydStatistics(rows, -cost - rows * self.per_row, cost, weight, share, first)

    def update(self, params: LloydParams, stats: LloydStatistics) -> LloydParams:
        """The mean of each cluster; one without rows keeps its centre, or is refilled."""
        if self.again is not None and not stats.weight.all():
            empty = np.flatnonzero(stats.weight == 0)
            stats = refilled(stats, empty, self.again(partial(self._farthest, params, len(empty))))
        return self.params(stats.means(params.centres))

    def log_prior(self, params: LloydParams) -> float:
        """Zero: every centre is as likely as any other."""
        return 0.0

    def _farthest(self, params: LloydParams, most: int, chunk: Chunk) -> Farthest:
        return farthest_rows(chunk, self.frame.origin, params.centres, self.label(params, chunk)[0], most)

    def _direct(
        self, X: Array, weights: Array, centres: Array, labels: Labels, *, summed: bool
    ) -> tuple[float, Array, Array, Array]:
        (K, d), places = centres.shape, in_pairs(centres)
        sums = np.zeros((len(places) if summed else 0, places.shape[1] + 1))
        if not self.frame.missing and is_worth_products(K, d):
            return self._by_products(X, weights, places, labels, sums, K)
        share = np.zeros((K, d)) if self.frame.missing else None
        T, one = transposed_block(*X.shape)
        two, nearest, owner = np.empty_like(one), np.empty_like(one), np.zeros(len(one), np.int64)
        masks = np.empty((len(places) if K <= compiled.kmeans.lloyd.MASKED else 0, len(one)))
        work = (T, one, two, nearest, owner, masks)
        cost = compiled.kmeans.lloyd.direct(X, weights, self.frame.origin, places, work, labels, sums, share)
        weight, first = sums[:K, -1].copy(), sums[:K, :d].copy()
        return cost, weight, weight[:, None] if share is None else share, first

    def _by_products(
        self, X: Array, weights: Array, places: Array, labels: Labels, sums: Array, K: int
    ) -> tuple[float, Array, Array, Array]:
        d = X.shape[1]
        fast = products(K, d)
        B = len(fast[2])
        work = (np.empty(B), *np.empty((2, B), np.int64), np.empty(d))
        table = X, weights, self.frame.origin, self.frame.unit
        with single_threaded_blas():
            cost = compiled.kmeans.incremental.label(*table, places, fast, work, labels, sums)
        weight, first = sums[:K, -1].copy(), sums[:K, :d].copy()
        return cost, weight, weight[:, None], first

    def _bounded(
        self, X: Array, weights: Array, params: LloydParams, memo: dict[str, Any]
    ) -> tuple[Labels, float, Array, Array, Array]:
        assert self.groups is not None
        d, sums = X.shape[1], np.zeros((len(params.centres), X.shape[1] + 1))
        origin, unit = self.frame.origin, self.frame.unit
        trail = memo.get("lloyd")
        if trail is None or trail.model is not self:
            trail = memo["lloyd"] = self._first_trail(X, params)
        trail.drift += self.groups.largest(np.linalg.norm(params.centres - trail.centres, axis=1)) * unit
        trail.centres = params.centres
        cost = compiled.kmeans.bounds.bounded(
            X, weights, origin, unit, params.centres, params.packed, trail.drift.astype(np.float32),
            _scratch(d, self.groups.members.shape[1]), trail.labels, trail.bounds, sums,
        )  # fmt: skip
        weight, first = sums[:, d].copy(), sums[:, :d].copy()
        return trail.labels, cost, weight, weight[:, None], first

    def _first_trail(self, X: Array, params: LloydParams) -> _Trail:
        assert self.groups is not None
        n, G = len(X), len(self.groups.members)
        bounds = np.full((G, -(-n // _BLOCK) * _BLOCK), np.inf, np.float32)
        bounds[:, :n] = -np.inf
        return _Trail(self, params.centres, np.zeros(n, np.int32), bounds, np.zeros(G))


def _scratch(d: int, L: int) -> tuple[Any, ...]:
    """Memory to work in, kept from call to call of a thread: fresh memory would cost more than the work."""
    if getattr(_of_thread, "shape", None) != (d, L):
        _of_thread.scratch, _of_thread.shape = _new_scratch(d, L), (d, L)
    scratch: tuple[Any, ...] = _of_thread.scratch
    return scratch


def _new_scratch(d: int, L: int) -> tuple[Any, ...]:
    Z, A = np.ones((2, _BLOCK, d + 1), np.float32)
    low, far, gap = np.empty((3, _BLOCK), np.float32)
    flags, (who, near) = np.zeros(_BLOCK, np.uint8), np.empty((2, _BLOCK), np.int64)
    table, words = np.empty((_BLOCK, L), np.float32), flags.view(np.uint64)
    return np.ones((_BLOCK, d + 1)), Z, A, table, low, far, gap, np.empty(_BLOCK), flags, words, who, near
