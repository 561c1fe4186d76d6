"""Moments of all rows of a table: in one pass, by threads, from memory, files or Dask."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from latently.data.sources.bounds import CHUNK_ROWS
from latently.data.sources.chunks import ArraySource, Chunk, ChunkSource
from latently.distributions.covariance import joint_moments
from latently.distributions.statistics import Moments, refuse_lost
from latently.learn.engine.cores import single_threaded_blas
from latently.learn.engine.reduce import reducing

Array = NDArray[np.float64]
FEW = 1 << 18
"""Numbers in a table up to which threads would cost more than they save."""
FEW_COLUMNS = 128
"""Columns up to which threads of BLAS, which stay awake for a while, cost ours more than they save."""
WIDE = 50
"""Rows for each column up to which BLAS has enough to do with one product."""
LONG = 1 << 16
"""Rows of a chunk of a table in memory: to add up moments costs more than to find those of a few rows."""


def moments_of(rows: Any, weights: Array | None = None) -> Moments:
    """Moments of a table, a sparse matrix or a source of chunks; not finite where a value is not.

    Examples
    --------
    >>> moments_of(np.array([[1.0, 2.0], [3.0, 6.0]])).scatter()
    array([[2., 4.], [4., 8.]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if sparse.issparse(rows):
            return _of_sparse(rows, weights)
        if not isinstance(rows, ChunkSource):
            if rows.size <= FEW:
                return joint_moments(rows, weights)
            if weights is None and len(rows) <= WIDE * rows.shape[1]:
                return _at_once(rows)
            rows = ArraySource(rows, weights, min(LONG, -(-len(rows) // 2)))
        with reducing(rows) as reduce:
            total: Moments = reduce(chunk_moments)
    return total


def _at_once(rows: NDArray[Any]) -> Moments:
    """Moments of a table with many columns for its rows, by one product on the threads of BLAS."""
    n, mean = np.asarray(float(len(rows))), np.ones(len(rows)) @ rows / len(rows)
    squares = np.einsum("ij,ij->j", rows[:200], rows[:200], dtype=np.float64) / min(len(rows), 200)
    if rows.dtype == np.float64 and (17 * mean**2 <= 16 * squares).all():  # zero is as good a centre as the mean
        return Moments(n, np.zeros(len(mean)), n * mean, rows.T @ rows)
    step = rows - mean
    return Moments(n, mean, step.sum(axis=0), step.T @ step)


def chunk_moments(chunk: Chunk) -> Moments:
    """Moments of the rows of a chunk."""
    with np.errstate(over="ignore", invalid="ignore"):
        return joint_moments(chunk.X, chunk.weights)


def _of_sparse(rows: Any, weights: Array | None) -> Moments:
    """Moments about zero: shifted sparse rows would not be sparse."""
    rows = rows.astype(np.float64)
    weighted = rows if weights is None else sparse.diags_array(weights) @ rows
    first = np.asarray(weighted.sum(axis=0)).ravel()
    total = float(rows.shape[0]) if weights is None else float(weights.sum())
    return Moments(np.asarray(total), np.zeros(rows.shape[1]), first, np.asarray((weighted.T @ rows).todense()))


def few_threads(moments: Moments) -> AbstractContextManager[None]:
    """One thread of BLAS for a small decomposition after many rows: others would stay awake in the next pass."""
    few = len(moments.centre) <= FEW_COLUMNS and float(moments.weight) > CHUNK_ROWS
    return single_threaded_blas() if few else nullcontext()


def less(before: Moments, rows: Moments) -> Moments:
    """Moments without those of some rows; an error if they were never there, or if too many digits would be lost."""
    left = before - rows
    weight, known = float(left.weight), float(before.weight)
    squares, had = np.diagonal(left.scatter()), np.diagonal(before.scatter())
    size = (1e-7 * before.mean()) ** 2 * known
    if weight < -1e-9 * known or (squares < -1e-9 * (had + size)).any():
        raise ValueError(
            "these rows were never learnt: the statistics would become negative; the model is left as it was"
        )
    constant = squares <= 0
    refuse_lost(np.diagonal(before.about(left.mean()).second), squares, np.where(constant, 0.0, weight))
    return left
