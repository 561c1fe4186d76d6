"""What a model says about a table that is not in memory as a whole: the sum of what it says about the parts."""

import functools
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from latently.data.sources.chunks import is_dask, is_out_of_core
from latently.data.stored.source import StoredSource
from latently.learn.estimator.answers import Asking, stored_source


def summing(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method that gives sums over the rows take tables that are not in memory.

    The method takes the rows, and maybe their targets; of a stored table with sequences, also `lengths`. Of a table
    from files or Dask `y` may be the name of a column.
    """

    @functools.wraps(method)
    def total(self: Any, X: Any, y: Any = None, **kwargs: Any) -> Any:
        if not isinstance(X, StoredSource) and not is_out_of_core(X):
            return method(self, X, *(() if y is None else (y,)), **kwargs)
        parts = _of_partitions if is_dask(X) else _of_chunks
        return sum(parts(self, functools.partial(method, self, **kwargs), X, y))

    total.takes_out_of_core = True  # type: ignore[attr-defined]
    return total


def _of_chunks(estimator: Any, method: Callable[..., Any], X: Any, y: str | None) -> Sequence[Any]:
    """What a method says about each chunk of a stored table."""
    if not (y is None or isinstance(y, str)):
        raise ValueError(
            f"y of a table that is not in memory is the name of one of its columns, got {type(y).__name__}"
        )
    source = stored_source(estimator, X, target=y)
    asking = Asking(estimator, method, source, target=source.target)
    return [answer for _, answer in estimator._walk(asking, source.tables())]


def _of_partitions(estimator: Any, method: Callable[..., Any], X: Any, y: Any) -> Sequence[Any]:
    """What a method says about each partition of a Dask collection; it is asked where the partitions are."""
    dask: Any = import_module("dask")
    if isinstance(y, str):
        X, y = X.drop(columns=y), X[y]
    if hasattr(X, "columns") and hasattr(estimator, "feature_names_in_"):
        X = X[list(estimator.feature_names_in_)]
    collections = [X] if y is None else [X, y]
    ask = dask.delayed(functools.partial(_unless_empty, method), pure=False, traverse=False)
    asked = [ask(*parts) for parts in zip(*map(_delayed, collections), strict=True)]
    return [answer for answer in dask.compute(*asked) if answer is not None]


def _unless_empty(method: Callable[..., Any], rows: Any, *targets: Any) -> Any:
    return method(rows, *targets) if len(rows) else None


def _delayed(X: Any) -> list[Any]:
    """The partitions, rows whole."""
    is_split = getattr(X, "ndim", 1) == 2 and hasattr(X, "numblocks") and X.numblocks[1] > 1
    return list(np.ravel((X.rechunk({1: -1}) if is_split else X).to_delayed()))
