"""Sums over the chunks of a Dask collection: the function travels, data stays, nodes of the tree come back.

A task works through all parts that one worker thread is to do, so the number of tasks follows the number of workers,
not the number of partitions. Which parts those are is asked anew for every sum: after a worker was lost, its parts are
made again elsewhere by Dask, and are worked on there. The sum does not depend on any of it (see `tacit.learn.tree`).
"""

import pickle
import uuid
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import pairwise
from types import MethodType
from typing import Any, TypeVar

import numpy as np

from tacit.data.chunks import Chunk, is_dask
from tacit.data.dask import DaskSource
from tacit.data.dask_graph import check_open, current_client, held
from tacit.data.dask_part import Part
from tacit.learn.cores import n_threads, one_core
from tacit.learn.tree import Nodes, joined, plant, root, tree_sum

Result = TypeVar("Result")
Places = list[tuple[int, int]]
"""Leaf and first row of each part."""

FAN_IN = 8
"""How many tasks' nodes one task puts together."""

TASKS_PER_THREAD = 2
"""Tasks that a worker's thread gets for one sum: one that is done early can take over from a slow neighbour."""

MANY_THREADS = 64
"""In a cluster with more threads each gets one task: Dask's scheduler, which hands them out, would be the slowest."""

_BATCH = 64  # parts whose values are brought here together
_LATELY = 8  # models that a worker remembers
_PIECE = 1 << 22  # bytes of a function that are sent together


