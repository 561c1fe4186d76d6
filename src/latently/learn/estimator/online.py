"""Unlearning rows, in the same words and by the same rule in every model: what was never learnt is not forgotten."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latently.distributions.components.base import ROUNDING

Array = NDArray[np.float64]


def refuse_strangers(learnt: float, removed: float, size: float) -> None:
    """An error if rows lie further from their centres than all rows that were learnt together.

    Parameters
    ----------
    learnt
        Sum of squared distances of all rows that were learnt.
    removed
        The same of those that are to be forgotten.
    size
        Squared size of the numbers that were subtracted, which bounds what rounding leaves.
    """
    if removed > learnt + ROUNDING * (learnt + size):
        raise ValueError(
            "cannot forget these rows: they lie further from the centres than all rows that were learnt together"
        )


def weight_left(learnt: float, removed: float, left: Array, *, unit: str = "component") -> Array:
    """(k,) weights of the components that are left, not below zero; an error if rows were never learnt.

    Parameters
    ----------
    learnt, removed
        Weight of the rows that were learnt, and of those that are to be forgotten.
    left
        (k,) what subtraction leaves of each component's weight.
    unit
        What has the weights: a component, a state or a cluster.

    Examples
    --------
    >>> weight_left(5.0, 2.0, np.array([3.0, -1e-12]))
    array([3., 0.])
    >>> weight_left(5.0, 2.0, np.array([4.0, -1.0]))
    Traceback (most recent call last):
    ValueError: forgetting these rows would leave component 1 with a weight of -1: they were not all learnt, or ...
    """
    if not learnt - removed > ROUNDING * learnt:
        raise ValueError(
            f"forgetting a weight of {removed:g} leaves nothing of the {learnt:g} that were learnt: fit anew"
        )
    if (left < -ROUNDING * learnt).any():
        k = int(np.argmin(left))
        raise ValueError(
            f"forgetting these rows would leave {unit} {k} with a weight of {left[k]:g}: they were not all learnt, or "
            "the model has changed much since; fit it to the rows that are left"
        )
    return np.maximum(left, 0.0)


def refuse_other(mine: Any, other: Any) -> None:
    """An error if a model of another class, or with other columns, is to be merged into one, or is not fitted."""
    if type(other) is not type(mine):
        raise TypeError(f"cannot merge a {type(other).__name__} into a {type(mine).__name__}")
    for model in (mine, other):
        check_is_fitted(model)
    names = [list(getattr(model, "feature_names_in_", range(model.n_features_in_))) for model in (mine, other)]
    if names[0] != names[1]:
        raise ValueError(f"the two models have different columns: {names[0]} and {names[1]}")


def nearest_order(mine: Array, theirs: Array) -> NDArray[np.intp]:
    """(k,) which of their centres (k, d) belongs to each of ours: those that are nearest, one each.

    Examples
    --------
    >>> nearest_order(np.array([[0.0], [9.0]]), np.array([[8.0], [1.0]])).tolist()
    [1, 0]
    """
    from scipy.optimize import linear_sum_assignment

    return np.asarray(linear_sum_assignment(((mine[:, None] - theirs) ** 2).sum(axis=2))[1])
