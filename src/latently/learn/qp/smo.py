"""Quadratic programmes of support vector methods: one solver, by sequential minimal optimisation.

    minimise 1/2 a'Qa + p'a   subject to   y'a = constant,  0 <= a <= upper,   with Q_ij = y_i y_j K_ij

Variables that violate the optimality conditions most are gathered in a working set, whose programme is solved by steps
of two variables at a time (`compiled.learn.smo`). Then the gradient of all others follows, through columns of K of
which the latest are kept.
"""

from dataclasses import dataclass

import numpy as np

from latently import compiled
from latently.learn.engine.cores import single_threaded_blas
from latently.learn.qp.gram import Array, Columns, Gram, Ints

_SET = 512  # variables in a working set
_SHRINK_EVERY = 4  # working sets between two looks at what can be left out
_FAR = 10.0  # how many times the present violation a variable must be beyond its bound to be left out


@dataclass(frozen=True, eq=False)
class Solution:
    """Where a quadratic programme has its minimum.

    Parameters
    ----------
    alpha
        (n,) the variables.
    gradient
        (n,) y times the gradient of the objective.
    level
        The multiplier of the equality: the gradient of variables that are strictly inside their box (rho of
        a support vector machine).
    lowest
        The lowest gradient of such a variable, less rounding: within tol of the level.
    objective
        1/2 a'Qa + p'a.
    gap
        By how much the KKT conditions are violated.
    n_iter
        Steps of two variables.
    converged
        Whether the gap is below the tolerance.
    """

    alpha: Array
    gradient: Array
    level: float
    lowest: float
    objective: float
    gap: float
    n_iter: int
    converged: bool


def minimise(
    gram: Gram,
    start: Array,
    upper: Array,
    *,
    p: Array | None = None,
    y: Array | None = None,
    tol: float = 1e-3,
    max_iter: int | None = None,
    shrinking: bool = True,
    cache_mb: float = 200.0,
) -> Solution:
    """Minimise 1/2 a'Qa + p'a subject to y'a = y'start and 0 <= a <= upper, with Q_ij = y_i y_j K_ij.

    Parameters
    ----------
    gram
        Values of K.
    start
        (n,) where to begin, within its box; it says what y'a is. A solution of a similar programme saves most of the
        work.
    upper
        (n,) upper bounds.
    p
        (n,) linear term; zeros if None.
    y
        (n,) signs, 1 or -1; ones if None.
    tol
        Converged when no KKT condition is violated by this or more.
    max_iter
        Steps of two variables at most; as many as it takes if None.
    shrinking
        Whether variables that will stay at their bounds are left out until the others are settled.
    cache_mb
        Megabytes for columns of K that are kept.

    Examples
    --------
    >>> from latently.learn.qp import MatrixGram
    >>> found = minimise(MatrixGram(np.diag([1.0, 4.0])), np.array([0.5, 0.5]), np.ones(2), tol=1e-9)
    >>> found.alpha.round(6), round(found.objective, 6)
    (array([0.8, 0.2]), 0.4)
    """
    n = len(start)
    signs = np.ones(n) if y is None else np.asarray(y, dtype=float)
    linear = np.zeros(n) if p is None else np.asarray(p, dtype=float)
    alpha = np.array(start, dtype=float)
    _check(alpha, np.asarray(upper, dtype=float), signs)
    search = _Search(gram, alpha, np.array(upper, dtype=float), linear, signs, cache_mb)
    with single_threaded_blas():
        return search.run(tol, np.iinfo(np.int64).max if max_iter is None else max_iter, shrinking)


def _check(alpha: Array, upper: Array, y: Array) -> None:
    if not (np.abs(y) == 1).all():
        raise ValueError("y holds signs: 1 or -1")
    if not (np.isfinite(upper).all() and (upper >= 0).all()):
        raise ValueError("upper bounds must be finite and at least 0")
    if not ((alpha >= 0) & (alpha <= upper)).all():
        raise ValueError("the start must be within its bounds")


