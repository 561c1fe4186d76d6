"""Arrow batches of any size cut into chunks: of given numbers of rows, or of whole sequences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.data.sources.paths import FileError
from latently.data.stored.parquet import pyarrow
from latently.data.tables.matrix import IntArray


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows of a chunk that come from one place: where from, and an Arrow batch."""

    origin: str
    batch: Any


@dataclass(frozen=True, eq=False)
class Cut:
    """The rows of one chunk: pieces in order, the index of the first row, and lengths of sequences or None."""

    pieces: tuple[Piece, ...]
    start: int
    lengths: IntArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(piece.batch.num_rows for piece in self.pieces)

    def table(self) -> Any:
        """Give the rows as one Arrow table."""
        batches = [piece.batch for piece in self.pieces]
        pa = pyarrow()
        if all(batch.schema.equals(batches[0].schema) for batch in batches):
            return pa.Table.from_batches(batches)
        return concatenated([pa.Table.from_batches([batch]) for batch in batches])


def concatenated(tables: list[Any]) -> Any:
    """Arrow tables below each other; files may differ in detail (int32 and int64, two dictionaries)."""
    return pyarrow().concat_tables(tables, promote_options="permissive").unify_dictionaries().combine_chunks()


def cut_rows(batches: Iterator[tuple[str, Any]], bounds: Sequence[tuple[int, int]]) -> Iterator[Cut]:
    """Cut at given rows; an error if there are more or fewer rows than the bounds say."""
    supply = _Supply(batches)
    for start, stop in bounds:
        yield Cut(tuple(supply.take(stop - start)), start)
    supply.expect_end()


class _Supply:
    """Batches from which any number of rows can be taken."""

    def __init__(self, batches: Iterator[tuple[str, Any]]) -> None:
        self._batches = batches
        self._rest: Piece | None = None

    def take(self, n: int) -> Iterator[Piece]:
        while n:
            piece = self._rest or self._next()
            if piece is None:
                raise ValueError("the data has fewer rows than when it was counted: was it changed during the fit?")
            taken = min(n, piece.batch.num_rows)
            left = piece.batch.num_rows - taken
            self._rest = Piece(piece.origin, piece.batch.slice(taken)) if left else None
            yield Piece(piece.origin, piece.batch.slice(0, taken)) if left else piece
            n -= taken

    def expect_end(self) -> None:
        if self._rest is not None or self._next() is not None:
            raise ValueError("the data has more rows than when it was counted: was it changed during the fit?")

    def _next(self) -> Piece | None:
        found = next(self._batches, None)
        return None if found is None else Piece(*found)


def cut_sequences(batches: Iterator[tuple[str, Any]], group: str, most: int) -> Iterator[Cut]:
    """Cut between sequences, which are rows next to each other with one value in the column `group`.

    Neighbours are packed together up to `most` rows; a longer sequence is a chunk of its own. The column
    must rise or fall from row to row: this is how a sequence that is torn apart is found without
    remembering all of them.
    """
    packing = _Packing(group, most)
    for origin, batch in batches:
        yield from packing.add(origin, batch)
    yield from packing.rest()


@dataclass
class _Span:
    """Rows `first` up to `stop` of a batch."""

    origin: str
    batch: Any
    first: int
    stop: int

    def piece(self) -> Piece:
        return Piece(self.origin, self.batch.slice(self.first, self.stop - self.first))


class _Packing:
    """Whole sequences that wait to be a chunk, and the last one, which may go on."""

    def __init__(self, group: str, most: int) -> None:
        self.group, self.most = group, most
        self.order = _Order(group)
        self.start = self.rows = 0
        self.done: list[_Span] = []
        self.lengths: list[int] = []
        self.open: list[_Span] = []

    def add(self, origin: str, batch: Any) -> Iterator[Cut]:
        first = 0
        for value, stop in _runs(origin, batch, self.group):
            if self.order.moves(origin, value) and self.open:
                yield from self._close()
            self.open.append(_Span(origin, batch, first, stop))
            first = stop

    def rest(self) -> Iterator[Cut]:
        if self.open:
            yield from self._close()
        if self.lengths:
            yield self._cut()

    def _close(self) -> Iterator[Cut]:
        """The open sequence is whole: it joins the others, or the others are a chunk and it begins the next."""
        length = sum(span.stop - span.first for span in self.open)
        if self.lengths and self.rows + length > self.most:
            yield self._cut()
        for span in self.open:
            if self.done and self.done[-1].batch is span.batch:
                self.done[-1].stop = span.stop
            else:
                self.done.append(span)
        self.lengths.append(length)
        self.rows += length
        self.open = []

    def _cut(self) -> Cut:
        cut = Cut(tuple(span.piece() for span in self.done), self.start, np.array(self.lengths, dtype=np.int64))
        self.start += self.rows
        self.done, self.lengths, self.rows = [], [], 0
        return cut


class _Order:
    """Sees that the values of a column rise, or that they fall."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.last: Any = None
        self.rises: bool | None = None

    def moves(self, origin: str, value: Any) -> bool:
        """Take in the next value; whether it is another one than the last."""
        last, self.last = self.last, value
        if last is None or value == last:
            return last is None
        if self.rises is None:
            self.rises = value > last
        if (value > last) is not self.rises:
            raise FileError(
                origin,
                f"the rows are not sorted by {self.group!r}: {value!r} comes after {last!r}, so sequences may be torn "
                f"apart; sort the whole table by {self.group!r} (and by time within it), then write the files again",
            )
        return True


def _runs(origin: str, batch: Any, group: str) -> Iterator[tuple[Any, int]]:
    """Values of the group column, each with the row at which its run of equal ones stops."""
    pa = pyarrow()
    column = batch.column(group)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count:
        raise FileError(origin, f"column {group!r} is missing in some rows: every row belongs to a sequence")
    runs = pa.compute.run_end_encode(column)
    yield from zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True)
