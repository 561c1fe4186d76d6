"""Rows to start from, drawn as if rows with the same columns missing stood together, wherever they do stand."""

from collections import Counter
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from latently.data.sources.chunks import Chunk, ChunkSource, KeptSource
from latently.data.stored.source import StoredSource
from latently.distributions.components.gaussian.incomplete.patterns import patterns_of
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import mapping
from latently.learn.engine.start import drawn_places, sample_rows

Places: TypeAlias = npt.NDArray[np.int64]
# Where a chunk starts, which columns are missing together in it (as bytes), and in how many rows.
Counted: TypeAlias = tuple[int, list[bytes], list[int]]


def start_sample(source: ChunkSource, most: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """At most `most` rows and their weights, in the order in which a table in memory is sorted for the fit.

    So the same rows are drawn from a table in memory and from files or workers, where it cannot be sorted.
    """
    if isinstance(source, KeptSource):  # what is in memory has been sorted already
        return sample_rows(source, most, rng)
    counted = _counted(source) if _may_be_mixed(source, most) else []
    if sum(sum(sizes) for _, _, sizes in counted) > most:
        return _drawn(source, counted, most, rng)
    rows, weights = sample_rows(source, most, rng)
    patterns = patterns_of(rows)
    return (rows, weights) if patterns is None else (rows[patterns.order], weights[patterns.order])


def _may_be_mixed(source: ChunkSource, most: int) -> bool:
    """Whether there are more rows than are drawn, some of them with missing values, as far as is known."""
    few = source.n_rows is not None and source.n_rows <= most
    return not few and (source.has_missing if isinstance(source, StoredSource) else True)


def _counted(source: ChunkSource) -> list[Counted]:
    with mapping(source) as over_chunks:
        return list(over_chunks(_count))


def _count(chunk: Chunk) -> Counted:
    keys, sizes, _ = _patterns(chunk)
    return chunk.start, keys, sizes


def _drawn(source: ChunkSource, counted: list[Counted], most: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Rows that would be drawn if the source were sorted by pattern, in that order; picked where the chunks are."""
    totals: Counter[bytes] = Counter()
    for _, keys, sizes in counted:
        totals.update(dict(zip(keys, sizes, strict=True)))
    order = sorted(totals)
    edges = dict(zip(order, np.cumsum([0, *(totals[key] for key in order)]).tolist(), strict=False))
    begins: dict[int, list[int]] = {}
    for start, keys, sizes in counted:
        begins[start] = [edges[key] for key in keys]
        edges.update((key, edges[key] + size) for key, size in zip(keys, sizes, strict=True))
    places = drawn_places(totals.total(), most, rng)
    with mapping(source) as over_chunks:
        found = list(over_chunks(partial(_picked, places, begins)))
    at, rows, weights = (np.concatenate(part) for part in zip(*found, strict=True))
    sort = np.argsort(at)
    return rows[sort], weights[sort]


def _picked(places: Places, begins: dict[int, list[int]], chunk: Chunk) -> tuple[Places, Array, Array]:
    """Rows of a chunk that stand at one of the places, once each pattern begins where it does in a sorted table."""
    at = np.empty(chunk.n_rows, np.int64)
    codes = _patterns(chunk)[2]
    for code, begin in enumerate(begins[chunk.start]):
        own = codes == code
        at[own] = begin + np.arange(np.count_nonzero(own))
    picked = np.flatnonzero(np.isin(at, places))
    weights = np.ones(len(picked)) if chunk.weights is None else chunk.weights[picked]
    return at[picked], np.asarray(chunk.X[picked], dtype=np.float64), weights


def _patterns(chunk: Chunk) -> tuple[list[bytes], list[int], npt.NDArray[np.intp]]:
    """Which columns are missing together, as bytes; how many rows of each; and which each row has."""
    packed = np.packbits(np.isnan(chunk.X), axis=1)
    keys = packed.view([("", packed.dtype)] * packed.shape[1])[:, 0]
    found, codes, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    return [key.tobytes() for key in found], sizes.tolist(), codes.ravel()
