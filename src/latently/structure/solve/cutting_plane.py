"""One-slack cutting plane: one plane for all items together, and an exact quadratic programme over the planes so far.

    minimise 1/2 |w - start|^2 + xi   subject to   xi >= offset_p - w . direction_p   for the planes p found so far

A plane is the sum over items of bound times the plane of its most violated output (Joachims, Finley and Yu, 2009).
"""

from dataclasses import dataclass

import numpy as np

from latently.learn.checkpoint.checkpoint import Slot, open_slot
from latently.learn.engine.interrupt import interrupt
from latently.learn.qp import MatrixGram, minimise
from latently.structure.protocol import Array, Problem
from latently.structure.solve.progress import Hook, reason_to_end, resumed, store
from latently.structure.solve.solution import Solution, primal_objective, relative_gap

_OLD = 50  # programmes without weight after which a plane is dropped
_EXACT = 0.05  # share of the gap asked for, to which programmes are solved


@dataclass(frozen=True, eq=False)
class _State:
    """All that a fit goes on from."""

    directions: Array
    offsets: Array
    alpha: Array
    age: Array
    w: Array
    best: Array
    primal: float


class CuttingPlane:
    """A fit under way; parameters as for `FrankWolfe`."""

    def __init__(self, problem: Problem, bounds: Array, start: Array) -> None:
        self.problem, self.bounds, self.start = problem, bounds, start
        # the plane of the true outputs is zero
        self.directions, self.offsets = np.zeros((1, problem.size)), np.zeros(1)
        self.alpha, self.age = np.ones(1), np.zeros(1)
        self.gram = np.zeros((1, 1))
        self.w, self.best, self.primal = start.copy(), start.copy(), np.inf

    def run(self, tol: float, max_iter: int, on_iteration: Hook | None = None) -> Solution:
        """Planes until the relative duality gap is at most `tol`."""
        about = {"tol": tol, "max_iter": max_iter, "items": self.problem.n_items}
        slot = open_slot(self.problem, self.start, None, method="cutting_plane", **about)
        trace, reason = self._resume(slot)
        try:
            while reason is None:
                trace.append(self._dual())
                self._look()
                gap = relative_gap(self.primal, max(trace))
                stopped = on_iteration is not None and on_iteration(len(trace), self.primal, gap)
                reason = reason_to_end(gap <= tol, len(trace) >= max_iter, bool(stopped))
                if reason is None:
                    self._solve(_EXACT * tol * max(self.primal, 1e-300))
                if slot is not None:
                    store(slot, self._state, self._objectives, trace, reason)
        except KeyboardInterrupt:
            interrupt()
            if not trace:
                raise
            reason = "interrupted"
        return Solution(self.best, self.primal, max(trace), tuple(trace), str(reason))

    def _dual(self) -> float:
        away = self.w - self.start
        return float(self.alpha @ self.offsets - 0.5 * (away @ away))

    def _objectives(self) -> tuple[float, float]:
        planes = self.problem.violated(self.w)
        return primal_objective(planes, self.w, self.start, self.bounds), self._dual()

    def _look(self) -> None:
        """Find the plane at w, and note the primal objective there."""
        planes = self.problem.violated(self.w)
        values = planes.values(self.w)
        primal = primal_objective(planes, self.w, self.start, self.bounds)
        if primal < self.primal:
            self.primal, self.best = primal, self.w
        counted = np.where(values > 0, self.bounds, 0.0)
        direction = np.asarray(planes.directions.T @ counted)
        offset = counted @ planes.offsets - direction @ self.start
        products = self.directions @ direction
        self.gram = np.block([[self.gram, products[:, None]], [products[None], direction @ direction]])
        self.directions = np.vstack([self.directions, direction])
        self.offsets = np.append(self.offsets, offset)
        self.alpha, self.age = np.append(self.alpha, 0.0), np.append(self.age, 0.0)

    def _solve(self, tol: float) -> None:
        """The best weights for the planes so far: dual variables that sum to one."""
        found = minimise(MatrixGram(self.gram), self.alpha, np.ones(len(self.alpha)), p=-self.offsets, tol=tol)
        self.alpha = found.alpha
        self.age = np.where(self.alpha > 0, 0.0, self.age + 1.0)
        kept = self.age <= _OLD
        kept[0] = True
        self.directions, self.offsets, self.gram = (
            self.directions[kept],
            self.offsets[kept],
            self.gram[np.ix_(kept, kept)],
        )
        self.alpha, self.age = self.alpha[kept], self.age[kept]
        self.w = self.start + self.directions.T @ self.alpha

    # checkpoints

    def _state(self) -> _State:
        return _State(self.directions, self.offsets, self.alpha, self.age, self.w, self.best, self.primal)

    def _resume(self, slot: Slot | None) -> tuple[list[float], str | None]:
        saved = resumed(slot, self._state())
        if slot is None or saved is None:
            return [], None
        state = saved.params
        self.directions, self.offsets, self.alpha, self.age = state.directions, state.offsets, state.alpha, state.age
        self.w, self.best, self.primal = state.w, state.best, state.primal
        self.gram = self.directions @ self.directions.T
        slot.check(self._objectives()[0])
        return list(saved.trace[:-1]), saved.reason
