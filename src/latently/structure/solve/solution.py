"""What the algorithms give back, and the two objectives that they bring together."""

from dataclasses import dataclass

import numpy as np

from latently.structure.protocol import Array, Planes


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights, and how good they are.

    Parameters
    ----------
    w
        (d,) the weights.
    primal
        1/2 |w - start|^2 plus the losses, each times its bound.
    dual
        A value that no weights can get below.
    trace
        The dual objective after each iteration.
    reason
        Why the algorithm ended: "converged", "max_iter", "stopped" or "interrupted".
    """

    w: Array
    primal: float
    dual: float
    trace: tuple[float, ...]
    reason: str

    @property
    def gap(self) -> float:
        """Primal less dual objective, as a share of the primal."""
        return relative_gap(self.primal, self.dual)


def relative_gap(primal: float, dual: float) -> float:
    """Primal less dual objective, as a share of the primal; 0 where both are."""
    return max(primal - dual, 0.0) / primal if primal > 0 else 0.0


def primal_objective(planes: Planes, w: Array, start: Array, bounds: Array) -> float:
    """1/2 |w - start|^2 plus the losses at w, given the most violated planes there."""
    away = w - start
    return float(0.5 * (away @ away) + bounds @ np.maximum(planes.values(w), 0.0))
