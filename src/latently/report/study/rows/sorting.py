"""By which columns a table is sorted, one within the other: the order of such rows means nothing else."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latently.report.study.rows.order import is_even, nearly_one_run_each, stretches_of

Values = NDArray[np.float64]
Ints = NDArray[np.int64]
_REPEATS = 3  # rows for each combination of keys, from which on they are stretches
_MOVES = 10  # steps up that a sorted number must make
_MOST_KEYS = 6


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
