"""Rows with holes: their expected moments, grouped by which columns are observed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit import compiled
from tacit.cluster.gaussian_params import GaussianParams, Kind
from tacit.data.chunks import ArraySource, Chunk, ChunkSource
from tacit.learn.protocol import Array

_NONE = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class Patterns:
    """Which columns are observed together: rows `order[edges[p]:edges[p + 1]]` have pattern p.

    `columns[p]` lists the observed columns first, `counts[p]` of them, and then the missing ones.
    """

    order: NDArray[np.intp]
    edges: NDArray[np.int64]
    columns: NDArray[np.int64]
    counts: NDArray[np.int64]

    def __iter__(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]]:
        """Rows, observed columns and missing columns of each pattern."""
        for p, (columns, count) in enumerate(zip(self.columns, self.counts, strict=True)):
            yield self.order[self.edges[p] : self.edges[p + 1]], columns[:count], columns[count:]


def patterns_of(X: Array) -> Patterns | None:
    """The patterns of a table; None if nothing is missing."""
    missing = np.isnan(X)
    if not missing.any():
        return None
    packed = np.packbits(missing, axis=1)
    keys = packed.view([("", packed.dtype)] * packed.shape[1])[:, 0]
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    holes = missing[first]
    edges = np.concatenate([[0], np.cumsum(np.bincount(codes))])
    return Patterns(
        np.argsort(codes, kind="stable"),
        edges.astype(np.int64),
        np.argsort(holes, axis=1, kind="stable").astype(np.int64),
        (~holes).sum(axis=1).astype(np.int64),
    )


def sorted_by_pattern(rows: Array, weights: Array | None) -> ChunkSource:
    """A source in which equal patterns stand together, so that each is prepared once and not once per chunk."""
    patterns = patterns_of(rows)
    if patterns is None:
        return ArraySource(rows, weights)
    order = patterns.order
    return ArraySource(rows[order], None if weights is None else weights[order])


def chunk_patterns(chunk: Chunk) -> Patterns | None:
    """The patterns of a chunk, looked for once."""
    if "patterns" not in chunk.memo:
        chunk.memo["patterns"] = patterns_of(chunk.X)
    found: Patterns | None = chunk.memo["patterns"]
    return found


def expect_missing(
    params: GaussianParams, X: Array, weights: Array, patterns: Patterns
) -> tuple[float, Array, Array, Array, Array]:
    """Bound, weight, centre, first and second moments, the missing entries in expectation."""
    k, d = params.means.shape
    weight, first, second = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    order = patterns.order
    shares = weights[order] if len(weights) else weights
    bound = _run(params, X[order], shares, patterns, weight, first, second, _NONE)
    return bound, weight, params.means, first, _shaped(second, params.kind)


def joint_missing(params: GaussianParams, X: Array, patterns: Patterns) -> Array:
    """(n, k) log p(observed part of x_i, k)."""
    joint = np.empty((len(X), len(params.weights)))
    _run(params, X[patterns.order], np.empty(0), patterns, np.empty(0), _NONE, np.empty((0, 0, 0)), joint)
    out = np.empty_like(joint)
    out[patterns.order] = joint
    return out


def _run(params: GaussianParams, X: Array, weights: Array, patterns: Patterns, *out: Array) -> float:
    with np.errstate(divide="ignore"):
        log_weights = np.log(params.weights)
    return float(
        compiled.gaussian.expect_missing(
            X, weights, params.frame.origin, 1 / params.frame.scale, patterns.columns, patterns.counts,
            patterns.edges, params.means, params.matrices, log_weights, *out,
        )
    )  # fmt: skip


def _shaped(second: Array, kind: Kind) -> Array:
    if kind == "full":
        return second
    if kind == "tied":
        return np.asarray(second.sum(axis=0))
    columns = np.diagonal(second, axis1=1, axis2=2)
    return np.array(columns) if kind == "diag" else np.asarray(columns.sum(axis=1))


def conditionals(params: GaussianParams, rows: Array, missing: Array, seen: Array) -> tuple[Array, Array]:
    """Means (k, n, m) and covariances (k, m, m) of the missing columns given the observed ones, in the frame."""
    C = params.matrices
    gaps = params.frame.inward(rows)[:, seen] - params.means[:, None, seen]  # (k, n, o)
    slopes = np.linalg.solve(C[:, seen][:, :, seen], C[:, seen][:, :, missing])  # (k, o, m)
    means = params.means[:, None, missing] + gaps @ slopes
    covariances = C[:, missing][:, :, missing] - np.swapaxes(C[:, seen][:, :, missing], 1, 2) @ slopes
    return means, (covariances + np.swapaxes(covariances, 1, 2)) / 2
