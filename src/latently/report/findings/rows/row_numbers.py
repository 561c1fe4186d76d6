"""Rows by the numbers that they have in the whole table, of which this may be a sample, and by their names."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from latently.report.study.columns import Column
from latently.report.study.words import short


class RowNumbers:
    """What places in a table are called.

    Parameters
    ----------
    numbers
        (n,) number of each row in the whole table; None if this is the whole.
    names
        The column that names the rows; None if there is none.

    Examples
    --------
    >>> called = RowNumbers(np.array([10, 20, 30]))
    >>> called(1), called.all([2, 0]), called.named(1), RowNumbers()(1)
    (20, (30, 10), '20', 1)
    """

    def __init__(self, numbers: NDArray[np.int64] | None = None, names: Column | None = None) -> None:
        self.numbers = numbers
        self.names = names

    def __call__(self, place: int) -> int:
        """The number of a row."""
        return int(place) if self.numbers is None else int(self.numbers[place])

    def all(self, places: Iterable[int]) -> tuple[int, ...]:
        """The numbers of some rows."""
        return tuple(self(int(place)) for place in places)

    def named(self, place: int) -> str:
        """The number of a row with its name, if it has one."""
        if self.names is None or not self.names.levels or np.isnan(self.names.raw[place]):
            return str(self(place))
        return f"{self(place)} ({short(self.names.levels[int(self.names.raw[place])])})"
