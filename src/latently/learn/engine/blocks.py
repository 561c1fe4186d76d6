"""Blocks of rows, worked on side by side by the engine's threads."""

from collections.abc import Callable
from functools import partial

from latently.learn.engine.cores import n_threads, single_threaded_blas
from latently.learn.engine.thread_pool import in_order, thread_pool


def for_blocks(n: int, work: Callable[[int, int], None], rows: int | None = None) -> None:
    """Call work(start, stop) for blocks of rows that together are 0 to n - 1.

    Blocks write to parts of a result that do not overlap, so any number of threads gives the same bits.

    Parameters
    ----------
    n
        How many rows.
    work
        What to do for the rows start to stop - 1.
    rows
        Rows in a block; enough for some blocks per thread if None.

    Examples
    --------
    >>> done = []
    >>> for_blocks(5, lambda start, stop: done.append((start, stop)), rows=3)
    >>> sorted(done)
    [(0, 3), (3, 5)]
    """
    workers = n_threads()
    size = rows or max(1, -(-n // (8 * workers)))
    works = [partial(work, start, min(start + size, n)) for start in range(0, n, size)]
    with single_threaded_blas():
        if workers == 1 or len(works) < 2:
            for each in works:
                each()
            return
        with thread_pool(workers - 1) as pool:
            for _ in in_order(pool, works, len(works)):
                pass
