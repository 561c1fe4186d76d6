"""Tables whose columns are known by name: the order of a frame's columns does not matter."""

from typing import Any

from tacit.data import frames
from tacit.data.chunks import ChunkSource
from tacit.learn.skin import read_rows


def read_named(estimator: Any, X: Any, *, reset: bool, allow_nan: bool) -> Any:
    """Give a checked float table; columns of a frame are put in the order of the fit, one gone is named."""
    if isinstance(X, ChunkSource):
        return read_source(estimator, X, reset=reset)
    if not reset and frames.is_frame(X) and hasattr(estimator, "feature_names_in_"):
        X = frames.select(X, list(estimator.feature_names_in_))
    return read_rows(estimator, X, reset=reset, allow_nan=allow_nan)


def read_source(estimator: Any, X: ChunkSource, *, reset: bool) -> ChunkSource:
    """Give a source of chunks, its columns counted."""
    if reset:
        estimator.n_features_in_ = X.n_columns
    elif X.n_columns != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.n_columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return X
