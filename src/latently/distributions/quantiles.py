"""Quantiles of distributions whose cdf is known."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from latently.distributions.inputs import Array

NEAR = 1e-14
"""Relative width of a bracket in which a quantile counts as found."""


def bisected(
    cdf: Callable[[Array], Array], low: Array, high: Array, level: Array | float, whole: NDArray[np.bool_] | bool
) -> Array:
    """Smallest x, between ends that hold it, at which a cdf reaches a level; whole numbers where `whole`.

    Examples
    --------
    >>> import numpy as np
    >>> bisected(lambda x: x**2, np.zeros(1), np.ones(1), np.array([0.25]), np.array([False]))
    array([0.5])
    """
    same = low == high
    low = np.where(whole & ~same, low - 1, low)
    with np.errstate(invalid="ignore"):
        for _ in range(200):
            middle = np.where(whole, np.floor((low + high) / 2), (low + high) / 2)
            moving = (middle > low) & (middle < high)
            near = high - low <= NEAR * np.maximum(np.abs(low), np.abs(high))
            if not (moving & (whole | ~near)).any():
                break
            reached = cdf(np.where(moving, middle, high)) >= level
            low, high = np.where(moving & ~reached, middle, low), np.where(moving & reached, middle, high)
    return np.asarray(high)
