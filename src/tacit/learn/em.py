"""The one loop: expectation, maximisation, an honest stop, and an error if the objective falls."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic

from tacit.learn.protocol import LatentModel, Params, Reduce, Stats

# A sum over rows is trusted to this many nats per row and per nat of the total.
ROUNDING = 1e-9


class ObjectiveFell(ArithmeticError):
    """The free energy fell by more than rounding: a defect in the model, never to be ignored."""


@dataclass(frozen=True)
class Step(Generic[Params, Stats]):
    """One iteration, as told to hooks and stop rules.

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
        Parameters, trace of the objective, and why it ended: "converged", "max_iter" or "stopped".

    Raises
    ------
    ObjectiveFell
        If the objective falls by more than rounding.
    """
    stop = stop or rise_below(tol)
    trace: list[float] = []
    reason = "max_iter"
    for iteration in range(1, max(max_iter, 1) + 1):
        stats = reduce(partial(model.expect, params))
        objective = objective_of(model, params, stats)
        change = _rise(trace, objective, stats.rows) if trace else objective - (previous or -math.inf)
        trace.append(objective)
        if max_iter == 0:
            break
        step = Step(iteration, params, model.update(params, stats), stats, objective, change)
        params = step.after
        halted = on_iteration is not None and on_iteration(step)
        if stop(step):
            reason = "converged"
        elif halted:
            reason = "stopped"
        if reason != "max_iter":
            break
    return Fit(params, stats, tuple(trace), min(len(trace), max_iter), reason == "converged", reason)


def objective_of(model: LatentModel[Params, Stats], params: Params, stats: Stats) -> float:
    """Log-likelihood (or its bound) and log prior at the parameters of the statistics; an error if not finite."""
    objective = float(stats.bound + model.log_prior(params))
    if not math.isfinite(objective):
        raise FloatingPointError(
            f"the objective is {objective}: the data or the start lie outside what the model can represent; "
            "check the table for values of extreme size and the start for empty components"
        )
    return objective


def _rise(trace: list[float], objective: float, rows: float) -> float:
    change = objective - trace[-1]
    if change < -ROUNDING * (abs(objective) + rows):
        raise ObjectiveFell(f"the objective fell from {trace[-1]!r} to {objective!r} in iteration {len(trace) + 1}")
    return change
