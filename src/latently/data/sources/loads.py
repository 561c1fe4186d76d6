"""Chunks that are not there yet: whoever works on one loads it, in a thread of its own."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from latently.data.sources.chunks import Chunk

Item = TypeVar("Item")
Load = Callable[[], Chunk]
"""Gives a chunk; called in the thread that works on it."""


class Loads(Protocol):
    """A source that leaves something to do for each chunk, such as reading it, to who works on the chunk."""

    def loads(self) -> Iterator[Load]:
        """Give functions that give the chunks, in order."""


def loads_of(source: Iterable[Any] | Loads) -> Iterator[Callable[[], Any]]:
    """Give functions that give the items of a source, in order.

    Examples
    --------
    >>> [load() for load in loads_of("ab")]
    ['a', 'b']
    """
    loads = getattr(source, "loads", None)  # asking for the protocol would take as long as a small chunk
    return loads() if loads is not None else (given(item) for item in cast(Iterable[Any], source))


def given(item: Item) -> Callable[[], Item]:
    """Give a function that gives what is there already."""
    return partial(_same, item)


def _same(item: Item) -> Item:
    return item
