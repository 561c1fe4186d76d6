"""Tables as text: CSV and TSV, looked through before they are read."""

import codecs
import re
from pathlib import Path
from typing import Any

from latently.data.files import read as files
from latently.data.files.sample import FileTable, Reservoir, plain_types
from latently.data.tables.values import quote

# A first line beyond this is no header.
MAX_HEADER = 2**23
# Text beyond this is read in blocks, and only a sample of its rows is kept.
WHOLE = 2**28
# A row has to fit into a block.
_BLOCK = 2**24
_PIECE = 2**22


def read_text(file: Path, max_rows: int | None, seed: int) -> FileTable:
    """Read a table of text: all of it, or a sample of its rows."""
    import pyarrow.csv as pc

    delimiter, names = _header(file)
    rows = files.fitting_rows(file, len(names), max_rows)
    size = file.stat().st_size
    files.check_whole(file, size, rows)
    _look_through(file)
    parse = {"delimiter": delimiter, "newlines_in_values": True}
    read = {"block_size": _BLOCK, "column_names": names, "skip_rows": 1}
    try:
        if size <= WHOLE:
            whole = pc.read_csv(file, pc.ReadOptions(**read), pc.ParseOptions(**parse), _types())
            kept = _sampled(whole, rows, seed)
            table = kept.table()
        else:
            kept = _streamed(file, names, read, parse, rows, seed)
            table = _typed(kept.table(), read)
    except ValueError as problem:
        raise files.Unreadable(_what_is_wrong(file, problem, read, parse)) from None
    return FileTable(plain_types(table), kept.seen, kept.row_numbers())


def _sampled(whole: Any, rows: int | None, seed: int) -> Reservoir:
    kept = Reservoir(whole.schema, rows, seed)
    for batch in whole.to_batches():
        kept.add(batch)
    return kept


def _streamed(file: Path, names: list[str], read: Any, parse: Any, rows: int | None, seed: int) -> Reservoir:
    """Keep rows of a large file as text.

    A reader of blocks decides on types by the first one, and would end at a later value of another type.
    """
    import pyarrow as pa
    import pyarrow.csv as pc

    as_text = pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True)
    with pc.open_csv(file, pc.ReadOptions(**read), pc.ParseOptions(**parse), as_text) as opened:
        kept = Reservoir(opened.schema, rows, seed)
        for batch in opened:
            kept.add(batch)
    return kept


def _typed(texts: Any, read: Any) -> Any:
    """Find out what types the columns of a table of text are of."""
    import pyarrow as pa
    import pyarrow.csv as pc

    sink = pa.BufferOutputStream()
    pc.write_csv(texts, sink)
    source = pa.BufferReader(sink.getvalue())
    return pc.read_csv(source, pc.ReadOptions(**read), pc.ParseOptions(newlines_in_values=True), _types())


def _types() -> Any:
    import pyarrow.csv as pc

    return pc.ConvertOptions(strings_can_be_null=True)


def _header(file: Path) -> tuple[str, list[str]]:
    """Find the delimiter and the names of the columns in the first line, before anything is parsed."""
    import csv

    line = _first_line(file)
    if len(line) > MAX_HEADER:
        raise files.Unreadable(
            f"the first line of {file} is longer than {MAX_HEADER >> 20} MiB, too long for column names"
        )
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise files.Unreadable(f"{file} is UTF-16 text: save it as UTF-8")
    if line.lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        raise files.Unreadable(f"{file} begins like a web page, not like a table: save the data themselves as CSV")
    delimiter = _delimiter(file, line)
    if line.count(delimiter.encode()) >= files.MAX_COLUMNS:
        files.fitting_rows(file, line.count(delimiter.encode()) + 1, None)
    text = _decoded(file, line)
    if text.count('"') % 2:
        raise files.Unreadable(
            f"the first line of {file} has a quoted name that does not end: close it, on the same line"
        )
    if not text.strip():
        raise files.Unreadable(f"the first line of {file} is blank: it must hold the names of the columns")
    try:
        names = next(csv.reader([text], delimiter=delimiter))
    except csv.Error as problem:
        message = f"the first line of {file} does not hold the names of columns ({problem}): put them there"
        raise files.Unreadable(message) from None
    return delimiter, files.check_names(file, names)


