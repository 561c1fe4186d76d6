"""Views as they come: tables side by side in memory, or columns of a table elsewhere."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data.open import as_source, open_source
from latently.data.sources.bounds import CHUNK_ROWS
from latently.data.sources.chunks import ArraySource, Chunk, ChunkSource, is_dask, is_out_of_core
from latently.data.tables.matrix import as_matrix
from latently.data.tables.values import LARGEST
from latently.distributions.covariance import BLOCK, is_near_zero, joint_moments
from latently.distributions.inputs import patterns
from latently.distributions.statistics import Moments
from latently.factor.cca.limits import view_name
from latently.factor.incomplete import fit_incomplete
from latently.factor.moments import FEW, LONG
from latently.learn.engine.reduce import reducing

Array = NDArray[Any]


def is_list_of_views(X: Any, Y: Any) -> bool:
    """Whether several views were given as one list."""
    return (
        Y is None and isinstance(X, list | tuple) and all(np.ndim(view) == 2 or hasattr(view, "columns") for view in X)
    )


def is_flat(Y: Any) -> bool:
    """Whether a view is a single column, given as a flat sequence."""
    return not hasattr(Y, "columns") and np.asarray(Y).ndim == 1


def as_view(Y: Any, name: str, n_rows: int | None = None) -> Array:
    """A further view, (n, q); a flat one is a column. An error says where numbers of rows differ.

    The values of an array are not looked at (see `any_missing`); those of a dataframe are, while columns have names.
    """
    table = as_matrix(
        np.asarray(Y)[:, None] if is_flat(Y) else Y, allow_nan=True, name=name, checked=type(Y) is not np.ndarray
    )
    if n_rows is not None and len(table) != n_rows:
        raise ValueError(
            f"inconsistent numbers of samples: X has {n_rows} rows and {name} has {len(table)}; a row of each view "
            "must be about the same case"
        )
    return table


def are_ordinary(moments: Moments) -> bool:
    """Whether all values behind the moments are finite, and far from extreme."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.diagonal(moments.second) + moments.weight * moments.centre**2
        return bool((squares < LARGEST**2).all())


def any_missing(tables: Sequence[Array]) -> bool:
    """Whether a view has missing values; an error names a column with infinite or extreme ones."""
    for i, table in enumerate(tables):
        as_matrix(table, allow_nan=True, name=view_name(i, len(tables)))
    return any(np.isnan(table).any() for table in tables)


def views_moments(tables: Sequence[Array], weights: Array | None) -> Moments:
    """Moments of the columns of all views together; not finite where a value is not."""
    with np.errstate(over="ignore", invalid="ignore"):
        if weights is not None or sum(table.size for table in tables) <= FEW or len(tables[0]) <= CHUNK_ROWS:
            return joint_moments(np.hstack(tables), weights)
        return _by_threads(tables)


def _by_threads(tables: Sequence[Array]) -> Moments:
    first = tables[0]
    near = all(is_near_zero(table) for table in tables)
    centre = None if near else np.concatenate([table[:1000].mean(axis=0, dtype=np.float64) for table in tables])

    def beside(chunk: Chunk) -> Moments:
        with np.errstate(over="ignore", invalid="ignore"):  # threads have their own
            return _beside_each_other([table[chunk.start : chunk.stop] for table in tables], centre)

    with reducing(ArraySource(first.astype(np.float64, copy=False), None, LONG)) as reduce:
        total: Moments = reduce(beside)
    return total


def _beside_each_other(tables: Sequence[Array], centre: Array | None) -> Moments:
    """Moments about a centre or zero, with the views put beside each other in blocks that stay in the cache."""
    n, d = len(tables[0]), sum(table.shape[1] for table in tables)
    size = max(BLOCK // d, 1)
    first, second, block = np.zeros(d), np.zeros((d, d)), np.empty((size, d))
    for start in range(0, n, size):
        rows = block[: min(size, n - start)]
        np.concatenate([table[start : start + size] for table in tables], axis=1, out=rows)
        if centre is not None:
            rows -= centre
        first += np.ones(len(rows)) @ rows
        second += rows.T @ rows
    return Moments(np.asarray(float(n)), np.zeros(d) if centre is None else centre, first, second)


def open_views(X: Any, Y: Any, columns: Sequence[str] | None, filters: Any, weights: Any) -> tuple[ChunkSource, int]:
    """A source of the columns of both views, those of X first, and how many those are."""
    if is_dask(X) and is_dask(Y):
        return _beside(X, Y, weights)
    names = [Y] if isinstance(Y, str) else list(Y if Y is not None else ())
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError("of a table that is not in memory, Y is the list of the names of its columns")
    if isinstance(X, ChunkSource):
        raise ValueError(
            "give the path or the collection itself, not a ChunkSource: the columns of Y are found by name"
        )
    if columns is None:
        columns = [name for name in open_source(X, filters=filters).column_names if name not in {*names, weights}]
    source = open_source(X, columns=[*columns, *names], filters=filters, weights=weights)
    return source, len(columns)


def _beside(X: Any, Y: Any, weights: Any) -> tuple[ChunkSource, int]:
    da: Any = import_module("dask.array")
    left, right = (view.to_dask_array(lengths=True) if hasattr(view, "columns") else view for view in (X, Y))
    right = right[:, None] if right.ndim == 1 else right
    if left.shape[0] != right.shape[0]:
        raise ValueError(f"inconsistent numbers of samples: X has {left.shape[0]} rows and Y has {right.shape[0]}")
    joint = da.concatenate([left, right.rechunk({0: left.chunks[0]})], axis=1).rechunk({1: -1})
    return open_source(joint, weights=weights), left.shape[1]


def completed(rows: Array, mean: Array, covariance: Array) -> Array:
    """The rows with missing entries at what the others of the row let expect."""
    if not np.isnan(rows).any():
        return rows
    filled = np.array(rows, dtype=np.float64)
    for seen, at in patterns(filled):
        if not seen.all():
            coef = np.linalg.lstsq(covariance[np.ix_(seen, seen)], covariance[np.ix_(seen, ~seen)], rcond=1e-12)[0]
            filled[np.ix_(at, ~seen)] = mean[~seen] + (filled[np.ix_(at, seen)] - mean[seen]) @ coef
    return filled


def expected_moments(table: Array, weights: Array | None) -> Moments:
    """Moments of rows with missing values, as the Gaussian of highest likelihood has them."""
    table = table.astype(np.float64, copy=False)
    found, run = fit_incomplete(
        as_source(table, weights), max(table.shape[1] - 1, 1), isotropic=True, tol=1e-8, max_iter=2000
    )
    weight = float(run.stats.rows)
    zero = np.zeros(len(found.mean))
    return Moments(np.asarray(weight), found.mean, zero, found.covariance() * weight)


__all__ = [
    "any_missing",
    "are_ordinary",
    "as_view",
    "completed",
    "expected_moments",
    "is_flat",
    "is_list_of_views",
    "is_out_of_core",
    "open_views",
    "views_moments",
]
