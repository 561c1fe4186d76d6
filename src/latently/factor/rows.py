"""Tables as factor models read them: dense, sparse, or a source of chunks; and answers row by row."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from latently.data.sources.bounds import CHUNK_ROWS
from latently.data.sources.chunks import ArraySource, Chunk, ChunkSource
from latently.data.tables.matrix import as_matrix, check_size
from latently.factor.moments import FEW
from latently.learn.engine.reduce import mapping
from latently.learn.estimator.table import note_columns, read_rows, read_source

BLOCK = 1 << 16
"""Numbers of a block of rows: it stays in the cache while something is computed of it."""


def read_table(estimator: Any, X: Any, *, reset: bool, accept_sparse: bool = False) -> Any:
    """The rows of X; sets (or compares) the estimator's number and names of columns.

    The values of a float array are not looked at: sums show whether they are finite, and `verified` which are not.
    """
    if isinstance(X, ChunkSource):
        return read_source(estimator, X, reset=reset, allow_nan=True)
    if accept_sparse and sparse.issparse(X):
        kinds: dict[str, Any] = {"accept_sparse": ("csr", "csc"), "dtype": (np.float64, np.float32)}
        rows = validate_data(estimator, X, reset=reset, ensure_all_finite="allow-nan", **kinds)
        if np.isnan(rows.data.sum()):
            raise ValueError(
                "X is sparse and contains NaN: give dense rows, X.toarray(), which may have missing values"
            )
        return rows
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype in (np.float64, np.float32):
        check_size(X.shape)
        note_columns(estimator, X, reset=reset)
        return X
    return read_rows(estimator, X, reset=reset, allow_nan=True)


def verified(rows: Any, X: Any = None) -> Any:
    """The rows, with an error that names a column of infinite values; NaN is missing."""
    return rows if sparse.issparse(rows) or isinstance(rows, ChunkSource) else as_matrix(rows, allow_nan=True)


def each_row(rows: NDArray[Any], fill: Callable[[NDArray[Any], NDArray[Any]], None], *width: int) -> NDArray[Any]:
    """(n, *width) what `fill(rows, their place in the answer)` writes; of many rows block by block, by threads."""
    out = np.empty((len(rows), *width), dtype=rows.dtype)
    if rows.size <= FEW or len(rows) <= CHUNK_ROWS:
        fill(rows, out)
        return out
    size = max(BLOCK // rows.shape[1], 1)

    def fill_chunk(chunk: Chunk) -> None:
        places = out[chunk.start : chunk.start + chunk.n_rows]
        for a in range(0, chunk.n_rows, size):
            fill(chunk.X[a : a + size], places[a : a + size])

    with mapping(ArraySource(rows)) as over_chunks:
        for _ in over_chunks(fill_chunk):
            pass
    return out
