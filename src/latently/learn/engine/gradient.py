"""The other way to the optimum: L-BFGS on the objective, with the gradient that one expectation gives.

By Fisher's identity the gradient of log p(X) is that of the expected complete-data log-likelihood at the
posterior, so a model's expected statistics are all that it takes.
"""

from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol

import numpy as np
from scipy.optimize import minimize

from latently.learn.checkpoint.checkpoint import open_slot
from latently.learn.engine.em import Fit, Hook, Step, objective_of
from latently.learn.engine.interrupt import interrupt
from latently.learn.engine.protocol import Array, LatentModel, Params, Reduce, Stats

# Gradient per row below which a line search that finds nothing better is at the top, to rounding.
_FLAT = 1e-6
# Relative change of the objective that may be nothing but rounding.
_ROUNDING = 4 * np.finfo(float).eps


class GradientModel(LatentModel[Params, Stats], Protocol[Params, Stats]):
    """A model whose parameters can also be written as a vector without constraints."""

    def pack(self, params: Params) -> Array:
        """Write the parameters as a vector; any vector is allowed."""

    def unpack(self, like: Params, vector: Array) -> Params:
        """Read parameters of the same shape from a vector."""

    def gradient(self, params: Params, stats: Stats) -> Array:
        """Gradient of the objective (log-likelihood and log prior) in the vector, at the parameters of `stats`."""


@dataclass(frozen=True, eq=False)
class _Point(Generic[Params, Stats]):
    vector: Array
    params: Params
    stats: Stats
    objective: float
    gradient: Array


def ascend(
    model: GradientModel[Params, Stats],
    params: Params,
    reduce: Reduce,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    memory: int = 20,
    on_iteration: Hook | None = None,
) -> Fit[Params, Stats]:
    """Fit a model by L-BFGS from the given parameters.

    Parameters
    ----------
    model
        A model for `em` that also has `pack`, `unpack` and `gradient`.
    params
        Where to start.
    reduce
        Called with a function of a chunk, returns the sum of its values over all chunks.
    tol
        Converged when the objective rises by less than this per row and no gradient per row is above its square root.
    max_iter
        Iterations at most, each of which takes one pass over the data or a few. At zero the start is kept.
    memory
        Steps that L-BFGS remembers; fewer take less time where there are very many parameters.
    on_iteration
        Called with each `Step`, in which `before` and `after` are both the parameters just reached; a true
        return value stops the fit.

    Returns
    -------
    Fit
        The parameters after one last M-step, which cannot lower the objective, and the trace from the start on.
        `reason` is "converged", "max_iter", "stopped", "interrupted" by Ctrl-C after at least one iteration, or
        "stalled" if the line search finds nothing better although the gradient is not small.

    Notes
    -----
    Inside `latently.learn.checkpointing` the memory of L-BFGS starts anew at every save, so that a fit that
    goes on from there takes the same steps: save rarely.

    Examples
    --------
    >>> from latently.data.open import as_source
    >>> from latently.learn.engine.protocol import Statistics
    >>> from latently.learn.engine.reduce import reducing
    >>> @dataclass(frozen=True)
    ... class Sum(Statistics):
    ...     total: float
    >>> class UnitNormal:
    ...     def expect(self, mean, chunk):
    ...         gaps = chunk.X[:, 0] - mean
    ...         return Sum(chunk.n_rows, -(gaps @ gaps) / 2, chunk.X.sum())
    ...     def update(self, mean, stats):
    ...         return stats.total / stats.rows
    ...     def log_prior(self, mean):
    ...         return 0.0
    ...     def pack(self, mean):
    ...         return np.array([mean])
    ...     def unpack(self, like, vector):
    ...         return vector[0]
    ...     def gradient(self, mean, stats):
    ...         return np.array([stats.total - stats.rows * mean])
    >>> with reducing(as_source([[1.0], [2.0], [6.0]])) as reduce:
    ...     fit = ascend(UnitNormal(), 0.0, reduce)
    >>> float(fit.params), fit.reason
    (3.0, 'converged')
    """
    climb = _Climb(model, params, reduce, tol, max_iter, memory, on_iteration)
    try:
        while climb.reason is None:
            climb.go()
    except KeyboardInterrupt:
        interrupt()
        if len(climb.trace) < 2:
            raise
        climb.reason = "interrupted"
    end = climb.here
    final = model.update(end.params, end.stats) if max_iter else end.params
    n_iter = len(climb.trace) - 1
    return Fit(final, end.stats, tuple(climb.trace), n_iter, climb.reason == "converged", climb.reason)


