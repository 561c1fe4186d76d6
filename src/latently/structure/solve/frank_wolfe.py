"""Block-coordinate Frank-Wolfe on the dual, with planes that are kept and steps between pairs of them.

The dual has a block of variables for each item, one for each of its outputs, that sum to the item's bound. A round
finds the most violated output of every item, some items at a time (Lacoste-Julien and others, 2013), and adds its plane
to those of the block. Then weight is moved from the worst plane of a block to the best one, with an exact line search
(pairwise steps on kept planes: Osokin and others, 2016), several times through all blocks, which costs no decoding.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from latently.learn.checkpoint.checkpoint import Slot, open_slot
from latently.learn.engine.interrupt import interrupt
from latently.structure.protocol import Array, Ints, Problem
from latently.structure.solve.cache import PlaneCache
from latently.structure.solve.progress import Hook, reason_to_end, resumed, store
from latently.structure.solve.solution import Solution, primal_objective, relative_gap

_TOGETHER = 128  # items that are decoded at the same weights, at least
_BATCHES = 10  # parts of the items, at most
_ENOUGH = 0.2  # share of the gap at which kept planes are good enough
_EXACT = 0.1  # share of the gap asked for, to which a programme is solved


@dataclass(frozen=True, eq=False)
class _State:
    """All that a fit goes on from."""

    rest: Array
    alpha: Array
    offset: Array
    block: Ints
    age: Ints
    pointer: Ints
    index: Ints
    value: Array
    mean: Array
    mean_offset: float


class FrankWolfe:
    """A fit under way.

    Parameters
    ----------
    problem
        Items and their true outputs.
    bounds
        (n,) C times the weight of each item.
    start
        (d,) weights to stay near to; zeros for an ordinary fit.
    seed
        Of the order of the items.
    average
        Whether the weights are averages over rounds, later ones counting more.
    """

    def __init__(self, problem: Problem, bounds: Array, start: Array, *, seed: int = 0, average: bool = False) -> None:
        self.problem, self.bounds, self.start, self.seed, self.average = problem, bounds, start, seed, average
        self.cache = PlaneCache(bounds, problem.size)
        self.w, self.mean, self.mean_offset = start.copy(), start.copy(), 0.0
        self.is_solved = False  # whether the last round ended with the exact programme
        shuffled = np.random.RandomState(seed).permutation(np.flatnonzero(bounds > 0))
        n_parts = min(max(len(shuffled) // _TOGETHER, 1), _BATCHES)
        self.parts = [np.sort(part) for part in np.array_split(shuffled, n_parts) if len(part)]
        whole = len(self.parts) == 1 and len(self.parts[0]) == problem.n_items
        self.problems = [problem] if whole else [problem.take(part) for part in self.parts]

    def run(self, tol: float, max_iter: int, on_iteration: Hook | None = None) -> Solution:
        """Rounds until the relative duality gap is at most `tol`."""
        about = {
            "tol": tol,
            "max_iter": max_iter,
            "items": self.problem.n_items,
            "seed": self.seed,
            "average": self.average,
        }
        slot = open_slot(self.problem, self.start, None, method="frank_wolfe", **about)
        trace, reason = self._resume(slot)
        primal, dual = np.inf, -np.inf
        try:
            while reason is None:
                estimate = self._round(len(trace), tol)
                trace.append(self._dual())
                guess = trace[-1] + estimate
                gap = relative_gap(guess, trace[-1])
                if gap <= 2 * tol or self.is_solved or len(trace) >= max_iter:
                    primal, dual = self._exact()
                    gap = relative_gap(primal, dual)
                stopped = on_iteration is not None and on_iteration(len(trace), guess, gap)
                reason = reason_to_end(gap <= tol and np.isfinite(primal), len(trace) >= max_iter, bool(stopped))
                if slot is not None:
                    store(slot, self._state, self._exact, trace, reason)
        except KeyboardInterrupt:
            interrupt()
            if not trace:
                raise
            reason = "interrupted"
        if reason != "converged" or not np.isfinite(primal):
            primal, dual = self._exact()
        return Solution(self._answer(), primal, dual, tuple(trace), str(reason))

    def _answer(self) -> Array:
        return self.mean if self.average else self.w

    def _exact(self) -> tuple[float, float]:
        """Primal and dual objective of the weights that would be given back."""
        w = self._answer()
        values = (part.violated(w) for part in self.problems)
        away = w - self.start
        primal = 0.5 * float(away @ away)
        for planes, items in zip(values, self.parts, strict=True):
            primal += primal_objective(planes, w, w, self.bounds[items])
        return primal, self._dual()

    def _dual(self) -> float:
        away = self._answer() - self.start
        linear = self.mean_offset if self.average else self.cache.dual_offset(self.start)
        return linear - 0.5 * float(away @ away)

    def _round(self, number: int, tol: float) -> float:
        """Decode all items, a part at a time, with steps after each; gives the gap that the blocks had.

        Where steps do not settle, the programme over kept planes is solved to a share of the gap asked for.
        """
        rng = np.random.RandomState((self.seed + 1 + number) % 2**32)
        estimate = 0.0
        for i in rng.permutation(len(self.parts)):
            self.cache.add(self.problems[i].violated(self.w), self.parts[i], self.w)
            estimate += self.cache.improve(self.parts[i], self.w, rng)
        everything = np.concatenate(self.parts) if self.parts else np.empty(0, dtype=np.int64)
        left = self.cache.improve(everything, self.w, rng, self.cache.affordable_passes(), _ENOUGH * estimate)
        self.is_solved = left > _ENOUGH * estimate and self.cache.solve(
            self.start, _EXACT * max(tol * self._dual(), 0.0)
        )
        self.cache.forget()
        self.w = self.cache.weights(self.start)  # without the rounding of many small steps
        share = 2.0 / (number + 2.0)
        self.mean = (1 - share) * self.mean + share * self.w
        self.mean_offset = (1 - share) * self.mean_offset + share * self.cache.dual_offset(self.start)
        return estimate

    # checkpoints

    def _state(self) -> _State:
        cache, D = self.cache, self.cache.directions
        links = D.indptr.astype(np.int64), D.indices.astype(np.int64)
        return _State(
            cache.rest, cache.alpha, cache.offset, cache.block, cache.age, *links, D.data, self.mean, self.mean_offset
        )

    def _resume(self, slot: Slot | None) -> tuple[list[float], str | None]:
        saved = resumed(slot, self._state())
        if slot is None or saved is None:
            return [], None
        state, cache = saved.params, self.cache
        cache.rest, cache.alpha, cache.offset = state.rest, state.alpha, state.offset
        cache.block, cache.age = state.block, state.age
        shape = (len(state.offset), cache.size)
        cache.directions = sparse.csr_matrix((state.value, state.index, state.pointer), shape=shape)
        self.mean, self.mean_offset = state.mean, state.mean_offset
        self.w = cache.weights(self.start)
        slot.check(self._exact()[0])
        return list(saved.trace[:-1]), saved.reason