class DaskReduction:
    """Sums over the parts of a Dask source, by whatever Dask computes with."""

    def __init__(self, source: DaskSource) -> None:
        self.source = source
        self._user = (source.owner, source.chunk_rows)
        self._sent: dict[tuple[int, str], tuple[Any, Any]] = {}

    def __call__(self, f: Callable[[Chunk], Any]) -> Any:
        """Sum f(chunk) over all chunks: each part by a tree over its chunks, then a tree over the parts."""
        from dask.delayed import delayed

        parts, starts, leaves = self.source.parts, self.source.starts, len(self.source)
        fixed, moving = self._sendable(f)
        work, join, level = delayed(_work, pure=False), delayed(joined, pure=False), []
        for share, holder in self._shares():
            places = [(i, starts[i]) for i in share]
            with _at(holder):
                level.append(work(fixed, moving, leaves, self._user, places, *[parts[i] for i in share]))
        while len(level) > FAN_IN:
            level = [join(leaves, *level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
        return root(joined(leaves, *self.source.compute(level)))

    def each(self, f: Callable[[Chunk], Result]) -> Iterator[Result]:
        """Give f(chunk) for each chunk, in the chunks' order; what comes back should be small."""
        from dask.delayed import delayed

        (fixed, moving), one = self._sendable(f), delayed(_each, pure=False)
        pairs = list(zip(self.source.starts, self.source.parts, strict=True))
        for first in range(0, len(pairs), _BATCH):
            tasks = [one(fixed, moving, self._user, start, part) for start, part in pairs[first : first + _BATCH]]
            for results in self.source.compute(tasks):
                yield from results

    def _shares(self) -> list[tuple[list[int], str | None]]:
        """Which parts are worked on together, and where: neighbours on one worker; alone, where a part is not held."""
        source = self.source
        if not source.kept:
            return [([i], None) for i in range(len(source))]
        by_holder: dict[str | None, list[int]] = defaultdict(list)
        for i, holder in enumerate(source.holders()):
            by_holder[holder].append(i)
        cores: dict[str | None, int] = {None: n_threads()} if source.client is None else source.client.nthreads()
        tasks = tasks_per_thread(sum(cores.values()))
        return sorted(
            (share, holder)
            for holder, parts in by_holder.items()
            for share in _split(parts, tasks * cores.get(holder, 1))
        )

    def _sendable(self, f: Callable[[Chunk], Any]) -> tuple[Any, Any]:
        """A function as two parts: a model that is sent once, and the parameters of this call."""
        if isinstance(f, partial) and isinstance(f.func, MethodType) and not f.keywords:
            return self._model(f.func), self._sent_now(f.args)
        return None, self._sent_now(f)

    def _model(self, method: MethodType) -> Any:
        key = (id(method.__self__), method.__name__)
        if key not in self._sent:
            (kept,) = held([self._sent_now(method, uuid.uuid4().hex)], self.source.client)
            self._sent[key] = (method, kept)  # an id means something only as long as its object lives
        return self._sent[key][1]

    def _sent_now(self, value: Any, name: str = "") -> Any:
        from dask.delayed import delayed

        if self.source.client is None:
            return delayed(_Held(value, "", b""), pure=False, traverse=False)
        import cloudpickle  # type: ignore[import-untyped]

        # Inside tasks, not scattered: if the worker that opened it dies, Dask can open it again. In pieces, as a
        # single message should not be too large.
        blob, cut = cloudpickle.dumps(value), delayed(bytes, pure=False)
        pieces = [blob[i : i + _PIECE] for i in range(0, len(blob), _PIECE)]
        if len(pieces) > 1:
            pieces = [piece for each in pieces for piece in held([cut(each)], self.source.client)]
        return delayed(_opened, pure=False)(name, *pieces)

    def __reduce__(self) -> tuple[Any, ...]:
        # A model may hold its reduction, for a second look at the rows from here; there it is of no use.
        return _Away, ()


def tasks_per_thread(threads: int) -> int:
    """How many tasks a thread of a cluster gets for one sum."""
    return TASKS_PER_THREAD if threads <= MANY_THREADS else 1


class _Away:
    """Stands for a reduction in a process that is not the one that fits."""

    def __call__(self, f: Callable[[Chunk], Any]) -> Any:
        raise RuntimeError("a model's expect asked for a sum over all chunks: only its update may do that")


class _Held:
    """A value on a worker, its name, and the bytes it came from; opaque to Dask."""

    def __init__(self, value: Any, name: str, blob: bytes) -> None:
        self.value, self._name, self._blob = value, name, blob

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (self._name, self._blob)


# Models that this process has opened lately: Dask may take a copy away and bring it again, and what a model has left in
# the memos is of use to the same object only.
_lately: OrderedDict[str, _Held] = OrderedDict()


def _opened(name: str, *pieces: bytes) -> _Held:
    if name in _lately:
        return _lately[name]
    blob = b"".join(pieces)
    found = _Held(pickle.loads(blob), name, blob)
    if name:
        _lately[name] = found
        while len(_lately) > _LATELY:
            _lately.popitem(last=False)
    return found


def _function(fixed: _Held | None, moving: _Held) -> Callable[[Chunk], Any]:
    return moving.value if fixed is None else partial(fixed.value, *moving.value)


def _work(
    fixed: _Held | None, moving: _Held, leaves: int, user: tuple[str, int | None], places: Places, *parts: Part
) -> Nodes:
    """Sum over some parts, as far as they are neighbours in the tree."""
    f, nodes = _function(fixed, moving), Nodes()
    with one_core():
        for (leaf, start), part in zip(places, parts, strict=True):
            plant(nodes, (0, leaf), tree_sum(f(chunk) for chunk in part.located(start, *user)), leaves)
    return nodes


def _each(fixed: _Held | None, moving: _Held, user: tuple[str, int | None], start: int, part: Part) -> list[Any]:
    f = _function(fixed, moving)
    with one_core():
        return [f(chunk) for chunk in part.located(start, *user)]


def _at(holder: str | None) -> AbstractContextManager[Any]:
    """Tasks made inside are for the worker that holds the data; another may take over if that one is lost or late."""
    if holder is None:
        return nullcontext()
    from dask.base import annotate

    return annotate(workers=[holder], allow_other_workers=True)


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
    run, token = partial(_alone, f, like), f"tacit-{uuid.uuid4().hex}"
    if hasattr(X, "columns"):
        return X.map_partitions(run, meta=like, token=token, enforce_metadata=False)
    if not isinstance(like, np.ndarray):
        raise TypeError("the result of a Dask array is an array: give a Dask dataframe to get one")
    blocks = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    shape: dict[str, Any] = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (blocks.chunks[0], like.shape[1:])}
    return blocks.map_blocks(run, dtype=like.dtype, meta=like, token=token, **shape)


def _answer_about_nothing(f: Callable[[Any], Any], X: Any) -> Any:
    rows = X._meta_nonempty if hasattr(X, "columns") else np.ones((2, X.shape[1]), dtype=X.dtype)
    with one_core():
        return f(rows)[:0]


def _alone(f: Callable[[Any], Any], like: Any, rows: Any) -> Any:
    with one_core():
        return f(rows) if len(rows) else like
