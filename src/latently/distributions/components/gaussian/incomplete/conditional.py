"""Rows with missing values, few of them alike: moments read off the precisions, and whole fits in one compiled call."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from latently import compiled
from latently.distributions.components.gaussian.frame import Frame
from latently.distributions.components.gaussian.incomplete.patterns import Patterns
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.inputs import Array

# Largest precision of a column given the others, in the frame: above it the other way keeps more digits.
_STEEP = 1e6


@dataclass(frozen=True, eq=False)
class IncompleteRows:
    """Rows in the order of their number of missing values, as the kernels take them.

    Attributes
    ----------
    frame
        Where the rows are centred and scaled.
    order
        (n,) place of each row in the table.
    absent
        (n, d) what is missing.
    Z, shares
        (n, d) rows in the frame, zero in the missing values, and their (n,) weights.
    columns, counts
        (n, d) observed columns of each row and then its missing values; (n,) how many are observed.
    volume
        (n,) the constant part of the log density.
    """

    frame: Frame
    order: NDArray[np.intp]
    absent: NDArray[np.bool_]
    Z: Array
    shares: Array
    columns: NDArray[np.intp]
    counts: NDArray[np.intp]
    volume: Array

    @property
    def record(self) -> tuple[NDArray[Any], ...]:
        """What a kernel is given first."""
        return self.Z, self.shares, self.columns, self.counts, self.volume

    def shifted(self, steps: Array) -> Self:
        """The same rows, moved by `steps` of the frame where they are observed."""
        return replace(self, Z=np.where(self.absent, 0.0, self.Z + steps))


def incomplete_rows(X: Array, frame: Frame, weights: Array | None = None) -> IncompleteRows:
    """Put rows into the order of their number of missing values, and into a frame."""
    missing = np.isnan(X)
    counts = X.shape[1] - missing.sum(axis=1)
    order = np.argsort(-counts, kind="stable")
    absent = missing[order]
    return IncompleteRows(
        frame,
        order,
        absent,
        np.where(absent, 0.0, frame.inward(X[order])),
        np.ones(len(X)) if weights is None or not len(weights) else weights[order],
        np.argsort(absent, axis=1, kind="stable"),
        counts[order],
        (~absent) @ -(np.log(frame.scale) + np.log(2 * np.pi) / 2),
    )


def suits_precisions(params: GaussianParams, patterns: Patterns) -> bool:
    """Whether the way by the precisions is exact enough here, and takes less work than the one by the covariances."""
    if params.kind not in ("full", "tied"):
        return False
    n, p, d, known = len(patterns.order), len(patterns.counts), patterns.columns.shape[1], patterns.counts
    by_missing = ((d - known) ** 3).sum() + n * d**2
    by_observed = (known**2 * (2.0 * d - known)).sum() + (n + 4 * p) * d**2 / 2
    return bool(by_missing < by_observed and params.steepest < _STEEP)


def expect_incomplete(
    params: GaussianParams, rows: IncompleteRows, shares: Array | None = None
) -> tuple[float, Array, Array, Array, Array]:
    """Bound, weight, centre, first and second moments, the missing entries in expectation.

    Responsibilities are the posterior ones, or (with a covariance for each component) those given (k, n) in the order
    of the table; there is no bound then.
    """
    k, d = params.means.shape
    weight, first, second = np.zeros(k), np.zeros((k, d)), np.zeros_like(params.dense_precision)
    given = np.empty((k, 0)) if shares is None else np.take(shares, rows.order, axis=1)
    bound = _expect(params, rows, given, (weight, first, second))
    return bound, weight, params.means, first, second if params.kind == "full" else second[0]


def joint_incomplete(params: GaussianParams, rows: IncompleteRows) -> Array:
    """(n, k) log p(observed part of x_i, k), in the order of the table."""
    joint = np.empty((len(rows.Z), len(params.weights)))
    _expect(params, rows, np.empty((joint.shape[1], 0)), None, joint)
    out = np.empty_like(joint)
    out[rows.order] = joint
    return out


def describe_incomplete(params: GaussianParams, rows: IncompleteRows) -> tuple[Array, Array, Array]:
    """Log p(observed part of x_i, k) (n, k); completed rows (k, n, d) and variances of what is missing, in the frame.

    All in the order of `rows`.
    """
    shape = (len(params.weights), *rows.Z.shape)
    joint, completed, spread = np.empty(shape[1::-1]), np.empty(shape), np.empty(shape)
    _expect(params, rows, np.empty((shape[0], 0)), None, joint, completed, spread)
    return joint, completed, spread


def coloured(params: GaussianParams, rows: IncompleteRows, chosen: NDArray[np.intp], noise: Array) -> Array:
    """Standard normal noise (n, d) as that of the missing values in the chosen component of each row."""
    noise = noise.copy()
    compiled.components.conditional.colour(rows.columns, rows.counts, params.dense_precision, chosen, noise)
    return noise


def _expect(
    params: GaussianParams, rows: IncompleteRows, given: Array, moments: tuple[Array, ...] | None, *answers: Array
) -> float:
    with np.errstate(divide="ignore"):
        constants = np.log(params.weights) + params.log_roots
    k = len(constants)
    blank = (np.empty((0, 0)), np.empty((k, 0, 0)), np.empty((k, 0, 0)))
    sums = moments or (np.empty(0), np.empty((0, 0)), np.empty((0, 0, 0)))
    places = (*sums, *answers, *blank[len(answers) :])
    return float(
        compiled.components.conditional.expect(
            *rows.record, params.means, params.dense_precision, constants, given, *places
        )
    )


def split_in_two(params: GaussianParams, component: int) -> GaussianParams:
    """One more component: one is cut through its mean, across its longest axis, into halves with its moments."""
    tied = params.kind == "tied"
    covariance = params.covariances if tied else params.covariances[component]
    values, vectors = np.linalg.eigh(covariance)
    step = np.sqrt(2 / np.pi * values[-1]) * vectors[:, -1]  # from the mean of a normal to that of its half
    step *= np.sign(step[np.abs(step).argmax()])  # an axis has no direction of its own
    weights = np.append(params.weights, params.weights[component] / 2)
    weights[component] /= 2
    means = np.vstack([params.means, params.means[component] - step])
    means[component] += step
    less = np.outer(step, step)
    if tied:
        return replace(params, weights=weights, means=means, covariances=covariance - 2 * weights[component] * less)
    covariances = np.concatenate([params.covariances, covariance[None] - less])
    covariances[component] -= less
    return replace(params, weights=weights, means=means, covariances=covariances)
