"""The highest points of a density, and its curvature there."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from latently.infer.factors import Floats

Rows = Callable[[Floats], Floats]


def climb(function: Rows, start: Floats, scale: Floats, bounds: Floats) -> tuple[Floats, float]:
    """Climb from a start to the next highest point; parameters are measured in units of `scale`."""

    def down(z: Floats) -> float:
        value = float(function((start + scale * z)[None, :])[0])
        return -value if np.isfinite(value) else 1e300

    inside = list(zip((bounds[:, 0] - start) / scale, (bounds[:, 1] - start) / scale, strict=True))
    z = np.zeros(len(start))
    for _ in range(3):
        found = minimize(
            down,
            z,
            method="Nelder-Mead",
            bounds=inside,
            options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 400 * len(z), "initial_simplex": _simplex(z, inside)},
        )
        moved, z = np.max(np.abs(found.x - z)), found.x
        if moved < 1e-6:
            break
    return start + scale * z, -float(found.fun)


def _simplex(z: Floats, inside: list[tuple[float, float]]) -> Floats:
    """Give corners one unit from z along each axis, turned inwards at a bound."""
    corners = np.tile(z, (len(z) + 1, 1))
    for j, (low, high) in enumerate(inside):
        step = 1.0 if z[j] + 1.0 < high else -1.0
        if not low < z[j] + step < high:
            step = 0.4 * (high - z[j]) if high - z[j] > z[j] - low else -0.4 * (z[j] - low)
        corners[j + 1, j] += step
    return corners


def modes(function: Rows, starts: Floats, scale: Floats, bounds: Floats) -> list[tuple[Floats, float]]:
    """Give the different highest points reached from several starts, the highest first."""
    found = sorted((climb(function, start, scale, bounds) for start in starts), key=lambda m: -m[1])
    kept: list[tuple[Floats, float]] = []
    for place, height in found:
        if np.isfinite(height) and not any(_same_hill(function, place, height, other) for other in kept):
            kept.append((place, height))
    return kept


def _same_hill(function: Rows, place: Floats, height: float, other: tuple[Floats, float]) -> bool:
    """Tell whether the way between two points never dips below the lower of them by more than a little."""
    share = np.linspace(0, 1, 21)[:, None]
    between = function(place + share * (other[0] - place))
    return bool(between.min() > min(height, other[1]) - 0.1)


def curvature(function: Rows, mode: Floats, bounds: Floats) -> Floats:
    """Give minus the matrix of second derivatives of the log density at its mode, by differences."""
    top = float(function(mode[None, :])[0])
    step = np.array([_half_drop(function, mode, top, j, bounds) for j in range(len(mode))])
    # two step lengths, combined so that the error of fourth order drops out
    coarse, fine = (_differences(function, mode, top, step * h) for h in (0.02, 0.01))
    return (4 * fine - coarse) / 3


def _half_drop(function: Rows, mode: Floats, top: float, j: int, bounds: Floats) -> float:
    """Give the distance along parameter j at which the log density has dropped by one half, about."""
    room = np.min(np.abs(bounds[j] - mode[j]))
    if room == 0:
        raise ValueError("the highest point is on the edge of the support: a Gaussian does not fit there")
    step = 1e-6 * max(abs(mode[j]), 1e-6)
    axis = np.zeros(len(mode))
    for _ in range(200):
        axis[j] = step
        drop = top - function(np.array([mode + axis, mode - axis])).min()
        if drop >= 0.5 or step >= room / 2:
            return min(step, room / 2)
        step *= 2
    raise ValueError("the density does not fall from its highest point: it has no Gaussian approximation")


def _differences(function: Rows, mode: Floats, top: float, step: Floats) -> Floats:
    d = len(mode)
    out = np.zeros((d, d))
    unit = np.diag(step)
    for i in range(d):
        plus, minus = function(np.array([mode + unit[i], mode - unit[i]]))
        out[i, i] = -(plus - 2 * top + minus) / step[i] ** 2
        for j in range(i):
            corners = [mode + a * unit[i] + b * unit[j] for a in (1, -1) for b in (1, -1)]
            value = function(np.array(corners)) @ [1, -1, -1, 1]
            out[i, j] = out[j, i] = -value / (4 * step[i] * step[j])
    return out
