"""K-means of a table in memory, as other models start from it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from latently.data.sources.chunks import ArraySource
from latently.distributions.inputs import Array
from latently.learn.engine.reduce import reducing
from latently.learn.kmeans.result import Run
from latently.learn.kmeans.rows import Table, frame_of, most_rows
from latently.learn.kmeans.run import best_run

# Rows that tell a good start from a bad one.
SAMPLE_ROWS, SAMPLE_PER_CLUSTER = 2048, 64


@dataclass(frozen=True)
class Settings:
    """What a run asks of an estimator, at the defaults of K-means."""

    tol: float = 1e-4
    max_iter: int = 300
    verbose: int = 0
    empty: str = "split"
    is_start: bool = True
    """A start that is stopped is made again: it need not be stored in a checkpoint."""


def clustered(X: Array, weights: Array | None, k: int, starts: Sequence[np.random.RandomState]) -> Run:
    """The best of several K-means clusterings of checked rows, in which NaN is a missing value.

    Of a long table, the starts are tried on a sample of its rows, and the best of them goes on with all.

    Parameters
    ----------
    X
        (n, d) rows, at least k of them.
    weights
        (n,) of the rows, or None.
    k
        Number of clusters.
    starts
        A generator for each greedy k-means++ start.

    Returns
    -------
    Run
        With centres in the units of the rows.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> np.sort(clustered(rows, None, 2, [np.random.RandomState(0)]).centres.ravel())
    array([ 0.5, 10.5])
    """
    few = max(SAMPLE_ROWS, SAMPLE_PER_CLUSTER * k)
    if len(starts) == 1 or len(X) <= 2 * few:
        return _best(X, weights, k, "k-means++", starts)
    picked = np.sort(starts[0].choice(len(X), few, replace=False))
    chosen = _best(X[picked], None if weights is None else weights[picked], k, "k-means++", starts)
    return _best(X, weights, k, chosen.centres, starts[:1])


def _best(X: Array, weights: Array | None, k: int, init: Any, starts: Sequence[np.random.RandomState]) -> Run:
    table = Table(X, ArraySource(X, weights, most_rows(k * X.shape[1])))
    with reducing(table.source) as reduce:
        frame = frame_of(reduce, table.source.column_names, None, len(X))
    best = best_run(Settings(), init, table, frame, k, starts)
    return replace(best, centres=best.centres + frame.origin)
