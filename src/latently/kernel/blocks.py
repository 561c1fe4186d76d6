"""Blocks of rows of a matrix, filled side by side."""

from collections.abc import Callable

import numpy as np

from latently.kernel.base import Array
from latently.learn.engine.blocks import for_blocks

_TILE = 256  # rows that are mirrored at a time


def filled(out: Array, fill: Callable[[int, int], None], same: bool) -> Array:
    """The matrix after its blocks of rows were filled, and mirrored if only its upper half was."""
    n = len(out)
    for_blocks(n, fill, rows=max(1, min(32, -(-n // 8))))
    if same:
        for start in range(0, n, _TILE):
            stop = min(start + _TILE, n)
            out[start:stop, :start] = out[:start, start:stop].T
            square = out[start:stop, start:stop]
            square[...] = np.triu(square) + np.triu(square, 1).T
    return out
