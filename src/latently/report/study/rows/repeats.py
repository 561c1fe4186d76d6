"""Rows that repeat another row exactly, and whether that is more than chance would bring."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
_MOST_PAIRS = 3  # rows that may repeat another by chance
LOG_CHANCE = -14.0  # log of how many pairs chance may bring, were all columns independent


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


def telling(columns: Any) -> list[Any]:
    """Columns by which rows can be told apart without an identifier doing it alone."""
    return [column for column in columns if column.kind not in ("identifier", "constant", "empty")]


def near_pairs(columns: list[NDArray[np.float64]]) -> list[tuple[int, int, int]]:
    """Rows that agree in all columns but one, or in all: (row, row, column) of each pair, where chance brings none.

    The column in which they differ is -1 if there is none. What chance brings is counted as if columns were
    independent: hardly half a pair that agrees in all, and far fewer that agree in all but one.

    Parameters
    ----------
    columns
        (n,) values, NaN where missing.

    Examples
    --------
    >>> columns = list(np.random.default_rng(0).normal(size=(7, 50)))
    >>> for column in columns[:6]:
    ...     column[7] = column[3]
    >>> near_pairs(columns)
    [(3, 7, 6)]
    >>> columns[6][7] = columns[6][3]
    >>> near_pairs(columns)
    [(3, 7, -1)]
    """
    if len(columns) < 4:
        return []
    n = len(columns[0])
    agree = np.array([_log_agree(x) for x in columns])
    if agree.sum() + 2 * np.log(n) > 0:
        return []
    keys = [_key(x, j) for j, x in enumerate(columns)]
    with np.errstate(over="ignore"):
        whole = np.asarray(np.sum(keys, axis=0, dtype=np.uint64))
    found = [(a, b, -1) for a, b in _same(whole)]
    for j, key in enumerate(keys):
        if agree.sum() - agree[j] + 2 * np.log(n) <= LOG_CHANCE:
            found += [(a, b, j) for a, b in _same(whole - key) if whole[a] != whole[b]]
    return found


def chance_of_pairs(columns: list[NDArray[np.float64]]) -> float:
    """Log of how many pairs of rows would agree in all columns, were these independent."""
    return sum(map(_log_agree, columns)) + 2 * float(np.log(len(columns[0]))) if columns else 0.0


def _same(keys: NDArray[np.uint64]) -> list[tuple[int, int]]:
    """Neighbours among the rows that share a key."""
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    return [(int(order[at]), int(order[at + 1])) for at in same]


def _log_agree(x: NDArray[np.float64]) -> float:
    """Log of the chance that two rows have the same value; missing ones always do."""
    gone = np.isnan(x)
    counts = np.r_[np.unique(x[~gone], return_counts=True)[1], gone.sum()]
    return float(np.log(((counts / len(x)) ** 2).sum()))


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
