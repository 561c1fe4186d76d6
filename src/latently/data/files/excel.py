"""Tables as Excel sheets, looked through before they are read.

A workbook is an archive of XML. A few kilobytes may unpack to gigabytes, and one cell in the far corner makes a sheet
of 17 billion, so sizes are looked at first, while everything is still a stream.
"""

import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from xml.parsers import expat

import numpy as np

from latently.data.files import read as files
from latently.data.files.sample import FileTable

# Cells are Python objects until they are a table: a tenth of what fits elsewhere.
MAX_SHEET: Final = 20_000_000
# Tags in one part of a workbook; every tag becomes an object. Strings that cells share are many, all else is not.
MAX_TAGS: Final = {"sst": 8_000_000, "worksheet": 200_000_000}
_FEW_TAGS: Final = 1_000_000
_ROWS, _COLUMNS = 1_048_576, 16_384  # of any sheet
_VISITED: Final = 5 * MAX_SHEET  # cells that a reader goes through, blank ones too
_PIECE: Final = 2**20
_LONGEST: Final = 4 * _PIECE  # of a tag: the parser begins it again with each piece


def read_excel(file: Path, max_rows: int | None, seed: int) -> FileTable:
    """Read the first sheet of a workbook: all of it, or a sample of its rows."""
    pd = _pandas(file)
    _look_through(file)
    with pd.ExcelFile(file, engine="openpyxl") as opened:
        sheets = opened.book.worksheets
        if not sheets:
            raise files.Unreadable(f"{file} has no sheet of cells, only charts: save the data themselves as a sheet")
        _check_extent(file, sheets[0])
        raw = pd.read_excel(opened, header=None, nrows=1)
        names = ["" if pd.isna(name) else str(name) for name in raw.iloc[0]] if len(raw) else []
        names = files.check_names(file, names)
        table = pd.read_excel(opened, header=None, skiprows=1, names=names)
    rows = files.fitting_rows(file, len(names), max_rows)
    if rows is None or len(table) <= rows:
        return FileTable(table, len(table))
    kept = np.sort(np.random.default_rng(seed).choice(len(table), rows, replace=False))
    return FileTable(table.iloc[kept].reset_index(drop=True), len(table), kept)


def _pandas(file: Path) -> Any:
    try:
        import_module("openpyxl")
        return import_module("pandas")
    except ModuleNotFoundError as problem:
        message = f"reading {file} needs {problem.name}: pip install pandas openpyxl, or save the sheet as CSV"
        raise ModuleNotFoundError(message, name=problem.name) from None


def _look_through(file: Path) -> None:
    """See that the parts of a workbook are whole, and neither too large nor able to grow when they are read."""
    with zipfile.ZipFile(file) as packed:
        parts = packed.infolist()
        unpacked = sum(part.file_size for part in parts)
        if unpacked > files.MAX_BYTES // 4:
            raise files.Unreadable(
                f"{file} unpacks to {unpacked / 2**20:.0f} MiB, too much for a sheet: save it as CSV"
            )
        if len({part.filename for part in parts}) < len(parts):
            raise files.Unreadable(f"{file} is damaged, it holds a part twice: write it again")
        for part in parts:
            if part.filename.lower().endswith((".xml", ".rels")):
                with packed.open(part) as stream:
                    _Xml(file, part.filename).look_through(stream)


class _Xml:
    """A part of a workbook while it streams by: well formed, without entities, and not too many tags."""

    def __init__(self, file: Path, part: str) -> None:
        self._file, self._part, self._root = file, part, ""
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._begin
        self._parser.StartDoctypeDeclHandler = self._refuse

    def look_through(self, stream: Any) -> None:
        tags = size = 0
        while piece := stream.read(_PIECE):
            tags, size = tags + piece.count(b"<"), size + len(piece)
            self._parser.Parse(piece, False)
            unparsed = size - self._parser.CurrentByteIndex
            if tags > MAX_TAGS.get(self._root, _FEW_TAGS) or unparsed > _LONGEST:
                raise files.Unreadable(f"{self._file} has too much in its part {self._part!r}: save the sheet as CSV")
        self._parser.Parse(b"", True)

    def _begin(self, tag: str, _: Any) -> None:
        self._root = tag.rpartition(":")[2]
        self._parser.StartElementHandler = None  # the first tag only

    def _refuse(self, *_: Any) -> None:
        raise files.Unreadable(
            f"{self._file} declares XML entities in its part {self._part!r}, which no sheet needs: save it as CSV"
        )


def _check_extent(file: Path, sheet: Any) -> None:
    """See that the cells of a sheet fit into memory, and lie where cells may be."""
    extent = _Extent()
    with sheet._get_source() as stream:
        extent.look_through(stream)
    if extent.rows > _ROWS or extent.columns > _COLUMNS:
        raise files.Unreadable(f"{file} is damaged, it has a cell beyond the end of any sheet: write it again")
    if extent.visited > _VISITED:
        raise files.Unreadable(f"{file} has a great many blank cells: clear them, or save the sheet as CSV")
    if extent.rows * extent.columns > MAX_SHEET:
        raise files.Unreadable(
            f"{file} has a cell in row {extent.rows:,} and one in column {extent.columns:,}, which makes a table of "
            f"{extent.rows * extent.columns:,} cells: clear the cells that lie apart, or save the sheet as CSV"
        )


class _Extent:
    """The last row and the last column of a sheet that hold something, found while it streams by.

    `visited` counts the cells that a reader goes through, those that are blank or left out too.
    """

    def __init__(self) -> None:
        self.rows = self.columns = self.visited = 0
        self._row = self._column = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._begin

    def look_through(self, stream: Any) -> None:
        while self.rows <= _ROWS and self.visited <= _VISITED and (piece := stream.read(_PIECE)):
            self._parser.Parse(piece, False)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        kind = tag.rpartition(" ")[2]
        if kind == "c":
            self._cell(attributes.get("r"))
        elif kind in ("v", "t"):
            self.rows, self.columns = max(self.rows, self._row), max(self.columns, self._column)
        elif kind == "row":
            self._row = int(float(attributes.get("r", self._row + 1)))
            self._column = 0
            if self._row > _ROWS:  # rows that are left out are made up by the reader
                self.rows = self._row

    def _cell(self, place: str | None) -> None:
        before = self._column
        self._column = before + 1 if place is None else _column(place)
        self.visited += max(self._column - before, 0)


def _column(place: str) -> int:
    """The number of a column, from the name of a cell.

    >>> _column("A1"), _column("AB12"), _column("XFD1048576")
    (1, 28, 16384)
    """
    number = 0
    for letter in place.rstrip("0123456789").upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
