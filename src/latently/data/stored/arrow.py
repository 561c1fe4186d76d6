"""Columns of Arrow tables as numpy arrays: features side by side, weights, targets."""

import sys
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.data.sources.paths import FileError
from latently.data.stored.batches import Cut, Piece
from latently.data.stored.parquet import kind_of, pyarrow
from latently.data.tables.matrix import FloatArray, WeightArray, is_ordinary
from latently.data.tables.values import ENCODE_HINT, EXTREME, is_extreme

_NUMBERS: Final = ("number", "truth", "null")
_TURNED: Final = 4096


def refuse_text(schema: Any, names: Sequence[str], origin: str) -> None:
    """Refuse columns that are not numbers."""
    for name in names:
        type_ = schema.field(name).type
        if kind_of(type_) not in _NUMBERS or pyarrow().types.is_dictionary(type_):
            what = "dates or times" if kind_of(type_) == "date" else "no numbers"
            raise FileError(origin, f"column {name!r} holds {what} ({type_}): {ENCODE_HINT}")


def float_type(schema: Any, names: Sequence[str]) -> type[np.floating[Any]]:
    """Single precision if all columns are, double otherwise: as it is for tables in memory."""
    types = {str(schema.field(name).type) for name in names}
    return np.float32 if types == {"float"} else np.float64


class Shelf:
    """Arrays that are used again once nobody holds them: fresh memory for every chunk would cost more than filling it.

    Examples
    --------
    >>> shelf = Shelf(np.float64)
    >>> first, second = shelf.take(2, 3), shelf.take(2, 3)
    >>> np.shares_memory(first, second)
    False
    >>> place = first.__array_interface__["data"]
    >>> del first
    >>> shelf.take(2, 3).__array_interface__["data"] == place
    True
    """

    def __init__(self, dtype: type[np.floating[Any]]) -> None:
        self._dtype = dtype
        self._arrays: list[FloatArray] = []

    def take(self, rows: int, columns: int) -> FloatArray:
        """Give room for values that may be anything yet."""
        size = rows * columns
        for i in range(len(self._arrays)):
            # the list holds one reference, and the call another; every chunk in use holds one more
            if len(self._arrays[i]) >= size and sys.getrefcount(self._arrays[i]) <= _ALONE:
                return self._arrays[i][:size].reshape(rows, columns)
        self._arrays.append(np.empty(size, dtype=self._dtype))
        return self._arrays[-1].reshape(rows, columns)


_probe: Final = [np.empty(0)]
_ALONE: Final = sys.getrefcount(_probe[0])


def matrix_of(cut: Cut, names: Sequence[str], dtype: type[np.floating[Any]], shelf: Shelf | None = None) -> FloatArray:
    """Values of the columns, (rows, columns); null is NaN."""
    out = np.empty((cut.n_rows, len(names)), dtype=dtype) if shelf is None else shelf.take(cut.n_rows, len(names))
    # Columns are laid side by side a few rows at a time, which stay in cache, and then turned.
    aside = np.empty((len(names), min(_TURNED, cut.n_rows)), dtype=dtype)
    first = 0
    for piece in cut.pieces:
        columns = [floats_of(piece, name) for name in names]
        for a in range(0, piece.batch.num_rows, _TURNED):
            rows = min(_TURNED, piece.batch.num_rows - a)
            for line, column in zip(aside, columns, strict=True):
                line[:rows] = column[a : a + rows]
            out[first : first + rows] = aside[:, :rows].T
            first += rows
    return out


def floats_of(piece: Piece, name: str) -> NDArray[Any]:
    """One column as floats."""
    pa, column = pyarrow(), piece.batch.column(name)
    if not pa.types.is_floating(column.type):
        try:
            column = column.cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
            raise FileError(piece.origin, f"column {name!r} holds no numbers: {problem}") from None
    return np.asarray(column.to_numpy(zero_copy_only=False))


def check_matrix(X: FloatArray, cut: Cut, names: Sequence[str], allow_nan: bool) -> bool:
    """Refuse inf, and NaN unless it is allowed; errors name file and column. Gives whether NaN is there."""
    if is_ordinary(X):
        return False
    wrong = np.isinf(X) if allow_nan else ~np.isfinite(X)
    if not wrong.any():
        if (extreme := is_extreme(X)).any():
            row, j = (int(i) for i in np.argwhere(extreme)[0])
            raise FileError(_origin(cut, row), f"column {names[j]!r} {EXTREME} (row {cut.start + row})")
        return bool(np.isnan(X).any())
    row, j = (int(i) for i in np.argwhere(wrong)[0])
    what = "inf" if np.isinf(X[row, j]) else "NaN, which is not allowed here"
    how = "replace it by a number, or by NaN if the value is missing" if np.isinf(X[row, j]) else "fill or drop it"
    raise FileError(_origin(cut, row), f"column {names[j]!r} contains {what} (row {cut.start + row}): {how}")


def _origin(cut: Cut, row: int) -> str:
    ends = np.cumsum([piece.batch.num_rows for piece in cut.pieces])
    return cut.pieces[int(np.searchsorted(ends, row, side="right"))].origin


def weights_of(cut: Cut, name: str) -> WeightArray:
    """Weights of the rows: finite, not negative, and one for each sequence."""
    w = matrix_of(cut, [name], np.float64)[:, 0].astype(np.float64, copy=False)
    wrong = ~(np.isfinite(w) & (w >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise FileError(
            _origin(cut, row),
            f"the weight {name!r} of row {cut.start + row} is {w[row]:g}: weights are finite and not negative",
        )
    if cut.lengths is not None and (w != np.repeat(w[np.cumsum(cut.lengths) - cut.lengths], cut.lengths)).any():
        raise ValueError(f"the weight {name!r} changes within a sequence: give each sequence one weight")
    return w


def values_of(cut: Cut, name: str) -> NDArray[Any]:
    """One column as it is: numbers, or Python objects."""
    column = cut.table().column(name)
    if pyarrow().types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return np.asarray(column.to_numpy())
