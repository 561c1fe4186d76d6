"""Where dictionary learning starts."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import svd
from sklearn.utils.extmath import svd_flip

from latently.data.sources.chunks import Chunk, ChunkSource, KeptSource
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import Reduction

_MANY = 50_000  # rows from which on singular vectors come from the squares of the rows
Draw = Callable[[], Array]
"""Gives a row of the data, with a little noise."""


def svd_start(reduce: Reduction, k: int) -> Array:
    """Principal directions with their sizes, and zeros for further atoms: those are drawn from the rows later on."""
    source = reduce.source
    if isinstance(source, KeptSource) and (source.n_rows or 0) <= _MANY:
        rows = np.concatenate([np.asarray(chunk.X, dtype=np.float64) for chunk in source])
        U, sizes, V = svd(rows, full_matrices=False)
        return padded(sizes[:, None] * svd_flip(U, V)[1], k)

    def squares_of(chunk: Chunk) -> Any:
        X = np.asarray(chunk.X, dtype=np.float64)
        return X.T @ X

    values, vectors = np.linalg.eigh(reduce(squares_of))
    V = vectors.T[::-1] * np.where(vectors.T[::-1].sum(axis=1) < 0, -1.0, 1.0)[:, None]
    return padded(np.sqrt(np.maximum(values[::-1], 0))[:, None] * V, k)


def unit_start(D: Array, draw: Draw) -> Array:
    """Atoms of length one, rows in place of those that are zero."""
    D = D.copy()
    for j in np.flatnonzero(~D.any(axis=1)):
        D[j] = draw()
    lengths = np.linalg.norm(D, axis=1, keepdims=True)
    return np.asarray(D / np.where(lengths > 0, lengths, 1.0))


def given_start(given: Any, k: int, d: int) -> Array:
    """(k, d) atoms of the user's own."""
    D = np.array(given, dtype=np.float64)
    if D.ndim != 2 or D.shape[1] != d:
        raise ValueError(f"dict_init must have {d} columns, as X has; its shape is {D.shape}")
    return padded(D, k)


def drawing(source: ChunkSource, rng: np.random.RandomState) -> Draw:
    """Draw rows from a source in memory, or from the first chunk of one that is not."""
    rows: list[Array] = []

    def draw() -> Array:
        if not rows:
            chunks = list(source) if isinstance(source, KeptSource) else [next(iter(source))]
            rows.extend(np.asarray(chunk.X, dtype=np.float64) for chunk in chunks)
        at = int(rng.choice(sum(map(len, rows))))
        for part in rows:
            if at < len(part):
                break
            at -= len(part)
        row = part[at]
        # a little noise, so that no two atoms are the same
        return np.asarray(row + rng.normal(0, 0.01 * (float(row.std()) or 1.0), size=len(row)))

    return draw


def padded(D: Array, k: int) -> Array:
    """The first k rows, with zeros if there are fewer.

    Examples
    --------
    >>> padded(np.ones((1, 2)), 2)
    array([[1., 1.], [0., 0.]])
    """
    return np.pad(D[:k], ((0, max(k - len(D), 0)), (0, 0)))
