"""What `explore` is asked for, and whether that can be done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from latently.data.tables.values import quote
from latently.report.study.columns import Codes


@dataclass(frozen=True, eq=False)
class Asked:
    """What `explore` was asked for; see there."""

    target: str | None
    time: str | Literal[False] | None
    codes: Codes
    seed: int
    max_rows: int
    name: str | None
    total_rows: int | None
    row_numbers: NDArray[np.int64] | None
    detectors: Sequence[Any] | None
    from_text: bool
    time_is_given: bool = True


def check_numbers(seed: int, max_rows: int, total_rows: int | None) -> None:
    """See that numbers are whole and large enough."""
    for what, value, least in (("seed", seed, 0), ("max_rows", max_rows, 100), ("total_rows", total_rows, 1)):
        if value is not None and (not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least):
            raise ValueError(f"{what} must be a whole number of at least {least}, got {value!r}")


def check_names(names: list[str], **asked: str | None) -> None:
    """See that the columns that were asked for are in the table."""
    for what, name in asked.items():
        if name is not None and name not in names:
            raise ValueError(f"{what}: column {name!r} is not in the table, which has {quote(names, 10)}")


def check_row_numbers(numbers: NDArray[np.int64] | None, rows: int) -> None:
    """See that every row has a number of its own."""
    if numbers is not None and (numbers.shape != (rows,) or len(np.unique(numbers)) < rows or numbers.min() < 0):
        raise ValueError(f"row_numbers must be {rows} different whole numbers from 0 on, one for each row of the table")
