"""The alternative to states: rows that follow from the rows before them.

Each column is predicted from the rows before it, by its own past or by that of all columns; what is left is normal, or
a mixture without memory. A missing value is replaced by its own prediction before it predicts others, so that every
density is one of a row given what was seen before it, and densities of rows multiply to that of the series.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.cluster import Mixture
from latently.learn import select
from latently.report.study.model import quiet

Values = NDArray[np.float64]
_ORDERS = (1, 2, 3)
_PASSES = 3


def criteria(X: Values, sizes: list[int], seed: int) -> list[float]:
    """Bayesian information criteria of autoregressions: normal ones by order, then mixtures of what the best leaves.

    Parameters
    ----------
    X
        (n, d) rows in the order of time, NaN where missing.
    sizes
        Numbers of components of the mixtures.
    seed
        Of the mixtures.

    Returns
    -------
    list of float
        The lower, the better.
    """
    tried = [(order, joint) for order in _ORDERS for joint in ((False, True) if X.shape[1] > 1 else (False,))]
    known = [(rest(X, order, joint), order * X.shape[1] ** (1 + joint)) for order, joint in tried]
    price = np.log(len(X))
    normal = [min(_normal(left, full) for full in (False, True)) + price * coefficients for left, coefficients in known]
    left, coefficients = known[int(np.argmin(normal))]
    with quiet():
        grid: dict[str, Any] = {"n_components": sizes}
        plain = select((Mixture(n_init=2), grid), left, warm_start=False, random_state=seed)
    mixed = [line["bic"] + price * coefficients for line in plain.table if not line["error"]]
    return [float(value) for value in (*normal, *mixed)]


def rest(X: Values, order: int, joint: bool) -> Values:
    """What is new in each row, given as many rows before it as the order; NaN where missing.

    Parameters
    ----------
    X
        (n, d) rows in the order of time.
    order
        How many rows before.
    joint
        Whether each column is predicted by the past of all columns, or by its own.
    """
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    middle = filled.mean(axis=0)
    for _ in range(_PASSES if np.isnan(X).any() else 1):
        weights = _weights(X - middle, filled - middle, order, joint)
        filled = _refilled(X - middle, weights) + middle
    return np.asarray(X - middle - _before(filled - middle, order) @ weights)


def _before(Z: Values, order: int) -> Values:
    """(n, order d) the rows before, the nearest first; zero before the start."""
    padded = np.concatenate([np.zeros((order, Z.shape[1])), Z])
    return np.hstack([padded[order - k : len(padded) - k] for k in range(1, order + 1)])


def _weights(Z: Values, filled: Values, order: int, joint: bool) -> Values:
    """(order d, d) least-squares coefficients."""
    past, d = _before(filled, order), Z.shape[1]
    out = np.zeros((order * d, d))
    for j in range(d):
        used = np.arange(order * d) if joint else np.arange(order) * d + j
        there = ~np.isnan(Z[:, j])
        out[used, j] = np.linalg.lstsq(past[np.ix_(there, used)], Z[there, j], rcond=None)[0]
    return out


def _refilled(Z: Values, weights: Values) -> Values:
    """Rows with missing values at their predictions, one row after the other."""
    out, d = np.nan_to_num(Z), Z.shape[1]
    order = len(weights) // d
    gone = np.isnan(Z)
    for t in np.flatnonzero(gone.any(axis=1)):
        past = np.zeros((order, d))
        past[: min(t, order)] = out[max(t - order, 0) : t][::-1]
        # a prediction from predictions must not run away
        out[t, gone[t]] = np.clip(past.ravel() @ weights, -6.0, 6.0)[gone[t]]
    return out


def _normal(left: Values, full: bool) -> float:
    """-2 log likelihood of rows under a normal distribution, and the price of its parameters."""
    d, there = left.shape[1], ~np.isnan(left)
    spread = np.diag(np.nanvar(left, axis=0) + 1e-12)
    parameters = 2 * d
    if full:
        parameters += d * (d - 1) // 2
        spread = _covariance(left, there)
    return float(np.log(len(left)) * parameters - 2 * _log_likelihood(left, there, spread))


def _covariance(left: Values, there: NDArray[np.bool_]) -> Values:
    """Covariance by the rows in which both columns are there, made positive definite."""
    z = np.where(there, left - np.nanmean(left, axis=0), 0.0)
    spread = (z.T @ z) / np.maximum(there.T.astype(float) @ there, 1.0)
    size, directions = np.linalg.eigh(spread)
    return np.asarray((directions * np.maximum(size, 1e-6 * size[-1])) @ directions.T)


def _log_likelihood(left: Values, there: NDArray[np.bool_], spread: Values) -> float:
    """Of the observed entries, rows with the same ones together."""
    middle, total = np.nanmean(left, axis=0), 0.0
    for pattern in np.unique(there, axis=0):
        rows = (there == pattern).all(axis=1)
        if not pattern.any():
            continue
        root = np.linalg.cholesky(spread[np.ix_(pattern, pattern)])
        z = np.linalg.solve(root, (left[np.ix_(rows, pattern)] - middle[pattern]).T)
        total -= 0.5 * float((z**2).sum()) + rows.sum() * float(
            np.log(np.diag(root)).sum() + 0.5 * pattern.sum() * np.log(2 * np.pi)
        )
    return total
