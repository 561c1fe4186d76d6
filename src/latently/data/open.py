"""The gate for data that is not in memory: files, Dask collections, functions that give frames."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from latently.data.schema.schema import Schema
from latently.data.sources.chunks import ArraySource, Chunkable, ChunkSource, FrameSource, is_dask, is_out_of_core
from latently.data.sources.paths import is_path
from latently.data.stored.iterate import FrameReader
from latently.data.stored.parquet import FileReader, as_expression
from latently.data.stored.reader import Reader
from latently.data.stored.source import StoredSource
from latently.data.tables import frames
from latently.data.tables.matrix import as_matrix, refuse_extreme


def open_source(
    X: Any,
    *,
    columns: Sequence[str] | None = None,
    filters: Any = None,
    target: str | None = None,
    weights: Any = None,
    sequences_by: str | None = None,
    schema: Schema | None = None,
    chunk_rows: int | None = None,
) -> ChunkSource:
    """Open a table that is not in memory as a source of chunks, to be fitted in a bounded amount of memory.

    The same rows give the same chunks, whether they are in memory, in one file or in many.

    Parameters
    ----------
    X
        Path of a Parquet or CSV file, of a folder of them, a pattern such as ``"data/*.parquet"``, or a list of
        those; a function without arguments that gives an iterator of frames, anew at each call; or a Dask
        collection.
    columns
        Names of the features. Other columns are not read.
    filters
        Rows to take: an Arrow expression, or tuples as in ``[("age", ">", 30)]``. Parquet files skip what the
        statistics of a row group rule out.
    target
        Name of the column that is to be predicted.
    weights
        Name of the column with the weights of the rows; or an array of them.
    sequences_by
        Name of the column that tells sequences apart; the rows must be sorted by it.
    schema
        How to encode columns that are not numbers.
    chunk_rows
        Most rows in a chunk.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> path = tempfile.mkdtemp() + "/people.parquet"
    >>> pd.DataFrame({"age": [30, 40, 50], "who": ["a", "b", "c"]}).to_parquet(path)
    >>> source = open_source(path, columns=["age"], filters=[("age", ">", 30)])
    >>> source.n_rows, [chunk.X.ravel().tolist() for chunk in source]
    (2, [[40.0, 50.0]])
    """
    roles: dict[str, Any] = {"target": target, "weights": weights, "sequences_by": sequences_by}
    if is_dask(X):
        from latently.data.dask.source import dask_source

        source: ChunkSource = dask_source(X, columns=columns, filters=filters, schema=schema, **roles)
        return source
    return StoredSource(_reader(X, filters), columns=columns, schema=schema, chunk_rows=chunk_rows, **roles)


def _reader(X: Any, filters: Any) -> Reader:
    if is_path(X):
        return FileReader(X, as_expression(filters))
    if callable(X):
        return FrameReader(X, as_expression(filters))
    raise TypeError(f"expected a path, a function that gives frames, or a Dask collection, got {type(X).__name__}")


def as_source(
    X: Any, weights: ArrayLike | None = None, chunk_rows: int | None = None, *, schema: Schema | None = None
) -> ChunkSource:
    """Make chunks of whatever holds the data.

    Parameters
    ----------
    X
        An array or nested list (NaN is missing), a pandas, polars or Arrow table, `Sequences`, the path of a file,
        a folder or a pattern, a Dask collection, or a `ChunkSource`, which is handed back as it is.
    weights
        Weight of each row (of each sequence for `Sequences`), or None; of a file also the name of a column.
    chunk_rows
        Most rows in a chunk; `CHUNK_ROWS` if None.
    schema
        How to encode columns that are not numeric.

    Examples
    --------
    >>> as_source([[1, 2], [3, 4]]).n_rows
    2
    """
    if isinstance(X, ChunkSource):
        if weights is not None or chunk_rows is not None or schema is not None:
            raise ValueError("X is a ChunkSource already: give weights, chunk_rows and schema when making it")
        return X
    if is_out_of_core(X):
        return open_source(X, weights=weights, chunk_rows=chunk_rows, schema=schema)
    if isinstance(X, Chunkable):
        if schema is not None:
            raise ValueError(f"{type(X).__name__} holds numbers already: encode with the schema first")
        return X.chunked(weights, chunk_rows)
    if frames.is_frame(X):
        return FrameSource(X, weights, chunk_rows, schema)
    if schema is None:
        return ArraySource(as_matrix(X, allow_nan=True), weights, chunk_rows)
    return ArraySource(refuse_extreme(schema.encode(X), X), weights, chunk_rows, schema.names)
