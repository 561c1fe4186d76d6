"""The other way to the optimum: the log-likelihood's own slope, climbed by L-BFGS in free numbers.

The slope is that of the expected statistics (Fisher's identity), so that an evaluation is one E-step.
"""

from functools import partial

import numpy as np
from scipy import optimize

from latently.cluster.mixture.model import MixtureModel, MixtureParams, MixtureSums
from latently.learn.engine.em import Fit, Hook, Step
from latently.learn.engine.protocol import Array, Reduce


def to_free(model: MixtureModel, params: MixtureParams) -> Array:
    """All parameters as one vector without bounds."""
    parts = [block.to_free(theta) for block, theta in zip(model.blocks, params.parts, strict=True)]
    return np.concatenate([np.log(np.maximum(params.weights, 1e-300)), *parts])


def from_free(model: MixtureModel, like: MixtureParams, free: Array) -> MixtureParams:
    """Parameters from such a vector."""
    k, parts = len(like.weights), []
    raised = np.exp(free[:k] - free[:k].max())
    start = k
    for block, theta in zip(model.blocks, like.parts, strict=True):
        size = len(block.to_free(theta))
        parts.append(block.from_free(theta, free[start : start + size]))
        start += size
    weights = model.kept_weights(raised)
    return MixtureParams(weights, tuple(parts))


def gradient(model: MixtureModel, params: MixtureParams, stats: MixtureSums) -> Array:
    """Gradient of the log-likelihood and the log prior along the free numbers."""
    mass = stats.weight + model.pseudo
    by_weight = mass - params.weights * mass.sum() if model.limits is None else np.zeros_like(mass)
    triples = zip(model.blocks, params.parts, stats.parts.parts, strict=True)
    return np.concatenate([by_weight, *(block.gradient(theta, s) for block, theta, s in triples)])


def widths(model: MixtureModel, params: MixtureParams, stats: MixtureSums) -> Array:
    """About how far each free number may move: one over the root of its share of the information."""
    by_weight = np.maximum(stats.weight * (1 - params.weights), 1.0)
    triples = zip(model.blocks, params.parts, stats.parts.parts, strict=True)
    information = [by_weight, *(block.information(theta, s) for block, theta, s in triples)]
    return 1 / np.sqrt(np.concatenate(information))


def check_free(model: MixtureModel) -> None:
    """See that every block has a gradient, and nothing but fixed numbers is in its way."""
    stuck = [name for block in model.blocks if not block.FREE for name in block.names]
    if stuck:
        raise ValueError(
            f"method='gradient' does not reach column {stuck[0]!r}, whose family has no free numbers: use 'em'"
        )
    tight = [block.names[0] for block in model.blocks if not block.only_fixed]
    if tight:
        raise ValueError(f"method='gradient' takes no bounds or tied, such as those of column {tight[0]!r}: use 'em'")
    if model.limits is not None and not model.limits.allowed.fixed.all():
        raise ValueError("method='gradient' takes weights that are all fixed or all free: use 'em'")


def ascend(model: MixtureModel, near: Fit, reduce: Reduce, tol: float, max_iter: int, on_iteration: Hook | None) -> Fit:
    """Climb from where EM has come to; the trace goes on."""
    check_free(model)
    seen: dict[bytes, tuple[MixtureParams, MixtureSums, float]] = {}
    trace, told = list(near.trace), [near.params]
    # in units of their widths the numbers are alike, and far fewer steps lead up
    unit = widths(model, near.params, near.stats)

    def evaluate(free: Array) -> tuple[float, Array]:
        params = from_free(model, near.params, free * unit)
        stats = reduce(partial(model.expect, params))
        objective = stats.bound + model.log_prior(params)
        seen.clear()
        seen[free.tobytes()] = params, stats, objective
        return -objective / stats.rows, -gradient(model, params, stats) * unit / stats.rows

    def accepted(intermediate_result: optimize.OptimizeResult) -> None:
        objective = -float(intermediate_result.fun) * near.rows
        change = objective - trace[-1]
        trace.append(objective)
        params = from_free(model, near.params, intermediate_result.x * unit)
        step = Step(len(trace), told[-1], params, near.stats, objective, change)
        told.append(params)
        if on_iteration is not None and on_iteration(step):
            raise StopIteration

    options = {"maxiter": max_iter - near.n_iter, "maxfun": 10**6, "maxcor": 20, "gtol": 1e-12}
    options["ftol"] = min(tol, 1e-9) * 1e-2
    found = optimize.minimize(
        evaluate, to_free(model, near.params) / unit, jac=True, method="L-BFGS-B", callback=accepted, options=options
    )
    if found.x.tobytes() not in seen:
        evaluate(found.x)
    params, stats, objective = seen[found.x.tobytes()]
    if objective > trace[-1]:
        trace.append(objective)
    # a line search that finds no further rise at a point without slope has arrived as well
    flat = np.abs(found.jac).max() < 1e-7
    reason = "converged" if found.status == 0 or flat else "stopped" if found.status == 99 else "max_iter"
    return Fit(params, stats, tuple(trace), len(trace), reason == "converged", reason)
