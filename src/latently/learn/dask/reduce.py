"""Sums over the chunks of a Dask collection: the function travels, data stays, nodes of the tree come back.

A task works through all parts that one worker thread is to do, so the number of tasks follows the number of workers,
not the number of partitions. Which parts those are is asked anew every few seconds: after a worker was lost, its parts
are made again elsewhere by Dask, and are worked on there. The sum does not depend on any of it
(`latently.learn.engine.tree`).
"""

import math
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

import numpy as np

from latently.data.dask.blocks import Blocks, Values, holders_of
from latently.data.dask.graph import check_open, current_client
from latently.data.dask.partition import Part, Plan, prepare
from latently.data.dask.source import DaskSource
from latently.data.sources.chunks import Chunk, is_dask
from latently.learn.dask.send import Sender, SentValue, received
from latently.learn.engine.cores import n_threads, one_core
from latently.learn.engine.reduce import engine
from latently.learn.engine.tree import Nodes, joined, plant, root, tree_sum

Result = TypeVar("Result")
Places: TypeAlias = list[tuple[int, int]]
"""Leaf and first row of each part."""
Job: TypeAlias = tuple[int, tuple[str, int | None], Places]
"""Number of leaves of the tree, who works, and on which parts."""
Share: TypeAlias = tuple[list[int], str | None]
"""Parts that are worked on together, and the worker that holds them."""
Sent: TypeAlias = tuple[Any, Any]
"""A function as it travels."""

FAN_IN = 8
"""How many tasks' nodes one task puts together."""

FEW_TASKS = FAN_IN
"""So few tasks begin sooner if they are sent one by one, more as one graph."""

_BATCH = 64  # parts whose values are brought here together
_STAYING = 2.0  # seconds for which parts are believed to be where they were


