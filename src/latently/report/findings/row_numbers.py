"""Rows by the numbers that they have in the whole table, of which the one at hand may be a sample."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


class RowNumbers:
    """What places in a table are called.

    Parameters
    ----------
    numbers
        (n,) number of each row in the whole table; None if this is the whole.

    Examples
    --------
    >>> called = RowNumbers(np.array([10, 20, 30]))
    >>> called(1), called.all([2, 0]), RowNumbers()(1)
    (20, (30, 10), 1)
    """

    def __init__(self, numbers: NDArray[np.int64] | None = None) -> None:
        self.numbers = numbers

    def __call__(self, place: int) -> int:
        """The number of a row."""
        return int(place) if self.numbers is None else int(self.numbers[place])

    def all(self, places: Iterable[int]) -> tuple[int, ...]:
        """The numbers of some rows."""
        return tuple(self(int(place)) for place in places)
