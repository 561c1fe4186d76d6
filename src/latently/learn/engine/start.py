"""Where a fit starts: rows, spread-out rows, random or given responsibilities. Missing values are welcome."""

from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from latently.data.sources.chunks import Chunk, ChunkSource
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import mapping

_SHUFFLED = 1 << 20  # up to so many rows a draw may shuffle all of their places
_SPARSE = 16  # unless it is of fewer than one in so many
StartName = Literal["k-means++", "random_from_data", "random"]


def sample_rows(source: ChunkSource, most: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """At most `most` rows of a source and their weights, drawn without replacement; all of them if they fit.

    The draw depends on the seed and on the number of rows alone; the rows are picked where the chunks are.
    """
    total = source.n_rows
    if total is None:
        with mapping(source) as over_chunks:
            total = sum(over_chunks(_count))
    return rows_at(source, np.arange(total) if total <= most else drawn_places(total, most, rng))


def rows_at(source: ChunkSource, places: npt.NDArray[np.int64]) -> tuple[Array, Array]:
    """The rows at some places, in order, and their weights."""
    with mapping(source) as over_chunks:
        rows, weights = zip(*over_chunks(partial(_picked, places)), strict=True)
    return np.concatenate(rows), np.concatenate(weights)


def worst_rows(model: Any, params: Any, source: ChunkSource, most: int) -> Array:
    """At most `most` rows of lowest density under a model that has `log_joint`, the lowest first."""
    found: list[tuple[Array, Array]] = []
    for chunk in source:
        density = np.logaddexp.reduce(model.log_joint(params, chunk.X), axis=1)
        if chunk.weights is not None:
            density = np.where(chunk.weights > 0, density, np.inf)
        lowest = np.argsort(density, kind="stable")[:most]
        found.append((density[lowest], np.asarray(chunk.X[lowest], dtype=np.float64)))
    levels, rows = (np.concatenate(part) for part in zip(*found, strict=True))
    return rows[np.argsort(levels, kind="stable")[:most]]


def _count(chunk: Chunk) -> int:
    return chunk.n_rows


def _picked(picked: npt.NDArray[np.int64], chunk: Chunk) -> tuple[Array, Array]:
    inside = picked[slice(*np.searchsorted(picked, (chunk.start, chunk.stop)))] - chunk.start
    weights = np.ones(len(inside)) if chunk.weights is None else chunk.weights[inside]
    return np.asarray(chunk.X[inside], dtype=np.float64), weights


def drawn_places(total: int, most: int, rng: np.random.RandomState) -> npt.NDArray[np.int64]:
    """(most,) different places out of `total`, in order, in memory that does not grow with `total`."""
    if total <= _SHUFFLED and most * _SPARSE > total:
        return np.sort(rng.choice(total, most, replace=False))
    found = np.unique(rng.randint(total, size=most, dtype=np.int64))
    while len(found) < most:
        found = np.unique(np.concatenate([found, rng.randint(total, size=most - len(found), dtype=np.int64)]))
    return found


def squared_distances(X: Array, centre: Array) -> Array:
    """(n,) squared distance of each row to a centre over the coordinates both have, scaled up to all of them.

    Examples
    --------
    >>> squared_distances(np.array([[3.0, np.nan], [3.0, 4.0]]), np.zeros(2)).tolist()
    [18.0, 25.0]
    """
    gap = (X - centre) ** 2
    if not np.isnan(gap).any():
        return np.asarray(gap.sum(axis=1))
    seen = (~np.isnan(gap)).sum(axis=1)
    return np.asarray(np.nansum(gap, axis=1) * X.shape[1] / np.maximum(seen, 1))


def spread_rows(X: Array, weights: Array, k: int, rng: np.random.RandomState) -> npt.NDArray[np.intp]:
    """Indices of `k` rows by k-means++: each next one is drawn in proportion to its distance from those before.

    Of several candidates per draw the one that lowers the total distance most is kept.
    """
    first = rng.choice(len(X), p=weights / weights.sum())
    chosen, nearest = [int(first)], squared_distances(X, X[first])
    tries = 2 + int(np.log(k))
    for _ in range(1, k):
        mass = np.cumsum(nearest * weights)
        if mass[-1] <= 0:  # every row coincides with a chosen one
            chosen.append(int(rng.choice(len(X), p=weights / weights.sum())))
            continue
        candidates = np.searchsorted(mass, rng.uniform(size=tries) * mass[-1]).clip(max=len(X) - 1)
        options = [np.minimum(nearest, squared_distances(X, X[c])) for c in candidates]
        best = int(np.argmin([option @ weights for option in options]))
        chosen.append(int(candidates[best]))
        nearest = options[best]
    return np.array(chosen, dtype=np.intp)


def row_order(X: Array) -> npt.NDArray[np.intp]:
    """An order of rows that does not depend on how they stand: by all columns, the last first.

    Examples
    --------
    >>> row_order(np.array([[1.0, 2.0], [0.0, 2.0], [5.0, 1.0]])).tolist()
    [2, 1, 0]
    """
    last = X[:, -1]
    order = np.argsort(last)
    if (last[order[1:]] > last[order[:-1]]).all():
        return order
    return np.lexsort(X.T)


def random_rows(X: Array, weights: Array, k: int, rng: np.random.RandomState) -> npt.NDArray[np.intp]:
    """Indices of `k` different rows, drawn in proportion to their weights."""
    if np.count_nonzero(weights) < k:
        raise ValueError(f"{k} starting rows are needed, but only {np.count_nonzero(weights)} have weight")
    return np.asarray(rng.choice(len(X), size=k, replace=False, p=weights / weights.sum()))


def random_responsibilities(n: int, k: int, rng: np.random.RandomState) -> Array:
    """(n, k) rows of random positive numbers that sum to one."""
    raw = rng.uniform(size=(n, k)) + np.finfo(float).tiny
    return np.asarray(raw / raw.sum(axis=1, keepdims=True))


def label_responsibilities(labels: npt.ArrayLike, k: int) -> Array:
    """(n, k) responsibilities that put each row wholly in its labelled component.

    Examples
    --------
    >>> label_responsibilities([1, 0], 2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    codes = np.asarray(labels)
    if codes.min(initial=0) < 0 or codes.max(initial=0) >= k:
        raise ValueError(f"labels must be 0 to {k - 1}, got {codes.min()} to {codes.max()}")
    return np.asarray(np.eye(k)[codes])


def start_rows(X: Array, weights: Array, k: int, how: StartName, rng: np.random.RandomState) -> npt.NDArray[np.intp]:
    """Indices of `k` rows to start from, by name."""
    return spread_rows(X, weights, k, rng) if how == "k-means++" else random_rows(X, weights, k, rng)
