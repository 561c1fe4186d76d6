"""Tables whose columns are known by name: the order of a frame's columns does not matter."""

from typing import Any

from latently.data.sources.chunks import ChunkSource
from latently.data.tables import frames
from latently.learn.estimator import table as estimator_table
from latently.learn.estimator.table import read_rows
from latently.predict.rows import CHUNK_ROWS


def read_named(estimator: Any, X: Any, *, reset: bool, allow_nan: bool) -> Any:
    """Give a checked float table; columns of a frame are put in the order of the fit, one gone is named."""
    if isinstance(X, ChunkSource):
        return read_source(estimator, X, reset=reset, allow_nan=False)
    if not reset and frames.is_frame(X) and hasattr(estimator, "feature_names_in_"):
        X = frames.select(X, list(estimator.feature_names_in_))
    return read_rows(estimator, X, reset=reset, allow_nan=allow_nan)


def read_source(estimator: Any, X: ChunkSource, *, reset: bool, allow_nan: bool = True) -> ChunkSource:
    """Give a source of chunks, its columns counted, in chunks as large as those of a table in memory."""
    return estimator_table.read_source(estimator, X, reset=reset, allow_nan=allow_nan, chunk_rows=CHUNK_ROWS)


def brings_targets(X: Any, y: Any) -> bool:
    """Whether the targets come with the chunks of a source."""
    return y is None and isinstance(X, ChunkSource)
