"""The table of floats that estimators compute with, and the weights of its rows: checked, and not copied."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from latently.data.tables import frames
from latently.data.tables.values import ENCODE_HINT, EXTREME, LARGEST, is_extreme, quote, to_floats

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.int64]
WeightArray: TypeAlias = NDArray[np.float64]

TINY = 1e-145
# A column of this span has a deviation that is not tiny, whatever its number of rows.
_WIDE = 1e-100
"""Below this the square of a deviation has lost digits."""

_BLOCK = 65536  # rows looked at together when searching for the column at fault


def as_matrix(
    X: Any,
    *,
    allow_nan: bool = False,
    dtype: DTypeLike | None = None,
    order: Literal["C"] | None = None,
    min_rows: int = 1,
    name: str = "X",
    checked: bool = True,
) -> FloatArray:
    """Give a checked table of floats, (rows, columns); the very same memory if it is one already.

    float32 stays float32, every other number becomes float64. Entries of a masked array, None and null become
    NaN. Infinite values, strings, dates, complex numbers and sparse matrices are errors.

    Parameters
    ----------
    X
        An array, nested lists, or a pandas, polars or Arrow table.
    allow_nan
        Whether NaN (missing) may be in it.
    dtype
        A float type to force; None to keep float32 and float64 as they are.
    order
        "C" to copy what is not contiguous row by row (a pandas table, say); None to leave it.
    min_rows
        Fewest rows that make sense.
    name
        What to call the table in an error.
    checked
        Whether to look at the values: not if what is done with them tells that they are ordinary.

    Examples
    --------
    >>> import numpy as np
    >>> as_matrix([[1, 2], [3, 4]])
    array([[1., 2.], [3., 4.]])
    >>> X = np.zeros((2, 2))
    >>> as_matrix(X) is X
    True
    >>> as_matrix([[1.0, float("inf")]])
    Traceback (most recent call last):
    ValueError: column 'x1' of X contains inf: replace it by a number, or by NaN if the value is missing
    """
    A = frames.to_array(X, name) if frames.is_frame(X) else _from_array_like(X, name)
    check_size(A.shape, name, min_rows)
    if dtype is not None:
        A = A.astype(dtype, copy=False)
    if order is not None:
        A = np.ascontiguousarray(A)
    if checked:
        _check_values(A, X, allow_nan, name)
    return A


def check_size(shape: tuple[int, ...], name: str = "X", min_rows: int = 1) -> None:
    """See that a table has enough rows, and a column."""
    if shape[0] < min_rows:
        raise ValueError(f"{name} has {shape[0]} sample(s) (shape={shape}) while a minimum of {min_rows} is required.")
    if shape[1] < 1:
        raise ValueError(f"{name} has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")


def has_values(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """(n,) whether anything of a row is observed: those rows count in a criterion, the others say nothing.

    Examples
    --------
    >>> has_values(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    array([ True, False])
    """
    return np.asarray(~np.isnan(rows).all(axis=1))


def as_table(X: Any, name: str = "X") -> Any:
    """Give a dataframe as it is, and anything else as a two-dimensional array of whatever it holds.

    Nested lists become objects, so that numbers beside strings stay numbers; masked entries become None.
    """
    if frames.is_frame(X):
        return X
    if isinstance(X, np.ma.MaskedArray):
        objects = np.ma.getdata(X).astype(object)
        objects[np.ma.getmaskarray(X)] = None
        return _two_dimensional(objects, name)
    return _two_dimensional(X, name, None if hasattr(X, "__array__") else object)


def _two_dimensional(X: Any, name: str, dtype: DTypeLike | None = None) -> NDArray[Any]:
    if hasattr(X, "nnz") and hasattr(X, "tocsr"):
        raise TypeError(f"{name} is a sparse matrix, and sparse data is not supported here: use X.toarray()")
    try:
        A = np.asarray(X, dtype=dtype)
    except ValueError as problem:
        raise ValueError(f"{name} is not a table with rows of equal length: {problem}") from None
    if A.dtype.names:
        raise TypeError(f"{name} is an array with fields {quote(A.dtype.names)}: make it a dataframe")
    if A.ndim != 2:
        raise ValueError(_shape_message(A, name))
    return A


def _from_array_like(X: Any, name: str) -> FloatArray:
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan) if X.dtype.kind in "biuf" else as_table(X, name)
    A = _two_dimensional(X, name)
    if A.dtype.kind == "U" and isinstance(X, list | tuple):
        A = as_table(X, name)  # numbers beside strings are numbers again, so the right column gets named
    return _to_float_array(A, name)


def _shape_message(A: NDArray[Any], name: str) -> str:
    if A.ndim == 1:
        return (
            f"{name} must be a 2-D table, got a 1-D array of shape {A.shape}. Reshape your data: "
            "X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row."
        )
    return f"{name} must be a 2-D table, got {A.ndim} dimension(s). Reshape your data to (rows, columns)."


def _to_float_array(A: NDArray[Any], name: str) -> FloatArray:
    if A.dtype in (np.float64, np.float32):
        return np.asarray(A)
    if A.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is complex; give its parts as separate columns")
    if A.dtype.kind in "biuf":
        return A.astype(np.float64)
    if A.dtype.kind not in "OUST":
        raise TypeError(f"{name} has dtype {A.dtype}, which is not a number: {ENCODE_HINT}")
    out = np.empty(A.shape)
    for j, column in enumerate(frames.default_names(A.shape[1])):
        out[:, j] = to_floats(A[:, j], f"column {column!r} of {name}")
    return out


def _check_values(A: FloatArray, X: Any, allow_nan: bool, name: str) -> None:
    if is_ordinary(A):
        return
    extreme = _columns_with(is_extreme, A)
    infinite = _columns_with(np.isinf, A) if extreme.any() else extreme
    if infinite.any():
        where = _name_columns(infinite, X, name)
        raise ValueError(f"{where} contains inf: replace it by a number, or by NaN if the value is missing")
    if not allow_nan:
        missing = _columns_with(np.isnan, A)
        if missing.any():
            where = _name_columns(missing, X, name)
            raise ValueError(f"{where} contains NaN, which is not allowed here: fill or drop it")
    if extreme.any():
        raise ValueError(f"{_name_columns(extreme, X, name)} {EXTREME}")


def refuse_extreme(A: FloatArray, X: Any, name: str = "X") -> FloatArray:
    """The encoded values of a table, unless some of them cannot be squared: then an error names the columns."""
    extreme = np.zeros(A.shape[1], dtype=bool) if is_ordinary(A) else _columns_with(is_extreme, A)
    if extreme.any():
        raise ValueError(f"{_name_columns(extreme, X, name)} {EXTREME}")
    return A


def is_ordinary(A: FloatArray) -> bool:
    """Whether all values are finite and far from extreme: one cheap pass, which settles the usual case."""
    with np.errstate(over="ignore", invalid="ignore"):
        if A.flags.forc:
            flat = A.ravel(order="K")
            total = np.einsum("i,i->", flat, flat)  # not by BLAS, whose threads would stay awake beside ours
        else:
            total = np.einsum("ij,ij->", A, A)
        return bool(total < min(LARGEST**2, np.finfo(A.dtype).max))


def _columns_with(test: Any, A: FloatArray) -> NDArray[np.bool_]:
    found = np.zeros(A.shape[1], dtype=bool)
    for start in range(0, A.shape[0], _BLOCK):
        found |= test(A[start : start + _BLOCK]).any(axis=0)
    return found


def _name_columns(found: NDArray[np.bool_], X: Any, name: str) -> str:
    names = frames.column_names(X) if frames.is_frame(X) else frames.default_names(len(found))
    guilty = quote(names[j] for j in np.flatnonzero(found))
    return f"column {guilty} of {name}"


def check_weights(weights: ArrayLike | None, n_rows: int, unit: str = "row") -> WeightArray | None:
    """Give the weights of the rows as floats, (rows,), or None if there are none.

    Parameters
    ----------
    weights
        One number for each row, one number for all of them, or None.
    n_rows
        Number of rows.
    unit
        What has a weight, for errors: a row, or a sequence.

    Examples
    --------
    >>> check_weights([1, 2], 2)
    array([1., 2.])
    >>> check_weights([1, -2], 2)
    Traceback (most recent call last):
    ValueError: sample_weight must not be negative: entry 1 is -2.0
    """
    if weights is None:
        return None
    try:
        w = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"sample_weight must be numbers: {problem}") from None
    if w.ndim == 0:
        w = np.full(n_rows, float(w))
    if w.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {w.shape}, expected {(n_rows,)}: one for each {unit}")
    finite = np.isfinite(w)
    if not finite.all():
        raise ValueError(f"sample_weight contains NaN or inf at entry {finite.argmin()}: give finite weights")
    if w.min(initial=0.0) < 0:
        raise ValueError(f"sample_weight must not be negative: entry {w.argmin()} is {w.min()}")
    if not w.sum() > 0:
        raise ValueError(f"sample_weight is zero for every {unit}: at least one weight must be positive")
    return w


def refuse_tiny(X: WeightArray, weights: WeightArray, names: Sequence[str]) -> None:
    """An error where a column varies by so little that its variance is no number; it names the column.

    Examples
    --------
    >>> refuse_tiny(np.array([[1e-200], [3e-200]]), np.ones(2), ["charge"])
    Traceback (most recent call last):
    ValueError: column 'charge' varies by 1e-200 only, whose square is beyond numbers: rescale it, by 1e+200 say
    """
    spans = np.fmax.reduce(X, axis=0) - np.fmin.reduce(X, axis=0)
    for name, column, span in zip(names, X.T, spans, strict=True):
        if span > _WIDE:
            continue
        seen = ~np.isnan(column) & (weights > 0)
        deviation = _deviation_of(column[seen], weights[seen]) if seen.any() else 0.0
        if 0 < deviation < TINY:
            raise ValueError(tiny(name, deviation))


def tiny(name: str, deviation: float) -> str:
    """What is said of a column that varies by so little."""
    return (
        f"column {str(name)!r} varies by {deviation:.1g} only, whose square is beyond numbers: rescale it, by "
        f"{10.0 ** min(-np.floor(np.log10(deviation)), 300):.0e} say"
    )


def _deviation_of(values: WeightArray, weights: WeightArray) -> float:
    """Standard deviation of the observed values, even where the squares of the values are not numbers."""
    seen = ~np.isnan(values)
    values, shares = values[seen], weights[seen] / weights[seen].sum()
    size = float(np.abs(values).max())
    if size == 0:
        return 0.0
    scaled = values / size
    mean = (shares * scaled).sum()  # not by BLAS, whose threads would stay awake beside ours
    return size * float(np.sqrt((shares * (scaled - mean) ** 2).sum()))
