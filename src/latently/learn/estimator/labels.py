"""Rows whose component or state is known."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.intp]
UNKNOWN = -1


def read_labels(given: Any, n: int, k: int) -> Labels | None:
    """(n,) component of each row, -1 where it is unknown; None if nothing was given.

    Whole numbers may come as floats; -1, NaN and None mean that a component is not known.

    Examples
    --------
    >>> read_labels([0, float("nan"), 1.0], 3, 2)
    array([ 0, -1,  1])
    """
    if given is None:
        return None
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("labels must be component numbers, with -1 or NaN for unknown") from None
    if values.shape != (n,):
        raise ValueError(f"labels must be one for each row, of shape ({n},), got {values.shape}")
    values = np.where(np.isnan(values), UNKNOWN, values)
    wrong = (values != np.floor(values)) | (values < UNKNOWN) | (values >= k)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"labels must be whole numbers from 0 to {k - 1}, or -1 (or NaN) for unknown; row {row} has {values[row]:g}"
        )
    return values.astype(np.intp)
