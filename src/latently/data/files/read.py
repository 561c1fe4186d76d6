"""Files to tables: CSV, TSV, Parquet, Feather and Excel, within limits that are checked before anything is read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from latently.data.files.sample import FileTable
from latently.data.tables.values import quote

# A table beyond these is not read whole; a sample of its rows may be.
MAX_BYTES = 2**31
# Nor is more than this held at a time of a file that is read in parts.
MAX_AT_ONCE = 2**30
MAX_CELLS = 100_000_000
MAX_COLUMNS = 10_000
# Rows that are kept of a larger file, unless somebody asks for more.
SAMPLE_ROWS = 200_000
# Most that is repeated of what a library says.
_WORDS = 200

_KINDS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".tab": "TSV",
    ".txt": "CSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".feather": "Feather",
    ".arrow": "Feather",
    ".xlsx": "Excel",
}
# Loaded when needed: each of them needs this file.
_READERS = {
    "CSV": ("text", "read_text"),
    "TSV": ("text", "read_text"),
    "Parquet": ("arrow", "read_parquet"),
    "Feather": ("arrow", "read_feather"),
    "Excel": ("excel", "read_excel"),
}
# How files begin, whatever they are called.
_MAGIC = (
    (b"PAR1", "Parquet"),
    (b"ARROW1", "Feather"),
    (b"FEA1", "Feather of the first version"),
    (b"PK\x03\x04", "Excel"),
    (b"\xd0\xcf\x11\xe0", "old Excel (.xls)"),
    (b"\x1f\x8b", "gzip archive"),
    (b"\x89PNG", "PNG picture"),
    (b"\xff\xd8\xff", "JPEG picture"),
    (b"%PDF", "PDF document"),
    (b"SQLite format 3", "SQLite database"),
)


class Unreadable(ValueError):
    """A file is not a table that can be read; the message names the file and says what to do."""


def read_table(path: str | os.PathLike[str], *, max_rows: int | None = None, seed: int = 0) -> tuple[Any, int]:
    r"""Read a table from a file, or a sample of its rows if there are many.

    The kind of the file is known by the end of its name, and checked against how it begins: CSV, TSV, Parquet and
    Feather are read by pyarrow, Excel by pandas and openpyxl. Text must be UTF-8. Of a file with more rows than
    `max_rows` a sample is taken in which every row has the same chance; its memory is bounded by the sample, not
    by the file.

    Parameters
    ----------
    path
        The file.
    max_rows
        Most rows to keep, in the order of the file; all if None. Tables with very many columns keep fewer.
    seed
        Seed of the sample.

    Returns
    -------
    table, total_rows
        An Arrow table (a pandas one from Excel), and how many rows the file has.

    Raises
    ------
    OSError
        If there is no such file, or it is a directory.
    ValueError
        If the file is empty, too large, damaged or not what its name says. The message names the file and the place in
        it, and says what to do.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ages.csv"
    >>> _ = path.write_text("name,age\nAda,36\nAlan,41\n")
    >>> table, rows = read_table(path)
    >>> table.column_names, rows
    (['name', 'age'], 2)
    """
    found = read_numbered(path, max_rows=max_rows, seed=seed)
    return found.table, found.total_rows


def read_numbered(path: str | os.PathLike[str], *, max_rows: int | None = None, seed: int = 0) -> FileTable:
    """Read a table as `read_table` does, with the numbers that its rows have in the file.

    Parameters
    ----------
    path, max_rows, seed
        As in `read_table`.
    """
    if max_rows is not None and max_rows < 1:
        raise ValueError(f"max_rows must be at least 1, got {max_rows}")
    file = Path(path)
    kind = _checked_kind(file)
    with _naming_the_file(file, kind):
        found: FileTable = _reader(kind)(file, max_rows, seed)
    if found.total_rows == 0:
        raise Unreadable(f"{file} has a header but no rows: there is nothing to learn from")
    return found


def _reader(kind: str) -> Any:
    module, function = _READERS[kind]
    return getattr(import_module(f"latently.data.files.{module}"), function)


def _checked_kind(file: Path) -> str:
    """What a file is, by its name and by how it begins; an error if they differ."""
    if not file.exists():
        raise FileNotFoundError(f"there is no file {file}: check the path")
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a directory: name a file in it")
    kind = _KINDS.get(file.suffix.lower())
    if kind is None:
        raise Unreadable(f"{file} ends in {file.suffix!r}, which is not known: use one of {quote(_KINDS, 20)}")
    if file.stat().st_size == 0:
        raise Unreadable(f"{file} is empty: there is nothing to read")
    with file.open("rb") as opened:
        start = opened.read(16)
    found = next((name for magic, name in _MAGIC if start.startswith(magic)), "text")
    if found != (kind if kind not in ("CSV", "TSV") else "text"):
        raise Unreadable(f"{file} is called {kind} but begins like {found}: rename it, or write it again as {kind}")
    return kind


@contextmanager
def _naming_the_file(file: Path, kind: str) -> Iterator[None]:
    """Turn what a reader says about a broken file into one sentence that names the file."""
    try:
        import_module("pyarrow")
    except ModuleNotFoundError:
        message = f"reading {file} needs pyarrow: pip install 'latently[report]'"
        raise ModuleNotFoundError(message, name="pyarrow") from None
    try:
        yield
    except (Unreadable, ModuleNotFoundError, Warning):
        raise
    except PermissionError:
        raise PermissionError(f"{file} may not be read: change its permissions") from None
    except MemoryError as problem:
        raise Unreadable(f"{file} takes too much memory: read fewer of its rows (max_rows)") from problem
    except Exception as problem:  # a broken file makes the libraries that read it raise anything
        why = (str(problem).strip().splitlines() or [type(problem).__name__])[0].rstrip(".")[:_WORDS]
        message = f"{file} cannot be read as {kind}, it is damaged or cut off ({why}): write it again"
        raise Unreadable(message) from problem


def fitting_rows(file: Path, columns: int, max_rows: int | None) -> int | None:
    """How many rows may be kept of a table with so many columns; None for all of them."""
    if columns > MAX_COLUMNS:
        raise Unreadable(f"{file} has {columns:,} columns, more than {MAX_COLUMNS:,}: keep the columns that matter")
    return None if max_rows is None else min(max_rows, MAX_CELLS // max(columns, 1))


def most_bytes(rows: int | None) -> int:
    """How many bytes of a table may be in memory, if so many rows are kept; None for all."""
    return MAX_BYTES if rows is None else MAX_AT_ONCE


def check_whole(file: Path, n_bytes: int, rows: int | None) -> None:
    """See that a table that is to be read whole fits into memory."""
    if rows is None and n_bytes > MAX_BYTES:
        raise Unreadable(f"{file} takes about {n_bytes / 2**30:.1f} GiB in memory: read a sample of it (max_rows)")


def check_names(file: Path, names: list[str]) -> list[str]:
    """See that column names differ; columns without a name are called by their places."""
    named = [name.strip() or f"column {place}" for place, name in enumerate(names, 1)]
    seen: set[str] = set()
    repeated = [name for name in named if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
    if repeated:
        raise Unreadable(f"{file} has several columns called {quote(dict.fromkeys(repeated))}: rename them")
    if not named:
        raise Unreadable(f"{file} has no columns: there is nothing to read")
    return named
