"""Directions are known up to their sign: one rule for all of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def flipped(vectors: Array) -> Array:
    """Rows with signs that make the largest entry of each positive.

    Examples
    --------
    >>> flipped(np.array([[1.0, -2.0], [3.0, 0.5]]))
    array([[-1. ,  2. ],
           [ 3. ,  0.5]])
    """
    places = np.argmax(np.abs(vectors), axis=1)
    signs = np.sign(vectors[np.arange(len(vectors)), places])
    return np.asarray(vectors * np.where(signs == 0, 1, signs)[:, None])
