"""Reading what a detector is given: tables, or things that only its kernel can read."""

from typing import Any

import numpy as np

from latently.data.open import open_source
from latently.data.sources.chunks import ChunkSource
from latently.data.sources.table_source import SOME_BYTES, TableSource
from latently.data.tables import frames
from latently.data.tables.matrix import FloatArray
from latently.learn.estimator.table import read_rows


def read_table(detector: Any, X: Any, *, reset: bool, min_rows: int = 1) -> FloatArray:
    """The checked table of floats, a sparse matrix made dense; NaN is an error that says which detector takes it.

    Row by row in memory, however it came: products are then rounded alike, and a solver takes the same steps.
    """
    table = X.toarray() if hasattr(X, "toarray") and hasattr(X, "nnz") else X
    try:
        return np.ascontiguousarray(read_rows(detector, table, reset=reset, min_rows=min_rows))
    except ValueError as problem:
        if "contains NaN" not in str(problem):
            raise
        raise ValueError(f"{problem}, or use ModelDetector, which takes missing values") from None


def column_names(detector: Any, n_columns: int) -> tuple[str, ...]:
    """Names of the columns of the fit."""
    names = getattr(detector, "feature_names_in_", None)
    return tuple(frames.default_names(n_columns) if names is None else map(str, np.asarray(names)))


def in_memory(detector: Any, X: Any, y: Any = None, weights: Any = None) -> tuple[Any, Any, Any]:
    """A table of files or of Dask, its labels and its weights, read as a whole: for methods that keep their rows.

    What is in memory already is given back. A table of more than 64 megabytes is an error that says what to do.
    """
    if not isinstance(X, ChunkSource):
        return X, y, weights
    rows, is_all = _drawn(X)
    if not is_all:
        raise ValueError(
            f"{type(detector).__name__} keeps the rows of its fit, and X has more than {SOME_BYTES >> 20} megabytes "
            "of them: fit it to a sample and score all rows chunk by chunk (score_samples(X, to='scores.parquet')), or "
            "use ModelDetector, which learns from tables larger than memory"
        )
    chunks = list(X)
    labels = [chunk.y for chunk in chunks if chunk.y is not None]
    own = [chunk.weights for chunk in chunks if chunk.weights is not None]
    return rows, np.concatenate(labels) if labels else y, np.concatenate(own) if own else weights


def some_rows(detector: Any, X: Any) -> Any:
    """Rows in memory: X, or all rows of a table that is not, or a draw if they are too many."""
    if not isinstance(X, ChunkSource):
        if not detector._is_stored(X):
            return X
        names = getattr(detector, "feature_names_in_", None)
        X = open_source(X, columns=None if names is None else list(names))
    return _drawn(X)[0]


def _drawn(source: ChunkSource) -> tuple[Any, bool]:
    if isinstance(source, TableSource):
        return source.some_rows()
    return np.concatenate([chunk.X for chunk in source]), True
