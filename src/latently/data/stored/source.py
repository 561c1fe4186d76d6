"""Tables that are not in memory: read anew at every pass, a chunk at a time, ahead of who works through them."""

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, Self

import numpy as np

from latently.data.schema.schema import Schema
from latently.data.sources.bounds import check_chunk_rows, chunk_bounds
from latently.data.sources.chunks import Chunk
from latently.data.sources.loads import Load, given
from latently.data.sources.table_source import SOME_BYTES, TableSource
from latently.data.stored.arrow import Shelf, check_matrix, float_type, matrix_of, refuse_text, values_of, weights_of
from latently.data.stored.batches import Cut, concatenated, cut_rows, cut_sequences
from latently.data.stored.cache import Spill, has_disk_space
from latently.data.stored.digest import digest_of
from latently.data.stored.prefetch import read_ahead
from latently.data.stored.reader import Reader, Store, check_names
from latently.data.tables.matrix import FloatArray, check_size, check_weights
from latently.data.tables.values import is_row_index

KEEP_BYTES: Final = 1 << 26
"""A table of at most this size stays in memory after the first pass, so that it is read once."""
_AHEAD_BYTES: Final = 1 << 25
_MEMO_BYTES: Final = 1 << 28

Encode = Callable[[Cut], FloatArray]


