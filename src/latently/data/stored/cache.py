"""A copy of decoded chunks in a temporary file: from the second pass on, rows are read as the floats that they are."""

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from latently.data.sources.chunks import Chunk
from latently.data.sources.loads import Load, given
from latently.data.stored.arrow import Shelf
from latently.data.tables.matrix import FloatArray

_ROOM: Final = 4  # times as much must be free as the copy takes
_IN_MEMORY: Final = ("tmpfs", "ramfs")
_AHEAD: Final = 4  # chunks that the system is asked to have ready


class _Nameless:
    """A file without a name, which is gone with the last who holds it, or with the process."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="latently-")  # noqa: SIM115 - it lives as long as this object

    @property
    def number(self) -> int:
        return self._file.fileno()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


@dataclass
class _Record:
    """Where a chunk lies in the file, and whether it is there yet."""

    offset: int
    rows: int
    start: int
    weighted: bool
    written: bool = False


class Spill:
    """Chunks in a temporary file, which is gone with this object, or with the process.

    Parameters
    ----------
    columns
        Number of columns of every chunk.
    dtype
        Type of the values.
    n_bytes
        What the file will hold, if that is known: room that is taken at once is filled twice as fast.

    Examples
    --------
    >>> spill = Spill(2, np.float64)
    >>> [load().n_rows for load in spill.writing(iter([Chunk(np.ones((3, 2)))]))]
    [3]
    >>> [load().X.tolist() for load in spill.loads()]
    [[[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]]
    """

    def __init__(self, columns: int, dtype: type[np.floating[Any]], n_bytes: int = 0) -> None:
        self._columns, self._dtype, self._n_bytes = columns, dtype, n_bytes
        self._one_writer = threading.Lock()
        self._records: list[_Record] = []
        self._file: _Nameless | None = None
        self._busy = self._ended = False

    @property
    def is_whole(self) -> bool:
        """Whether every chunk is in the file."""
        return self._ended and all(record.written for record in self._records)

    def writing(self, chunks: Iterator[Chunk]) -> Iterator[Load]:
        """Give functions that write a chunk and give it on; a disk that is full ends the copy, not the chunks."""
        if self._busy:  # a second reader at the same time
            yield from map(given, chunks)
            return
        self._busy, self._ended, self._records, end = True, False, [], 0
        try:
            file = self._file = _opened(self._n_bytes)
            for chunk in chunks:
                record = _Record(end, chunk.n_rows, chunk.start, chunk.weights is not None)
                self._records.append(record)
                end += chunk.X.nbytes + (0 if chunk.weights is None else chunk.weights.nbytes)
                yield partial(self._written, file, record, chunk)
            self._ended = True
        finally:
            self._busy = False
            if not self._ended:
                self._file = None  # who still writes holds the file until that is done

    def _written(self, file: _Nameless | None, record: _Record, chunk: Chunk) -> Chunk:
        fits = chunk.X.dtype == self._dtype and chunk.X.shape[1] == self._columns
        if file is not None and fits:
            parts = [np.ascontiguousarray(chunk.X), *([] if chunk.weights is None else [chunk.weights])]
            with self._one_writer:  # two would wait for each other in the system, at full speed
                record.written = _write(file.number, parts, record.offset)
        return chunk

    def loads(self) -> Iterator[Load]:
        """Give functions that read the chunks, each into memory of the thread that calls it."""
        assert self._file is not None
        file, of_thread = self._file, threading.local()
        for i, record in enumerate(self._records):
            if i % _AHEAD == 0:
                self._announce(file, self._records[i : i + 2 * _AHEAD])
            yield partial(self._read, file, record, of_thread)

    def _announce(self, file: _Nameless, records: list[_Record]) -> None:
        size = sum(record.rows for record in records) * (self._columns + 1) * np.dtype(self._dtype).itemsize
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.number, records[0].offset, size, os.POSIX_FADV_WILLNEED)

    def _read(self, file: _Nameless, record: _Record, of_thread: threading.local) -> Chunk:
        if not hasattr(of_thread, "values"):
            of_thread.values, of_thread.weights = Shelf(self._dtype), Shelf(np.float64)
        X = of_thread.values.take(record.rows, self._columns)
        end = _fill(file.number, X, record.offset)
        if not record.weighted:
            return Chunk(X, None, record.start)
        weights = of_thread.weights.take(record.rows, 1)
        _fill(file.number, weights, end)
        return Chunk(X, weights[:, 0], record.start)


def _opened(n_bytes: int) -> _Nameless | None:
    try:
        file = _Nameless()
        if n_bytes and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.number, 0, n_bytes)
    except OSError:
        return None
    return file


def _write(number: int, parts: list[Any], offset: int) -> bool:
    """Write arrays one after the other to a place in a file; False if the disk does not take them."""
    try:
        for part in parts:
            view = memoryview(part.data).cast("B")
            while len(view):
                put = os.pwrite(number, view, offset)
                view, offset = view[put:], offset + put
    except OSError:
        return False
    return True


def _fill(number: int, out: FloatArray, offset: int) -> int:
    """Read an array from a place in a file; give the place after it."""
    view = memoryview(out.data).cast("B")
    while len(view):
        got = os.preadv(number, [view], offset)
        if got == 0:
            raise OSError("the temporary copy of the rows was cut short: is something else writing to it?")
        view, offset = view[got:], offset + got
    return offset


def has_disk_space(n_bytes: int) -> bool:
    """Whether the folder for temporary files is on a disk that hardly notices a copy of so many bytes."""
    if not hasattr(os, "preadv"):  # pragma: no cover - not on every system
        return False
    folder = tempfile.gettempdir()
    return shutil.disk_usage(folder).free >= _ROOM * n_bytes and _file_system(Path(folder)) not in _IN_MEMORY


def _file_system(folder: Path) -> str:
    """Kind of the file system that a folder is on; nothing if the system does not tell."""
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return ""
    real = folder.resolve()
    inside = [(len(mount[1]), mount[2]) for mount in mounts if real.is_relative_to(mount[1])]
    return max(inside)[1] if inside else ""
