"""Looking through Arrow's file format before it is read.

Arrow's reader trusts what a file says about itself: a buffer that lies outside of the file, or a compressed one that
declares more than there is memory, ends the process. So the places and sizes are read here first, out of the
flatbuffers that hold them, and compared with the file.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

_MAGIC: Final = b"ARROW1"
_TAIL: Final = 4 + len(_MAGIC)  # length of the footer, magic
_BATCH, _DICTIONARY = 3, 2  # kinds of messages
_PREFIX: Final = 8  # a compressed buffer begins with its length when unpacked


class Table:
    """A table of a flatbuffer: fields by number, each of them may be absent.

    Examples
    --------
    >>> data = struct.pack("<IHHHii", 10, 6, 8, 4, 6, 42)
    >>> Table.root(data).number(0, "<i"), Table.root(data).number(1, "<i")
    (42, 0)
    """

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - self._unpack("<i", at)

    @classmethod
    def root(cls, data: bytes) -> "Table":
        """Give the table that a flatbuffer begins with."""
        return cls(data, struct.unpack_from("<I", data, 0)[0])

    def number(self, field: int, form: str) -> int:
        """Give a number, 0 if it is absent."""
        place = self._place(field)
        return 0 if place is None else self._unpack(form, place)

    def table(self, field: int) -> "Table | None":
        """Give a table within this one."""
        place = self._place(field)
        return None if place is None else Table(self._data, place + self._unpack("<I", place))

    def records(self, field: int, form: str) -> Iterator[tuple[Any, ...]]:
        """Give a vector of records of fixed size."""
        place = self._place(field)
        if place is None:
            return
        start = place + self._unpack("<I", place)
        size = struct.calcsize(form)
        for i in range(self._unpack("<I", start)):
            yield struct.unpack_from(form, self._data, self._inside(start + 4 + i * size))

    def _place(self, field: int) -> int | None:
        entry = 4 + 2 * field
        if entry + 2 > self._unpack("<H", self._fields):
            return None
        offset = self._unpack("<H", self._fields + entry)
        return self._at + offset if offset else None

    def _unpack(self, form: str, at: int) -> int:
        return int(struct.unpack_from(form, self._data, self._inside(at))[0])

    def _inside(self, at: int) -> int:
        if at < 0:  # would count from the end
            raise struct.error("an offset points before the beginning")
        return at


@dataclass(frozen=True)
class Declared:
    """What a file declares: bytes of all batches when unpacked, of the largest one, and of the dictionaries."""

    total: int
    largest: int
    dictionaries: int


def look_through(opened: BinaryIO, size: int) -> Declared:
    """See that all parts of a file lie within it, and give the size they unpack to.

    Parameters
    ----------
    opened
        The file, for reading bytes.
    size
        How many bytes it has.

    Raises
    ------
    ValueError
        If something lies outside of the file. `struct.error`, if a flatbuffer is cut off.
    """
    footer = Table.root(_footer(opened, size))
    dictionaries, batches = ([_unpacked(opened, size, *block) for block in _blocks(footer, field)] for field in (2, 3))
    return Declared(sum(dictionaries) + sum(batches), max(batches, default=0), sum(dictionaries))


def _footer(opened: BinaryIO, size: int) -> bytes:
    opened.seek(max(size - _TAIL, 0))
    tail = opened.read(_TAIL)
    if len(tail) < _TAIL or not tail.endswith(_MAGIC):
        raise ValueError("it does not end as such a file does")
    length = struct.unpack_from("<i", tail)[0]
    return _read(opened, size, size - _TAIL - length, length)


def _blocks(footer: Table, field: int) -> Iterator[tuple[int, int]]:
    """Give place and length of the metadata of each part."""
    return ((offset, length) for offset, length, _ in footer.records(field, "<qi4xq"))


def _read(opened: BinaryIO, size: int, start: int, length: int) -> bytes:
    if start < 0 or length < 0 or start + length > size:
        raise ValueError("a part of it lies outside of the file")
    opened.seek(start)
    return opened.read(length)


def _unpacked(opened: BinaryIO, size: int, offset: int, length: int) -> int:
    """Check one part, and give how many bytes it unpacks to."""
    metadata = _read(opened, size, offset, length)
    # since 2019 a sign stands before the length
    message = Table.root(metadata[8 if metadata[:4] == b"\xff" * 4 else 4 :])
    start, body = offset + length, message.number(3, "<q")
    if body < 0 or start + body > size:
        raise ValueError("a part of it lies outside of the file")
    batch, kind = message.table(2), message.number(1, "<B")
    if batch is not None and kind == _DICTIONARY:
        batch = batch.table(1)
    if batch is None or kind not in (_BATCH, _DICTIONARY):
        raise ValueError("a part of it is of no known kind")
    unpacked = sum(_buffers(opened, size, batch, start, body))
    _check_rows(batch, unpacked)
    return unpacked


def _buffers(opened: BinaryIO, size: int, batch: Table, start: int, body: int) -> Iterator[int]:
    """Give the unpacked size of each buffer of a batch."""
    packed = batch.table(3) is not None
    for offset, length in batch.records(2, "<qq"):
        if offset < 0 or length < 0 or offset + length > body:
            raise ValueError("a buffer lies outside of its batch")
        uncompressed = -1
        if packed and length >= _PREFIX:
            uncompressed = struct.unpack("<q", _read(opened, size, start + offset, _PREFIX))[0]
        yield length if uncompressed < 0 else uncompressed


def _check_rows(batch: Table, unpacked: int) -> None:
    """See that there is room for the rows, at one bit each: columns of nothing take none, and may be endless."""
    most = 8 * unpacked + 2**20
    for rows in (batch.number(0, "<q"), *(node[0] for node in batch.records(1, "<qq"))):
        if not 0 <= rows <= most:
            raise ValueError(f"it declares {rows} rows and has no room for them")