class StoredSource(TableSource):
    """Chunks of a table on disk, or of one that comes from an iterator.

    Chunks begin and end where those of the same table in memory do, whatever the files are cut into. Made by
    `latently.data.open_source`.

    Parameters
    ----------
    reader
        Gives the rows.
    columns
        Names of the features, in order; all columns that have no other role if None.
    target, weights, sequences_by
        Names of the columns that hold the target, the weight of each row, and what tells sequences apart. Weights
        may be an array.
    schema
        How to encode columns that are not numbers.
    chunk_rows
        Most rows in a chunk.
    """

    def __init__(
        self,
        reader: Reader,
        *,
        columns: Sequence[str] | None = None,
        target: str | None = None,
        weights: Any = None,
        sequences_by: str | None = None,
        schema: Schema | None = None,
        chunk_rows: int | None = None,
    ) -> None:
        if isinstance(columns, str):
            raise TypeError(f"columns must be a list of names, got the string {columns!r}: write [{columns!r}]")
        self.reader = reader
        self._asked = None if columns is None else tuple(columns)
        self.schema = schema
        self.chunk_rows = None if chunk_rows is None else check_chunk_rows(chunk_rows)
        self._encode: Callable[[Any], FloatArray] | None = None
        self._after: tuple[Callable[[FloatArray], FloatArray], ...] = ()
        self._encoded_names: tuple[str, ...] | None = None
        self._allow_nan = True
        self._memo_rows = 0
        self._many_passes = False
        self._set_roles(target, weights, sequences_by)

    def _set_roles(self, target: str | None, weights: Any, sequences_by: str | None) -> None:
        self.target, self.sequences_by = target, sequences_by
        self.weights = weights
        self._store, self._memos = Store(), dict[int, dict[str, Any]]()
        roles = [name for name in (target, sequences_by, weights) if isinstance(name, str)]
        rest = tuple(name for name in self.reader.schema.names if name not in roles and not is_row_index(name))
        self.features: tuple[str, ...] = self._asked or (self.schema.names if self.schema else rest)
        self._roles = tuple(roles)
        check_names(self.reader, self.features, self._roles, self.where)

    # what it is

    @property
    def where(self) -> str:
        """Where the rows come from, for errors."""
        files = self.reader.files
        return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows; counted when first asked for."""
        return self.reader.count()

    @property
    def column_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the columns, in order."""
        return self._encoded_names or self.features

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """Precision of the values."""
        plain = self.schema is None and self._encode is None and not self._after
        return float_type(self.reader.schema, self.features) if plain else np.float64

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing; known after the first pass."""
        return self._store.absent

    # the same rows in another way

    def fresh(self) -> Self:
        """Give the same chunks with memos of their own: for a second fit at the same time."""
        other = copy.copy(self)
        other._memos = {}
        return other

    def _changed(self, **values: Any) -> Self:
        other = copy.copy(self)
        other.__dict__.update(values, _store=Store(), _memos={})
        return other

    def with_roles(self, target: str | None = None, weights: Any = None, sequences_by: str | None = None) -> Self:
        """Give the source with columns that are target, weights, or tell sequences apart."""
        other = copy.copy(self)
        given = (target, weights, sequences_by)
        mine = (self.target, self.weights, self.sequences_by)
        for name, new, old in zip(("y", "sample_weight", "sequences_by"), given, mine, strict=True):
            if new is not None and old is not None and new is not old:
                raise ValueError(f"{name} was given when the source was made: do not give another")
        other._set_roles(*(old if new is None else new for new, old in zip(given, mine, strict=True)))
        return other

    def chunked_by(self, chunk_rows: int) -> Self:
        """Give the source in chunks of another size, unless its maker has chosen one."""
        return self if self.chunk_rows is not None else self._changed(chunk_rows=chunk_rows)

    def checked(self, *, allow_nan: bool) -> Self:
        """Give the source with an error if a value is NaN (inf always is one)."""
        return self if allow_nan == self._allow_nan else self._changed(_allow_nan=allow_nan)

    def encoded(self, encode: Callable[[Any], FloatArray], names: Sequence[str] | None = None) -> Self:
        """Give the source with a function of its own that turns an Arrow table of the features into floats."""
        return self._changed(_encode=encode, _encoded_names=None if names is None else tuple(names))

    def mapped(self, f: Callable[[FloatArray], FloatArray]) -> Self:
        """Give the source with a function applied to the floats of every chunk."""
        return self._changed(_after=(*self._after, f))

    def keeping(self, bytes_per_row: int) -> Self:
        """Give the source with memos that survive a pass, for as many rows as a quarter of a gigabyte can serve."""
        return self._changed(_memo_rows=_MEMO_BYTES // max(bytes_per_row, 1))

    def for_many_passes(self) -> Self:
        """Give the source with a decoded copy in a temporary file after the first pass, if there is ample room."""
        return self if self._many_passes else self._changed(_many_passes=True)

    # chunks

    def __iter__(self) -> Iterator[Chunk]:
        return (load() for load in self.loads())

    def loads(self) -> Iterator[Load]:
        """Give functions that give the chunks in order: what is left to do for a chunk is done in who calls them."""
        store = self._store
        if store.chunks is not None:
            loads: Iterator[Load] = map(given, store.chunks)
        elif store.spill is not None and store.spill.is_whole:
            loads = store.spill.loads()
        else:
            loads = self._first_loads()
        return (partial(self._with_memo, i, load) for i, load in enumerate(loads))

    def _with_memo(self, i: int, load: Load) -> Chunk:
        chunk = load()
        keep = self._store.chunks is not None or chunk.stop <= self._memo_rows
        memo = self._memos.setdefault(i, {}) if keep else {}
        return Chunk(chunk.X, chunk.weights, chunk.start, memo, chunk.lengths, chunk.y)

    def _first_loads(self) -> Iterator[Load]:
        """From the files, with a decoded copy if that is worth it."""
        few = self.n_rows * 8 * max(len(self.column_names), 1) <= KEEP_BYTES
        spill = None if few else self._copy()
        chunks = self._read(keep=few)
        return map(given, chunks) if spill is None else spill.writing(chunks)

    def _copy(self) -> Spill | None:
        if not self._many_passes or self.target is not None or self.sequences_by is not None:
            return None
        weight_bytes = 0 if self.weights is None else 8
        n_bytes = self.n_rows * (self.n_columns * np.dtype(self.dtype).itemsize + weight_bytes)
        if self._store.spill is None and has_disk_space(n_bytes):
            self._store.spill = Spill(self.n_columns, self.dtype, n_bytes)
        return self._store.spill

    def _read(self, *, keep: bool) -> Iterator[Chunk]:
        chunk_bytes = 8 * max(len(self.column_names), 1) * check_chunk_rows(self.chunk_rows)
        depth = int(np.clip(_AHEAD_BYTES // chunk_bytes, 1, 4))
        kept, weight, counted = list[Chunk](), 0.0, 0
        for chunk in read_ahead(self._chunks, depth):
            weight += chunk.total_weight
            counted += chunk.n_rows if chunk.weights is None else int(np.count_nonzero(chunk.weights))
            if keep:
                kept.append(chunk)
            yield chunk
        self._store.totals, self._store.checked = (weight, counted), True
        self._store.chunks = tuple(kept) if keep else None

    def _chunks(self) -> Iterator[Chunk]:
        make = self._encoder()
        name = self.weights if isinstance(self.weights, str) else None
        given = None if name is not None else check_weights(self.weights, self.n_rows)
        for cut in self.cuts():
            X = make(cut)
            here = None if given is None else given[cut.start : cut.start + cut.n_rows]
            weights = here if name is None else weights_of(cut, name)
            y = None if self.target is None else values_of(cut, self.target)
            yield Chunk(X, weights, cut.start, {}, cut.lengths, y)

    def cuts(self, extra: Sequence[str] = ()) -> Iterator[Cut]:
        """Give the raw rows of each chunk: features, roles, and further columns."""
        check_size((self.n_rows, len(self.features) or len(self._roles)), self.where)
        names = list(dict.fromkeys([*self.features, *self._roles, *extra]))
        plain = self.schema is None and self._encode is None
        batches = self.reader.batches(names, self.features if plain else ())
        if self.sequences_by is not None:
            return cut_sequences(batches, self.sequences_by, check_chunk_rows(self.chunk_rows))
        return cut_rows(batches, chunk_bounds(self.n_rows, self.chunk_rows))

    def tables(self, extra: Sequence[str] = ()) -> Iterator[tuple[Cut, Any]]:
        """Give the rows of each chunk as an Arrow table of the features, and the cut that it comes from."""

        def make() -> Iterator[tuple[Cut, Any]]:
            return ((cut, cut.table()) for cut in self.cuts(extra))

        return read_ahead(make, 2)

    def _encoder(self) -> Encode:
        if self._encode is not None or self.schema is not None:
            encode = self._encode or self._by_schema
            return lambda cut: self._finished(encode(cut.table().select(list(self.features))), cut)
        refuse_text(self.reader.schema, self.features, self.where)
        dtype = float_type(self.reader.schema, self.features)
        shelf = Shelf(dtype)
        return lambda cut: self._finished(matrix_of(cut, self.features, dtype, shelf), cut)

    def _by_schema(self, table: Any) -> FloatArray:
        assert self.schema is not None
        return self.schema.encode(table)

    def _finished(self, X: FloatArray, cut: Cut) -> FloatArray:
        if not self._store.checked:
            self._store.absent |= check_matrix(X, cut, self.column_names, self._allow_nan)
        for f in self._after:
            X = f(X)
        return X

    # what can be known without the features

    def totals(self) -> tuple[float, int]:
        """Weight of all rows, and how many have any."""
        if self._store.totals is None and self.weights is None:
            self._store.totals = float(self.n_rows), self.n_rows
        if self._store.totals is None:
            self._store.totals = super(StoredSource, self.only_roles()).totals()
        if not self._store.totals[0] > 0:
            raise ValueError("sample_weight is zero for every row: at least one weight must be positive")
        return self._store.totals

    def only_roles(self) -> Self:
        """Give the source without features: targets and weights are read alone, which is quicker."""
        return self._changed(features=(), _encoded_names=None, _encode=_nothing, schema=None, _after=())

    def some_rows(self, most_bytes: int = SOME_BYTES, seed: int = 0) -> tuple[Any, bool]:
        """An Arrow table of the features, of all rows if they are few, or of a draw; and whether they are all."""
        most = max(most_bytes // (8 * len(self.features)), 1)
        is_all = self.n_rows <= most
        rng = np.random.RandomState(seed)
        # in order, with repeats: none to speak of where there are so many rows
        places = np.arange(self.n_rows) if is_all else np.sort(rng.randint(self.n_rows, size=most, dtype=np.int64))
        parts = []
        for cut in self.cuts():
            inside = places[slice(*np.searchsorted(places, (cut.start, cut.start + cut.n_rows)))] - cut.start
            parts.append(cut.table().select(list(self.features)).take(inside))
        return concatenated(parts), is_all

    def digest(self) -> Any:
        """A small Arrow table with every distinct value of columns that may be categories; see `digest_of`."""
        return digest_of(self.reader.batches(self.features), self.reader.schema, self.features)


def _nothing(table: Any) -> FloatArray:
    return np.empty((table.num_rows, 0))
