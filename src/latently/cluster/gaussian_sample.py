"""Rows to start from, drawn as if rows with the same columns missing stood together, wherever they do stand."""

from collections import Counter

import numpy as np
import numpy.typing as npt

from latently.cluster.gaussian_missing import patterns_of
from latently.data.chunks import Chunk, ChunkSource, KeptSource
from latently.data.stored import StoredSource
from latently.learn.protocol import Array
from latently.learn.start import drawn_places, sample_rows


def start_sample(source: ChunkSource, most: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """At most `most` rows and their weights, in the order in which a table in memory is sorted for the fit.

    So the same rows are drawn from a table in memory and from files, which cannot be sorted.
    """
    if isinstance(source, StoredSource) and source.has_holes and source.n_rows > most:
        return _drawn(source, drawn_places(source.n_rows, most, rng))
    rows, weights = sample_rows(source, most, rng)
    # what is in memory has been sorted already
    patterns = None if isinstance(source, KeptSource) else patterns_of(rows)
    return (rows, weights) if patterns is None else (rows[patterns.order], weights[patterns.order])


def _drawn(source: StoredSource, places: npt.NDArray[np.int64]) -> tuple[Array, Array]:
    """The rows that would stand at these places if the source were sorted by pattern, in that order."""
    counts: Counter[bytes] = Counter()
    for chunk in source:
        counts.update(dict(zip(*_patterns(chunk)[:2], strict=True)))
    edges = dict(zip(sorted(counts), np.cumsum([0, *(counts[key] for key in sorted(counts))]), strict=False))
    found: list[tuple[npt.NDArray[np.int64], Array, Array]] = []
    for chunk in source:
        at = np.empty(chunk.n_rows, np.int64)
        keys, sizes, codes = _patterns(chunk)
        for code, (key, size) in enumerate(zip(keys, sizes, strict=True)):
            at[codes == code] = np.arange(edges[key], edges[key] + size)
            edges[key] += size
        picked = np.flatnonzero(np.isin(at, places))
        weights = np.ones(len(picked)) if chunk.weights is None else chunk.weights[picked]
        found.append((at[picked], np.asarray(chunk.X[picked], dtype=np.float64), weights))
    at, rows, weights = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(at)
    return rows[order], weights[order]


def _patterns(chunk: Chunk) -> tuple[list[bytes], list[int], npt.NDArray[np.intp]]:
    """Which columns are missing together, as bytes; how many rows of each; and which each row has."""
    packed = np.packbits(np.isnan(chunk.X), axis=1)
    keys = packed.view([("", packed.dtype)] * packed.shape[1])[:, 0]
    found, codes, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    return [key.tobytes() for key in found], sizes.tolist(), codes.ravel()
