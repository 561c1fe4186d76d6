"""Rows with missing values: their expected moments, grouped by which columns are observed."""

import numpy as np

from latently import compiled
from latently.data.sources.bounds import CHUNK_ROWS
from latently.data.sources.chunks import ArraySource, Chunk, ChunkSource
from latently.data.tables.matrix import FloatArray
from latently.distributions.components.gaussian.frame import Kind
from latently.distributions.components.gaussian.incomplete.conditional import (
    expect_incomplete,
    incomplete_rows,
    joint_incomplete,
    suits_precisions,
)
from latently.distributions.components.gaussian.incomplete.patterns import Patterns, patterns_of
from latently.distributions.components.gaussian.params import GaussianParams, powers_of_two
from latently.distributions.inputs import Array

_BLOCK = 256  # rows of a pattern at a time
_LITTLE_WORK = 256  # components times columns
_NONE = np.empty((0, 0))


def sorted_by_pattern(rows: FloatArray, weights: Array | None, k: int) -> ChunkSource:
    """A source in which equal patterns stand together, so that each is prepared once and not once per chunk.

    Little work per row, for k components, is worth larger chunks.
    """
    patterns = patterns_of(rows)
    if patterns is None:
        return ArraySource(rows, weights, CHUNK_ROWS * (2 if k * rows.shape[1] <= _LITTLE_WORK else 1))
    order = patterns.order
    return ArraySource(rows[order], None if weights is None else weights[order])


def chunk_patterns(chunk: Chunk) -> Patterns | None:
    """The patterns of a chunk, looked for once."""
    if "patterns" not in chunk.memo:
        chunk.memo["patterns"] = patterns_of(np.asarray(chunk.X, dtype=np.float64))
    found: Patterns | None = chunk.memo["patterns"]
    return found


def expect_missing(
    params: GaussianParams, X: Array, weights: Array, patterns: Patterns
) -> tuple[float, Array, Array, Array, Array]:
    """Bound, weight, centre, first and second moments, the missing entries in expectation."""
    if suits_precisions(params, patterns):
        return expect_incomplete(params, incomplete_rows(X, params.frame, weights))
    k, d = params.means.shape
    weight, first, second = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    order = patterns.order
    shares = weights[order] if len(weights) else weights
    bound = _run(params, X[order], shares, patterns, weight, first, second, _NONE)
    return bound, weight, params.means, first, _shaped(second, params.kind)


def joint_missing(params: GaussianParams, X: Array, patterns: Patterns) -> Array:
    """(n, k) log p(observed part of x_i, k)."""
    if suits_precisions(params, patterns):
        return joint_incomplete(params, incomplete_rows(X, params.frame))
    joint = np.empty((len(X), len(params.weights)))
    _run(params, X[patterns.order], np.empty(0), patterns, np.empty(0), _NONE, np.empty((0, 0, 0)), joint)
    out = np.empty_like(joint)
    out[patterns.order] = joint
    return out


def _run(params: GaussianParams, X: Array, weights: Array, patterns: Patterns, *out: Array) -> float:
    with np.errstate(divide="ignore"):
        log_weights = np.log(params.weights)
    return float(
        compiled.components.gaussian.expect_missing(
            X, weights, params.frame.origin, 1 / params.frame.scale, patterns.columns, patterns.counts,
            patterns.edges, params.means, params.matrices, log_weights, powers_of_two(_BLOCK), *out,
        )
    )  # fmt: skip


def _shaped(second: Array, kind: Kind) -> Array:
    if kind == "full":
        return second
    if kind == "tied":
        return np.asarray(second.sum(axis=0))
    columns = np.diagonal(second, axis1=1, axis2=2)
    return np.array(columns) if kind == "diag" else np.asarray(columns.sum(axis=1))
