"""Uncertainty of a mixture's parameters, by the rows that inform each: wider tails of what is filled in."""

from typing import Any

import numpy as np

from latently.cluster.gaussian.given import covariances_of
from latently.distributions.components.gaussian.posterior import kept_share
from latently.distributions.components.slab import Ints
from latently.learn.engine.protocol import Array

# Columns that are hardly ever observed keep this many degrees of freedom: wide, and finite.
_LEAST_FREEDOM = 2.0


def observed_rows(shares: Array, X: Array) -> Array:
    """(k, d, d) rows of each component in which two columns are observed; on the diagonal, in which one is."""
    seen = ~np.isnan(X) * 1.0
    return np.array([(seen * share[:, None]).T @ seen for share in shares.T])


def widened(seen: Array, known: Ints, distance: Array) -> tuple[Array, Array]:
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


def likelihood_covariances(model: Any) -> Array:
    """Covariances of a full or tied mixture by its rows alone, without what `reg_covar` adds.

    That steadies what is filled in, and lets columns seem to go together less than they do: variances given the other
    columns would be too large. What the user said beforehand stays, and so do covariances of hardly more rows than
    columns, which the rows alone do not determine.
    """
    fitted = covariances_of(model.precisions_cholesky_, model.covariance_type)
    if model.prior is not None or model.fixed or model.bounds or model.tied:
        return fitted
    stats, d = model.statistics_, fitted.shape[-1]
    mass = np.maximum(stats.mass(), d + 1)
    kept = kept_share(mass, d)
    unregularised = stats.scatter() / mass * stats.frame.covariance_factor(model.covariance_type)
    return np.asarray(kept * fitted + (1 - kept) * unregularised)
