"""One partition of a Dask collection, as the worker that holds it sees it: checked, as floats, in chunks."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data.sources.bounds import chunk_bounds
from latently.data.sources.chunks import Chunk
from latently.data.sources.sequences import Sequences, run_lengths
from latently.data.tables import frames
from latently.data.tables.matrix import FloatArray, IntArray, as_matrix


class Part:
    """The rows of a partition as floats, their chunks, and what the pass before left in the chunks' memos.

    The memos belong to one user at a time: whoever comes next with another name finds them empty. They are left
    behind when the part travels or is spilled to disk.

    Parameters
    ----------
    rows
        All rows as one chunk.
    ends
        First and last value of the column that tells sequences apart; None without one.

    Examples
    --------
    >>> part = Part(Chunk(np.zeros((5, 1))))
    >>> [(chunk.start, chunk.n_rows) for chunk in part.located(10, "me", 3)]
    [(10, 2), (12, 3)]
    """

    def __init__(self, rows: Chunk, ends: tuple[Any, Any] | None = None) -> None:
        self.rows = rows
        self.ends = ends
        self._cut: tuple[Any, tuple[Chunk, ...]] = (0, ())
        self._owner = ("", 0)
        self._memos: tuple[dict[str, Any], ...] = ()

    def chunks(self, chunk_rows: int | None) -> tuple[Chunk, ...]:
        """Cut the rows into chunks of at most so many; cut once and kept."""
        if self._cut[0] != chunk_rows:
            self._cut = (chunk_rows, tuple(_cut(self.rows, chunk_rows)))
        return self._cut[1]

    def located(self, start: int, owner: str, chunk_rows: int | None = None) -> Iterator[Chunk]:
        """Give the chunks of a partition whose first row is row `start` of the whole table."""
        chunks = self.chunks(chunk_rows)
        if self._owner != (owner, len(chunks)):
            self._owner, self._memos = (owner, len(chunks)), tuple({} for _ in chunks)
        for chunk, memo in zip(chunks, self._memos, strict=True):
            yield replace(chunk, start=start + chunk.start, memo=memo)

    def beside(self, weights: NDArray[np.float64] | None, y: NDArray[Any] | None) -> "Part":
        """Give the same rows with weights and targets, where they are given."""
        rows = self.rows if weights is None else replace(self.rows, weights=weights)
        return Part(rows if y is None else replace(rows, y=y), self.ends)

    def measured(self) -> "Measure":
        """Say how large the part is."""
        weights = self.rows.weights
        counted = self.rows.n_rows if weights is None else int(np.count_nonzero(weights))
        return Measure(self.rows.n_rows, self.rows.total_weight, counted, self.ends)

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self.rows, self.ends)

    def __sizeof__(self) -> int:
        # Dask weighs by this where data goes and when it spills.
        arrays = (self.rows.X, self.rows.weights, self.rows.lengths, self.rows.y)
        return object.__sizeof__(self) + sum(array.nbytes for array in arrays if array is not None)


def _arrived(rows: Chunk, ends: tuple[Any, Any] | None) -> Part:
    """The part that has travelled."""
    return Part(replace(rows, X=_laid_out(rows.X)), ends)


def _laid_out(X: FloatArray) -> FloatArray:
    """The same values as kernels want them: row by row, and not at any byte where a message of Dask's put them."""
    return np.require(X, requirements=["C", "A"])


def _cut(rows: Chunk, chunk_rows: int | None) -> Iterator[Chunk]:
    bounds: list[tuple[int, int, IntArray | None]] = [(a, b, None) for a, b in chunk_bounds(rows.n_rows, chunk_rows)]
    if rows.lengths is not None:
        bounds = [(c.start, c.stop, c.lengths) for c in Sequences(rows.X, rows.lengths).chunked(None, chunk_rows)]
    for a, b, lengths in bounds:
        weights = None if rows.weights is None else rows.weights[a:b]
        yield Chunk(rows.X[a:b], weights, a, {}, lengths, None if rows.y is None else rows.y[a:b])


@dataclass(frozen=True)
class Measure:
    """Rows of a part, their weight, how many of them have any, and the ends of its group column."""

    rows: int
    weight: float
    counted: int
    ends: tuple[Any, Any] | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """How every partition is read.

    Attributes
    ----------
    names
        Names of the features of a dataframe; None for an array.
    kinds
        What Dask believes each of these columns to hold.
    weights, target, group
        Columns of a dataframe with weights, with targets, and with what tells sequences apart.
    encode
        Turns a table of the features into floats; without it every column must be numeric.
    after
        Functions that are then applied to the floats.
    is_passing
        Whether a single pass will see the floats, so that they need not be laid out for many.
    """

    names: tuple[str, ...] | None
    kinds: tuple[str, ...] = ()
    weights: str | None = None
    target: str | None = None
    group: str | None = None
    encode: Callable[[Any], FloatArray] | None = None
    after: tuple[Callable[[FloatArray], FloatArray], ...] = ()
    is_passing: bool = False

    def table(self, raw: Any) -> Any:
        """Give the features of a partition."""
        return raw if self.names is None else frames.select(raw, self.names)

    def lengths(self, raw: Any) -> IntArray | None:
        """Give the lengths of the sequences in a partition; None if rows stand alone."""
        return None if self.group is None else run_lengths(raw[self.group].tolist(), self.group)

    @property
    def is_plain(self) -> bool:
        """Whether columns are taken as the numbers they are."""
        return self.encode is None


