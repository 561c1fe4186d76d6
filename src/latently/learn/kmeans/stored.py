"""Tables that K-means reads a chunk at a time: their chunks, and the rows that a start is drawn from."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from latently.data.sources.chunks import ArraySource, ChunkSource
from latently.data.stored.source import StoredSource
from latently.learn.engine.start import sample_rows
from latently.learn.estimator.table import read_source
from latently.learn.kmeans import rows as kmeans_rows
from latently.learn.kmeans.groups import LANES
from latently.learn.kmeans.rows import CHUNK_ROWS, Table, Unread, most_rows

# Of a table that is not in memory, so much is looked at for a start.
START_BYTES = 1 << 27


def read_table(
    estimator: Any,
    X: Any,
    weights: npt.ArrayLike | None,
    *,
    reset: bool,
    checked: bool = True,
    most: Callable[[int], int] = most_rows,
) -> Table:
    """Check a table, whole or a source of chunks; without `checked`, see `rows.read_table`."""
    if not isinstance(X, ChunkSource):
        return kmeans_rows.read_table(estimator, X, weights, reset=reset, checked=checked, most=most)
    source = read_source(
        estimator, X, reset=reset, allow_nan=True, chunk_rows=most_rows(estimator.n_clusters * X.n_columns)
    )
    if isinstance(source, StoredSource):
        # Labels and bounds of the last pass are worth keeping where they fit.
        source = source.keeping(4 + 4 * -(-estimator.n_clusters // LANES))
    n_rows = source.totals()[1] if source.n_rows is None else source.n_rows
    return Table(Unread((n_rows, source.n_columns), getattr(source, "dtype", np.float64)), source)


def start_table(init: Any, table: Table, rng: np.random.RandomState) -> Table:
    """The table to draw a start from: all of it if it is in memory, or a sample that is as large as may be."""
    if not isinstance(table.X, Unread) or not (isinstance(init, str) or callable(init)):
        return table
    rows, weights = sample_rows(table.source, START_BYTES // (8 * table.X.shape[1]), rng)
    plain = bool((weights == 1).all())
    return Table(rows.astype(table.X.dtype), ArraySource(rows, None if plain else weights, CHUNK_ROWS))
