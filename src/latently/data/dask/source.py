"""Dask collections as a source: the data stays where Dask keeps it, in parts of whole chunks.

Dask itself is loaded when the first collection arrives, never before.
"""

import copy
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, Self

import numpy as np

from latently.data.dask.blocks import Blocks, Loaded, holders_of, loaded_parts, raw_blocks
from latently.data.dask.digest import count, digest_of, distinct_values, stacked, take
from latently.data.dask.graph import check_open, computed, current_client, known_rows, read_plan
from latently.data.dask.partition import (
    Measure,
    Plan,
    columns_with_missing,
    no_missing_allowed,
    over_table,
    refuse_missing,
)
from latently.data.schema.schema import Schema
from latently.data.sources.bounds import check_chunk_rows
from latently.data.sources.chunks import Chunk, is_dask
from latently.data.sources.table_source import SOME_BYTES, TableSource
from latently.data.tables import frames
from latently.data.tables.matrix import FloatArray


class DaskSource(TableSource):
    """Chunks of a Dask collection, held by its workers; made by `dask_source`.

    Walking through it brings one partition after another here, which is for small tables. A fit does not do
    that: `latently.learn.reducing` sends the function to the data.

    Attributes
    ----------
    client
        The `distributed.Client` that holds the parts; None if they are held by this process.
    kept
        Whether the parts are held in memory from one pass to the next.
    owner
        Name under which the parts keep memos for this source.
    """

    @property
    def where(self) -> str:
        """Where the rows come from, for errors."""
        return "the Dask collection"

    @property
    def is_named(self) -> bool:
        """Whether the columns have names of their own: those of a dataframe do."""
        return self._plan.names is not None

    def __init__(
        self, X: Any, raw: list[Any], plan: Plan, beside: tuple[Any, Any], chunk_rows: int | None, keep: bool
    ) -> None:
        self._collection = X  # kept: what was persisted lives as long as somebody has it
        self._raw, self._plan, self._beside = raw, plan, beside
        self.chunk_rows = None if chunk_rows is None else check_chunk_rows(chunk_rows)
        self.features = self.column_names = plan.names or frames.default_names(X.shape[1])
        self._known_rows = known_rows(X)
        self.client = current_client()
        self.kept = keep
        self.owner = uuid.uuid4().hex
        self._loaded: Loaded | None = None
        self._passed = False

    @property
    def _is_countable(self) -> bool:
        """Whether everything about the size of the parts is known without reading them."""
        weights, target = self._beside
        here = weights is not None or not (target is None or is_dask(target))
        return self._known_rows is not None and all(self._known_rows) and not here

    @property
    def _sizes(self) -> list[Measure]:
        if self._loaded is None and self._is_countable:
            return [Measure(n, float(n), n) for n in self._known_rows or ()]
        return self.load().sizes

    def load(self) -> Loaded:
        """Turn the partitions into floats, once, on the workers that have them."""
        if self._loaded is None:
            known = self._known_rows if self.kept and not is_dask(self._beside[0]) else None
            self._loaded = loaded_parts(
                self._raw, *self._beside, self._plan, self.client, self.kept, known, self.n_columns
            )
        return self._loaded

    @property
    def parts(self) -> list[Any]:
        """A delayed `Part` for each partition that has rows."""
        return self.load().parts

    @property
    def starts(self) -> list[int]:
        """Index of the first row of each part in the whole table."""
        return [0, *accumulate(size.rows for size in self._sizes)][:-1]

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return sum(size.rows for size in self._sizes)

    def totals(self) -> tuple[float, int]:
        """Weight of all rows, and how many rows have any."""
        sizes = self._sizes
        return sum(size.weight for size in sizes), sum(size.counted for size in sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def __iter__(self) -> Iterator[Chunk]:
        for delayed, start in zip(self.parts, self.starts, strict=True):
            (part,) = self.compute([delayed])
            yield from part.located(start, self.owner, self.chunk_rows)

    # the same rows in another way

    def fresh(self) -> Self:
        """Give the same chunks with memos of their own: for a second fit at the same time."""
        other = copy.copy(self)
        other.owner = uuid.uuid4().hex
        return other

    def _changed(self, **values: Any) -> Self:
        other = self.fresh()
        other._plan, other._loaded, other._passed = replace(self._plan, **values), None, False
        return other

    def checked(self, *, allow_nan: bool) -> Self:
        """Give the source; an error if a value is NaN and that is not allowed (inf never is)."""
        if allow_nan:
            return self
        if self._loaded is None:
            return self._changed(after=(*self._plan.after, partial(refuse_missing, self.column_names)))
        from dask.delayed import delayed

        look = delayed(columns_with_missing, pure=False)
        for place, absent in enumerate(self.compute([look(part) for part in self.parts])):
            if absent:
                raise ValueError(f"partition {place}: {no_missing_allowed(self.column_names[absent[0]])}")
        return self

    def for_many_passes(self) -> Self:
        """Give the source, with its parts held by the workers."""
        self.load()
        return self

    def chunked_by(self, chunk_rows: int) -> Self:
        """Give the source in chunks of another size, unless its maker has chosen one."""
        if self.chunk_rows is not None:
            return self
        other = self.fresh()
        other.chunk_rows = check_chunk_rows(chunk_rows)
        return other

    def encoded(self, encode: Callable[[Any], FloatArray], names: Sequence[str] | None = None) -> Self:
        """Give the source with a function of its own that turns a table of the features into floats."""
        other = self._changed(encode=encode)
        other.column_names = self.features if names is None else tuple(names)
        return other

    @property
    def _is_numeric(self) -> bool:
        return set(self._plan.kinds) <= {"numbers"}

    def mapped(self, f: Callable[[FloatArray], FloatArray]) -> Self:
        """Give a source with a function applied to the floats of every chunk, by the workers."""
        return self._changed(after=(*self._plan.after, f))

    # the raw values

    def over_tables(self, f: Callable[..., Any], beside: Sequence[Any] | None = None) -> list[Any]:
        """Give f(features as they are, lengths of sequences) for each partition, from its worker.

        Parameters
        ----------
        f
            Called by the workers; a partition without rows gives None.
        beside
            A further argument of f for each partition.
        """
        from dask.delayed import delayed

        check_open(self.client)
        run, plan = delayed(partial(over_table, f), pure=False), delayed(self._plan, pure=False, traverse=False)
        more = [()] * len(self._raw) if beside is None else [(value,) for value in beside]
        tasks = [run(raw, plan, i, *more[i]) for i, raw in enumerate(self._raw)]
        return computed(tasks, self.client)

    def digest(self) -> Any:
        """A small table with every distinct value of columns that may be categories, and some of the others."""
        return digest_of([values for values in self.over_tables(distinct_values) if values is not None])

    def some_rows(self, most_bytes: int = SOME_BYTES, seed: int = 0) -> tuple[Any, bool]:
        """A table of the features, of all rows if they are few, or of a draw; and whether they are all."""
        edges = np.cumsum([0, *(n or 0 for n in self.over_tables(count))])
        most, n_rows = max(most_bytes // (8 * len(self.features)), 1), int(edges[-1])
        rng = np.random.RandomState(seed)
        # in order, with repeats: none to speak of where there are so many rows
        places = np.arange(n_rows) if n_rows <= most else np.sort(rng.randint(n_rows, size=most, dtype=np.int64))
        inside = [places[slice(*np.searchsorted(places, pair))] - pair[0] for pair in pairwise(edges)]
        return stacked([rows for rows in self.over_tables(take, inside) if rows is not None]), n_rows <= most

    # where it is

    def blocks(self) -> Blocks:
        """Give what a pass works on: for the first one partitions as they come, where that will do; then held parts."""
        if self._loaded is None and self._is_countable and not self._passed:
            self._passed = True
            return raw_blocks(self._raw, [self._collection, self._beside[1]], self._plan, self.client)
        return self.load().blocks

    def compute(self, delayed: list[Any]) -> list[Any]:
        """Compute delayed values where the data is, and bring them here."""
        check_open(self.client)
        return computed(delayed, self.client)

    def holders(self) -> list[str | None]:
        """Address of a worker that holds each part; None where that is nobody, or is not known."""
        check_open(self.client)
        futures = self.load().blocks.futures
        return [None] * len(self) if futures is None else holders_of([some[0] for some in futures], self.client)


def dask_source(
    X: Any,
    weights: Any = None,
    schema: Schema | None = None,
    *,
    columns: Sequence[str] | None = None,
    filters: Any = None,
    target: Any = None,
    sequences_by: str | None = None,
    chunk_rows: int | None = None,
    persist: bool = True,
) -> DaskSource:
    """Make a source of a Dask array or dataframe.

    Every partition is checked and turned into floats by the worker that has it, and stays there. Divisions and
    chunk sizes need not be known: rows are counted once.

    Parameters
    ----------
    X
        Dask array (rows, columns), or Dask dataframe.
    weights
        Weight of each row: a Dask array or series in the same partitions as the rows, an array in memory, or the name
        of a column.
    schema
        How to encode columns that are not numeric; without it every column must be numeric, or be encoded by the
        estimator.
    columns
        Names of the features of a dataframe; all columns that have no other role if None.
    filters
        Not for Dask: filter the collection itself.
    target
        What is to be predicted, given in the same ways as `weights`.
    sequences_by
        Column of a dataframe that tells sequences apart. It must be sorted, with every sequence in one partition.
    chunk_rows
        Most rows in a chunk; a partition with more is cut into pieces.
    persist
        Keep the floats in the memory of the workers (Dask spills what does not fit). Without it every pass
        reads and converts the data anew.

    Examples
    --------
    >>> import dask.array as da
    >>> source = dask_source(da.ones((10, 2), chunks=(4, 1)))
    >>> source.n_rows, source.starts, source.column_names
    (10, [0, 4, 8], ('x0', 'x1'))
    """
    if filters is not None:
        raise ValueError("filters are for files: filter the Dask collection itself, as in X[X.age > 30]")
    weights_at, target_at = (name if isinstance(name, str) else None for name in (weights, target))
    chosen = schema.names if schema is not None and columns is None and hasattr(X, "columns") else columns
    encode = None if schema is None else schema.encode
    raw, plan = read_plan(X, chosen, Plan(None, (), weights_at, target_at, sequences_by, encode))
    source = DaskSource(X, raw, plan, (weights, target), chunk_rows, persist)
    # What is wrong with it is said here, unless it brings targets: then one pass will most likely be all there is.
    if not (is_dask(target) and source._is_countable) and (source._is_numeric or schema is not None):
        source.load()
    return source
