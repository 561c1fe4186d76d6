"""Rows that repeat another row exactly, and whether that is more than chance would bring."""

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
_MOST_PAIRS = 3  # rows that may repeat another by chance


def repeated(columns: list[NDArray[np.float64]]) -> tuple[int, Bools | None]:
    """Count the rows that repeat an earlier one; and mark them, if they are copies rather than chance.

    By chance, rows that agree in all columns but one are more common than those that agree in all. Copies agree in all
    columns or in few.

    Parameters
    ----------
    columns
        (n,) values, NaN where missing.

    Returns
    -------
    tuple
        The count, and (n,) marks; None if the repeats may be chance.

    Examples
    --------
    >>> x, y, z = np.random.default_rng(0).normal(size=(3, 50))
    >>> count, marks = repeated([np.tile(x, 2), np.tile(y, 2), np.tile(z, 2)])
    >>> count, int(marks[:50].sum()), int(marks[50:].sum())
    (50, 0, 50)
    >>> repeated([np.arange(100) % 2.0, np.arange(100) % 3.0])
    (94, None)
    """
    if len(columns) < 2:
        return 0, None
    keys = [_key(x, j) for j, x in enumerate(columns)]
    with np.errstate(over="ignore"):
        whole: NDArray[np.uint64] = np.asarray(np.sum(keys, axis=0, dtype=np.uint64))
    _, first, sizes = np.unique(whole, return_index=True, return_counts=True)
    marks: NDArray[np.bool_] = np.ones(len(whole), dtype=np.bool_)
    marks[first] = False
    count = int(marks.sum())
    if count == 0 or _near(keys, whole, _pairs(sizes)):
        return count, None
    return count, marks if count > _MOST_PAIRS else None


def _near(keys: list[NDArray[np.uint64]], whole: NDArray[np.uint64], exact: float) -> bool:
    """Whether as many pairs of rows differ in one column alone as in none."""
    found = 0.0
    for key in keys:
        sizes = np.unique(whole - key, return_counts=True)[1]  # wraps around, as the sum did
        found += _pairs(sizes) - exact
        if found >= exact:
            return True
    return False


def _pairs(sizes: NDArray[np.int64]) -> float:
    return float((sizes * (sizes - 1.0) / 2).sum())


def _key(x: NDArray[np.float64], column: int) -> NDArray[np.uint64]:
    """A number for each value, which depends on the column: the finaliser of splitmix64 over its bits."""
    bits = np.where(np.isnan(x), np.nan, x + 0.0).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15 * (column + 1) % 2**64)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))
