"""Reductions: each is "the sum over chunks of f". Additions happen in the chunks' order, so threads change nothing."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache, reduce
from operator import add
from typing import Any, TypeVar

from tacit.data.chunks import Chunk, ChunkSource
from tacit.learn.protocol import Reduce

Result = TypeVar("Result")

_threads: ContextVar[int | None] = ContextVar("tacit_threads", default=None)


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


def n_threads() -> int:
    """How many threads a fit uses here."""
    if (chosen := _threads.get()) is not None:
        return chosen
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@contextmanager
def reducing(source: ChunkSource) -> Iterator[Reduce]:
    """Yield a reduction over a source's chunks, with as many threads as are allowed and BLAS held to one."""
    with mapping(source) as over_chunks:
        yield lambda f: reduce(add, over_chunks(f))


@contextmanager
def mapping(
    source: Iterable[Chunk],
) -> Iterator[Callable[[Callable[[Chunk], Result]], Iterator[Result]]]:
    """Yield a function that gives f(chunk) for each chunk, in order."""
    workers = n_threads()
    with single_threaded_blas():
        if workers == 1 or _is_single(source):
            yield lambda f: map(f, source)
        else:
            with ThreadPoolExecutor(workers) as pool:
                yield lambda f: _in_order(pool, f, source, 2 * workers)


def _is_single(source: Iterable[Chunk]) -> bool:
    return isinstance(source, Sized) and len(source) == 1


def _in_order(
    pool: ThreadPoolExecutor, f: Callable[[Chunk], Result], chunks: Iterable[Chunk], window: int
) -> Iterator[Result]:
    """Results in the order of the chunks, with at most `window` under way: a long source is never held whole."""
    pending: deque[Future[Result]] = deque()
    for chunk in chunks:
        pending.append(pool.submit(f, chunk))
        if len(pending) >= window:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def single_threaded_blas() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread: parallelism is over chunks, at one level only."""
    limiter: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limiter


@cache
def _blas() -> Any:
    # Looked up once: scanning the loaded libraries costs milliseconds. scipy's BLAS, which compiled kernels
    # call, must be loaded by then.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
