"""K-means of complete rows in memory that looks again only at rows whose nearest centre may have changed.

Sums are kept from pass to pass and follow the rows that change, so they agree with those of `LloydModel` to rounding,
not to the bit; fits that are stored in checkpoints use that instead.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from latently import compiled
from latently.data.sources.chunks import Chunk
from latently.learn.engine.em import Fit
from latently.learn.kmeans.model import Labels, LloydModel, LloydParams, LloydStatistics
from latently.learn.kmeans.rows import in_pairs, is_worth_products, products, ready, transposed_block

Array = npt.NDArray[np.float64]

# Share of the sum of squares below which a cost that is told from sums has lost digits.
LEAST_COST = 1e-5
_NONE, _FLAT = np.empty(0), np.empty((1, 0))


@dataclass(eq=False)
class State:
    """What is known of the rows of a chunk: their centres and bounds, and sums for each centre."""

    model: LloydModel
    centres: Array
    table: tuple[Any, ...]  # rows, weights, origin, unit
    scratch: tuple[Any, ...]
    fast: tuple[Any, ...] | None
    kept: tuple[Any, ...]  # labels, slack, sums, counts
    total: float = 0.0

    @classmethod
    def of(cls, model: LloydModel, centres: Array, chunk: Chunk) -> "State":
        """Nothing is known yet."""
        X, (K, d) = ready(chunk.X), centres.shape
        weights = _NONE if chunk.weights is None else ready(chunk.weights)
        fast = products(K, d) if is_worth_products(K, d) else None
        T, one = transposed_block(*X.shape) if fast is None else (_FLAT, np.empty(len(fast[2])))
        two, first, second = (np.empty_like(one) for _ in range(3))
        owner, who = np.zeros((2, len(one)), np.int64)
        labels, slack = np.full(len(X), -1, np.int32), np.full(len(X), -1.0, np.float32)
        return cls(
            model,
            centres,
            (X, weights, model.frame.origin, model.frame.unit),
            ((T[:-1], one, two, first, second, owner), who, np.zeros(len(one), np.bool_)),
            fast,
            (labels, slack, np.zeros((K, d + d % 2 + 1)), np.zeros(K, np.int64)),
        )

    @property
    def labels(self) -> Labels:
        """(n,) centre of each row."""
        labels: Labels = self.kept[0]
        return labels


class IncrementalModel(LloydModel):
    """K-means whose passes cost what changes; what it knows of a chunk is in the chunk's memo."""

    def expect(self, params: LloydParams, chunk: Chunk) -> LloydStatistics:
        """Weights and sums of the rows nearest to each centre."""
        state = chunk.memo.get("incremental")
        if state is None or state.model is not self:
            state = chunk.memo["incremental"] = State.of(self, params.centres, chunk)
        shift = np.empty(len(params.centres), np.float32)
        moved = ((params.centres - state.centres) ** 2).sum(axis=1)
        state.total, cost = compiled.kmeans.incremental.follow(
            *state.table, in_pairs(params.centres), moved, shift, state.total, state.scratch, state.fast, *state.kept
        )
        state.centres, sums = params.centres, state.kept[2]
        if not LEAST_COST * state.total <= cost < np.inf:
            return super().expect(params, chunk)
        weight, first = sums[:, -1].copy(), sums[:, : params.centres.shape[1]].copy()
        return self.statistics(chunk.total_weight, cost, weight, weight[:, None], first)


def climbed(
    model: LloydModel, start: Array, chunk: Chunk, tol: float, max_iter: int
) -> Fit[LloydParams, LloydStatistics] | None:
    """All iterations over the rows of one chunk in one compiled call; None if they need to be taken one by one.

    That is so where a cluster loses all of its rows, or where the cost is too small to be told from sums.
    """
    state, C, costs = State.of(model, start, chunk), in_pairs(start), np.empty(max_iter + 1)
    work = np.zeros(len(start), np.float32), np.zeros(len(start))
    steps = compiled.kmeans.incremental.climb(
        *state.table, C, *work, state.scratch, state.fast, *state.kept, tol, LEAST_COST, costs
    )
    if steps < 0:
        return None
    n_iter, converged = int(steps), bool(costs[-1] <= tol)
    K, d = start.shape
    sums = state.kept[2]
    rows, weight = chunk.total_weight, sums[:, -1]
    stats = model.statistics(rows, float(costs[n_iter - 1]), weight, weight[:, None], sums[:, :d])
    trace = tuple((-costs[:n_iter] - rows * model.per_row).tolist())
    return Fit(
        model.params(C[:K, :d].copy()), stats, trace, n_iter, converged, "converged" if converged else "max_iter"
    )
