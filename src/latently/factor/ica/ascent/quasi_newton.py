"""Two ways down the likelihood of InfoMax: the natural gradient, and its preconditioned quasi-Newton form."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from latently.factor.ica.ascent.likelihood import Likelihood, Point
from latently.learn.engine.protocol import Array

_MEMORY = 7
_TRIES = 12
_TURNS = 20  # signs of sources next to Gaussian could change for ever


@dataclass
class Descent:
    """How a descent went."""

    point: Point
    n_iter: int
    converged: bool


@dataclass(eq=False)
class Memory:
    """Last steps and changes of the gradient, for limited-memory BFGS on relative directions."""

    steps: deque[tuple[Array, Array, float]] = field(default_factory=lambda: deque(maxlen=_MEMORY))

    def add(self, step: Array, change: Array) -> None:
        """Remember a step, if the gradient rose along it."""
        curvature = float((step * change).sum())
        if curvature > 1e-14 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            self.steps.append((step, change, 1 / curvature))

    def direction(self, point: Point) -> Array:
        """Two loops over the memory, with the curvature of independent sources between them."""
        q, alphas = point.gradient.copy(), []
        for step, change, rho in reversed(self.steps):
            alphas.append(rho * float((step * q).sum()))
            q -= alphas[-1] * change
        r = point.preconditioned(q)
        for (step, change, rho), alpha in zip(self.steps, reversed(alphas), strict=True):
            r += (alpha - rho * float((change * r).sum())) * step
        return -r


def quasi_newton(likelihood: Likelihood, W: Array, tol: float, max_iter: int) -> Descent:
    """Preconditioned limited-memory BFGS (Ablin, Cardoso and Gramfort 2018): one pass for most steps."""
    point, memory, turns = likelihood.begin(W), Memory(), 0
    for iteration in range(1, max_iter + 1):
        direction = memory.direction(point)
        if float((direction * point.gradient).sum()) >= 0:
            memory.steps.clear()
            direction = -point.preconditioned(point.gradient)
        found = _line_search(likelihood, point, direction)
        if found is None and memory.steps:
            memory.steps.clear()
            found = _line_search(likelihood, point, -point.preconditioned(point.gradient))
        if found is None:  # flat to rounding
            return Descent(point, iteration, bool(np.abs(point.gradient).max() < max(tol, 1e-6)))
        size, after = found
        if np.array_equal(after.better_signs, after.signs) or turns == _TURNS:
            memory.add(size * direction, after.gradient - point.gradient)
        else:
            memory.steps.clear()  # another objective from here on
            after, turns = likelihood.at(after.W, after.better_signs), turns + 1
        point = after
        if np.abs(point.gradient).max() < tol:
            return Descent(point, iteration, True)
    return Descent(point, max_iter, False)


def natural_gradient(likelihood: Likelihood, W: Array, tol: float, max_iter: int) -> Descent:
    """Steps along the natural gradient, W <- W - rate (E[psi(y) y'] - 1) W; the rate adapts itself."""
    point, rate, turns = likelihood.begin(W), 0.5, 0
    for iteration in range(1, max_iter + 1):
        found = _line_search(likelihood, point, -rate * point.gradient)
        if found is None:
            return Descent(point, iteration, bool(np.abs(point.gradient).max() < max(tol, 1e-6)))
        size, point = found
        rate *= 1.2 if size == 1 else size
        if turns < _TURNS and not np.array_equal(point.better_signs, point.signs):
            point, turns = likelihood.at(point.W, point.better_signs), turns + 1
        if np.abs(point.gradient).max() < tol:
            return Descent(point, iteration, True)
    return Descent(point, max_iter, False)


def _line_search(likelihood: Likelihood, point: Point, direction: Array) -> tuple[float, Point] | None:
    """The first of the sizes 1, 1/2, 1/4, ... at which the loss falls; None if it does not."""
    size, one = 1.0, np.eye(len(point.W))
    for _ in range(_TRIES):
        after = likelihood.at((one + size * direction) @ point.W, point.signs)
        if after.loss < point.loss + 1e-15 * abs(point.loss) and np.isfinite(after.loss):
            return size, after
        size /= 2
    return None