class _Climb(Generic[Params, Stats]):
    """Where L-BFGS is and how it got there; its memory starts anew when a line search fails."""

    def __init__(
        self,
        model: GradientModel[Params, Stats],
        params: Params,
        reduce: Reduce,
        tol: float,
        max_iter: int,
        memory: int,
        on_iteration: Hook | None,
    ) -> None:
        self.model, self.like, self.reduce = model, params, reduce
        self.tol, self.max_iter, self.memory, self.on_iteration = tol, max_iter, memory, on_iteration
        start = model.pack(params)
        self.slot = open_slot(model, start, reduce, tol=tol, max_iter=max_iter, method="gradient")
        saved = None if self.slot is None else self.slot.resume()
        self.here = self.tried = self.point(start if saved is None else saved.params)
        if self.slot is not None:
            self.slot.check(self.here.objective)
        self.trace = [self.here.objective] if saved is None else list(saved.trace)
        ended = None if saved is None else saved.reason
        self.reason: str | None = ended if max_iter else "max_iter"

    def point(self, vector: Array) -> _Point[Params, Stats]:
        """Evaluate the objective and its gradient."""
        params = self.model.unpack(self.like, vector)
        stats = self.reduce(partial(self.model.expect, params))
        objective = objective_of(self.model, params, stats)
        return _Point(vector, params, stats, objective, self.model.gradient(params, stats))

    def cost(self, vector: Array) -> tuple[float, Array]:
        """Negative objective per row and its gradient; a vector that means no model is far worse than here."""
        rows, here = self.here.stats.rows, -self.here.objective / self.here.stats.rows
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                self.tried = self.point(np.array(vector))
        except (ArithmeticError, ValueError):
            return here + 10 * (1 + abs(here)), np.zeros_like(vector)
        return -self.tried.objective / rows, -self.tried.gradient / rows

    def go(self) -> None:
        """Run until L-BFGS stops by itself or a hook stops it."""
        before = len(self.trace)
        left = self.max_iter + 1 - before
        options = {
            "maxiter": left if self.slot is None else min(left, self.slot.every),
            "maxfun": 100 * (self.max_iter + 1),
            "maxcor": self.memory,
            "ftol": 0.0,
            "gtol": 0.0,
        }
        minimize(self.cost, self.here.vector, jac=True, method="L-BFGS-B", callback=self.arrived, options=options)
        if self.reason is None and len(self.trace) > self.max_iter:
            self.reason = "max_iter"
        elif self.reason is None and len(self.trace) == before:
            self.reason = "converged" if self.gradient() <= max(self.tol**0.5, _FLAT) else "stalled"
        if self.slot is not None:
            self.slot.save(self.here.vector, tuple(self.trace), None if self.reason == "stopped" else self.reason)

    def arrived(self, vector: Array) -> None:
        """Take in an iteration, and say when it was the last."""
        if not np.array_equal(vector, self.tried.vector):
            self.tried = self.point(np.array(vector))
        change = self.tried.objective - self.here.objective
        self.here = self.tried
        self.trace.append(self.here.objective)
        step = Step(
            len(self.trace) - 1, self.here.params, self.here.params, self.here.stats, self.here.objective, change
        )
        halted = self.on_iteration is not None and self.on_iteration(step)
        if self.is_over(change):
            self.reason = "converged"
        elif halted:
            self.reason = "stopped"
        if self.reason is not None:
            raise StopIteration

    def is_over(self, change: float) -> bool:
        """Whether the objective rises by next to nothing, or by no more than rounding, and is flat here."""
        settled = change < self.tol * self.here.stats.rows and self.gradient() <= self.tol**0.5
        drained = change <= _ROUNDING * abs(self.here.objective) and self.gradient() <= _FLAT
        return bool(settled or drained)

    def gradient(self) -> float:
        """Largest gradient per row."""
        return float(np.abs(self.here.gradient).max(initial=0.0) / self.here.stats.rows)
