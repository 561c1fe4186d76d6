"""Threads inside a chunk: for a long sequence, and for questions about many."""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import wait
from contextvars import ContextVar, copy_context
from itertools import pairwise
from typing import Any

import numpy as np

from latently.learn.engine.cores import n_threads
from latently.learn.engine.thread_pool import thread_pool
from latently.sequence.inference.chain import Ints

_busy: ContextVar[bool] = ContextVar("latently_sequence_busy", default=False)


def n_workers(n_tasks: int) -> int:
    """How many threads so many tasks may use here: one, if this is one of several threads already."""
    if n_tasks < 2:
        return 1
    is_main = threading.current_thread() is threading.main_thread()
    return min(n_threads(), n_tasks) if is_main and not _busy.get() else 1


def side_by_side(f: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """Give f of each item, in order; who asks works as well, beside as many threads as are allowed.

    Of several errors, that of the first item is raised.

    Examples
    --------
    >>> side_by_side(len, ["a", "bcd"])
    [1, 3]
    """
    todo = deque(enumerate(items))
    workers = n_workers(len(todo))
    if workers < 2:
        return [f(item) for _, item in todo]
    found, errors = [None] * len(todo), dict[int, BaseException]()

    def work() -> None:
        _busy.set(True)
        while todo:
            try:
                i, item = todo.popleft()
            except IndexError:
                return
            try:
                found[i] = f(item)
            except BaseException as error:  # raised below, when nobody is at work any more
                errors[i] = error
                todo.clear()

    with thread_pool(workers - 1) as pool:
        helpers = [pool.submit(copy_context().run, work) for _ in range(workers - 1)]
        try:
            copy_context().run(work)
        finally:
            todo.clear()
            wait(helpers)
    if errors:
        raise errors[min(errors)]
    return found


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
    if pieces == 1 or len(lengths) == 1:
        return [(0, len(lengths))]
    pieces += pieces % 2  # two threads have equal shares
    middles = np.cumsum(lengths) - lengths / 2
    cuts = np.searchsorted(middles, np.arange(pieces + 1) * (n / pieces))
    alone = np.flatnonzero(lengths > most)
    cuts = np.unique(np.concatenate([cuts, alone, alone + 1])).tolist()
    return list(pairwise(cuts))
