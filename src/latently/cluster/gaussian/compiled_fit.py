"""Whole fits of Gaussian mixtures to rows with missing values, in one compiled call."""

from dataclasses import replace

import numpy as np

from latently import compiled
from latently.distributions.components.gaussian.incomplete.conditional import IncompleteRows
from latently.distributions.components.gaussian.moments import GaussianMoments
from latently.distributions.components.gaussian.params import ILL_DEFINED, GaussianParams
from latently.learn.engine.em import ROUNDING, Fit, ObjectiveFell
from latently.learn.engine.protocol import Array


def climbed(
    rows: IncompleteRows, start: GaussianParams, strength: float, *, tol: float, max_iter: int, goal: float = -np.inf
) -> Fit[GaussianParams, GaussianMoments]:
    """EM from a start, full or tied, under the relative prior: `em` for tables that one call takes in at a time.

    Parameters
    ----------
    rows
        What to fit to.
    start
        Parameters in the frame of the rows.
    strength
        Rows that the prior on each covariance is worth, see `GaussianMixtureModel`.
    tol, max_iter
        As in `em`.
    goal
        Log-likelihood to reach: the fit is "stopped" where ten more steps like the last would not get there.
    """
    k, d = start.means.shape
    weights, means = start.weights.copy(), start.means.copy()
    covariances = start.covariances.reshape(-1, d, d).copy()
    N, S1, S2 = np.empty(k), np.empty((k, d)), np.empty_like(covariances)
    centre, trace = np.empty((k, d)), np.empty((max_iter, 2))
    steps = compiled.components.conditional.climb(
        *rows.record,
        strength,
        start.frame.unit("diag"),
        weights,
        means,
        covariances,
        tol,
        goal,
        N,
        S1,
        S2,
        centre,
        trace,
    )
    if steps <= 0:
        raise ValueError(ILL_DEFINED)
    total, objectives = float(rows.shares.sum()), trace[:steps, 1]
    reason = _reason(objectives, total, tol, max_iter)
    stats = GaussianMoments(
        total, float(trace[steps - 1, 0]), N, centre, S1, S2 if start.kind == "full" else S2[0], start.kind, start.frame
    )
    params = replace(start, weights=weights, means=means, covariances=covariances.reshape(start.covariances.shape))
    return Fit(params, stats, tuple(objectives.tolist()), int(steps), reason == "converged", reason)


def _reason(objectives: Array, rows: float, tol: float, max_iter: int) -> str:
    rises = objectives[1:] - objectives[:-1]
    if rises.min(initial=0.0) < 0:
        fallen = rises < -ROUNDING * (np.abs(objectives[1:]) + rows)
        if fallen.any():
            at = int(fallen.argmax())
            raise ObjectiveFell(
                f"the objective fell from {objectives[at]!r} to {objectives[at + 1]!r} in iteration {at + 2}"
            )
    if len(rises) and abs(rises[-1]) < tol * rows:
        return "converged"
    return "max_iter" if len(objectives) == max_iter else "stopped"
