"""Tables as factor models read them: dense, sparse, or a source of chunks; and answers row by row."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from latently.data.sources.chunks import ArraySource, ChunkSource
from latently.data.tables.matrix import as_matrix, check_size
from latently.factor.moments import FEW
from latently.learn.engine.reduce import mapping
from latently.learn.estimator.table import read_rows, read_source


def read_table(estimator: Any, X: Any, *, reset: bool, accept_sparse: bool = False) -> Any:
    """The rows of X; sets (or compares) the estimator's number and names of columns.

    The values of a float array are not looked at: sums tell whether they are finite, and `verified` which are not.
    """
    if isinstance(X, ChunkSource):
        return read_source(estimator, X, reset=reset, allow_nan=True)
    if accept_sparse and sparse.issparse(X):
        return validate_data(estimator, X, reset=reset, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32))
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype in (np.float64, np.float32):
        check_size(X.shape)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    return read_rows(estimator, X, reset=reset, allow_nan=True)


def verified(rows: Any, X: Any = None) -> Any:
    """The rows, with an error that names a column of infinite values; NaN is missing."""
    return rows if sparse.issparse(rows) or isinstance(rows, ChunkSource) else as_matrix(rows, allow_nan=True)


def each_row(rows: NDArray[Any], f: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """f of the rows, by threads if there are many."""
    if rows.size <= FEW:
        return f(rows)
    with mapping(ArraySource(rows)) as over_chunks:
        parts = list(over_chunks(lambda chunk: f(chunk.X)))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
