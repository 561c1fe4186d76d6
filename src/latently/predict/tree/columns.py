"""Tables as trees read them: floats, codes for categories, NaN for what is missing."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data import Schema, infer_schema
from latently.data.sources.table_source import TableSource
from latently.data.tables import frames
from latently.data.tables.matrix import as_matrix, as_table, check_size
from latently.predict.rows import is_sparse
from latently.predict.tables import read_named

Array = NDArray[np.float64]


def read_columns(estimator: Any, X: Any, *, reset: bool) -> Array:
    """Give a table as floats; sets (or compares) number, names and kinds of the estimator's columns.

    Columns of a frame are found by name. A table with strings or truth values has a schema, which the estimator keeps.
    """
    if is_sparse(X):
        X = X.toarray()
    schema = estimator.schema
    if reset:
        estimator.__dict__.pop("schema_", None)
        if schema is not None or _has_categories(X):
            adopt_schema(estimator, X, schema)
    if not hasattr(estimator, "schema_"):
        rows = read_named(estimator, X, reset=reset, allow_nan=True)
        return np.ascontiguousarray(rows, dtype=np.float64)
    return encode_rows(estimator, X)


def encode_rows(estimator: Any, X: Any) -> Array:
    """Give a table as floats by the estimator's schema, if it has one; an unseen category has a code of its own."""
    table = as_table(X, "X")
    check_size(table.shape)
    width = estimator.n_features_in_
    if not frames.is_frame(table) and table.shape[1] != width:
        raise ValueError(
            f"X has {table.shape[1]} features, but {type(estimator).__name__} is expecting {width} features as input"
        )
    if not hasattr(estimator, "schema_"):
        named = hasattr(estimator, "feature_names_in_") and frames.is_frame(table)
        chosen = frames.select(table, list(estimator.feature_names_in_)) if named else table
        return np.ascontiguousarray(as_matrix(chosen, allow_nan=True), dtype=np.float64)
    values: Array = estimator.schema_.encode(table, unseen="code")
    if np.isinf(values).any():
        name = estimator.schema_.names[int(np.isinf(values).any(axis=0).argmax())]
        raise ValueError(f"column {name!r} of X contains inf: replace it by a number, or by NaN if it is missing")
    return values


def adopt_schema(estimator: Any, X: Any, schema: Schema | None) -> None:
    """Let an estimator know what the columns of a table are."""
    table = X.digest() if isinstance(X, TableSource) else as_table(X, "X")
    estimator.schema_ = infer_schema(table) if schema is None else schema
    estimator.n_features_in_ = len(estimator.schema_)
    estimator.__dict__.pop("feature_names_in_", None)
    if frames.is_frame(table):
        estimator.feature_names_in_ = np.array(estimator.schema_.names, dtype=object)


def n_categories(estimator: Any) -> NDArray[np.int64]:
    """(d,) number of categories of each column, 0 for a numeric or an ordinal one."""
    if not hasattr(estimator, "schema_"):
        return np.zeros(estimator.n_features_in_, dtype=np.int64)
    return np.array([c.n_categories if c.kind == "categorical" else 0 for c in estimator.schema_], dtype=np.int64)


def column_names(estimator: Any) -> list[str]:
    """Names of the columns, x0, x1, ... if they have none."""
    if hasattr(estimator, "schema_"):
        return list(estimator.schema_.names)
    return [str(n) for n in getattr(estimator, "feature_names_in_", frames.default_names(estimator.n_features_in_))]


def _has_categories(X: Any) -> bool:
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return False
    if frames.is_frame(X):
        return any(view.kind in ("text", "levels", "ordered", "object") for view in frames.views(X).values())
    values = np.asarray(X, dtype=object)
    return values.ndim == 2 and any(isinstance(v, str) for v in values[:1].ravel())
