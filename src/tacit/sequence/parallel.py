"""Threads inside a chunk: for a long sequence, and for questions about many."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from tacit.learn.reduce import n_threads
from tacit.sequence.chain import Ints

Map = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]


def n_workers(n_tasks: int) -> int:
    """How many threads so many tasks may use here: one, if this is a thread of a pool already."""
    is_main = threading.current_thread() is threading.main_thread()
    return min(n_threads(), n_tasks) if is_main else 1


@contextmanager
def side_by_side(n_tasks: int) -> Iterator[Map]:
    """Give a function like `map`, with threads where there are several tasks and threads are allowed."""
    workers = n_workers(n_tasks)
    if workers < 2:
        yield lambda f, items: [f(item) for item in items]
    else:
        with ThreadPoolExecutor(workers) as pool:
            yield lambda f, items: list(pool.map(f, items))


def even_blocks(n: int, most: int) -> int:
    """Rows of a block, about `most`, so that n rows are an even number of blocks: two threads have equal shares.

    Examples
    --------
    >>> even_blocks(100_000, 16_384)
    12500
    """
    pairs = -(-n // (2 * most))
    return -(-n // (2 * pairs))


def packs(lengths: Ints, most: int) -> list[tuple[int, int]]:
    """First and past-the-last sequence of groups of about equal size, about `most` rows; a longer sequence is alone.

    Examples
    --------
    >>> packs(np.array([2, 3, 9, 1, 2, 2]), 5)
    [(0, 2), (2, 3), (3, 6)]
    """
    n = int(lengths.sum())
    pieces = -(-n // most)
    if pieces == 1:
        return [(0, len(lengths))]
    middles = np.cumsum(lengths) - lengths / 2
    cuts = np.searchsorted(middles, np.arange(pieces + 1) * (n / pieces))
    alone = np.flatnonzero(lengths > most)
    cuts = np.unique(np.concatenate([cuts, alone, alone + 1])).tolist()
    return list(pairwise(cuts))
