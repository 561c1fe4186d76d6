"""Posteriors of one or two parameters by quadrature, on a window that is found by itself."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from latently.infer.factors import Floats
from latently.infer.posterior.line import Line, integrate, nodes_of, without_poles
from latently.infer.posterior.methods import Result
from latently.infer.posterior.optimise import summit
from latently.infer.posterior.summaries import highest
from latently.infer.posterior.target import Target

_DROP = 45.0  # what is e^-45 below the top does not count
_ROUNDS = 60
_FINE_ERROR, _LOOSE_ERROR = 1e-6, 1e-4  # relative errors of the integral that are let pass, of one and two parameters


class PosteriorWarning(UserWarning):
    """A posterior that should not be trusted without a look at its diagnostics."""


def grid(target: Target) -> Result:
    """Integrate over one or two parameters."""
    if target.d == 1:
        return _one(target)
    if target.d == 2:
        return _two(target)
    raise ValueError(f"a grid is for one or two parameters, not {target.d}: use 'laplace' or 'sample'")


def window(target: Target) -> list[Floats]:
    """Find where the posterior is, from places all over the prior: points along each parameter, end to end."""
    axes = target.prior.places(301 if target.d == 1 else 61)
    best, width = None, np.inf
    for _ in range(_ROUNDS):
        logs = without_poles(target(_rows(axes))).reshape([len(a) for a in axes])
        if not np.isfinite(logs.max()):
            raise ValueError("the posterior is zero wherever it was evaluated: the prior excludes the data")
        best = np.unravel_index(int(np.argmax(logs)), logs.shape)
        masses = logs + _log_cells(axes)
        ends = [_ends(a, masses, j) for j, a in enumerate(axes)]
        last, width = width, float(np.sum([np.log(high - low) for low, high in ends]))
        if last - width < 0.05:
            return [a[(a >= low) & (a <= high)] for a, (low, high) in zip(axes, ends, strict=True)]
        axes = [_closer(axes[j], int(best[j]), *ends[j], 201 if target.d == 1 else 21) for j in range(target.d)]
    return axes


def _rows(axes: list[Floats]) -> Floats:
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _log_cells(axes: list[Floats]) -> Floats:
    """Give the log of the room around each place: next to a pole the density is high, but there is no room."""
    total = np.zeros([1] * len(axes))
    for j, axis in enumerate(axes):
        gaps = np.diff(axis)
        room = np.minimum(np.append(gaps[0], gaps), np.append(gaps, gaps[-1]))
        total = total + np.log(room).reshape([-1 if i == j else 1 for i in range(len(axes))])
    return total


def _ends(axis: Floats, masses: Floats, j: int) -> tuple[float, float]:
    """Give the places just outside of where the probability counts."""
    along = np.moveaxis(masses, j, 0).reshape(len(axis), -1).max(axis=1)
    counts = np.flatnonzero(along > masses.max() - _DROP)
    return float(axis[max(counts[0] - 1, 0)]), float(axis[min(counts[-1] + 1, len(axis) - 1)])


def _closer(axis: Floats, best: int, low: float, high: float, n: int) -> Floats:
    """Give points from low to high, evenly and ever closer to the best."""
    near = np.concatenate([axis[best] + s * (high - low) * 0.5 ** np.arange(1, 31) for s in (-1, 1)])
    points = np.unique(np.concatenate([np.linspace(low, high, n), near, [axis[best]]]))
    return points[(points >= low) & (points <= high)]


def _one(target: Target) -> Result:
    (edges,) = window(target)
    line, log_evidence, error = integrate(lambda x: target(x[:, None]), edges)
    _judge(error, _FINE_ERROR)
    mean = line.mean_of(lambda x: x)
    variance = line.mean_of(lambda x: (x - mean) ** 2)
    scale = np.array([np.sqrt(variance)])
    return Result(
        "grid",
        np.array([mean]),
        lambda: summit(target, np.array([highest(line)]), scale, target.prior.bounds),
        np.array([[variance]]),
        [line],
        log_evidence,
        lambda n, rng: line.ppf(rng.random(n))[:, None],
        lambda f: line.mean_of(lambda x: f(x.reshape(-1, 1)).reshape(x.shape)),
        {"relative_error": error, "panels": len(line.values), "converged": error <= _FINE_ERROR},
    )


def _two(target: Target) -> Result:
    axes = window(target)
    coarse = target(_rows(axes)).reshape([len(a) for a in axes])
    before = None
    for panels in (16, 32, 64):
        edges = [_edges(a, np.moveaxis(coarse, j, 0), panels) for j, a in enumerate(axes)]
        nodes, weights = zip(*(nodes_of(e) for e in edges), strict=True)
        rows = _rows([n.ravel() for n in nodes])
        logs = without_poles(target(rows))
        mass = np.exp(logs - logs.max()) * np.outer(weights[0].ravel(), weights[1].ravel()).ravel()
        log_evidence = float(np.log(mass.sum()) + logs.max())
        error = 1.0 if before is None else abs(np.expm1(log_evidence - before))
        before = log_evidence
        if error < 1e-9:
            break
    _judge(error, _LOOSE_ERROR)
    return _result_of_two(target, edges, rows, mass / mass.sum(), logs, log_evidence, error)


def _edges(axis: Floats, logs: Floats, panels: int) -> Floats:
    """Cut an axis into panels, half of them spread evenly and half where the density is."""
    profile = without_poles(logs).max(axis=1)
    high = np.exp((profile - profile.max()) / 2)
    climb_ = np.concatenate([[0.0], np.cumsum(np.diff(axis) * (high[1:] + high[:-1]) / 2)])
    even = (axis - axis[0]) / (axis[-1] - axis[0])
    edges = np.interp(np.linspace(0, 1, panels + 1), (even + climb_ / climb_[-1]) / 2, axis)
    # where the density is infinite at an end, ever narrower panels towards it
    closer = 8.0 ** -np.arange(1, 14)
    if np.any(logs[0, 1:-1] == np.inf):
        edges = np.concatenate([edges, edges[0] + (edges[1] - edges[0]) * closer])
    if np.any(logs[-1, 1:-1] == np.inf):
        edges = np.concatenate([edges, axis[-1] - (axis[-1] - edges[panels - 1]) * closer])
    return np.unique(edges)


def _result_of_two(
    target: Target, edges: list[Floats], rows: Floats, mass: Floats, logs: Floats, log_evidence: float, error: float
) -> Result:
    mean = mass @ rows
    covariance = (rows - mean).T @ ((rows - mean) * mass[:, None])
    table = mass.reshape(edges[0].size * 8 - 8, -1)
    lines = [Line(e, (table.sum(axis=1 - j) / nodes_of(e)[1].ravel()).reshape(-1, 8)) for j, e in enumerate(edges)]
    scale = np.sqrt(np.diag(covariance))
    best = rows[int(np.argmax(logs))]
    cell = _rows([nodes_of(e)[1].ravel() for e in edges])  # the weight of a node is the width of its cell

    def draw(n: int, rng: np.random.Generator) -> Floats:
        # a node by its mass, and a place within its cell
        chosen = rng.choice(len(mass), size=n, p=mass)
        moved = rows[chosen] + (rng.random((n, 2)) - 0.5) * cell[chosen]
        return np.clip(moved, [e[0] for e in edges], [e[-1] for e in edges])

    def average(function: Callable[[Floats], Floats]) -> float:
        return float(mass @ function(rows))

    diagnostics: dict[str, Any] = {
        "relative_error": error,
        "panels": edges[0].size - 1,
        "converged": error <= _LOOSE_ERROR,
    }

    def find_mode() -> Floats:
        return summit(target, best, scale, target.prior.bounds)

    return Result("grid", mean, find_mode, covariance, lines, log_evidence, draw, average, diagnostics)


def _judge(error: float, limit: float) -> None:
    if error > limit:
        warnings.warn(
            f"the integral is accurate to {error:.1g} only: the posterior has jumps or very narrow ridges; "
            "method='sample' may do better",
            PosteriorWarning,
            stacklevel=4,
        )