def prepare(raw: Any, weights: Any, y: Any, plan: Plan, place: int) -> Part:
    """Check a partition and cut it into chunks; an error says which partition, and which column."""
    with _naming(place):
        return _prepared(raw, weights, y, plan)


def over_table(f: Callable[..., Any], raw: Any, plan: Plan, place: int, *more: Any) -> Any:
    """Give f(features as they are, lengths of sequences, ...) of a partition; None if it has no rows."""
    with _naming(place):
        _check_columns(raw, plan)
        return f(plan.table(raw), plan.lengths(raw), *more) if len(raw) else None


@contextmanager
def _naming(place: int) -> Iterator[None]:
    try:
        yield
    except (TypeError, ValueError) as problem:
        raise type(problem)(f"partition {place}: {problem}") from problem


def _prepared(raw: Any, weights: Any, y: Any, plan: Plan) -> Part:
    _check_columns(raw, plan)
    n_rows = len(raw)
    weights = weights if plan.weights is None else raw[plan.weights]
    y = y if plan.target is None else raw[plan.target]
    w = None if weights is None else _checked_weights(weights, n_rows)
    if y is not None and len(y) != n_rows:
        raise ValueError(f"y has {len(y)} rows and X has {n_rows}: cut both into the same partitions")
    if n_rows == 0:
        return Part(Chunk(np.empty((0, 1))))
    lengths = plan.lengths(raw)
    rows = Chunk(_floats(plan.table(raw), plan), w, 0, {}, lengths, None if y is None else np.asarray(y))
    return Part(rows, None if lengths is None else (raw[plan.group].iloc[0], raw[plan.group].iloc[-1]))


def _floats(table: Any, plan: Plan) -> FloatArray:
    values = table if plan.encode is None else plan.encode(table)
    X = as_matrix(values, allow_nan=True)
    for f in plan.after:
        X = f(X)
    return X if plan.is_passing else _laid_out(X)


def _check_columns(frame: Any, plan: Plan) -> None:
    if plan.names is None:
        return
    names, expected = frames.column_names(frame), plan.names
    for name, kind in zip(expected, plan.kinds, strict=True):
        if name not in names:
            raise ValueError(f"column {name!r} is missing here, but other partitions have it")
        found = kind_of(frame[name].dtype) if len(frame) else kind
        if plan.is_plain and found != kind:
            raise TypeError(
                f"column {name!r} holds {frame[name].dtype} here, but the collection says {kind}: convert it to one "
                "type before the fit, as in X.astype({...})"
            )


def kind_of(dtype: Any) -> str:
    """Say in a word what values of a type are: "numbers", "text", "categories" or "dates".

    Examples
    --------
    >>> kind_of(np.dtype("int8")), kind_of(np.dtype("O")), kind_of(np.dtype("M8[s]"))
    ('numbers', 'text', 'dates')
    """
    kind = getattr(dtype, "kind", "O")
    if str(dtype) == "category":
        return "categories"
    return "numbers" if kind in "biuf" else "dates" if kind in "mM" else "text"


def _checked_weights(weights: Any, n_rows: int) -> NDArray[np.float64]:
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {w.shape}, expected {(n_rows,)}: cut the weights into the same partitions "
            "as the rows"
        )
    if not np.isfinite(w).all() or w.min(initial=0.0) < 0:
        raise ValueError("sample_weight holds a value that is negative or not finite: give finite weights")
    return w


def columns_with_missing(part: Part) -> list[int]:
    """Which columns have a missing value."""
    return _with_missing(part.rows.X)


def refuse_missing(names: Sequence[str], X: FloatArray) -> FloatArray:
    """Give the rows; an error if a value is missing."""
    if absent := _with_missing(X):
        raise ValueError(no_missing_allowed(names[absent[0]]))
    return X


def no_missing_allowed(name: str) -> str:
    """Say that a column has missing values where they cannot be taken."""
    return f"column {name!r} of X contains NaN, which is not allowed here: fill or drop it"


def _with_missing(X: FloatArray) -> list[int]:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum(dtype=np.float64)):  # one cheap pass settles the usual case
            return []
    return [int(j) for j in np.flatnonzero(np.isnan(X).any(axis=0))]


def check_order(ends: list[tuple[int, tuple[Any, Any]]], group: str) -> None:
    """See that no sequence is torn apart: the group column must rise, or fall, from partition to partition.

    Parameters
    ----------
    ends
        Of each partition that has rows: its place, and its first and last value.
    group
        Name of the column.
    """
    rises: bool | None = None
    for (_, (_, last)), (place, (first, _)) in pairwise(ends):
        rises = bool(first > last) if rises is None else rises
        if first == last or bool(first > last) is not rises:
            raise ValueError(
                f"column {group!r}: {first!r} at the start of partition {place} comes after {last!r}, so sequences are "
                f"torn apart or not in order; X.sort_values({group!r}) and X.set_index({group!r}).reset_index() put "
                "every sequence into one partition"
            )
