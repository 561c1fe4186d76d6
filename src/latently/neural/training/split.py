"""Rows that are learnt from, and rows that are held out."""

import numpy as np
from numpy.typing import NDArray

FEWEST = 20
"""With fewer rows than this none are held out: they could not judge anything."""

Index = NDArray[np.int64]


def split(
    n_rows: int, share: float, rng: np.random.RandomState, groups: NDArray[np.int64] | None = None
) -> tuple[Index, Index]:
    """Rows to learn from and rows held out, the latter with the same shares of each group.

    Parameters
    ----------
    n_rows
        How many there are.
    share
        Which share is held out; 0 for none.
    rng
        Which rows those are.
    groups
        (n,) a code for each row, such as its class.

    Examples
    --------
    >>> fitted, held_out = split(100, 0.1, np.random.RandomState(0), np.arange(100) % 2)
    >>> len(fitted), len(held_out), int((held_out % 2).sum())
    (90, 10, 5)
    """
    order = rng.permutation(n_rows).astype(np.int64)
    if n_rows < FEWEST or share == 0:
        return order, order[:0]
    if groups is not None:
        order = order[np.argsort(groups[order], kind="stable")]
    step = 1 / share
    places = np.unique((np.arange(max(int(n_rows * share), 1)) * step + step / 2).astype(np.int64))
    places = places[places < n_rows]
    return np.delete(order, places), order[places]
