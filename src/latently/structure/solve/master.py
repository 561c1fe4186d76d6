"""The exact programme over kept planes, by an interior-point method: for few weights, whatever their scales.

    minimise 1/2 |w - start|^2 + sum_b bound_b xi_b   subject to   xi_b >= 0,  xi_b >= offset_p - w . direction_p

Steps between pairs of planes take as many passes as the features are ill-conditioned; this takes about twenty steps of
Newton's, each with a system of as many equations as there are weights (Mehrotra's predictor and corrector).
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, svd

from latently.structure.protocol import Array, Ints

_STEPS = 60
_SHORT = 0.995  # of the way to the boundary
_ROUNDING = 1e-14  # share of the largest size, and of the diagonal of a system, that is nothing


def solve_master(A: Array, offset: Array, block: Ints, bounds: Array, tol: float) -> Array:
    """(P,) dual variables of the planes whose sums within blocks are below the bounds.

    Parameters
    ----------
    A
        (P, d) directions.
    offset
        (P,) offsets, less direction . start.
    block
        (P,) the block of each plane.
    bounds
        (n,) bounds of the blocks, positive.
    tol
        Largest sum of the gaps of the blocks.

    Examples
    --------
    >>> solve_master(np.array([[2.0]]), np.array([1.0]), np.array([0]), np.array([10.0]), 1e-9).round(4)
    array([0.25])
    """
    P, n = len(offset), len(bounds)
    # along the principal axes of the planes, so that neither scales nor directions without any plane lose digits
    left, sizes, _ = svd(A, full_matrices=False)
    principal = (left * sizes)[:, sizes > _ROUNDING * sizes.max(initial=0.0)]
    rows = np.concatenate([principal, np.zeros((n, principal.shape[1]))])  # the planes of the true outputs last
    level = np.concatenate([offset, np.zeros(n)])
    owner = np.concatenate([block, np.arange(n)])
    alpha = (bounds / (np.bincount(block, minlength=n) + 1.0))[owner]
    w = rows.T @ alpha
    xi = np.maximum(_highest(level - rows @ w, owner, n), 0.0) + 1.0
    slack = rows @ w + xi[owner] - level
    for _ in range(_STEPS):
        away = w - rows.T @ alpha, bounds - np.bincount(owner, alpha, n), slack - (rows @ w + xi[owner] - level)
        mean = float(alpha @ slack) / len(slack)
        if alpha @ slack <= tol and np.abs(away[0]).max(initial=0.0) <= 1e-9 * (1.0 + np.abs(w).max(initial=0.0)):
            break
        try:
            newton = _Newton(rows, owner, alpha, slack, away, n)
        except LinAlgError:  # no digits are left: this is as near as it gets
            break
        guess = newton.step(alpha * slack)
        reach = _longest(alpha, guess[0]), _longest(slack, guess[1])
        ahead = float((alpha + reach[0] * guess[0]) @ (slack + reach[1] * guess[1])) / len(slack)
        target = mean * (ahead / mean) ** 3
        d_alpha, d_slack, d_w, d_xi = newton.step(alpha * slack + guess[0] * guess[1] - target)
        length = _SHORT * min(_longest(alpha, d_alpha), _longest(slack, d_slack))
        alpha, slack = alpha + length * d_alpha, slack + length * d_slack
        w, xi = w + length * d_w, xi + length * d_xi
    return np.asarray(alpha[:P])


class _Newton:
    """The linearised conditions at a point; `step` solves them for a right-hand side of alpha * slack."""

    def __init__(
        self, rows: Array, owner: Ints, alpha: Array, slack: Array, away: tuple[Array, Array, Array], n: int
    ) -> None:
        self.rows, self.owner, self.alpha, self.slack, self.away, self.n = rows, owner, alpha, slack, away, n
        self.ratio = alpha / slack
        self.total = np.bincount(owner, self.ratio, n)
        self.mixed = np.zeros((n, rows.shape[1]))
        np.add.at(self.mixed, owner, rows * self.ratio[:, None])
        # about the means of the blocks: nothing is lost by a difference of large squares
        centred = (rows - (self.mixed / self.total[:, None])[owner]) * np.sqrt(self.ratio)[:, None]
        H = np.eye(rows.shape[1]) + centred.T @ centred
        self.factor = cho_factor(H + _ROUNDING * np.diag(np.diag(H)))

    def step(self, product: Array) -> tuple[Array, Array, Array, Array]:
        """Steps of alpha, slack, w and xi."""
        off_w, off_sum, off_slack = self.away
        push = self.ratio * off_slack - product / self.slack
        right_w = -off_w + self.rows.T @ push
        right_xi = np.bincount(self.owner, push, self.n) - off_sum
        d_w = cho_solve(self.factor, right_w - self.mixed.T @ (right_xi / self.total))
        d_xi = (right_xi - self.mixed @ d_w) / self.total
        d_slack = self.rows @ d_w + d_xi[self.owner] - off_slack
        return -(product + self.alpha * d_slack) / self.slack, d_slack, d_w, d_xi


def _highest(values: Array, owner: Ints, n: int) -> Array:
    found = np.full(n, -np.inf)
    np.maximum.at(found, owner, values)
    return found


def _longest(values: Array, change: Array) -> float:
    """The longest step, one at most, that keeps values positive."""
    falling = change < 0
    return min(1.0, float((-values[falling] / change[falling]).min(initial=np.inf)))
