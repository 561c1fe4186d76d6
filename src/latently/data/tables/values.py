"""Single values: what is missing, and what is a number."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e150
"""Values of this size and more are refused: their squares, summed over rows, are beyond what a float can hold."""
EXTREME = f"has values of extreme size ({LARGEST:g} or more), whose squares are beyond numbers: rescale it"
ENCODE_HINT = "pass a schema (latently.data.infer_schema) or encode it as numbers first"


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or one of the missing marks of pandas.

    Examples
    --------
    >>> [is_missing(v) for v in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def is_row_index(name: str) -> bool:
    """Whether a stored column is the index of a data frame, which pandas writes without a name of its own.

    Examples
    --------
    >>> is_row_index("__index_level_0__"), is_row_index("index")
    (True, False)
    """
    return re.fullmatch(r"__index_level_\d+__", name) is not None


def to_floats(values: Iterable[Any], where: str) -> NDArray[np.float64]:
    """Turn objects into floats, what is missing into NaN; strings and other things are errors.

    Parameters
    ----------
    values
        The values of one column.
    where
        What to call the column in an error.

    Examples
    --------
    >>> to_floats([1, True, None, 2.5], "column 'a'")
    array([1. , 1. , nan, 2.5])
    """
    return np.array([_to_float(v, where) for v in values], dtype=np.float64)


def _to_float(value: Any, where: str) -> float:
    if is_missing(value):
        return float("nan")
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str | bytes):
        raise ValueError(f"{where} holds strings such as {value!r}: {ENCODE_HINT}")
    if isinstance(value, complex):
        raise ValueError(f"Complex data not supported: {where} holds {value!r}; use its parts as two columns")
    try:
        return float(value)
    except (TypeError, ValueError) as problem:
        raise TypeError(f"{where} holds {type(value).__name__} objects ({problem}): {ENCODE_HINT}") from None


def quote(values: Iterable[Any], most: int = 3) -> str:
    """List a few values for an error message.

    Examples
    --------
    >>> quote(["a", "b", "c", "d"])
    "'a', 'b', 'c' and 1 more"
    """
    every = list(values)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(repr(v) for v in every[:most]) + more


def is_extreme(values: np.ndarray) -> np.ndarray:
    """Where the squares of values, summed over rows, would not be numbers.

    Examples
    --------
    >>> is_extreme(np.array([1e100, -1e200, np.nan, np.inf]))
    array([False,  True, False,  True])
    """
    return np.asarray(np.abs(values) >= np.float64(LARGEST))  # float32 could not hold it
