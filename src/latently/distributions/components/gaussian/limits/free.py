"""Which directions a Gaussian mixture's parameters are free to move in: what is counted, and what has an error."""

import numpy as np
from numpy.typing import NDArray

from latently.distributions.components.gaussian.frame import Kind, covariance_shape
from latently.distributions.components.gaussian.limits.constraints import Constraints
from latently.distributions.inputs import Array


def free_directions(kind: Kind, k: int, d: int, constraints: Constraints | None) -> Array:
    """(coordinates, free parameters): the coordinates are the weights, the means, and the covariances.

    Of a symmetric matrix the lower triangle counts, row by row. A tied value is one direction, a fixed one is none.
    """
    alone, none = np.arange(k), np.zeros((k, d), bool)
    if constraints is None:
        blocks = [_weights(alone, none[:, 0]), _columns(alone, none)]
        blocks.append(_covariances(kind, alone, np.zeros(covariance_shape(kind, k, d), bool), d))
    else:
        groups = constraints.groups
        blocks = [_weights(groups.weights, constraints.weights.fixed), _columns(groups.means, constraints.means.fixed)]
        blocks.append(_covariances(kind, groups.covariances, ~np.isnan(constraints.known), d))
    out = np.zeros(np.sum([block.shape for block in blocks], axis=0))
    corner = np.zeros(2, int)
    for block in blocks:
        end = corner + block.shape
        out[corner[0] : end[0], corner[1] : end[1]] = block
        corner = end
    return out


def count_free(kind: Kind, k: int, d: int, constraints: Constraints | None) -> int:
    """How many parameters are learnt: the number of free directions."""
    half = d * (d + 1) // 2
    if constraints is None:
        return k - 1 + k * d + {"full": k * half, "tied": half, "diag": k * d, "spherical": k}[kind]
    groups, known = constraints.groups, ~np.isnan(constraints.known)
    open_weights = np.unique(groups.weights[~constraints.weights.fixed])
    means = (~constraints.means.fixed[np.unique(groups.means)]).sum()
    if kind == "tied":
        covariances = 0 if known.any() else half
    else:
        first = ~known[np.unique(groups.covariances)]
        covariances = first[:, 0, 0].sum() * half if kind == "full" else first.sum()
    return int(max(len(open_weights) - 1, 0) + means + covariances)


def _weights(groups: NDArray[np.intp], fixed: NDArray[np.bool_]) -> Array:
    """What one free weight gains the last free one loses."""
    free = [group for group in np.unique(groups) if not fixed[groups == group].any()]
    each = np.array([(groups == group) / (groups == group).sum() for group in free]).reshape(-1, len(groups))
    return np.asarray((each[:-1] - each[-1:]).T)


def _columns(groups: NDArray[np.intp], fixed: NDArray[np.bool_]) -> Array:
    """Directions of (k, width) values: one for each group and column that is not fixed."""
    k, width = fixed.shape
    ties = groups[:, None] == np.unique(groups)  # (k, groups)
    every = np.einsum("kg,jl->kjgl", ties, np.eye(width)).reshape(k * width, -1)
    open_ = ~fixed[np.unique(groups)].ravel()
    return np.asarray(every[:, open_])


def _covariances(kind: Kind, groups: NDArray[np.intp], known: NDArray[np.bool_], d: int) -> Array:
    if kind == "tied":
        size = d * (d + 1) // 2
        return np.eye(size)[:, : 0 if known.any() else size]
    if kind == "full":
        rows, columns = np.tril_indices(d)
        return _columns(groups, known[:, rows, columns])
    return _columns(groups, known.reshape(len(known), -1))
