"""A copy of decoded chunks in a temporary file: from the second pass on, rows are read as the floats that they are."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from tacit.data.arrow import Shelf
from tacit.data.chunks import Chunk
from tacit.data.matrix import FloatArray

_ROOM: Final = 4  # times as much must be free as the copy takes
_IN_MEMORY: Final = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class _Record:
    """Where a chunk lies in the file."""

    offset: int
    rows: int
    start: int
    weighted: bool


class Spill:
    """Chunks in a temporary file, which is gone with this object, or with the process.

    Parameters
    ----------
    columns
        Number of columns of every chunk.
    dtype
        Type of the values.

    Examples
    --------
    >>> spill = Spill(2, np.float64)
    >>> list(spill.written(iter([Chunk(np.ones((3, 2)))])))[0].n_rows
    3
    >>> [chunk.X.tolist() for chunk in spill]
    [[[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]]
    """

    def __init__(self, columns: int, dtype: type[np.floating[Any]]) -> None:
        self._columns, self._dtype = columns, dtype
        self._records: list[_Record] = []
        self._file: IO[bytes] | None = None
        self._writing = False
        self.is_whole = False

    def written(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Give chunks on, with a copy of each in the file; a disk that is full ends the copy, not the chunks."""
        if self._writing:  # a second reader at the same time
            yield from chunks
            return
        self._writing, self._records = True, []
        try:
            works = self._opened()
            for chunk in chunks:
                works = works and self._add(chunk)
                yield chunk
            self.is_whole = works
        finally:
            self._writing = False
            if not self.is_whole and self._file is not None:
                self._file.close()
                self._file = None

    def _opened(self) -> bool:
        try:
            self._file = tempfile.TemporaryFile(prefix="tacit-")  # noqa: SIM115 - it lives as long as this object
        except OSError:
            return False
        return True

    def _add(self, chunk: Chunk) -> bool:
        assert self._file is not None
        if chunk.X.dtype != self._dtype or chunk.X.shape[1] != self._columns:
            return False
        parts = [np.ascontiguousarray(chunk.X), *([] if chunk.weights is None else [chunk.weights])]
        offset = self._file.tell()
        try:
            for part in parts:
                self._file.write(part.data)
            self._file.flush()
        except OSError:
            return False
        self._records.append(_Record(offset, chunk.n_rows, chunk.start, chunk.weights is not None))
        return True

    def __iter__(self) -> Iterator[Chunk]:
        assert self._file is not None
        number, values, weights = self._file.fileno(), Shelf(self._dtype), Shelf(np.float64)
        for record in self._records:
            X = values.take(record.rows, self._columns)
            end = _fill(number, X, record.offset)
            w = None
            if record.weighted:
                w = weights.take(record.rows, 1)
                _fill(number, w, end)
            yield Chunk(X, None if w is None else w[:, 0].astype(np.float64, copy=False), record.start)

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()


def _fill(number: int, out: FloatArray, offset: int) -> int:
    """Read an array from a place in a file; give the place after it."""
    view = memoryview(out.data).cast("B")
    while len(view):
        got = os.preadv(number, [view], offset)
        if got == 0:
            raise OSError("the temporary copy of the rows was cut short: is something else writing to it?")
        view, offset = view[got:], offset + got
    return offset


def has_room(n_bytes: int) -> bool:
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
