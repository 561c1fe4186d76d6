"""By which columns a table is sorted, one within the other, or by what else: the order of such rows means nothing."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Ints = NDArray[np.int64]
_REPEATS = 3  # rows for each combination of keys, from which on they are stretches
_MOVES = 10  # steps up that a sorted number must make
_MOST_KEYS = 6
_LEAST_ROWS = 40
_SORTED = 0.95  # share of the rows that must lie in one run of their level
_PARTS = 10  # of a file that may be sorted by what no column shows


@dataclass(frozen=True, eq=False)
class Sorting:
    """How a table is sorted.

    Attributes
    ----------
    keys
        Places of the columns by which it is sorted, the first key first.
    named
        Those that do not follow from the ones before.
    stretches
        (n,) stretches of rows in which the keys stay (nearly) the same.
    """

    keys: tuple[int, ...]
    named: tuple[int, ...]
    stretches: Ints


def sort_keys(columns: list[Values], texts: list[bool]) -> Sorting | None:
    """Find the columns by which a table is sorted; None if there are none.

    Parameters
    ----------
    columns
        (n,) values, NaN where missing.
    texts
        Whether each holds the places of levels.

    Examples
    --------
    >>> sex, age = np.repeat([1.0, 0.0], 30), np.tile(np.repeat([0.0, 2.0, 1.0], 10), 2)
    >>> sort_keys([np.random.default_rng(0).normal(size=60), sex, age], [False, True, True]).named
    (1, 2)
    """
    first = next(((j, s) for j, x in enumerate(columns) if (s := stretches_of(x, text=texts[j])) is not None), None)
    if first is None:
        return None
    keys, named, stretches = [first[0]], [first[0]], first[1]
    while len(keys) < _MOST_KEYS:
        rest = (j for j in range(len(columns)) if j not in keys)
        key = next((j for j in rest if _is_key(columns[j], stretches, text=texts[j])), None)
        if key is None:
            break
        keys.append(key)
        cells = _cells(columns[key], stretches)
        named += [key] if cells.max() > stretches.max() else []
        stretches = cells if len(cells) >= _REPEATS * (cells.max() + 1) else stretches
    return Sorting(tuple(keys), tuple(named), stretches)


def _is_key(x: Values, stretches: Ints, *, text: bool) -> bool:
    """Whether rows are in the order of a column within stretches."""
    if np.isnan(x).any():
        return False
    cells = _cells(x, stretches)
    repeats = len(x) >= 2 * (cells.max() + 1)
    if text:
        return repeats and nearly_one_run_each(cells)
    steps = np.diff(x)[np.diff(stretches) == 0]
    moves = steps[steps != 0]
    if len(moves) < _MOVES or not (bool((moves > 0).all()) or bool((moves < 0).all())):
        return repeats and len(moves) == 0
    return repeats or not is_even(steps)


def _cells(x: Values, stretches: Ints) -> Ints:
    """(n,) the combination of a stretch and a value that each row has."""
    values, levels = np.unique(x, return_inverse=True)
    return np.asarray(np.unique(stretches * len(values) + levels, return_inverse=True)[1])


def stretches_of(x: Values, *, text: bool) -> Ints | None:
    """Stretches of the rows in which a column by which the table is sorted stays (nearly) the same; None if it is none.

    A column that rises in even steps counts the rows: it is taken for time, not for what the table is sorted by.

    Parameters
    ----------
    x
        (n,) values, NaN where missing.
    text
        Whether they are the places of levels.
    """
    if np.isnan(x).any() or len(x) < _LEAST_ROWS:
        return None
    steps = np.diff(x)
    moves_on = bool((steps >= 0).all() or (steps <= 0).all())
    values, levels = np.unique(x, return_inverse=True)
    few = 1 < len(values) < len(x) / 10
    if few and (moves_on or (text and nearly_one_run_each(levels))):
        return levels
    if not text and moves_on and not is_even(steps):
        return np.arange(len(x)) // max(20, len(x) // 20)
    return None


def is_even(steps: Values) -> bool:
    """Whether steps are so even that they count time."""
    return bool(np.abs(steps).std() <= 0.5 * np.abs(steps).mean())


def nearly_one_run_each(levels: Ints) -> bool:
    """Whether nearly all rows lie in the longest run of their level; a few may have been appended or moved."""
    starts = np.flatnonzero(np.diff(levels, prepend=-1))
    longest = np.zeros(int(levels.max()) + 1, dtype=np.int64)
    np.maximum.at(longest, levels[starts], np.diff(starts, append=len(levels)))
    return bool(longest.sum() >= _SORTED * len(levels))


def stretches_of_groups(groups: Ints) -> Ints | None:
    """The groups that rows belong to, if the file is sorted by them; None if it is not."""
    return groups if nearly_one_run_each(groups) else None


def parts_of_file(rows: int, stretches: Ints | None) -> Ints:
    """Parts within which only near rows are compared: the stretches of a sorted file, or equally long ones."""
    return np.arange(rows) * _PARTS // max(rows, 1) if stretches is None else stretches[:rows]
