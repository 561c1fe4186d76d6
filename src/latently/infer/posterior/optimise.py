"""The highest points of a density, and its curvature there."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from latently.infer.factors import Floats

Rows = Callable[[Floats], Floats]


def climb(function: Rows, start: Floats, scale: Floats, bounds: Floats, most: float = np.inf) -> tuple[Floats, float]:
    """Climb from a start to the next highest point; parameters are measured in units of `scale`.

    Along gradients by differences first, where there are more than two parameters, and then by a simplex, which
    kinks and cliffs do not stop: all parameters at once are one call, the corners of a simplex are one each.
    """
    hill = _Hill(function, start, scale, bounds)
    z = np.zeros(len(start))
    if len(z) > 2:
        z = minimize(hill.down_and_gradient, z, jac=True, method="L-BFGS-B", bounds=hill.inside.tolist()).x
        if not hill.higher_nearby(z):
            return hill.place(z), -hill.down(z)
    return _climb_simplex(hill, z, most)


def _climb_simplex(hill: "_Hill", z: Floats, most: float) -> tuple[Floats, float]:
    inside = list(map(tuple, hill.inside))
    budget = int(min(400 * len(z), most))
    for _ in range(3):
        options = {"xatol": 1e-9, "fatol": 1e-12, "maxfev": budget, "maxiter": budget}
        corners = _simplex(z, inside)
        found = minimize(
            hill.down, z, method="Nelder-Mead", bounds=inside, options={**options, "initial_simplex": corners}
        )
        moved, z = np.max(np.abs(found.x - z)), found.x
        if moved < 1e-6:
            break
    return hill.place(z), -float(found.fun)


class _Hill:
    """Minus a log density around a start, in units of a scale; what is not finite counts as very low."""

    def __init__(self, function: Rows, start: Floats, scale: Floats, bounds: Floats) -> None:
        self._function, self._bounds = function, bounds
        self.start, self.scale = start, scale
        self.inside = (bounds - start[:, None]) / scale[:, None]

    def place(self, z: Floats) -> Floats:
        """Give the parameters; rounding must not push them over a bound."""
        return np.clip(self.start + self.scale * z, *self._bounds.T)

    def _at(self, rows: Floats) -> Floats:
        values = self._function(self.place(rows))
        return np.where(np.isfinite(values), -values, 1e300)

    def down(self, z: Floats) -> float:
        """Minus the log density."""
        return float(self._at(z[None, :])[0])

    def down_and_gradient(self, z: Floats, step: float = 1e-4) -> tuple[float, Floats]:
        """Minus the log density and its gradient, by differences in one call."""
        d = len(z)
        rows = np.clip(z + step * np.vstack([np.zeros((1, d)), np.eye(d), -np.eye(d)]), *self.inside.T)
        values = self._at(rows)
        plus, minus = values[1 : d + 1], values[d + 1 :]
        apart = np.diagonal(rows[1 : d + 1]) - np.diagonal(rows[d + 1 :])
        known = (plus < 1e300) & (minus < 1e300) & (apart > 0)
        return float(values[0]), np.where(known, (plus - minus) / np.where(apart > 0, apart, 1.0), 0.0)

    def higher_nearby(self, z: Floats) -> bool:
        """Whether one of the places around is clearly higher: then gradients have not led to the top."""
        d = len(z)
        turns = np.random.default_rng(0).normal(size=(2 * d, d))
        units = np.vstack([np.eye(d), -np.eye(d), turns / np.linalg.norm(turns, axis=1, keepdims=True)])
        rows = np.vstack([np.clip(z + r * units, *self.inside.T) for r in (1e-3, 1e-2, 0.1)])
        return bool(self._at(rows).min() < self.down(z) - 1e-7)


def _simplex(z: Floats, inside: list[tuple[float, float]]) -> Floats:
    """Give corners one unit from z along each axis, turned inwards at a bound."""
    corners = np.tile(z, (len(z) + 1, 1))
    for j, (low, high) in enumerate(inside):
        step = 1.0 if z[j] + 1.0 < high else -1.0
        if not low < z[j] + step < high:
            step = 0.4 * (high - z[j]) if high - z[j] > z[j] - low else -0.4 * (z[j] - low)
        corners[j + 1, j] += step
    return corners


def modes(
    function: Rows, starts: Floats, scale: Floats, bounds: Floats, left: Callable[[], float] = lambda: np.inf
) -> list[tuple[Floats, float]]:
    """Give the different highest points reached from several starts, the highest first; as long as some are left."""
    found = [climb(function, start, scale, bounds, left()) for start in starts if left() > 0]
    kept: list[tuple[Floats, float]] = []
    for place, height in sorted(found, key=lambda m: -m[1]):
        if np.isfinite(height) and not any(_same_hill(function, place, height, other) for other in kept):
            kept.append((place, height))
    return kept


def summit(function: Rows, start: Floats, scale: Floats, bounds: Floats) -> Floats:
    """Climb to the highest point, with ever shorter steps; an error if the density rises without bound."""
    place, height = climb(function, start, scale, bounds)
    for shorter in (0.03, 1e-3, 3e-5):
        before = height
        place, height = climb(function, place, scale * shorter, bounds)
        if height - before < 1e-3 and not _pole(function, place, scale, bounds):
            return place
    raise ValueError(
        "the posterior has no highest point: its density rises without bound towards "
        f"({', '.join(f'{v:.4g}' for v in place)}); use the mean, quantiles or intervals"
    )


def _pole(function: Rows, place: Floats, scale: Floats, bounds: Floats) -> bool:
    """Whether the density is infinite on a bound next to a place."""
    rows = [np.where(np.arange(len(place)) == j, b, place) for j, ends in enumerate(bounds) for b in ends]
    gaps = np.abs(np.array(rows) - place) / scale
    near = np.array(rows)[gaps.max(axis=1) < 1e-3]
    return bool(len(near)) and bool(np.any(function(near) == np.inf))


def _same_hill(function: Rows, place: Floats, height: float, other: tuple[Floats, float]) -> bool:
    """Whether the way between two points never dips below the lower of them by more than a little."""
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
            return float(min(step, room / 2))
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
