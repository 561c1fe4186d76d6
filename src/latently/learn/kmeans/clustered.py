"""K-means of a table in memory, as other models start from it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from latently.data.sources.chunks import ArraySource
from latently.distributions.inputs import Array
from latently.learn.engine.reduce import reducing
from latently.learn.kmeans.best import best_run
from latently.learn.kmeans.coarse import Settings, coarse_start
from latently.learn.kmeans.result import Run
from latently.learn.kmeans.rows import Table, frame_of, most_rows


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
    table = Table(X, ArraySource(X, weights, most_rows(k * X.shape[1])))
    with reducing(table.source) as reduce:
        frame = frame_of(reduce, table.source.column_names, None, len(X))
    start = coarse_start(table, frame, k, starts)
    init, few = ("k-means++", starts) if start is None else (start + frame.origin, starts[:1])
    best = best_run(Settings(), init, table, frame, k, few)
    return replace(best, centres=best.centres + frame.origin)
