"""Threads that are kept from one fit to the next; whoever asks them for something works beside them."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from latently.learn.engine.cores import threads

Result = TypeVar("Result")

_idle: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):  # a copy of the process has none of its threads
    os.register_at_fork(after_in_child=_idle.clear)


@contextmanager
def thread_pool(n: int) -> Iterator[ThreadPoolExecutor]:
    """Lend n threads to one at a time: to start them takes as long as an iteration over a small table.

    Examples
    --------
    >>> with thread_pool(2) as pool:
    ...     list(pool.map(len, ["a", "bcd"]))
    [1, 3]
    """
    pool = _idle.pop(n, None) or ThreadPoolExecutor(n)
    try:
        yield pool
    finally:
        if _idle.setdefault(n, pool) is not pool:
            pool.shutdown()


class _Task(Generic[Result]):
    """Something to do, for a thread of the pool or for who waits for it: whoever comes first."""

    def __init__(self, pool: ThreadPoolExecutor, work: Callable[[], Result]) -> None:
        self.work = work
        self.future = pool.submit(work)

    def do_unless_begun(self) -> None:
        if not self.future.cancel():
            return
        self.future = Future()
        try:
            with threads(1):
                self.future.set_result(self.work())
        except Exception as error:
            self.future.set_exception(error)


def in_order(pool: ThreadPoolExecutor, works: Iterable[Callable[[], Result]], window: int) -> Iterator[Result]:
    """Give what each work returns, in order, with at most `window` of them under way; this thread works as well.

    What has not begun when somebody stops is not begun, and what has begun is waited for.

    Examples
    --------
    >>> with thread_pool(1) as pool:
    ...     list(in_order(pool, [lambda: "a", lambda: "b"], 2))
    ['a', 'b']
    """
    pending: deque[_Task[Result]] = deque()
    try:
        for work in works:
            pending.append(_Task(pool, work))
            if len(pending) >= window:
                yield _next(pending)
        while pending:
            yield _next(pending)
    finally:
        wait([task.future for task in pending if not task.future.cancel()])


def _next(pending: deque[_Task[Any]]) -> Any:
    for task in pending:
        if pending[0].future.done():
            break
        task.do_unless_begun()
    return pending.popleft().future.result()
