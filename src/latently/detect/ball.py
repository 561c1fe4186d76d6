"""The ball that labelled outliers are kept out of, by gradient descent: the problem is not convex."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from latently.kernel.base import Array
from latently.kernel.gram.eigen import leading
from latently.learn.engine.cores import single_threaded_blas

_REASONS = {0: "converged", 1: "max_iter"}  # by the status of L-BFGS-B
_AXES = 300  # leading directions of feature space in which the centre may lie
_ROUND = 0.05  # width of the corner of the loss that is rounded off, in units of the mean squared distance


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball in feature space.

    Parameters
    ----------
    centre
        (n,) weights of the training things.
    squared_radius
        Of the ball.
    margin
        How far labelled rows are to be from the boundary, in squared distance.
    squared
        (n,) squared distances of the training things from the centre.
    length
        Squared length of the centre.
    objective, n_iter, reason
        Where the descent ended, after how many iterations, and why: "converged", "max_iter" or "stalled".
    """

    centre: Array
    squared_radius: float
    margin: float
    squared: Array
    length: float
    objective: float
    n_iter: int
    reason: str


def descend(K: Array, labels: Array, *, nu: float, kappa: float, labelled_weight: float, max_iter: int) -> Ball:
    """Minimise R^2 - kappa m g + mean losses over the centre, the squared radius R^2 and the margin g >= 0.

    Unlabelled rows lose what they are outside by; labelled ones what they lack of being inside (or outside) by
    the margin. Losses are hinges with a rounded corner (Huber), so that L-BFGS has a gradient.

    Parameters
    ----------
    K
        (n, n) kernel matrix.
    labels
        (n,) 1, -1 or 0.
    nu, kappa, labelled_weight
        See `SemiSupervisedSVDD`.
    max_iter
        Iterations at most.
    """
    with single_threaded_blas():
        return _descended(K, labels, nu, kappa, labelled_weight, max_iter)


def _descended(K: Array, labels: Array, nu: float, kappa: float, labelled_weight: float, max_iter: int) -> Ball:
    own = np.diagonal(K)
    unit = max(float(own.mean() - K.mean()), np.finfo(float).tiny)  # mean squared distance from the mean
    axes = leading(K, min(len(K), _AXES))
    features = axes.vectors * np.sqrt(axes.values / unit)  # (n, a) coordinates in which a step is a step in space
    free = max(int((labels == 0).sum()), 1)
    labelled = max(int((labels != 0).sum()), 1)
    weights = np.where(labels == 0, 1.0 / (nu * free), labelled_weight / labelled)
    signs = np.where(labels < 0, -1.0, 1.0)
    known = (labels != 0).astype(float)
    pull = kappa * most_weight(weights, signs, labels != 0, 1.0)  # of the margin; with more it would have no end
    a = features.shape[1]

    def cost(theta: Array) -> tuple[float, Array]:
        centre, radius, margin = theta[:a], theta[a], theta[a + 1]
        squared = own / unit - 2.0 * (features @ centre) + centre @ centre
        gap = signs * (squared - radius) + known * margin  # above zero: on the wrong side
        loss, gradient = _rounded_hinge(gap)
        push = weights * gradient
        by_squared = signs * push  # derivative in the squared distances
        by_centre = 2.0 * (by_squared.sum() * centre - by_squared @ features)
        value = float(radius - pull * margin + weights @ loss)
        return value, np.concatenate([by_centre, [1.0 - by_squared.sum(), known @ push - pull]])

    start = np.where(labels >= 0, 1.0, 0.0) @ features / max(int((labels >= 0).sum()), 1)
    squared = own / unit - 2.0 * (features @ start) + start @ start
    begin = np.concatenate([start, [np.quantile(squared, 1 - nu / 2), 0.0]])
    bounds = [(None, None)] * a + [(0.0, None), (0.0, None)]
    found = minimize(cost, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": max_iter})
    centre = np.sqrt(unit) * (axes.coefficients @ found.x[:a])  # (n,) weights of the training things
    inner = K @ centre
    length = float(centre @ inner)
    return Ball(
        centre, float(found.x[a]) * unit, float(found.x[a + 1]) * unit, own - 2.0 * inner + length, length,
        float(found.fun) * unit, int(found.nit), _REASONS.get(found.status, "stalled"),
    )  # fmt: skip


def most_weight(upper: Array, signs: Array, known: npt.NDArray[np.bool_], total: float) -> float:
    """The most weight that labelled rows can have: outliers are balanced by rows that belong."""
    outliers = min(float(upper[signs < 0].sum()), float(upper[signs > 0].sum()) - total)
    return outliers + min(float(upper[known & (signs > 0)].sum()), total + outliers)


def _rounded_hinge(gap: Array) -> tuple[Array, Array]:
    """max(gap, 0) with the corner rounded off, and its derivative."""
    inside = (gap + _ROUND).clip(min=0.0)
    loss = np.where(gap <= -_ROUND, 0.0, np.where(gap >= _ROUND, gap, inside**2 / (4 * _ROUND)))
    gradient = np.where(gap >= _ROUND, 1.0, inside / (2 * _ROUND))
    return loss, gradient
