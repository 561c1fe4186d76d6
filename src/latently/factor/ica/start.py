"""Where a search for sources starts."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from latently.learn.engine.protocol import Array


def start_of(given: ArrayLike | None, k: int, random_state: Any) -> Array:
    """(k, k) matrix that was given, or one drawn from a normal distribution.

    Examples
    --------
    >>> start_of([[2, 0], [0, 1]], 2, None)
    array([[2., 0.], [0., 1.]])
    """
    if given is None:
        return np.asarray(check_random_state(random_state).normal(size=(k, k)))
    W = np.asarray(given, dtype=np.float64)
    if W.shape != (k, k):
        raise ValueError(f"w_init has invalid shape -- should be {(k, k)}")
    return W
