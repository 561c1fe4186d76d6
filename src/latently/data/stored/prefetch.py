"""Reading ahead: a thread of its own makes the next items while the last ones are worked on."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

Item = TypeVar("Item")

_PATIENCE: Final = 0.05  # seconds between looks at whether anybody still wants the items
_END: Final = object()


def read_ahead(make: Callable[[], Iterator[Item]], depth: int) -> Iterator[Item]:
    """Give the items of an iterator that runs in a thread of its own, at most `depth` items ahead.

    What it raises is raised here, in its place. When nobody wants more items, the thread ends.

    Parameters
    ----------
    make
        Makes the iterator.
    depth
        Most items that wait.

    Examples
    --------
    >>> list(read_ahead(lambda: iter("abc"), 2))
    ['a', 'b', 'c']
    """
    box: queue.Queue[Any] = queue.Queue(max(depth, 1))
    unwanted = threading.Event()
    thread = threading.Thread(target=_run, args=(make, box, unwanted), daemon=True, name="latently-read-ahead")
    thread.start()
    try:
        while (item := box.get()) is not _END:
            if isinstance(item, _Failure):
                raise item.problem
            yield item
    finally:
        unwanted.set()
        thread.join()


class _Failure:
    def __init__(self, problem: BaseException) -> None:
        self.problem = problem


def _run(make: Callable[[], Iterator[Any]], box: "queue.Queue[Any]", unwanted: threading.Event) -> None:
    try:
        for item in make():
            if not _put(box, item, unwanted):
                return
        _put(box, _END, unwanted)
    except BaseException as problem:
        _put(box, _Failure(problem), unwanted)


def _put(box: "queue.Queue[Any]", item: Any, unwanted: threading.Event) -> bool:
    """Wait for room; False if nobody wants the item any more."""
    while not unwanted.is_set():
        try:
            box.put(item, timeout=_PATIENCE)
        except queue.Full:
            continue
        return True
    return False
