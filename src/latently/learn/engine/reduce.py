"""Reductions: each is "the sum over chunks of f", as one fixed tree of additions, so threads change nothing.

What computes it depends on the source. `engine` is the place to plug in another one: a class of source registers a
context manager that yields a `Reduction`.

    @engine.register
    def _(source: MySource) -> AbstractContextManager[Reduction]: ...
"""

from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial, singledispatch
from typing import Any, Protocol, TypeVar, cast

from latently.data.sources.chunks import Chunk, ChunkSource
from latently.data.sources.loads import loads_of
from latently.learn.engine.cores import n_threads, single_threaded_blas, threads
from latently.learn.engine.thread_pool import in_order, thread_pool
from latently.learn.engine.tree import tree_sum

__all__ = ["Reduction", "engine", "mapping", "n_threads", "reducing", "single_threaded_blas", "threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class Reduction(Protocol):
    """What an engine has to offer: f travels to the chunks, and its values come back summed, or one by one.

    f is a pure function of a chunk; an engine may pickle it (with cloudpickle), call it anywhere, and call it again
    where a machine has failed. Sums follow `latently.learn.engine.tree`, so that every engine comes to the same bits
    where the leaves are the same.
    """

    @property
    def source(self) -> Iterable[Chunk]:
        """The chunks."""

    def __call__(self, f: Callable[[Chunk], Any]) -> Any:
        """Sum f(chunk) over all chunks."""

    def each(self, f: Callable[[Chunk], Result]) -> Iterator[Result]:
        """Give f(chunk) for each chunk, in the chunks' order."""


@contextmanager
def reducing(source: ChunkSource) -> Iterator[Reduction]:
    """Yield a reduction over a source's chunks: by threads here, or where the data is, with BLAS held to one thread."""
    with engine(source) as reduction:
        yield reduction


@contextmanager
def mapping(
    source: Iterable[Item],
) -> Iterator[Callable[[Callable[[Item], Result]], Iterator[Result]]]:
    """Yield a function that gives f(chunk) for each chunk (or whatever the source gives), in order."""
    with engine(source) as reduction:
        yield cast(Any, reduction).each


@singledispatch
def engine(source: Iterable[Any]) -> AbstractContextManager[Reduction]:
    """Give what computes sums over a source, by the class of the source; threads of this process if nothing else."""
    return _on_threads(source)


class ThreadReduction:
    """Sums by threads of this process, with at most a few chunks under way: a long source is never held whole."""

    def __init__(self, source: Iterable[Chunk], pool: ThreadPoolExecutor | None, window: int) -> None:
        self.source = source
        self._pool, self._window = pool, window

    def __call__(self, f: Callable[[Chunk], Any]) -> Any:
        """Sum f(chunk) over all chunks."""
        return tree_sum(self.each(f))

    def each(self, f: Callable[[Chunk], Result]) -> Iterator[Result]:
        """Give f(chunk) for each chunk, in the chunks' order."""
        if self._pool is None:
            return map(f, self.source)
        return in_order(self._pool, (partial(_worked, f, load) for load in loads_of(self.source)), self._window)


@contextmanager
def _on_threads(source: Iterable[Chunk]) -> Iterator[ThreadReduction]:
    workers = n_threads()
    with single_threaded_blas():
        if workers == 1 or _is_single(source):
            yield ThreadReduction(source, None, 1)
        else:
            with thread_pool(workers - 1) as pool:
                yield ThreadReduction(source, pool, 2 * workers)


def _is_single(source: Iterable[Chunk]) -> bool:
    return isinstance(source, Sized) and len(source) == 1


def _worked(f: Callable[[Item], Result], load: Callable[[], Item]) -> Result:
    return f(load())
