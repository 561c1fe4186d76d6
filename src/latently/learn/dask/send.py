"""Functions on their way to the workers of a Dask cluster: a model once for a fit, its parameters for every sum."""

import pickle
import uuid
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any

from latently.data.dask.partition import Plan
from latently.data.sources.chunks import Chunk

_LATELY = 8  # models that a worker remembers
_PIECE = 1 << 22  # bytes of a function that are sent together
_INSIDE = 1 << 20  # bytes in all up to which every task has its own copy: no worker has to ask another for it


class Sender:
    """Sends functions of a chunk to where a client computes, or holds them here without one."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._sent: dict[tuple[int, str], tuple[Any, Any]] = {}

    def __call__(self, f: Callable[[Chunk], Any], plan: Plan | None, copies: int) -> tuple[Any, Any]:
        """Give a function as two arguments of tasks: a model that is sent once, and what is new in this call.

        Parameters
        ----------
        f
            The function.
        plan
            How the tasks are to make parts of what they are given; None if they are given parts.
        copies
            How many tasks there will be.
        """
        if isinstance(f, partial) and isinstance(f.func, MethodType) and not f.keywords:
            return self._model(f.func), self._now((plan, f.args), copies)
        return None, self._now((plan, f), copies)

    def _model(self, method: MethodType) -> Any:
        key = (id(method.__self__), method.__name__)
        if key not in self._sent:
            sent = self._shared(method, uuid.uuid4().hex)
            self._sent[key] = (method, sent)  # an id means something only as long as its object lives
        return self._sent[key][1]

    def _now(self, value: Any, copies: int) -> Any:
        if self._client is None:
            return self._shared(value, "")
        blob = _pickled(value)
        return blob if copies * len(blob) <= _INSIDE else self._opened(blob, "")

    def _shared(self, value: Any, name: str) -> Any:
        if self._client is None:
            from dask.delayed import delayed

            return delayed(SentValue(value, "", b""), pure=False, traverse=False)
        return self._opened(_pickled(value), name)

    def _opened(self, blob: bytes, name: str) -> Any:
        # By a task, not scattered: if the worker that opened it dies, Dask can open it again. In pieces, as a
        # single message should not be too large.
        pieces: list[Any] = [blob[i : i + _PIECE] for i in range(0, len(blob), _PIECE)]
        if len(pieces) > 1:
            pieces = [self._client.submit(bytes, piece, pure=False) for piece in pieces]
        return self._client.submit(opened, name, *pieces, pure=False)


def _pickled(value: Any) -> bytes:
    import cloudpickle  # type: ignore[import-untyped]

    blob: bytes = cloudpickle.dumps(value)
    return blob


class SentValue:
    """A value on a worker, its name, and the bytes it came from; opaque to Dask."""

    def __init__(self, value: Any, name: str, blob: bytes) -> None:
        self.value, self._name, self._blob = value, name, blob

    def __reduce__(self) -> tuple[Any, ...]:
        return opened, (self._name, self._blob)


# Models that this process has opened lately: Dask may take a copy away and bring it again, and what a model has left in
# the memos is of use to the same object only.
_lately: OrderedDict[str, SentValue] = OrderedDict()


def opened(name: str, *pieces: bytes) -> SentValue:
    """Make a value of its bytes; one with a name is remembered."""
    if name in _lately:
        return _lately[name]
    blob = b"".join(pieces)
    found = SentValue(pickle.loads(blob), name, blob)
    if name:
        _lately[name] = found
        while len(_lately) > _LATELY:
            _lately.popitem(last=False)
    return found


def received(fixed: SentValue | None, moving: SentValue | bytes) -> tuple[Callable[[Chunk], Any], Plan | None]:
    """Give the function, and how to make parts, of what was sent."""
    plan, value = pickle.loads(moving) if isinstance(moving, bytes) else moving.value
    return value if fixed is None else partial(fixed.value, *value), plan
