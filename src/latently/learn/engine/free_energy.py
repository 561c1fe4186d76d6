"""The free energy of any responsibilities, and so the gap between a bound and the likelihood."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from latently.learn.engine.protocol import JointModel


def free_energy(model: JointModel[Any], params: Any, q: npt.ArrayLike, X: npt.ArrayLike) -> float:
    """F(q, params) = sum over rows of E_q[log p(x, z)] + H(q).

    It equals the log-likelihood minus KL(q || posterior), so it is at most the log-likelihood, and reaches it
    when q is the posterior.

    Parameters
    ----------
    model
        Anything with `log_joint(params, X)`.
    params
        The parameters at which to take it.
    q
        (n, k) responsibilities; each row is a distribution.
    X
        (n, d) rows.

    Examples
    --------
    >>> import numpy as np
    >>> class Coin:
    ...     def log_joint(self, params, X):
    ...         return np.log(np.full((len(X), 2), params))
    >>> free_energy(Coin(), 0.25, [[0.5, 0.5]], [[0.0]]) == np.log(0.5)
    np.True_
    """
    rows, weights = np.asarray(X, dtype=float), np.asarray(q, dtype=float)
    joint = model.log_joint(params, rows)
    if weights.shape != joint.shape:
        raise ValueError(f"q has shape {weights.shape}, but {joint.shape} (rows, components) is needed")
    if (weights < 0).any() or not np.allclose(weights.sum(axis=1), 1.0):
        raise ValueError("q must be non-negative, and each of its rows must sum to one")
    # Where q is zero the joint may be -inf: such a state costs nothing.
    energy = np.where(weights > 0, weights * np.where(weights > 0, joint, 0.0), 0.0)
    return float(np.sum(energy - xlogy(weights, weights)))
