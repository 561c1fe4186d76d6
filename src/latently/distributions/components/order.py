"""Which component is which: the order of a fit's components, and what keeps a component in its place."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from latently.distributions.inputs import Array

Ints = NDArray[np.intp]


def heaviest_first(fit: Any) -> tuple[Any, Any]:
    """Parameters and statistics with the heaviest component first, so that two runs agree."""
    order = np.argsort(-fit.params.weights, kind="stable")
    return fit.params.permuted(order), fit.stats.permuted(order)


def is_asymmetric(pseudo: Array) -> bool:
    """Whether a prior of the weights differs between components.

    Examples
    --------
    >>> is_asymmetric(np.array([1.0, 1.0])), is_asymmetric(np.array([1.0, 59.0]))
    (False, True)
    """
    return bool((pseudo != pseudo.flat[0]).any())


def matched_order(costs: Array, stay: NDArray[np.bool_]) -> Ints:
    """Which of their components belongs to each of ours, at the least cost (ours, theirs); some keep their place.

    Examples
    --------
    >>> costs = np.array([[9.0, 0.0, 9.0], [0.0, 9.0, 9.0], [9.0, 9.0, 0.0]])
    >>> matched_order(costs, np.zeros(3, bool)), matched_order(costs, np.array([True, False, False]))
    (array([1, 0, 2]), array([0, 1, 2]))
    """
    order, free = np.arange(len(costs)), np.flatnonzero(~stay)
    order[free] = free[linear_sum_assignment(costs[np.ix_(free, free)])[1]]
    return order


def named_by(labels: Any, k: int) -> NDArray[np.bool_]:
    """(k,) which components some row is known to belong to.

    Examples
    --------
    >>> named_by([0, -1, 2, 2], 3), named_by(None, 2)
    (array([ True, False,  True]), array([False, False]))
    """
    return np.isin(np.arange(k), np.asarray([] if labels is None else labels, dtype=float))


def both_labelled(mixture: Any, other: Any) -> NDArray[np.bool_]:
    """(k,) components that two mixtures were given rows of by name."""
    return labelled_components(mixture) & labelled_components(other)


def labelled_components(mixture: Any) -> NDArray[np.bool_]:
    """(k,) components that a fitted mixture was given rows of by name."""
    return np.asarray(getattr(mixture, "_labelled", np.zeros(len(mixture.weights_), bool)))
