"""Where one chunk of rows ends and the next begins."""

import itertools
import operator
from typing import Final

CHUNK_ROWS: Final = 16384
"""Most rows in a chunk by default: a longer table is cut into pieces of 8192 to 16384 rows."""


def chunk_bounds(n_rows: int, chunk_rows: int | None = None) -> list[tuple[int, int]]:
    """Cut a number of rows into blocks of at most `chunk_rows` rows, as equal as can be.

    Their number is even, if there are several: two threads then have equal shares.

    Parameters
    ----------
    n_rows
        Number of rows to cut.
    chunk_rows
        Most rows in a block; `CHUNK_ROWS` if None.

    Examples
    --------
    >>> chunk_bounds(10, 4)
    [(0, 2), (2, 5), (5, 7), (7, 10)]
    >>> len(chunk_bounds(8192)), len(chunk_bounds(200_000))
    (1, 14)
    """
    most = check_chunk_rows(chunk_rows)
    pieces = -(-n_rows // most)
    pieces = min(pieces + pieces % 2, n_rows) if pieces > 1 else pieces
    edges = [i * n_rows // pieces for i in range(pieces + 1)] if pieces else [0]
    return list(itertools.pairwise(edges))


def check_chunk_rows(chunk_rows: int | None) -> int:
    """Give the most rows of a chunk, by default `CHUNK_ROWS`; an error if it is not a positive integer."""
    if chunk_rows is None:
        return CHUNK_ROWS
    try:
        most = operator.index(chunk_rows)
    except TypeError:
        raise TypeError(f"chunk_rows must be a positive integer or None, got {chunk_rows!r}") from None
    if most < 1:
        raise ValueError(f"chunk_rows must be a positive integer or None, got {most}")
    return most