class DaskReduction:
    """Sums over the parts of a Dask source, by whatever Dask computes with."""

    def __init__(self, source: DaskSource) -> None:
        self.source = source
        self._user = (source.owner, source.chunk_rows)
        self._send = Sender(source.client)
        self._placed: tuple[float, list[Share]] = (-math.inf, [])
        self._latest: list[Any] = []

    def __call__(self, f: Callable[[Chunk], Any]) -> Any:
        """Sum f(chunk) over all chunks: each part by a tree over its chunks, then a tree over the parts."""
        source = self.source
        check_open(source.client)
        blocks, starts, leaves = source.blocks(), source.starts, len(source)
        shares = self._shares(blocks)
        jobs = [(leaves, self._user, [(i, starts[i]) for i in share]) for share, _ in shares]
        sent = self._send(f, blocks.plan, len(shares))
        if blocks.futures is not None and len(shares) <= FEW_TASKS and not _is_task():
            found = self._one_by_one(sent, jobs, shares, blocks.futures)
        else:
            found = self._by_graph(sent, jobs, shares, blocks.values)
        return root(joined(leaves, *found))

    def _one_by_one(self, sent: Sent, jobs: list[Job], shares: list[Share], futures: Values) -> list[Nodes]:
        client = self.source.client

        async def submitted() -> list[Any]:
            return [
                client.submit(_work, *sent, *job, *_row(futures, share), pure=False, **_preferring(holder))
                for job, (share, holder) in zip(jobs, shares, strict=True)
            ]

        # All at once, from Dask's own thread: it would send the first alone, and the others in a later batch.
        tasks = client.sync(submitted)
        # What the sum before left is let go only now: word of that would hold up these.
        self._latest = tasks
        found: list[Nodes] = client.gather(tasks)
        return found

    def _by_graph(self, sent: Sent, jobs: list[Job], shares: list[Share], values: Values) -> list[Nodes]:
        from dask.base import annotate
        from dask.delayed import delayed

        work, join, level = delayed(_work, pure=False), delayed(joined, pure=False), []
        for job, (share, holder) in zip(jobs, shares, strict=True):
            with annotate(**_preferring(holder)):
                level.append(work(*sent, *job, *_row(values, share)))
        while len(level) > FAN_IN:
            level = [join(len(self.source), *level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
        return self.source.compute(level)

    def each(self, f: Callable[[Chunk], Result]) -> Iterator[Result]:
        """Give f(chunk) for each chunk, in the chunks' order; what comes back should be small."""
        from dask.delayed import delayed

        check_open(self.source.client)
        pairs, one = list(zip(self.source.starts, self.source.parts, strict=True)), delayed(_each, pure=False)
        sent = self._send(f, None, len(pairs))
        for first in range(0, len(pairs), _BATCH):
            tasks = [one(*sent, self._user, start, part) for start, part in pairs[first : first + _BATCH]]
            for results in self.source.compute(tasks):
                yield from results

    def _shares(self, blocks: Blocks) -> list[Share]:
        """Which parts are worked on together, and where: neighbours on one worker; alone, where a part is not held."""
        source = self.source
        if blocks.futures is None:
            if source.client is None and source.kept and blocks.plan is None:
                return [(share, None) for share in _split(list(range(len(source))), n_threads())]
            return [([i], None) for i in range(len(source))]
        asked, known = self._placed
        if time.monotonic() - asked > _STAYING:
            known = self._asked([some[0] for some in blocks.futures])
            self._placed = (time.monotonic(), known)
        return known

    def _asked(self, futures: list[Any]) -> list[Share]:
        client = self.source.client
        by_holder: dict[str | None, list[int]] = defaultdict(list)
        for i, holder in enumerate(holders_of(futures, client)):
            by_holder[holder].append(i)
        cores = client.nthreads() | {None: len(futures)}  # what nobody holds is made anew, wherever Dask likes
        shares = [
            (share, holder) for holder, parts in by_holder.items() for share in _split(parts, cores.get(holder, 1))
        ]
        return sorted(shares, key=lambda each: each[0])

    def __reduce__(self) -> tuple[Any, ...]:
        # A model may hold its reduction, for a second look at the rows from here; there it is of no use.
        return _Away, ()


class _Away:
    """Stands for a reduction in a process that is not the one that fits."""

    def __call__(self, f: Callable[[Chunk], Any]) -> Any:
        raise RuntimeError("a model's expect asked for a sum over all chunks: only its update may do that")


def _work(
    fixed: SentValue | None,
    moving: SentValue | bytes,
    leaves: int,
    user: tuple[str, int | None],
    places: Places,
    *values: Any,
) -> Nodes:
    """Sum over some parts, as far as they are neighbours in the tree."""
    (f, plan), nodes = received(fixed, moving), Nodes()
    with one_core():
        for (leaf, start), part in zip(places, _made(plan, places, values), strict=True):
            plant(nodes, (0, leaf), tree_sum(f(chunk) for chunk in part.located(start, *user)), leaves)
    return nodes


def _made(plan: Plan | None, places: Places, values: tuple[Any, ...]) -> Iterable[Part]:
    """The parts that a task was given, or those it makes of rows and targets, one at a time."""
    if plan is None:
        return values
    pairs = zip(places, values[::2], values[1::2], strict=True)
    return (prepare(rows, None, y, plan, place) for (place, _), rows, y in pairs)


def _each(
    fixed: SentValue | None, moving: SentValue | bytes, user: tuple[str, int | None], start: int, part: Part
) -> list[Any]:
    f, _ = received(fixed, moving)
    with one_core():
        return [f(chunk) for chunk in part.located(start, *user)]


def _preferring(holder: str | None) -> dict[str, Any]:
    """Tasks are for the worker that holds the data; another may take over if that one is lost or late."""
    return {} if holder is None else {"workers": [holder], "allow_other_workers": True}


def _is_task() -> bool:
    """Whether this is itself a task of a worker: waiting for others then takes Dask's own care."""
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


def _row(values: Values, share: list[int]) -> list[Any]:
    return [value for i in share for value in values[i]]


def _split(parts: list[int], most: int) -> list[list[int]]:
    """Cut a list into at most so many pieces, as equal as can be."""
    pieces = min(most, len(parts))
    edges = [i * len(parts) // pieces for i in range(pieces + 1)]
    return [parts[a:b] for a, b in pairwise(edges)]


@contextmanager
def on_dask(source: DaskSource) -> Iterator[DaskReduction]:
    """Yield the sum over a Dask source's chunks."""
    check_open(source.client)
    yield DaskReduction(source)


def lazy_map(f: Callable[[Any], Any], X: Any, like: Any = None) -> Any:
    """Apply a function to every partition of a Dask collection, when the result is asked for.

    Parameters
    ----------
    f
        From some rows (an array, or a dataframe where X is one) to as many rows of results. It is sent to the workers
        and runs there on one core.
    X
        Dask array (rows, columns), or Dask dataframe.
    like
        A result without rows, which says what to expect: `np.empty(0, int)` for a number for each row,
        `np.empty((0, k))` for k of them, or a dataframe with its columns (only where X is one too). If None, the
        function is asked about two made-up rows.

    Returns
    -------
    collection
        A Dask array or dataframe in the same partitions as X.

    Examples
    --------
    >>> import dask.array as da
    >>> total = lazy_map(lambda rows: rows.sum(axis=1), da.ones((5, 2), chunks=(3, 1)), np.empty(0))
    >>> total
    dask.array<... shape=(5,), dtype=float64, ...>
    >>> total.compute()
    array([2., 2., 2., 2., 2.])
    """
    if not is_dask(X):
        raise TypeError(f"expected a Dask array or dataframe, got {type(X).__name__}")
    check_open(current_client())
    like = _answer_about_nothing(f, X) if like is None else like
    # A name of its own: Dask would otherwise make one by pickling the function, which may hold a large model.
    run, name = partial(_alone, f, like), f"latently-{uuid.uuid4().hex}"
    if hasattr(X, "columns"):
        return X.map_partitions(run, meta=like, token=name, enforce_metadata=False)
    if not isinstance(like, np.ndarray):
        raise TypeError("the result of a Dask array is an array: give a Dask dataframe to get one")
    blocks = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    shape: dict[str, Any] = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (blocks.chunks[0], like.shape[1:])}
    return blocks.map_blocks(run, dtype=like.dtype, meta=like, name=name, **shape)


def _answer_about_nothing(f: Callable[[Any], Any], X: Any) -> Any:
    rows = X._meta_nonempty if hasattr(X, "columns") else np.ones((2, X.shape[1]), dtype=X.dtype)
    with one_core():
        return f(rows)[:0]


def _alone(f: Callable[[Any], Any], like: Any, rows: Any) -> Any:
    with one_core():
        return f(rows) if len(rows) else like


engine.register(DaskSource, on_dask)
