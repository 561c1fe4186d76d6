"""Ragged sequences: the rows of all of them below each other, and how many rows each one has."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from latently.data.sources.bounds import check_chunk_rows
from latently.data.sources.chunks import Chunk, KeptSource
from latently.data.tables import frames
from latently.data.tables.matrix import FloatArray, IntArray, as_matrix, check_weights
from latently.data.tables.values import is_missing


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequences of different lengths.

    Parameters
    ----------
    values
        Rows of all sequences, one sequence below the other, (rows, columns).
    lengths
        Number of rows of each sequence.

    Examples
    --------
    >>> import numpy as np
    >>> sequences = Sequences(np.arange(5.0).reshape(5, 1), np.array([2, 3]))
    >>> len(sequences), sequences.offsets
    (2, array([0, 2, 5]))
    >>> [s.ravel().tolist() for s in sequences]
    [[0.0, 1.0], [2.0, 3.0, 4.0]]
    >>> sequences[1:].lengths
    array([3])
    """

    values: FloatArray
    lengths: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", as_matrix(self.values, allow_nan=True))
        object.__setattr__(self, "lengths", _check_lengths(self.lengths, self.values.shape[0]))

    @classmethod
    def of_checked(cls, values: FloatArray, lengths: ArrayLike | None) -> Self:
        """Sequences, or a single one, of a table that was read by `as_matrix`: its values are not looked at again."""
        found = object.__new__(cls)
        object.__setattr__(found, "values", values)
        known = np.array([len(values)]) if lengths is None else _check_lengths(lengths, len(values))
        object.__setattr__(found, "lengths", known)
        return found

    @classmethod
    def from_list(cls, arrays: Sequence[Any]) -> Self:
        """Take each table of a list as a sequence; a one-dimensional array is a single column.

        Examples
        --------
        >>> Sequences.from_list([[[1.0], [2.0]], [[3.0]]]).lengths
        array([2, 1])
        """
        if len(arrays) == 0:
            raise ValueError("the list of sequences is empty: give at least one sequence")
        tables = [_as_sequence(array, i) for i, array in enumerate(arrays)]
        for i, table in enumerate(tables):
            if table.shape[1] != tables[0].shape[1]:
                raise ValueError(
                    f"sequence {i} has {table.shape[1]} columns but sequence 0 has {tables[0].shape[1]}: "
                    "all sequences need the same columns"
                )
        return cls(np.concatenate(tables), np.array([len(table) for table in tables], dtype=np.int64))

    @classmethod
    def from_frame(cls, frame: Any, group: str) -> Self:
        """Take the rows of a dataframe that share a value in the column `group` as a sequence.

        The rows of a sequence must be next to each other, so that results stay in the order of the rows.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"who": ["a", "a", "b"], "x": [1, 2, 3]})
        >>> Sequences.from_frame(table, "who").lengths
        array([2, 1])
        """
        names = frames.column_names(frame)
        labels = frames.views(frames.select(frame, [group]))[group].to_list()
        rest = frames.select(frame, [name for name in names if name != group])
        return cls(as_matrix(rest, allow_nan=True), run_lengths(labels, group))

    @property
    def offsets(self) -> IntArray:
        """Index of the first row of each sequence, and the number of rows at the end, (sequences + 1,)."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[FloatArray]:
        return iter(np.split(self.values, self.offsets[1:-1]))

    @overload
    def __getitem__(self, index: int) -> FloatArray: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> FloatArray | Self:
        offsets = self.offsets
        if not isinstance(index, slice):
            i = range(len(self))[index]
            return self.values[offsets[i] : offsets[i + 1]]
        picked = range(len(self))[index]
        if not picked or picked.step != 1:
            raise ValueError("a slice of sequences takes at least one, one after the other")
        return type(self)(self.values[offsets[picked[0]] : offsets[picked[-1] + 1]], self.lengths[index])

    def chunked(self, weights: ArrayLike | None = None, chunk_rows: int | None = None) -> "SequenceSource":
        """Give a source whose chunks are whole sequences."""
        return SequenceSource(self, weights, chunk_rows)


def as_sequences(X: Any, lengths: ArrayLike | None = None, *, group: str | None = None) -> Sequences:
    """Make sequences of whatever holds them.

    Parameters
    ----------
    X
        A table with the sequences below each other, a list of arrays or tables, or `Sequences`. A list of
        lists of numbers is a single table; a list of one-dimensional arrays is sequences of one column.
    lengths
        Number of rows of each sequence in a single table; None if it is one sequence.
    group
        Column of a dataframe with the identifier of each sequence.

    Examples
    --------
    >>> import numpy as np
    >>> as_sequences(np.zeros((4, 2)), [1, 3]).lengths
    array([1, 3])
    >>> as_sequences([np.zeros((4, 2)), np.zeros((2, 2))]).lengths
    array([4, 2])
    """
    if lengths is not None and group is not None:
        raise ValueError("lengths and group both say where sequences begin and end: give one of them")
    if isinstance(X, Sequences) or _is_list_of_tables(X):
        if lengths is not None or group is not None:
            raise ValueError("X is made of sequences already: lengths and group are for a single table")
        return X if isinstance(X, Sequences) else Sequences.from_list(X)
    if group is not None:
        return Sequences.from_frame(X, group)
    return Sequences.of_checked(as_matrix(X, allow_nan=True), lengths)


def _is_list_of_tables(X: Any) -> bool:
    if not isinstance(X, list | tuple):
        return False
    return len(X) == 0 or frames.is_frame(X[0]) or isinstance(X[0], np.ndarray) or np.ndim(X[0]) == 2


def _as_sequence(array: Any, i: int) -> FloatArray:
    if isinstance(array, np.ndarray) and array.ndim == 1:
        array = array[:, None]
    return as_matrix(array, allow_nan=True, name=f"sequence {i}")


def _check_lengths(lengths: ArrayLike, n_rows: int) -> IntArray:
    given = np.asarray(lengths)
    if given.ndim != 1 or given.dtype.kind not in "iu" or len(given) == 0:
        raise ValueError(f"lengths must be a list of whole numbers, one for each sequence, got {lengths!r}")
    if (given < 1).any():
        i = int(np.argmax(given < 1))
        raise ValueError(f"sequence {i} has length {int(given[i])}: every sequence needs at least one row")
    if given.sum() != n_rows:
        raise ValueError(f"lengths sum to {int(given.sum())} but there are {n_rows} rows: they must be equal")
    return given.astype(np.int64)


def run_lengths(labels: list[Any], group: str) -> IntArray:
    """Lengths of the runs of equal labels; an error if a label is missing, or comes back later.

    Examples
    --------
    >>> run_lengths(["a", "a", "b"], "who")
    array([2, 1])
    """
    seen: set[Any] = set()
    starts: list[int] = []
    for row, label in enumerate(labels):
        if is_missing(label):
            raise ValueError(f"column {group!r} is missing at row {row}: every row belongs to a sequence")
        if row > 0 and label == labels[row - 1]:
            continue
        if label in seen:
            raise ValueError(f"column {group!r}: {label!r} comes back at row {row}: sort by it first")
        seen.add(label)
        starts.append(row)
    return np.diff([*starts, len(labels)])


class SequenceSource(KeptSource):
    """Chunks of whole sequences: neighbours are packed together up to `chunk_rows`, and none is ever cut.

    Parameters
    ----------
    sequences
        The sequences.
    weights
        Weight of each sequence, or None; in a chunk it is repeated for each row of the sequence.
    chunk_rows
        Most rows in a chunk, unless a single sequence is longer.

    Examples
    --------
    >>> import numpy as np
    >>> sequences = as_sequences(np.zeros((9, 1)), [2, 2, 5])
    >>> [chunk.lengths.tolist() for chunk in SequenceSource(sequences, chunk_rows=4)]
    [[2, 2], [5]]
    """

    def __init__(self, sequences: Sequences, weights: ArrayLike | None = None, chunk_rows: int | None = None) -> None:
        self.n_rows = sequences.values.shape[0]
        self.column_names = frames.default_names(sequences.values.shape[1])
        w = check_weights(weights, len(sequences), unit="sequence")
        rows = None if w is None else np.repeat(w, sequences.lengths)
        offsets = sequences.offsets
        self._chunks = tuple(
            Chunk(
                sequences.values[offsets[a] : offsets[b]],
                None if rows is None else rows[offsets[a] : offsets[b]],
                int(offsets[a]),
                lengths=sequences.lengths[a:b],
            )
            for a, b in _pack(sequences.lengths, check_chunk_rows(chunk_rows))
        )


def _pack(lengths: IntArray, most: int) -> list[tuple[int, int]]:
    """Give the first and past-the-last sequence of each chunk."""
    starts, rows = [0], 0
    for i, length in enumerate(lengths.tolist()):
        if rows and rows + length > most:
            starts.append(i)
            rows = 0
        rows += length
    return list(zip(starts, [*starts[1:], len(lengths)], strict=True))
