"""Inputs that are missing from a linear regression: what is expected there, and how much less such rows say."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from latently.distributions import Gaussian
from latently.distributions.inputs import ColumnError, patterns
from latently.predict.fingerprint import Fingerprint
from latently.predict.linear.evidence import Array
from latently.predict.linear.sums import RegressionStatistics, joint_moments


def conditional(cov: Array, seen: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Regression coefficients (missing, seen) and covariance of the missing columns of a Gaussian, given the rest."""
    inner, cross = cov[np.ix_(seen, seen)], cov[np.ix_(seen, ~seen)]
    slope = _solve(inner, cross).T
    left = cov[np.ix_(~seen, ~seen)] - slope @ cross
    return slope, (left + left.T) / 2


def _solve(A: Array, B: Array) -> Any:
    scale = np.sqrt(np.maximum(np.diagonal(A), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    if not B.size:  # nothing is seen, or nothing is missing
        return np.zeros_like(B)
    inner = A / scale / scale[:, None] + 1e-12 * np.eye(len(A))
    return cho_solve(cho_factor(inner, lower=True), B / scale[:, None]) / scale[:, None]


def marginalised(
    X: Array, inputs: tuple[Array, Array], n: float, coef: Array, spread: Array
) -> tuple[Array, Array, Array]:
    """Rows with missing inputs at their expectation, and what not knowing them adds to the answer.

    Parameters
    ----------
    X
        (m, d) rows.
    inputs
        Mean and covariance of the inputs.
    n
        Rows that these were learnt from.
    coef, spread
        Mean and covariance of the weights.

    Returns
    -------
    tuple
        The rows, the variances (m,) to add, and their degrees of freedom (m,).
    """
    X, extra, freedom = np.array(X, dtype=np.float64), np.zeros(len(X)), np.full(len(X), np.inf)
    mean, cov = inputs
    second = np.outer(coef, coef) + spread  # of the weights, uncentred
    for seen, rows in patterns(X):
        if not seen.all():
            slope, left = conditional(cov, seen)
            gap = X[np.ix_(rows, seen)] - mean[seen]
            X[np.ix_(rows, ~seen)] = mean[~seen] + gap @ slope.T
            freedom[rows] = max(n - 1 - seen.sum(), 0.0)
            far = 1 + (1 + np.einsum("ij,ji->i", gap, _solve(cov[np.ix_(seen, seen)], gap.T))) / n
            share = n / freedom[rows] if freedom[rows[0]] else np.inf
            extra[rows] = max(float((second[np.ix_(~seen, ~seen)] * left).sum()), 0.0) * share * far
    return X, extra, freedom


def completed(table: Array, weights: Array | None) -> RegressionStatistics:
    """Sum up incomplete rows, the target in the last column, under the Gaussian that fits all columns best.

    A row whose inputs are partly missing has its target about what the rest leads to expect, with the noise and with
    what the missing inputs could have changed: it counts as much less as its variance is larger.
    """
    joint = _joint(table, weights)
    every = np.ones(len(table)) if weights is None or not len(weights) else weights
    rows, shares = _expected(table, joint.mean, joint.covariance, float(every.sum()))
    moments = joint.expected_statistics(table, weights)
    lost = moments - joint_moments(rows, every * shares)
    return RegressionStatistics(moments, lost, Fingerprint.of(table, every))


def _joint(table: Array, weights: Array | None) -> Gaussian:
    """The Gaussian of inputs and target; where there is none, an error in the words of a regression."""
    try:
        return Gaussian(kind="full").fit(table, weights)
    except ColumnError as problem:
        counted = table if weights is None or not len(weights) else table[weights > 0]
        raise ColumnError(problem.column, _refusal(counted, int(problem.column))) from None


def _refusal(table: Array, column: int) -> str:
    values = table[~np.isnan(table[:, column]), column]
    if not len(values):
        return "has no observed values (or no weight): leave it out"
    flat = np.ptp(values) <= 8 * np.finfo(float).eps * np.abs(values).max()
    whole = int((~np.isnan(table)).all(axis=1).sum())
    return (
        f"is {'constant' if flat else 'a linear function of the columns before it'}, as far as {len(table)} rows "
        f"({whole} of them complete) can tell, so missing inputs cannot be marginalised: give more rows, leave columns "
        "out, or fill in the missing values first (for example with latently.impute.Imputer)"
    )


def _expected(table: Array, mean: Array, cov: Array, n: float) -> tuple[Array, Array]:
    """Rows with missing inputs as the other inputs lead to expect, and the share (n,) that each row counts for."""
    d = table.shape[1] - 1
    X, shares, inner = table[:, :d].copy(), np.ones(len(table)), cov[:d, :d]
    coef, residual = conditional(cov, np.arange(d + 1) < d)
    noise = max(float(residual[0, 0]), 1e-12 * float(cov[d, d])) * n / max(n - 1 - d, 1.0)
    for seen, rows in patterns(X):
        if not seen.all():
            slope, left = conditional(inner, seen)
            X[np.ix_(rows, ~seen)] = mean[:d][~seen] + (X[np.ix_(rows, seen)] - mean[:d][seen]) @ slope.T
            more = max(float(coef[0, ~seen] @ left @ coef[0, ~seen]), 0.0)
            shares[rows] = noise / (noise + more) if more > 0 else 1.0
    return np.column_stack([X, table[:, d]]), shares
