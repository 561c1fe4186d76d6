"""The one loop: expectation, maximisation, an honest stop, and an error if the objective falls."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic

from latently.learn.checkpoint.checkpoint import Slot, open_slot
from latently.learn.engine.interrupt import interrupt, is_interrupted
from latently.learn.engine.protocol import LatentModel, Params, Reduce, Stats

# A sum over rows is trusted to this many nats per row and per nat of the total.
ROUNDING = 1e-9


class ObjectiveFell(ArithmeticError):
    """The free energy fell by more than rounding: a defect in the model, never to be ignored."""


@dataclass(frozen=True)
class Step(Generic[Params, Stats]):
    """One iteration, as hooks and stopping rules see it.

    `objective` belongs to `before`, the parameters that the expectation was taken at; `change` is its rise
    over the step before (infinite for the first).
    """

    iteration: int
    before: Params
    after: Params
    stats: Stats
    objective: float
    change: float


@dataclass(frozen=True)
class Fit(Generic[Params, Stats]):
    """What a fit carries on (the parameters, and the statistics they were made from) and what it tells."""

    params: Params
    stats: Stats
    trace: tuple[float, ...]
    n_iter: int
    converged: bool
    reason: str

    @property
    def rows(self) -> float:
        """Total weight of the rows."""
        return self.stats.rows

    @property
    def halted(self) -> bool:
        """Whether somebody wanted the fit to end: a hook, or Ctrl-C."""
        return self.reason in ("stopped", "interrupted")


StopRule = Callable[[Step[Any, Any]], bool]
Hook = Callable[[Step[Any, Any]], Any]


def rise_below(tol: float) -> StopRule:
    """Stop when the objective rises by less than `tol` nats per row."""
    return lambda step: abs(step.change) < tol * step.stats.rows


def em(
    model: LatentModel[Params, Stats],
    params: Params,
    reduce: Reduce,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    stop: StopRule | None = None,
    previous: float | None = None,
    on_iteration: Hook | None = None,
) -> Fit[Params, Stats]:
    """Fit a model by expectation and maximisation from the given parameters.

    Parameters
    ----------
    model
        Anything with `expect`, `update` and `log_prior`.
    params
        Where to start.
    reduce
        Called with a function of a chunk, returns the sum of its values over all chunks.
    tol
        Converged when the objective rises by less than this per row.
    max_iter
        Iterations at most; running out of them is not convergence. At zero the start is evaluated and kept.
    stop
        A rule of the model's own in place of `tol`.
    previous
        Objective just before the start, where a fit goes on from an earlier one: the first step is compared
        with it, on trust that the data are the same.
    on_iteration
        Called with each `Step`; a true return value stops the fit, which is then not converged.

    Returns
    -------
    Fit
        Parameters, trace of the objective, and why it ended: "converged", "max_iter", "stopped" by the hook, or
        "interrupted" by Ctrl-C after at least one iteration.

    Raises
    ------
    ObjectiveFell
        If the objective falls by more than rounding.
    """
    slot = open_slot(model, params, reduce, tol=tol, max_iter=max_iter)
    loop = _Loop(model, params, reduce, stop or rise_below(tol), on_iteration, max_iter, slot)
    return loop.run(-math.inf if previous is None else previous)


class _Loop(Generic[Params, Stats]):
    """A fit under way: what it is made of, the last whole iteration, and the trace up to it."""

    def __init__(
        self,
        model: LatentModel[Params, Stats],
        params: Params,
        reduce: Reduce,
        stop: StopRule,
        hook: Hook | None,
        max_iter: int,
        slot: Slot | None,
    ) -> None:
        self.model, self.params, self.reduce = model, params, reduce
        self.stop, self.hook, self.max_iter, self.slot = stop, hook, max_iter, slot
        self.trace: tuple[float, ...] = ()
        self.last: Step[Params, Stats] | None = None
        self.reason: str | None = None

    def run(self, previous: float) -> Fit[Params, Stats]:
        """Iterate until something ends it; Ctrl-C does so after the first iteration, and before it is an error."""
        if self.slot is not None and (saved := self.slot.resume()) is not None:
            self.params, self.trace, self.reason = saved.params, saved.trace[:-1], saved.reason
        reason = None
        try:
            while reason is None:
                if is_interrupted():
                    raise KeyboardInterrupt
                reason = self._iterate(self.trace[-1] if self.trace else previous)
        except KeyboardInterrupt:
            interrupt()
            reason = "interrupted"
            if self.last is None:
                raise
            self._save(self.last, reason)
        assert self.last is not None
        params = self.last.after if self.max_iter else self.last.before
        n_iter = min(len(self.trace), self.max_iter)
        return Fit(params, self.last.stats, self.trace, n_iter, reason == "converged", reason)

    def _iterate(self, previous: float) -> str | None:
        """One iteration, and why it is the last; None if it is not."""
        iteration, before = len(self.trace) + 1, self.params
        if self.slot is not None and self.slot.is_due(iteration):
            before = self.slot.settled(before)
        stats = self.reduce(partial(self.model.expect, before))
        objective = objective_of(self.model, before, stats)
        if self.slot is not None:
            self.slot.check(objective)
        change = objective - previous
        if self.trace and change < 0:
            self._check_fall(change, objective, stats.rows)
        after = self.model.update(before, stats) if self.max_iter else before
        step = Step(iteration, before, after, stats, objective, change)
        # From here on the iteration counts, whatever interrupts what follows.
        self.last, self.trace, self.params = step, (*self.trace, objective), after
        reason = self._reason(step)
        self._save(step, reason)
        return reason

    def _check_fall(self, change: float, objective: float, rows: float) -> None:
        """An error where the objective falls by more than rounding."""
        slack = ROUNDING * (abs(objective) + rows)
        if change < -slack and change < -slack - rounding_of(self.model, self.params) * rows:
            raise ObjectiveFell(
                f"the objective fell from {self.trace[-1]!r} to {objective!r} in iteration {len(self.trace) + 1}"
            )

    def _reason(self, step: Step[Params, Stats]) -> str | None:
        if self.max_iter == 0:
            return "max_iter"
        halted = self.hook is not None and self.hook(step)
        # A run that had ended, and was read from its checkpoint, ends as it did.
        known, self.reason = self.reason, None
        if self.stop(step) or known == "converged":
            return "converged"
        if halted:
            return "stopped"
        return "max_iter" if step.iteration >= self.max_iter else None

    def _save(self, step: Step[Params, Stats], reason: str | None) -> None:
        if self.slot is not None:
            self.slot.take(step.before, self.trace, reason)


def objective_of(model: LatentModel[Params, Stats], params: Params, stats: Stats) -> float:
    """Log-likelihood (or its bound) and log prior at the parameters of the statistics; an error if not finite."""
    objective = float(stats.bound + model.log_prior(params))
    if not math.isfinite(objective):
        raise FloatingPointError(
            f"the objective is {objective}: the data or the start lie outside what the model can represent; "
            "check the table for values of extreme size and the start for empty components"
        )
    return objective


def rounding_of(model: LatentModel[Params, Stats], params: Params) -> float:
    """Nats per row by which rounding may move the objective at these parameters, beyond that of any sum over rows.

    A model whose update loses digits where its parameters are nearly degenerate says so by a method `rounding`.
    """
    own = getattr(model, "rounding", None)
    return 0.0 if own is None else float(own(params))
