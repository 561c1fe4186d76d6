"""A fit from several starts, with states that die put to use again."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from latently.data.sources.chunks import ChunkSource
from latently.data.sources.sequences import Sequences
from latently.distributions.probabilities import best_rows
from latently.learn.checkpoint.checkpoint import is_checkpointing
from latently.learn.engine.em import Fit, Step, em
from latently.learn.engine.progress import progress
from latently.learn.engine.reduce import reducing
from latently.learn.engine.restarts import best_of
from latently.learn.estimator.unconverged import warn_of_fit
from latently.sequence.hmm.stored import StoredSequences
from latently.sequence.inference.chain import Chain, ImpossibleSequence, first_rows, stationary
from latently.sequence.model.compiled_fit import climbed
from latently.sequence.model.hmm import HmmModel, HmmStatistics, ImpossibleRow, Params
from latently.sequence.model.transitions import ChainRule

DEAD = 1e-6
"""Share of the rows below which a state has died."""

SMALL_DATA = 50_000
"""Up to this many rows, restarts run side by side."""


@dataclass(frozen=True)
class FitPlan:
    """When to stop, and whom to tell."""

    tol: float
    n_iter: int
    verbose: Any
    monitor: Any = None


def run(
    model: HmmModel, starts: list[Params], data: Sequences | StoredSequences, weights: ArrayLike | None, plan: FitPlan
) -> Fit[Params, HmmStatistics]:
    """Fit from each start and keep the best; one in which a state collapses only if there is no other."""
    sound: dict[int, Fit[Params, HmmStatistics]] = {}

    def alone(place: int) -> Fit[Params, HmmStatistics]:
        fit = _with_reseeding(model, starts[place], data, weights, plan)
        if not model.collapsed(fit.params):
            sound[place] = fit
        return fit

    def objective(fit: Fit[Params, HmmStatistics]) -> float:
        return fit.trace[-1]

    small = len(data.values) <= SMALL_DATA
    with naming_impossible(data):
        best = best_of(alone, range(len(starts)), objective, side_by_side=small)
    kept = [sound[place] for place in sorted(sound)]
    return best if best in kept or not kept else max(kept, key=objective)


@contextmanager
def naming_impossible(data: Sequences | StoredSequences) -> Iterator[None]:
    """Say which sequence is impossible, and at which of its rows."""
    try:
        yield
    except ImpossibleRow as problem:
        if not isinstance(data, Sequences):
            raise ValueError(f"row {problem.row} is impossible: no state that can be reached there emits it") from None
        offsets = first_rows(data.lengths)
        sequence = int(np.searchsorted(offsets, problem.row, side="right")) - 1
        raise ImpossibleSequence(sequence, problem.row - int(offsets[sequence])) from None


def _with_reseeding(
    model: HmmModel, start: Params, data: Sequences | StoredSequences, weights: ArrayLike | None, plan: FitPlan
) -> Fit[Params, HmmStatistics]:
    """Fit; if states have died, place them where the data is explained worst and go on, if that helps."""
    fit = _fit_once(model, start, data, weights, plan)
    visits = fit.stats.visits
    dead = np.flatnonzero(visits < DEAD * visits.sum())
    left = plan.n_iter - fit.n_iter
    plain = isinstance(model, HmmModel) and model.labels is None and model.copies == 1
    settled = plan.monitor is not None or not plain
    if not len(dead) or left < 2 or settled or fit.halted:
        return fit
    fresh = reseed(model, fit.params, dead, data)
    again = _fit_once(model, fresh, data, weights, replace(plan, n_iter=left))
    return again if again.trace[-1] > fit.trace[-1] else fit


def _fit_once(
    model: HmmModel, start: Params, data: Sequences | StoredSequences, weights: ArrayLike | None, plan: FitPlan
) -> Fit[Params, HmmStatistics]:
    def stop(step: Step[Any, Any]) -> bool:
        if plan.monitor is None:
            return bool(step.change < plan.tol)
        plan.monitor.report(step.stats.bound)
        return bool(plan.monitor.converged) and step.iteration < plan.n_iter

    if plan.monitor is not None:
        plan.monitor._reset()
    elif isinstance(model, HmmModel) and isinstance(data, Sequences) and not plan.verbose and not is_checkpointing():
        short = climbed(model, start, data, weights, tol=plan.tol, n_iter=plan.n_iter)
        if short is not None:
            return short
    source: ChunkSource
    if isinstance(data, Sequences) and isinstance(model, HmmModel):
        source = data.chunked(weights, len(data.values))  # the model shares out its rows more evenly than chunks can
    else:
        source = data.chunked(weights)
    with progress("hidden Markov model", plan.n_iter, plan.verbose) as bar, reducing(source) as total:
        return em(model, start, total, max_iter=plan.n_iter, stop=stop, on_iteration=bar)


def reseed(model: HmmModel, params: Params, dead: Any, data: Sequences | StoredSequences) -> Params:
    """Give dead states the rows that are explained worst, and a way to be reached."""
    X = np.asarray(data.values[~np.isnan(data.values).all(axis=1)], dtype=np.float64)
    L = model.emission.log_density(params.theta, X)
    alive = np.setdiff1d(np.arange(L.shape[1]), dead)
    worst = X[np.argsort(L[:, alive].max(axis=1), kind="stable")]
    share = max(len(worst) // (4 * L.shape[1]), 1)
    theta = params.theta
    for i, state in enumerate(dead):
        theta = model.emission.reseed(theta, int(state), worst[i * share : (i + 1) * share])
    assert isinstance(model.rule, ChainRule), "states with durations are not put elsewhere"
    return Params(_reachable(params.chain, model.rule), theta)


def _reachable(chain: Chain, rule: ChainRule) -> Chain:
    """Mix the chain with an even one, as far as its fixed entries allow."""
    even, ones = 0.1 / chain.n_states, np.ones(chain.n_states)
    A = best_rows(0.9 * chain.transition + even, ones, chain.transition, rule.transition)
    start = best_rows(0.9 * chain.start + even, ones, chain.start, rule.start)
    return Chain(stationary(A) if rule.is_stationary else start, A)


def warn_collapsed(states: list[int]) -> None:
    """Tell that states have shrunk onto single values, so that the likelihood says nothing about the model."""
    which = f"state {states[0]} has" if len(states) == 1 else f"states {', '.join(map(str, states))} have"
    warn_of_fit(
        f"{which} collapsed onto values that repeat or lie on a line: their spread is the smallest that the data "
        "can show; aic, bic and icl of this model are inf. Choose fewer states, more starts (n_init), or a prior"
    )