def _first_line(file: Path) -> bytes:
    """Give the first line, whichever way lines end here: by a line feed, a carriage return or both."""
    with file.open("rb") as opened:
        return re.split(rb"[\r\n]", opened.read(MAX_HEADER + 1), maxsplit=1)[0]


def _decoded(file: Path, line: bytes) -> str:
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError:
        _look_through(file)  # says what is wrong, and on which line
        raise


def _delimiter(file: Path, line: bytes) -> str:
    """Take a tab for TSV; else whichever of comma, semicolon and tab is most frequent in the first line."""
    if file.suffix.lower() in (".tsv", ".tab"):
        return "\t"
    return max(",;\t", key=lambda sign: line.count(sign.encode()))


def _look_through(file: Path) -> None:
    """See that the file is UTF-8 text without NUL, piece by piece; the error names the line."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    with file.open("rb") as opened:
        while piece := opened.read(_PIECE):
            piece += opened.read(1) if piece.endswith(b"\r") else b""  # a line end is not torn apart
            spot = piece.find(b"\0")
            if spot >= 0:
                where = line + _line_ends(piece[:spot])
                raise files.Unreadable(
                    f"{file} has a NUL byte on line {where}, so it is not plain text: write it again"
                )
            carried = len(decoder.getstate()[0])
            try:
                decoder.decode(piece)
            except UnicodeDecodeError as problem:
                raise _not_utf8(file, piece, max(problem.start - carried, 0), line) from None
            line += _line_ends(piece)
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise files.Unreadable(f"{file} ends in the middle of a character: it is cut off") from None


def _line_ends(piece: bytes) -> int:
    r"""Count line ends, of any kind.

    >>> _line_ends(b"a\r\nb\rc\nd")
    3
    """
    return piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n")


def _not_utf8(file: Path, piece: bytes, spot: int, line: int) -> files.Unreadable:
    where = line + _line_ends(piece[:spot])
    return files.Unreadable(
        f"{file} is not UTF-8 text (byte 0x{piece[spot]:02X} on line {where}): save it as UTF-8, "
        "for example by iconv -f latin1 -t utf-8"
    )


def _noting(invalid: list[Any]) -> Any:
    def note(row: Any) -> str:
        invalid.append(row)
        return "error"

    return note


def _invalid_rows(file: Path, read: Any, parse: Any) -> list[Any]:
    import pyarrow.csv as pc

    invalid: list[Any] = []
    noting = pc.ParseOptions(**parse, invalid_row_handler=_noting(invalid))
    try:
        with pc.open_csv(file, pc.ReadOptions(**read, use_threads=False), noting, _types()) as opened:
            for _ in opened:
                pass
    except ValueError:
        pass
    return invalid


def _what_is_wrong(file: Path, problem: ValueError, read: Any, parse: Any) -> str:
    """Say which row is at fault; the reader on many threads does not know, so it is asked again on one.

    Threads that go on after an error would call into Python at its end, and abort it: only this reader calls us.
    """
    invalid = _invalid_rows(file, read, parse)
    if not invalid:
        long = "straddl" in str(problem) or "block" in str(problem)
        hint = (
            "a quoted value that does not end, or a row of more than 16 MiB" if long else str(problem).splitlines()[0]
        )
        return f"{file} cannot be read as a table ({hint}): repair it"
    row = invalid[0]
    at = f"row {row.number} (the header is row 1)" if row.number is not None else "a row"
    start = quote([row.text[:60]])
    return (
        f"{at} of {file} has {row.actual_columns} values, the header has {row.expected_columns}: {start}; "
        "repair it, or quote values that contain the delimiter"
    )
