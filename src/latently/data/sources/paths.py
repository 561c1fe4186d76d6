"""Which files a path means: one file, a folder of them, or a pattern; and errors that say which file is at fault."""

import glob
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

PathLike: TypeAlias = str | Path

PARQUET: Final = (".parquet", ".pq")
CSV: Final = (".csv", ".csv.gz")
_PATTERN: Final = re.compile(r"[*?\[]")


class FileError(ValueError):
    """A file cannot be read, or does not go with the others; `path` says which."""

    def __init__(self, path: PathLike, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = str(path)


def is_path(X: Any) -> bool:
    """Whether something names files: a string, a `Path`, or a list of them.

    Examples
    --------
    >>> is_path("data/*.parquet"), is_path(["a.csv", "b.csv"]), is_path([[1.0]])
    (True, True, False)
    """
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(isinstance(part, Path) or _names_a_table(part) for part in X)
    return isinstance(X, str | Path)


def _names_a_table(part: Any) -> bool:
    # A list of plain strings is data (symbols of a sequence, say), unless the strings end like files.
    return isinstance(part, str) and part.lower().endswith((*PARQUET, *CSV))


def find_files(where: PathLike | Sequence[PathLike]) -> tuple[list[str], str]:
    """Give the files that a path means, in natural order (part-2 before part-10), and their format.

    Parameters
    ----------
    where
        A file; a folder, whose Parquet (or CSV) files are taken, those of subfolders too; a pattern such as
        ``data/*.parquet``; or a list of those.

    Returns
    -------
    tuple
        Paths, and "parquet" or "csv".
    """
    parts = [where] if isinstance(where, str | Path) else list(where)
    files = [file for part in parts for file in _files_of(Path(part))]
    formats = {_format(file) for file in files}
    if len(formats) > 1:
        raise ValueError(f"{_described(where)} holds both Parquet and CSV files: name one kind, as in 'data/*.parquet'")
    return [str(file) for file in files], formats.pop()


def _files_of(path: Path) -> list[Path]:
    if _PATTERN.search(str(path)) and not path.exists():
        found = [Path(name) for name in glob.glob(str(path), recursive=True)]
        files = [file for file in found if file.is_file()]
        if not files:
            raise FileNotFoundError(f"no file matches {str(path)!r}")
        return sorted(files, key=_natural)
    if path.is_dir():
        inside = [file for file in path.rglob("*") if file.is_file() and not _hidden(file.relative_to(path))]
        files = [file for file in inside if file.name.lower().endswith((*PARQUET, *CSV))]
        if not files:
            raise FileNotFoundError(f"the folder {str(path)!r} holds no Parquet or CSV file")
        return sorted(files, key=_natural)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    return [path]


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _natural(path: Path) -> list[Any]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(path))]


def _format(file: Path) -> str:
    name = file.name.lower()
    if name.endswith(CSV):
        return "csv"
    if name.endswith(PARQUET):
        return "parquet"
    raise FileError(file, f"its name should end in one of {', '.join((*PARQUET, *CSV))}")


def _described(where: Any) -> str:
    return repr(str(where)) if isinstance(where, str | Path) else f"the list of {len(where)} paths"


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Turn what goes wrong while a file is read into an error that names the file."""
    try:
        yield
    except FileError:
        raise
    except (OSError, ValueError, TypeError, NotImplementedError) as problem:
        lines = str(problem).strip().splitlines() or [type(problem).__name__]
        raise FileError(path, f"cannot be read ({lines[0]}): replace or remove the file") from problem
