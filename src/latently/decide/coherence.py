"""The linear programs of coherence: a distribution over worlds with these beliefs, or the bets that lose.

The distribution q over worlds and the stakes are each other's dual. For beliefs low <= p(event | condition)
<= high, with E and C telling in which worlds condition-and-event and condition are true,

    minimise   sum (a + b)   over q >= 0, sum q = 1, a, b >= 0
    such that  (E - low C) q + a >= 0,   (E - high C) q - b <= 0

has minimum zero if and only if the beliefs avoid a sure loss; the multipliers of the two rows, between 0 and
1, are the tickets bought at `low` and sold at `high`, and the minimum is what they lose in every world.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from latently.decide.logic import Expression
from latently.decide.rewards import Floats
from latently.decide.worlds import Columns, Worlds

TINY = 1e-9  # a smaller loss is rounding
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True)
class Finding:
    """Either layers of distributions that agree with the beliefs, or tickets on some of them that lose.

    Each layer gives the beliefs whose conditions are impossible in those before it.
    """

    layers: tuple[tuple[Columns, Floats], ...] = ()
    which: tuple[int, ...] = ()  # the beliefs bet on
    bought: Floats | None = None
    sold: Floats | None = None
    loss: float = 0.0
    sure: bool = True  # whether it loses in every world, or only where a condition holds


def examine(worlds: Worlds, low: Floats, high: Floats) -> Finding:
    """Whether beliefs are coherent, also those under conditions of probability zero."""
    found = least_violation(worlds, low, high)
    everyone = tuple(range(len(low)))
    if found.loss > TINY:
        return Finding((), everyone, found.bought, found.sold, found.loss)
    columns, weights = found.columns, found.weights / found.weights.sum()
    idle = np.flatnonzero(columns.on @ weights < 1e-6)
    if len(idle):
        columns, weights, idle = most_support(worlds, low, high, columns)
    layer = polish(columns, weights, low, high)
    if len(idle) == 0:
        return Finding((layer,))
    below = examine(_where_on(worlds, idle), low[idle], high[idle])
    if below.layers:
        # the further layers see fewer beliefs: look at their worlds with the eyes of the first
        more = tuple((worlds.look(c.worlds), w) for c, w in below.layers)
        return Finding((layer, *more))
    which = tuple(int(idle[i]) for i in below.which)
    return Finding((), which, below.bought, below.sold, below.loss, sure=False)


def _where_on(worlds: Worlds, idle: NDArray[np.intp]) -> Worlds:
    """Keep some beliefs only, in the worlds where one of their conditions holds."""
    beliefs = tuple(worlds.beliefs[i] for i in idle)
    must = beliefs[0][1]
    for _, condition in beliefs[1:]:
        must = Expression("|", parts=(must, condition))
    return Worlds(worlds.names, beliefs, must)


@dataclass(frozen=True)
class Solution:
    """Worlds with their probabilities; tickets bought and sold; the loss they guarantee."""

    columns: Columns
    weights: Floats  # (worlds,)
    bought: Floats  # (beliefs,)
    sold: Floats  # (beliefs,)
    loss: float


def least_violation(worlds: Worlds, low: Floats, high: Floats) -> Solution:
    """Find the distribution that violates the beliefs least, and the bets that gain what it must violate."""
    columns, n = worlds.start, len(low)
    while True:
        buy, sell = columns.occurs - low[:, None] * columns.on, columns.occurs - high[:, None] * columns.on
        m = len(columns)
        result = _solve(
            np.concatenate([np.zeros(m), np.ones(2 * n)]),
            np.block([[-buy, -np.eye(n), np.zeros((n, n))], [sell, np.zeros((n, n)), -np.eye(n)]]),
            np.zeros(2 * n),
            np.concatenate([np.ones(m), np.zeros(2 * n)]),
        )
        bought, sold = -result.ineqlin.marginals[:n], -result.ineqlin.marginals[n:]
        bought, sold = np.clip(bought, 0, 1), np.clip(sold, 0, 1)
        # the world where the tickets gain most is the one to add; all must lose at least the minimum
        more = worlds.best(sold - bought, bought * low - sold * high, columns, result.fun - 1e-10)
        grown = columns if more is None else columns.join(more)
        if len(grown) == m:
            tickets = (sold - bought) @ columns.occurs + (bought * low - sold * high) @ columns.on
            loss = float(tickets.min()) - (0.0 if worlds.listed is not None else 1e-10)
            return Solution(columns, _clean(result.x[:m]), bought, sold, loss)
        columns = grown


def most_support(worlds: Worlds, low: Floats, high: Floats, start: Columns) -> tuple[Columns, Floats, NDArray[np.intp]]:
    """Find a distribution with these beliefs under which every condition that can be possible is.

    Weights are only normalised afterwards: solutions add, so each condition that any solution makes possible
    can be given weight one at the same time. The conditions that cannot are the third result.
    """
    columns, n = start, len(low)
    none, unit = np.zeros((n, n)), np.eye(n)
    while True:
        m = len(columns)
        buy, sell = columns.occurs - low[:, None] * columns.on, columns.occurs - high[:, None] * columns.on
        total = np.concatenate([-np.ones(m), np.zeros(3 * n)])
        result = _solve(
            # the last variables forgive what the first program could not satisfy, at a price nothing else pays
            np.concatenate([np.zeros(m), -np.ones(n), np.full(2 * n, 1e6)]),
            np.block(
                [
                    [-buy, none, -unit, none],
                    [sell, none, none, -unit],
                    [-columns.on.astype(float), unit, none, none],
                    [total],
                ]
            ),
            np.concatenate([np.zeros(3 * n), [-1.0]]),
            upper=np.concatenate([np.full(m, np.inf), np.ones(n), np.full(2 * n, np.inf)]),
        )
        bought, sold, on = -result.ineqlin.marginals[: 3 * n].reshape(3, n)
        gain = -result.ineqlin.marginals[-1]
        more = worlds.best(sold - bought, bought * low - sold * high - on, columns, gain - 1e-9)
        grown = columns if more is None else columns.join(more)
        if len(grown) == m:
            weights = _clean(result.x[:m] / result.x[:m].sum())
            return columns, weights / weights.sum(), np.flatnonzero(result.x[m : m + n] < 0.5)
        columns = grown


def _solve(cost: Floats, rows: Floats, bounds: Floats, ones: Floats | None = None, upper: Any = None) -> Any:
    """Minimise cost x with rows x <= bounds, ones x = 1, 0 <= x <= upper."""
    result = linprog(
        cost,
        A_ub=rows,
        b_ub=bounds,
        A_eq=None if ones is None else ones[None, :],
        b_eq=None if ones is None else [1.0],
        bounds=(0, None) if upper is None else np.column_stack([np.zeros(len(upper)), upper]),
        method="highs",
        options=_OPTIONS,
    )
    if result.status != 0:
        raise RuntimeError(f"the linear program of coherence failed: {result.message}")
    return result


def _clean(weights: Floats) -> Floats:
    return np.where(weights > 1e-13, weights, 0.0)


def polish(columns: Columns, weights: Floats, low: Floats, high: Floats) -> tuple[Columns, Floats]:
    """Keep the worlds that count, and solve for their weights to the last digits."""
    columns, weights = columns.take(weights > 0), weights[weights > 0]
    occurs, on = columns.occurs @ weights, columns.on @ weights
    at_low, at_high = np.abs(occurs - low * on) < 1e-8, np.abs(occurs - high * on) < 1e-8
    tight = at_low | at_high
    bound = np.where(at_low, low, high)[tight]
    rows = np.vstack([np.ones(len(weights)), columns.occurs[tight] - bound[:, None] * columns.on[tight]])
    goal = np.zeros(len(rows))
    goal[0] = 1.0
    better = weights + np.linalg.lstsq(rows, goal - rows @ weights, rcond=None)[0]
    if better.min() >= 0 and np.abs(rows @ better - goal).max() <= np.abs(rows @ weights - goal).max():
        weights = better
    return columns, weights / weights.sum()
