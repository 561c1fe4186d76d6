"""What commands share: options with the same meaning everywhere, tables in and out, progress on a terminal."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

Output = Annotated[Path | None, Parameter(name=["--output", "-o"])]
Json = Annotated[bool, Parameter(name="--json", negative="")]

MAX_ROWS = 200_000  # as SAMPLE_ROWS of the reader, which is too much to load for --help


def read(file: Path, max_rows: int | None, seed: int) -> tuple[Any, int]:
    """Read a table, with a word on what is going on; `max_rows` of 0 is for all."""
    found = read_numbered(file, max_rows, seed)
    return found.table, found.total_rows


def read_numbered(file: Path, max_rows: int | None, seed: int) -> Any:
    """Read a table as `read` does, with the numbers that its rows have in the file."""
    from latently.data.files import read as files

    with working(f"reading {file.name}"):
        return files.read_numbered(file, max_rows=max_rows or None, seed=seed)


@contextmanager
def working(what: str) -> Iterator[Callable[[str, float], None] | None]:
    """Show what is being done and for how long, on a terminal only, and on the error stream.

    Gives a function that reports what is being done now and the share that is done; None without a terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda part, share: bar.update(task, description=f"{what}: {part}", completed=share, total=1.0)


def split(names: str | None) -> list[str]:
    """Read names that are separated by commas."""
    return [name.strip() for name in names.split(",") if name.strip()] if names else []


def chosen(table: Any, columns: str | None, drop: str | None, without: Sequence[str] = ()) -> list[str]:
    """Which columns are meant: those named, or all, but for those to be dropped."""
    from latently.data.tables import frames
    from latently.data.tables.values import quote

    there = frames.column_names(table)
    absent = [name for name in (*split(columns), *split(drop), *without) if name not in there]
    if absent:
        raise ValueError(f"column {quote(absent)} is not in the table, which has {quote(there, 10)}")
    kept = [name for name in split(columns) or there if name not in {*split(drop), *without}]
    if not kept:
        raise ValueError("no column is left: name some with --columns, or drop fewer")
    return kept


def say(text: str) -> None:
    """Write for people, on the error stream, so that what is for machines stands alone."""
    print(printable(text), file=sys.stderr)


def printable(text: str) -> str:
    r"""Replace the signs that a terminal would obey: a table may hold any.

    Examples
    --------
    >>> printable("red: \x1b[31m")
    'red: ?[31m'
    """
    return "".join(sign if sign.isprintable() or sign in "\n\u202f" else "?" for sign in text)


def print_json(data: Any) -> None:
    """Write data for machines."""
    print(json.dumps(data, ensure_ascii=False, default=_plain, allow_nan=False, indent=1))


def _plain(value: Any) -> Any:
    """Turn numbers of numpy, and what else has a plain form, into what JSON knows."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


def write_columns(columns: Mapping[str, Sequence[Any]], output: Path | None) -> None:
    """Write columns as CSV on the standard output, or to a file: CSV, TSV, Parquet, Feather or JSON by its name."""
    if output is None or output.suffix.lower() in (".csv", ".tsv"):
        _write_text(columns, output)
    elif output.suffix.lower() == ".json":
        names = list(columns)
        rows = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        output.write_text(json.dumps(rows, ensure_ascii=False, default=_plain, indent=1), encoding="utf-8")
    else:
        _write_arrow(columns, output)


def _write_text(columns: Mapping[str, Sequence[Any]], output: Path | None) -> None:
    import csv

    sink = sys.stdout if output is None else output.open("w", encoding="utf-8", newline="")
    try:
        tab = output is not None and output.suffix.lower() == ".tsv"
        writer = csv.writer(sink, delimiter="\t" if tab else ",", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    finally:
        if output is not None:
            sink.close()


def _write_arrow(columns: Mapping[str, Sequence[Any]], output: Path) -> None:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    writers = {".parquet": pa.parquet.write_table, ".feather": pa.feather.write_feather}
    if output.suffix.lower() not in writers:
        raise ValueError(f"{output} ends in {output.suffix!r}: use .csv, .tsv, .json, .parquet or .feather")
    writers[output.suffix.lower()](
        pa.table({name: list(values) for name, values in columns.items()}), os.fspath(output)
    )