class _Search:
    """The state of a search: variables, gradients, and which of them are looked at."""

    def __init__(self, gram: Gram, alpha: Array, upper: Array, p: Array, y: Array, cache_mb: float) -> None:
        self.gram, self.alpha, self.upper, self.p, self.y = gram, alpha, upper, p, y
        self.columns = Columns(gram, len(alpha), cache_mb)
        self.active = np.arange(len(alpha))
        self.set_aside: list[tuple[Ints, Array]] = []  # rows left out, and what alpha was then
        self.previous = np.zeros(0, dtype=np.int64)
        self.gradient = y * p
        self._add(self.gradient, self.active, y * alpha)

    def _add(self, gradient: Array, rows: Ints, change: Array) -> None:
        """Add K[rows] @ change to the gradient of some rows, without keeping the columns."""
        moved = np.flatnonzero(change)
        if len(moved):
            gradient[rows] += self.gram.dot(rows, moved, change[moved])

    def run(self, tol: float, max_iter: int, shrinking: bool) -> Solution:
        steps, rounds = 0, 0
        while True:
            gap = self._gap()
            if gap < tol and self.set_aside:
                self._take_back()
                gap = self._gap()
            if gap < tol or steps >= max_iter or not len(self.alpha):
                break
            taken = self._work(max(0.1 * gap, 0.5 * tol), max_iter - steps)
            if taken == 0:  # nothing moves any more, by rounding or because K is indefinite
                break
            steps, rounds = steps + taken, rounds + 1
            if shrinking and rounds % _SHRINK_EVERY == 0:
                self._shrink()
        if self.set_aside:
            self._take_back()
        return self._solution(steps, tol)

    def _gap(self) -> float:
        rows = self.active
        return float(compiled.learn.smo.gap(self.y[rows], self.alpha[rows], self.upper[rows], self.gradient[rows]))

    def _work(self, tol: float, max_iter: int) -> int:
        """Solve the programme of a working set, and let the gradients of the others follow; give the steps taken."""
        chosen = self._choose()
        block = np.ascontiguousarray(self.gram.block(chosen, chosen))
        before, gradient = self.alpha[chosen], self.gradient[chosen]
        alpha = before.copy()
        most = min(max_iter, max(10_000, 100 * len(chosen)))
        taken, _ = compiled.learn.smo.solve(block, self.y[chosen], self.upper[chosen], alpha, gradient, tol, most)
        self.alpha[chosen] = alpha
        change = self.y[chosen] * (alpha - before)
        moved = np.flatnonzero(change)
        if len(moved):
            self.gradient[self.active] += change[moved] @ self.columns.of(chosen[moved])
        self.previous = chosen
        return int(taken)

    def _choose(self) -> Ints:
        """The variables that violate most, from both ends, and half of those before, which may not be settled."""
        rows = self.active
        if len(rows) <= 2 * _SET:
            return rows
        gradient, alpha, y = self.gradient[rows], self.alpha[rows], self.y[rows]
        inside_low, inside_high = alpha > 0, alpha < self.upper[rows]
        rise = np.where(y > 0, inside_high, inside_low)
        fall = np.where(y > 0, inside_low, inside_high)
        half = _SET // 2
        lowest = np.argpartition(np.where(rise, gradient, np.inf), half)[:half]
        highest = np.argpartition(np.where(fall, -gradient, np.inf), half)[:half]
        chosen = rows[np.union1d(lowest, highest)]
        kept = self.previous[np.isin(self.previous, rows) & ~np.isin(self.previous, chosen)]
        free = (self.alpha[kept] > 0) & (self.alpha[kept] < self.upper[kept])
        return np.concatenate([chosen, kept[free][:_SET]])

    def _shrink(self) -> None:
        """Leave out variables at a bound that the present gradients keep there by far."""
        rows = self.active
        gradient, alpha, upper, y = self.gradient[rows], self.alpha[rows], self.upper[rows], self.y[rows]
        rise = np.where(y > 0, alpha < upper, alpha > 0)
        fall = np.where(y > 0, alpha > 0, alpha < upper)
        low, high = gradient[rise].min(initial=np.inf), gradient[fall].max(initial=-np.inf)
        margin = _FAR * max(high - low, 0.0)
        settled = (~rise & (gradient < low - margin)) | (~fall & (gradient > high + margin))
        if settled.sum() < 0.1 * len(rows):
            return
        self.set_aside.append((rows[settled], self.alpha.copy()))
        self.active = rows[~settled]
        self.columns.restrict(self.active, ~settled)

    def _take_back(self) -> None:
        """Look at all variables again; gradients of those left out follow what has changed since."""
        for rows, then in self.set_aside:
            self._add(self.gradient, rows, self.y * (self.alpha - then))
        self.set_aside = []
        self.active = np.arange(len(self.alpha))
        self.columns.widen(len(self.alpha))

    def _solution(self, steps: int, tol: float) -> Solution:
        gap = self._gap() if len(self.alpha) else 0.0
        objective = 0.5 * float(self.alpha @ (self.y * self.gradient + self.p))
        level, lowest = self._level()
        return Solution(self.alpha, self.gradient, level, lowest, objective, max(gap, 0.0), steps, bool(gap < tol))

    def _level(self) -> tuple[float, float]:
        """Mean and lowest gradient of the free variables; the middle of what is possible if there are none."""
        gradients = self.gradient[(self.alpha > 0) & (self.alpha < self.upper)]
        level = float(gradients.mean()) if len(gradients) else self._level_at_bounds()
        size = float(np.abs(self.gradient).max(initial=0.0))
        rounding = np.finfo(float).eps * (16.0 + np.sqrt(len(self.gradient))) * size  # of sums made in another order
        return level, float(gradients.min(initial=level) - rounding)

    def _level_at_bounds(self) -> float:
        at_zero = self.alpha <= 0
        above = np.where(self.y > 0, at_zero, ~at_zero)  # these gradients are at least the level
        low, high = self.gradient[~above].max(initial=-np.inf), self.gradient[above].min(initial=np.inf)
        ends = [end for end in (low, high) if np.isfinite(end)]
        return float(np.mean(ends)) if ends else 0.0
