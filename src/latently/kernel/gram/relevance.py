"""How many leading directions a target needs: after them its coefficients look like noise."""

from typing import Any

import numpy as np
import numpy.typing as npt

from latently.kernel.base import Array


def as_targets(y: Any) -> tuple[Array, npt.NDArray[Any] | None]:
    """Targets as columns (n, c) of numbers, and the classes if they are labels: a column for each, of 0 and 1.

    Real numbers are targets of a regression; whole numbers in one column, strings and truth values are labels.

    Examples
    --------
    >>> as_targets(["a", "b", "a"])
    (array([[1., 0.], [0., 1.], [1., 0.]]), array(['a', 'b'], dtype='<U1'))
    """
    given = np.asarray(y)
    if given.dtype.kind not in "fiub" or (given.ndim == 1 and given.dtype.kind in "iub"):
        classes = np.unique(given)
        return (given[:, None] == classes).astype(np.float64), classes
    return given.reshape(len(given), -1).astype(np.float64), None


def two_component_costs(squares: Array, total: float, n: float) -> Array:
    """Negative log likelihood (times 2, up to a constant) of a cut after 1, 2, ... directions, n / 2 at most.

    The coefficients of the target along the directions are taken for two Gaussians, one before the cut and one
    after; the cut is where both together fit best (Braun, Buhmann and Mueller 2008).

    Parameters
    ----------
    squares
        (r,) squared coefficients of the target along orthonormal directions, summed over its columns.
    total
        Sum of squares of the target.
    n
        Number of rows.

    Examples
    --------
    >>> int(two_component_costs(np.array([90.0, 80.0, 1.0, 0.9, 1.1]), 270.0, 100).argmin()) + 1
    2
    """
    most = int(min(len(squares), max(n // 2, 1)))
    k = np.arange(1, most + 1)
    before = np.cumsum(squares[:most])
    floor = max(total, np.finfo(float).tiny) * np.finfo(float).eps
    after = np.maximum(total - before, floor)
    return np.asarray(k * np.log(np.maximum(before, floor) / k) + (n - k) * np.log(after / np.maximum(n - k, 1)))
