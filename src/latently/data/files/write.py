"""Parquet files that are there whole or not at all: written aside, brought to the disk, and renamed."""

import contextlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from latently.data.sources.paths import FileError, PathLike
from latently.data.stored.parquet import pyarrow


class ParquetSink:
    """A Parquet file in the making; it appears under its name when the `with` block ends well.

    Parameters
    ----------
    path
        Where it will be. A file that is there already is replaced at the end, in one step.
    sources
        Files that are being read, which it must not replace.

    Examples
    --------
    >>> import tempfile, pyarrow.parquet as pq
    >>> path = tempfile.mkdtemp() + "/out.parquet"
    >>> with ParquetSink(path) as sink:
    ...     sink.write({"a": [1, 2]})
    ...     sink.write({"a": [3]})
    >>> pq.read_table(path).column("a").to_pylist()
    [1, 2, 3]
    """

    def __init__(self, path: PathLike, sources: Sequence[str] = ()) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"the folder {str(self.path.parent)!r} of {self.path.name!r} does not exist")
        if self.path.is_dir():
            raise IsADirectoryError(f"{str(path)!r} is a folder: name a file in it")
        if any(os.path.exists(s) and self.path.exists() and os.path.samefile(s, self.path) for s in sources):
            raise ValueError(f"{str(path)!r} is one of the files that are read: write to another one")
        self._writer: Any = None
        self._schema: Any = None

    def __enter__(self) -> Self:
        with self._telling():
            handle, aside = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.", suffix=".part")
        self._aside, self._file = Path(aside), os.fdopen(handle, "wb")
        return self

    def write(self, columns: Mapping[str, Any]) -> None:
        """Add rows."""
        import pyarrow.parquet as pq

        table = pyarrow().table(dict(columns))
        with self._telling():
            if self._writer is None:
                self._schema = _wide(table.schema)
                self._writer = pq.ParquetWriter(self._file, self._schema, write_page_checksum=True)
            self._writer.write_table(table.cast(self._schema))

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                with self._telling():
                    self._finish()
        finally:
            self._give_up()
            self._aside.unlink(missing_ok=True)

    def _give_up(self) -> None:
        """Close what is still open; its error was raised already."""
        with contextlib.suppress(OSError, ValueError):
            if self._writer is not None:
                self._writer.close()
        if self._writer is not None:
            self._writer.is_open = False  # or it would try again when it is collected
        with contextlib.suppress(OSError, ValueError):
            self._file.close()

    def _finish(self) -> None:
        if self._writer is None:
            raise ValueError("there were no rows to write")
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._aside, self.path)
        _sync_folder(self.path.parent)

    @contextlib.contextmanager
    def _telling(self) -> Any:
        try:
            yield
        except OSError as problem:
            raise OSError(
                problem.errno,
                f"{self.path} could not be written ({os.strerror(problem.errno or 0)}); the partial file was "
                "removed, and a file that was there before is unchanged",
            ) from problem
        except pyarrow().ArrowInvalid as problem:
            raise FileError(self.path, f"cannot hold these rows: {problem}") from problem


def _wide(schema: Any) -> Any:
    """A first chunk without any value of a column does not make it a column of nothing."""
    pa = pyarrow()
    types = {f.name: pa.float64() if pa.types.is_null(f.type) else f.type for f in schema}
    return pa.schema([pa.field(name, type_) for name, type_ in types.items()])


def _sync_folder(folder: Path) -> None:
    # The new name is on the disk once its folder is.
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
