"""Reading what a detector is given: tables, or things that only its kernel can read."""

from typing import Any

import numpy as np

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
