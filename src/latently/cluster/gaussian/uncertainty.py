"""What is not known of a mixture's parameters, from the rows that tell of each: draws of them, and wider tails."""

from typing import Any

import numpy as np

from latently.cluster.gaussian.given import covariances_of
from latently.learn.engine.protocol import Array

# Columns that hardly any row tells of keep this many degrees of freedom: wide, and finite.
_LEAST_FREEDOM = 2.0
# Least share of the regularised covariance that is kept: columns that are functions of others stay invertible.
_LEAST_KEPT = 1e-3


def observed_rows(shares: Array, X: Array) -> Array:
    """(k, d, d) rows of each component in which two columns are observed; on the diagonal, in which one is."""
    seen = ~np.isnan(X) * 1.0
    return np.array([(seen * share[:, None]).T @ seen for share in shares.T])


def widened(seen: Array, known: Array, distance: Array) -> tuple[Array, Array]:
    """How much more a missing entry varies than its component says, and the degrees of freedom of its Student's t.

    Parameters
    ----------
    seen
        (d,) rows of the component in which each column is observed.
    known
        (n,) entries that are observed in each row.
    distance
        (n,) squared distance of the row's observed part from the component.

    Returns
    -------
    tuple
        Factors (n, d) of the variances, and degrees of freedom (n, d).
    """
    freedom = np.maximum(seen - 1 - known[:, None], _LEAST_FREEDOM)
    rows = np.maximum(seen, 1.0)
    return np.maximum(rows / freedom, 1.0) * (1 + (1 + distance[:, None]) / rows), freedom


def told_covariances(model: Any) -> Array:
    """Covariances of a full or tied mixture as its rows tell them, without what `reg_covar` adds.

    That steadies what is filled in, and lets columns seem to go together less than they do: variances given the other
    columns would be too large. What the user said beforehand stays, and so do covariances of hardly more rows than
    columns, which the rows alone do not determine.
    """
    fitted = covariances_of(model.precisions_cholesky_, model.covariance_type)
    if model.prior is not None or model.fixed or model.bounds or model.tied:
        return fitted
    stats, least = model.statistics_, fitted.shape[-1] + 1
    mass = np.maximum(stats.mass(), least)
    kept = np.maximum((least / mass) ** 2, _LEAST_KEPT)
    told = stats.scatter() / mass * stats.frame.covariance_factor(model.covariance_type)
    return np.asarray(kept * fitted + (1 - kept) * told)


def drawn_parameters(model: Any, seen: Array, rng: np.random.RandomState) -> tuple[Array, Array, Array]:
    """Weights (k,), means (k, d) and covariances of a full or tied mixture, from their posterior.

    Each column is a regression on those that are observed more often, each coefficient learnt from the rows in which
    both are observed: exact under a flat prior if nothing is missing, and close to it otherwise.
    """
    alone = np.diagonal(seen, axis1=1, axis2=2)
    order = np.argsort(-alone.sum(axis=0), kind="stable")
    by_order = np.ix_(order, order)
    back = np.argsort(order)
    covariances, means = told_covariances(model), np.array(model.means_)
    tied = covariances.ndim == 2
    drawn = []
    for k in range(1 if tied else len(means)):
        sigma = (covariances if tied else covariances[k])[by_order]
        lift, residual = _regressions(sigma, (seen.sum(axis=0) if tied else seen[k])[by_order], rng)
        for at in range(len(means)) if tied else [k]:
            off = np.sqrt(residual / np.maximum(alone[at][order], 1.0)) * rng.standard_normal(len(order))
            means[at] += (lift @ off)[back]
        drawn.append(((lift * residual) @ lift.T)[np.ix_(back, back)])
    shares = rng.gamma(alone.max(axis=1) + 0.5)
    return shares / shares.sum(), means, drawn[0] if tied else np.array(drawn)


def _regressions(sigma: Array, seen: Array, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Draw the regression of each column on those before it: what lifts residuals to columns, and their variances."""
    d = len(sigma)
    root = np.linalg.cholesky(sigma)
    # a row that lacks the other column still tells something of it by the rest: half as much
    pairs = np.maximum((seen + np.diagonal(seen)[:, None]) / 2, 1.0)
    rows = np.array([pairs[j, : j + 1].mean() for j in range(d)])
    residual = np.diagonal(root) ** 2 * rows / rng.chisquare(np.maximum(rows - 1 - np.arange(d), _LEAST_FREEDOM))
    noise = np.sqrt(residual[:, None] / pairs) * rng.standard_normal((d, d))
    on_residuals = np.tril(root + noise, -1)  # of each column on the standardised residuals before it
    coefficients = np.tril(np.linalg.solve(root.T, on_residuals.T).T, -1)
    return np.linalg.inv(np.eye(d) - coefficients), residual
