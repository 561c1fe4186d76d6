"""The rows that K-means works on: their origin and unit, and sparse tables a dense block at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from latently import compiled
from latently.data.sources.bounds import chunk_bounds
from latently.data.sources.chunks import ArraySource, Chunk, ChunkSource
from latently.data.tables.matrix import TINY, check_weights, tiny
from latently.distributions.statistics import Moments
from latently.learn.engine.protocol import Reduce
from latently.learn.engine.reduce import mapping
from latently.learn.estimator.table import read_rows

Array = npt.NDArray[np.float64]

CHUNK_ROWS = 32768
# Up to this many multiplications per row, comparing with every centre is cheaper than keeping bounds.
DIRECT_WORK = 256
# Multiplications that are worth a chunk of their own, and the rows that are.
_CHUNK_WORK, _LEAST_ROWS = 1 << 24, 4096
# From so many columns, and multiplications per row, distances are best taken from matrix products.
PRODUCT_COLUMNS, PRODUCT_WORK = 24, 256
_PRODUCT_VALUES = 1 << 15
_CACHED_VALUES = 1 << 15
_LONG_ROWS = 13
_DENSE_VALUES = 1 << 22  # of a sparse table, at a time
_NOWHERE = 1e160  # farther than any row; its square is infinite


def ready(values: Any) -> Array:
    """Doubles in C order that the compiled code takes without compiling itself anew for other kinds of arrays."""
    return np.require(values, dtype=np.float64, requirements=("C", "W"))


@dataclass(frozen=True, eq=False)
class Unread:
    """Stands for the rows of a table that is not in memory."""

    shape: tuple[int, int]
    dtype: npt.DTypeLike


@dataclass(frozen=True, eq=False)
class Table:
    """A checked table, whole and in chunks; `X` is an array, or sparse in CSR form, or `Unread`."""

    X: Any
    source: ChunkSource


def most_rows(work: int) -> int:
    """Rows of a chunk: little work per row is worth larger ones."""
    if work > DIRECT_WORK:
        return min(CHUNK_ROWS, max(_LEAST_ROWS, _CHUNK_WORK // work))
    return CHUNK_ROWS * (4 if work <= DIRECT_WORK // 4 else 2)


def rows_at_once(work: int) -> int:
    """Rows of a chunk of one pass: two threads share what takes some tenths of a millisecond."""
    return min(4 * CHUNK_ROWS, max(_LEAST_ROWS // 8, _CHUNK_WORK // 8 // work))


def read_table(
    estimator: Any,
    X: Any,
    weights: npt.ArrayLike | None,
    *,
    reset: bool,
    checked: bool = True,
    most: Callable[[int], int] = most_rows,
) -> Table:
    """Check a table and cut it into chunks; a sparse one that would be large is made dense chunk by chunk.

    Without `checked`, the values of a table that is not sparse are not looked at.
    """
    if not issparse(X):
        rows = read_rows(estimator, X, reset=reset, allow_nan=True, checked=checked)
        names = getattr(estimator, "feature_names_in_", None)
        chunk_rows = most(estimator.n_clusters * rows.shape[1])
        return Table(rows, ArraySource(rows, weights, chunk_rows, None if names is None else tuple(names)))
    floats = [np.float64, np.float32]
    X = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=floats, ensure_all_finite="allow-nan")
    if X.shape[0] * X.shape[1] > _DENSE_VALUES:
        return Table(X, SparseSource(X, weights))
    dense = X.toarray()
    return Table(dense, ArraySource(dense, weights, CHUNK_ROWS))


def evenly(centres: Array) -> Array:
    """Centres with an even number of columns, for kernels that take two at a time: the last may be zero."""
    return centres if centres.shape[1] % 2 == 0 else np.pad(centres, ((0, 0), (0, 1)))


def in_pairs(centres: Array) -> Array:
    """A copy with an even number of columns, and of centres: the last of them may stand where no row can be."""
    K, d = centres.shape
    out = np.zeros((K + K % 2, d + d % 2))
    out[:K, :d] = centres
    out[K:] = _NOWHERE
    return out


def transposed_block(n: int, d: int) -> tuple[Array, Array]:
    """Memory for some rows, columns first, with their weights, and for a value of each.

    A power of two for its width would put all columns of a row into the same few lines of the cache.
    """
    most = 544 if d <= 4 else 288 if d <= 16 else 160
    width = min(most, -(-n // 8) * 8)
    return np.zeros((d + d % 2 + 1, width)), np.zeros(width)


def is_worth_products(K: int, d: int) -> bool:
    """Whether distances to so many centres come faster from a matrix product."""
    return d >= PRODUCT_COLUMNS and K * d >= PRODUCT_WORK


def products(K: int, d: int) -> tuple[Any, ...]:
    """Memory to compare rows with centres in by matrix products, as many rows at a time as stay in the cache."""
    B = min(512, max(32, _PRODUCT_VALUES // (d + K) // 16 * 16))
    least, other = np.empty((2, B), np.float32)
    return (
        np.empty((K, d + 1), np.float32), np.empty(1), np.ones((B, d + 1), np.float32), np.empty(B),
        np.empty(K * B, np.float32), least, other, np.empty(B, np.int32),
    )  # fmt: skip


def distances_to(centres: npt.NDArray[Any], table: Table) -> npt.NDArray[Any]:
    """(n, K) distances of rows to centres, over the observed coordinates and scaled up to all of them."""
    out = np.empty((table.X.shape[0], len(centres)), dtype=table.X.dtype)
    # Any origin will do that brings rows and centres near zero.
    origin = centres.mean(axis=0, dtype=np.float64)
    (K, d), about = centres.shape, evenly(centres - origin)
    about = np.pad(about, ((0, -K % 4), (0, 0)))

    def one(chunk: Chunk) -> None:
        X, rows = ready(chunk.X), out[chunk.start : chunk.stop]
        found = rows if out.dtype == np.float64 else np.empty(rows.shape)
        T = transposed_block(*X.shape)[0]
        work = T, np.empty((4, T.shape[1]))
        if np.isnan(compiled.kmeans.lloyd.distances(X, origin, about, work, None, found)):
            compiled.kmeans.lloyd.distances(X, origin, about, work, True, found)
            found *= np.sqrt(d / np.maximum(d - np.isnan(X).sum(axis=1), 1))[:, None]
        if found is not rows:
            rows[:] = found

    with mapping(table.source) as over_chunks:
        list(over_chunks(one))
    return out


@dataclass(frozen=True, eq=False)
class Frame:
    """Where rows lie and how far they spread.

    Attributes
    ----------
    origin
        (d,) mean of the observed values of each column.
    unit
        A factor that brings every coordinate about the origin to at most one in size.
    variance
        Mean over columns of their variances.
    missing
        Whether any value is missing.
    rows
        How many there are.
    """

    origin: Array
    unit: float
    variance: float
    missing: bool
    rows: int


def frame_of(reduce: Reduce, names: tuple[str, ...], centres: Array | None = None, n_rows: int | None = None) -> Frame:
    """The frame of a source's rows, and of centres that need not lie among them.

    A column without any value is an error, unless centres say where it would lie.
    """
    moments = reduce(_moments)
    empty = moments.weight == 0
    if empty.any() and centres is None:
        column = names[int(np.argmax(empty))]
        raise ValueError(f"column {column!r} of X has no observed value: drop it, or give it some values")
    origin = moments.mean()
    if centres is not None:
        origin = np.where(empty, centres.mean(axis=0), origin)
    with np.errstate(over="ignore", invalid="ignore"):
        scatter = moments.scatter()
        widest = max(np.sqrt(scatter.max()), 0.0 if centres is None else np.abs(centres - origin).max())
    if not np.isfinite(widest):
        raise ValueError("the squares of the values of X are not finite: rescale the columns")
    if widest < TINY:
        _refuse_tiny(reduce, names, origin, np.maximum(moments.weight, 1))
    variance = np.mean(scatter / np.maximum(moments.weight, 1))
    rows = reduce(lambda chunk: chunk.n_rows) if n_rows is None else n_rows
    missing = bool((moments.weight < rows).any())
    return Frame(origin, 1 / widest if widest > 0 else 1.0, float(variance), missing, int(rows))


def _refuse_tiny(reduce: Reduce, names: tuple[str, ...], origin: Array, counts: Array) -> None:
    """An error where rows differ, yet by so little that no distance is a number; it names the widest column."""
    gaps = reduce(lambda chunk: np.nan_to_num(np.abs(ready(chunk.X) - origin)).sum(axis=0)) / counts
    gaps[gaps <= 8 * np.finfo(float).eps * np.abs(origin)] = 0.0  # the mean of equal values is rounded
    if gaps.any():
        raise ValueError(tiny(names[int(gaps.argmax())], float(gaps.max())))


def _moments(chunk: Chunk) -> Moments:
    X = ready(chunk.X)
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.ones(len(X)) @ X
        if np.isfinite(total).all():
            count = np.full(len(total), float(len(X)))
        else:
            count = (~np.isnan(X)).sum(axis=0).astype(np.float64)
            total = np.nansum(X, axis=0)
        mean = total / np.maximum(count, 1)
        return Moments(count, mean, np.zeros(len(mean)), _squares(X, mean, bool((count < len(X)).any())))


def _squares(X: Array, mean: Array, missing: bool) -> Array:
    """(d,) sum of squares about the mean, as many rows at a time as stay in the cache."""
    total, some = np.zeros(len(mean)), max(1, _CACHED_VALUES // len(mean))
    turned = len(mean) < _LONG_ROWS  # few columns are better taken one by one
    room, ones = np.empty((len(mean), min(some, len(X)))), np.ones(some)
    room = room if turned else room.reshape(-1, len(mean))
    for start in range(0, len(X), some):
        rows = X[start : start + some]
        gaps = room[:, : len(rows)] if turned else room[: len(rows)].T
        np.subtract(rows.T, mean[:, None], out=gaps)
        if missing:
            gaps[np.isnan(rows.T)] = 0.0
        total += np.einsum("ji,ji->j", gaps, gaps) if turned else np.square(gaps, out=gaps) @ ones[: len(rows)]
    return total


class SparseSource(ChunkSource):
    """Chunks of a sparse matrix in CSR form, made dense one at a time.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> [chunk.X.tolist() for chunk in SparseSource(csr_array([[0.0, 2.0], [1.0, 0.0]]))]
    [[[0.0, 2.0], [1.0, 0.0]]]
    """

    def __init__(self, X: Any, weights: npt.ArrayLike | None = None) -> None:
        self._X = X
        self._weights = check_weights(weights, X.shape[0])
        most = max(1, min(CHUNK_ROWS, _DENSE_VALUES // X.shape[1]))
        self._bounds = chunk_bounds(X.shape[0], most)
        self._memos: tuple[dict[str, Any], ...] = tuple({} for _ in self._bounds)

    @property
    def n_rows(self) -> int:  # type: ignore[override]  # of a source it is only read
        """Number of rows."""
        return int(self._X.shape[0])

    @property
    def column_names(self) -> tuple[str, ...]:  # type: ignore[override]  # made when asked for
        """Names of the columns, in order."""
        return tuple(f"x{j}" for j in range(self._X.shape[1]))

    def __iter__(self) -> Iterator[Chunk]:
        for (start, stop), memo in zip(self._bounds, self._memos, strict=True):
            weights = None if self._weights is None else self._weights[start:stop]
            yield Chunk(self._X[start:stop].toarray(), weights, start, memo)

    def __len__(self) -> int:
        return len(self._bounds)

    def fresh(self) -> Self:
        """Give the same chunks with memos of their own."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _memos=tuple({} for _ in self._bounds))
        return other
