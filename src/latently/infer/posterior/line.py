"""Densities on a line, as polynomials on panels: integrals, quantiles and moments to many digits."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from latently.infer.factors import Floats

NODES = 8
_DEEPEST = 400  # halvings of a panel: poles at zero need them, at a cliff panels are soon without width
_MOST_PANELS = 20_000
_X, _W = legendre.leggauss(NODES)
_TO_SERIES = np.linalg.inv(legendre.legvander(_X, NODES - 1))  # values at nodes -> coefficients


def nodes_of(edges: Floats) -> tuple[Floats, Floats]:
    """Give the nodes and weights of Gauss's rule on each panel, (panels, nodes)."""
    middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    return middle[:, None] + half[:, None] * _X, half[:, None] * _W


@dataclass(frozen=True, eq=False)
class Line:
    """A normalised density of one variable.

    Attributes
    ----------
    edges : ndarray (panels + 1,)
        Ends of the panels.
    values : ndarray (panels, 8)
        Density at the nodes of each panel.
    """

    edges: Floats
    values: Floats

    @cached_property
    def _series(self) -> Floats:
        return self.values @ _TO_SERIES.T

    @cached_property
    def _climb(self) -> Floats:
        """Probability up to each edge."""
        masses = (nodes_of(self.edges)[1] * self.values).sum(axis=1)
        total = np.concatenate([[0.0], np.cumsum(masses)])
        return np.asarray(total / total[-1])

    def support(self) -> tuple[float, float]:
        """Give the ends of the line."""
        return float(self.edges[0]), float(self.edges[-1])

    def pdf(self, x: Floats) -> Floats:
        """Density; zero outside the line."""
        points = np.atleast_1d(np.asarray(x, dtype=np.float64))
        panel, z = self._locate(points)
        value = np.maximum(_evaluate(self._series[panel], z), 0.0)
        outside = (points < self.edges[0]) | (points > self.edges[-1])
        return np.where(outside, 0.0, value).reshape(np.shape(x))

    def _locate(self, points: Floats) -> tuple[NDArray[np.intp], Floats]:
        panel = np.clip(np.searchsorted(self.edges, points, side="right") - 1, 0, len(self.values) - 1)
        low, width = self.edges[panel], np.diff(self.edges)[panel]
        # next to a cliff or a pole, panels end up without width
        return panel, np.where(width > 0, 2 * (points - low) / np.where(width > 0, width, 1.0), 0.0) - 1

    def ppf(self, q: Floats) -> Floats:
        """Quantiles, by bisection within the panel."""
        levels = np.atleast_1d(np.asarray(q, dtype=np.float64))
        panel = np.clip(np.searchsorted(self._climb, levels, side="right") - 1, 0, len(self.values) - 1)
        inner = np.array([legendre.legint(series, lbnd=-1) for series in self._series[panel]])
        mass = inner.sum(axis=1)  # the integral over the panel: Legendre polynomials are one at one
        step = self._climb[panel + 1] - self._climb[panel]
        share = np.where(step > 0, (levels - self._climb[panel]) / np.where(step > 0, step, 1.0), 0.0)
        low, high = np.full(len(levels), -1.0), np.ones(len(levels))
        for _ in range(60):
            middle = (low + high) / 2
            below = _evaluate(inner, middle) < share * mass
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        left, right = self.edges[panel], self.edges[panel + 1]
        return np.asarray((left + (right - left) * (low + 1) / 2).reshape(np.shape(q)))

    def mean_of(self, function: Callable[[Floats], Floats]) -> float:
        """Give the mean of a function of the nodes."""
        nodes, weights = nodes_of(self.edges)
        mass = weights * self.values
        return float(np.sum(mass * function(nodes)) / np.sum(mass))


def _evaluate(series: Floats, z: Floats) -> Floats:
    """Evaluate one Legendre series per point."""
    return np.asarray(np.einsum("pk,pk->p", legendre.legvander(z, series.shape[1] - 1), series))


def integrate(function: Callable[[Floats], Floats], edges: Floats) -> tuple[Line, float, float]:
    """Halve panels until the integral of the exponential of a function is settled.

    Parameters
    ----------
    function
        Log density, up to a constant, at points (n,).
    edges
        Ends of the panels to begin with.

    Returns
    -------
    Line, float, float
        The normalised density, the log of the integral, and its relative error.
    """
    # edges closer than rounding would make panels without width
    apart = np.append(True, np.diff(edges) > 1e-12 * (edges[-1] - edges[0]))
    kept = np.append(edges[apart][:-1], edges[-1])
    panels = np.column_stack([kept[:-1], kept[1:]])
    logs = _at_nodes(function, panels)
    settled: list[tuple[Floats, Floats]] = []
    top, error = logs.max(), 0.0
    for _ in range(_DEEPEST):
        halves = _halved(panels)
        finer = _at_nodes(function, halves)
        top = max(top, finer.max())
        left, right = np.split(_masses(halves, finer, top), 2)
        off = np.abs(_masses(panels, logs, top) - left - right)
        total = left.sum() + right.sum() + sum(_masses(p, v, top).sum() for p, v in settled)
        rough = off > 1e-13 * total
        both = np.tile(rough, 2)
        settled.append((halves[~both], finer[~both]))
        panels, logs, error = halves[both], finer[both], float(off[rough].sum() / total)
        if not rough.any() or sum(len(p) for p, _ in settled) + len(panels) > _MOST_PANELS:
            break
    return _assembled([*settled, (panels, logs)], top, error)


def _at_nodes(function: Callable[[Floats], Floats], panels: Floats) -> Floats:
    middle, half = panels.mean(axis=1), (panels[:, 1] - panels[:, 0]) / 2
    points = middle[:, None] + half[:, None] * _X
    return without_poles(np.asarray(function(points.ravel()))).reshape(points.shape)


def without_poles(logs: Floats) -> Floats:
    """Leave out single points where a density is infinite: they carry no probability."""
    return np.where(logs == np.inf, -np.inf, logs)


def _halved(panels: Floats) -> Floats:
    """Give all left halves, then all right halves."""
    middle = panels.mean(axis=1)
    return np.vstack([np.column_stack([panels[:, 0], middle]), np.column_stack([middle, panels[:, 1]])])


def _masses(panels: Floats, logs: Floats, top: float) -> Floats:
    return (panels[:, 1] - panels[:, 0]) / 2 * (np.exp(logs - top) @ _W)


def _assembled(pieces: list[tuple[Floats, Floats]], top: float, error: float) -> tuple[Line, float, float]:
    panels, logs = np.vstack([p for p, _ in pieces]), np.vstack([v for _, v in pieces])
    order = np.lexsort((panels[:, 1], panels[:, 0]))  # a panel without width before its neighbour
    panels, logs = panels[order], logs[order]
    total = _masses(panels, logs, top).sum()
    line = Line(np.append(panels[:, 0], panels[-1, 1]), np.exp(logs - top) / total)
    return line, float(np.log(total) + top), error
