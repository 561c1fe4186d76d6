"""Rows of probabilities of which some are fixed: NaN stands for an entry that is learnt."""

import numpy as np

from latently.distributions.inputs import Array


def best_rows(counts: Array, prior: Array, old: Array, fixed: Array) -> Array:
    """Most probable distributions for these counts; fixed entries stay, and so does a row without counts.

    Examples
    --------
    >>> best_rows(np.array([3.0, 1.0, 5.0]), np.ones(3), np.zeros(3), np.array([np.nan, np.nan, 0.6]))
    array([0.3, 0.1, 0.6])
    """
    free, wanted = np.isnan(fixed), np.maximum(counts + (prior - 1), 0.0)
    wanted *= free
    total = wanted.sum(axis=-1, keepdims=True)
    counted = total > 0
    if free.all() and counted.all():
        return np.asarray(wanted / total)
    learnt = wanted * (_mass_left(fixed) / np.where(counted, total, 1.0))
    return np.where(counted, np.where(free, learnt, fixed), old)


def filled_rows(start: Array, fixed: Array) -> Array:
    """Fixed entries in their place, and what they leave of one shared out in proportion to a start."""
    free = np.where(np.isnan(fixed), start, 0.0)
    total = free.sum(axis=-1, keepdims=True)
    return np.asarray(np.nan_to_num(fixed) + free / np.where(total > 0, total, 1.0) * _mass_left(fixed))


def n_free(fixed: Array) -> int:
    """Free probabilities: those that are not fixed, and one less for each sum that is given."""
    return int(np.maximum(np.isnan(fixed).sum(axis=-1) - 1, 0).sum())


def _mass_left(fixed: Array) -> Array:
    return np.asarray(np.maximum(1 - np.nansum(fixed, axis=-1, keepdims=True), 0.0))
