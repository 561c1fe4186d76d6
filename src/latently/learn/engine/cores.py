"""How many cores a fit may use, and BLAS kept out of that."""

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any

_threads: ContextVar[int | None] = ContextVar("latently_threads", default=None)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Use `n` threads inside a `with` block; the default is every core this process may use.

    Examples
    --------
    >>> with threads(1):
    ...     n_threads()
    1
    """
    if n < 1:
        raise ValueError(f"threads must be at least 1, got {n}")
    token = _threads.set(n)
    try:
        yield
    finally:
        _threads.reset(token)


def some_threads(n: int | None) -> AbstractContextManager[None]:
    """As many threads as an estimator's `n_jobs` asks for; all for None and below zero.

    Examples
    --------
    >>> with threads(2), some_threads(8):
    ...     n_threads()
    2
    """
    return nullcontext() if n is None or n < 1 else threads(min(n, n_threads()))


def n_threads() -> int:
    """How many threads a fit uses here."""
    if (chosen := _threads.get()) is not None:
        return chosen
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class _Holding:
    """How many blocks of code hold BLAS to one thread now: the limit is the whole process's."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.before: list[tuple[Any, int]] = []

    def take(self) -> None:
        with self.lock:
            if self.count == 0:
                self.before = [(library, library.num_threads) for library in _blas()]
                _set_threads([(library, 1) for library, n in self.before if n != 1])
            self.count += 1

    def leave(self) -> None:
        with self.lock:
            self.count -= 1
            if self.count == 0:
                _set_threads([(library, n) for library, n in self.before if n != 1])


def _set_threads(limits: list[tuple[Any, int]]) -> None:
    for library, n in limits:
        library.set_num_threads(n)


_holding = _Holding()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread: parallelism is over chunks, at one level only.

    Fits at the same time share the limit: it ends when the last of them does.
    """
    _holding.take()
    try:
        yield
    finally:
        _holding.leave()


@contextmanager
def one_core() -> Iterator[None]:
    """Use one thread for everything: for code that somebody else runs side by side, such as a Dask worker."""
    with threads(1), single_threaded_blas():
        yield


@cache
def _blas() -> list[Any]:
    # Looked up once: scanning the loaded libraries costs milliseconds. scipy's BLAS, which compiled kernels
    # call, must be loaded by then.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)
