"""What comes in: rows, weights, parameters, seeds; checked once, with errors that name the column."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

LOG_ZERO = -1e12
"""Stands for log 0 in `natural()`: far below any log density, yet 0 * LOG_ZERO is 0 and not NaN."""


class ColumnError(ValueError):
    """An error about one column of the data.

    Parameters
    ----------
    column : position of the column
    reason : what is wrong and what to do

    Examples
    --------
    >>> error = ColumnError(3, "is constant")
    >>> print(error)
    column 3 is constant
    >>> print(error.named("age"))
    column 'age' is constant
    """

    def __init__(self, column: int | str, reason: str) -> None:
        super().__init__(column, reason)
        self.column, self.reason = column, reason

    def __str__(self) -> str:
        return f"column {self.column!r} {self.reason}"

    def named(self, column: int | str) -> "ColumnError":
        """Give the same error with another position, or the name, of the column."""
        return ColumnError(column, self.reason)


def as_rows(X: ArrayLike, n_columns: int | None = None) -> Array:
    """Give data as (n, d) float64; a flat sequence is one column."""
    try:
        rows = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must be numbers, with NaN for missing; encode text first ({error})") from None
    if rows.ndim == 1 and n_columns in (None, 1):
        rows = rows[:, None]
    if rows.ndim != 2:
        wanted = "(n, d)" if n_columns is None else f"(n, {n_columns})"
        raise ValueError(f"X must have shape {wanted}, not {rows.shape}; a single row is X[None, :]")
    if n_columns is not None and rows.shape[1] != n_columns:
        raise ValueError(f"X has {rows.shape[1]} columns, but this distribution has {n_columns}")
    return rows


def as_weights(weights: ArrayLike | None, n: int) -> Array:
    """Give weights as (n,) float64, ones if left out."""
    if weights is None:
        return np.ones(n)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (n,):
        raise ValueError(f"weights must have shape ({n},), one per row, not {given.shape}")
    if not (np.isfinite(given).all() and (given >= 0).all()):
        raise ValueError("weights must be finite and not negative")
    return given


def frozen(name: str, value: ArrayLike) -> Array:
    """Give a parameter as a finite, read-only float64 array of its own."""
    array = np.array(value, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array}")
    array.setflags(write=False)
    return array


def as_columns(columns: int | ArrayLike, d: int) -> list[int]:
    """Give distinct column positions in 0..d-1."""
    chosen = [int(c) for c in np.atleast_1d(np.asarray(columns, dtype=np.intp))]
    if not chosen or len(set(chosen)) < len(chosen) or min(chosen) < 0 or max(chosen) >= d:
        raise ValueError(f"columns must be distinct positions in 0..{d - 1}, got {chosen}")
    return chosen


def generator(random_state: Any = None) -> np.random.Generator:
    """Give a numpy Generator from None, a seed, a Generator or a RandomState.

    Examples
    --------
    >>> int(generator(0).integers(10)) == int(generator(0).integers(10))
    True
    """
    if isinstance(random_state, np.random.RandomState):
        # drawing the seed moves the given state on, so two calls in a row differ, as its owner expects
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(random_state)


def patterns(X: Array) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.intp]]]:
    """Group rows by what is observed: pairs of a mask (d,) and the positions of its rows.

    Examples
    --------
    >>> import numpy as np
    >>> for observed, rows in patterns(np.array([[1, np.nan], [2, 3], [4, np.nan]])):
    ...     print(observed, rows)
    [ True False] [0 2]
    [ True  True] [1]
    """
    observed = ~np.isnan(X)
    if observed.all():
        if len(X):
            yield np.ones(X.shape[1], dtype=bool), np.arange(len(X))
        return
    packed = np.packbits(observed, axis=1)
    key = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}")[:, 0]
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=len(first)))
    for g in np.argsort(first):
        rows = order[ends[g - 1] if g else 0 : ends[g]]
        yield observed[rows[0]], rows


def no_negative(total: Array, what: str) -> Array:
    """Clip rounding below zero; more than rounding means that more was removed than was ever added."""
    slack = 1e-9 * float(np.max(np.abs(total), initial=1.0))
    if (total < -slack).any():
        raise ValueError(f"{what} are negative: more rows were removed than were added")
    return np.maximum(total, 0.0)
