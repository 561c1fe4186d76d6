"""The one border to dataframes: pandas, polars and Arrow tables come in here, and go out as the same kind.

No other file of the library knows a dataframe library. narwhals is loaded when the first object arrives that
is neither an array nor a list; pandas, polars and pyarrow are never imported from here.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from latently.data.tables.column_view import ColumnView
from latently.data.tables.values import quote

if TYPE_CHECKING:
    import narwhals.stable.v1 as nw

_DATES = ("Date", "Datetime", "Duration", "Time")


def _wrap(X: Any) -> "nw.DataFrame[Any] | None":
    """Give a dataframe in its wrapping, None for anything else."""
    if isinstance(X, np.ndarray | list | tuple):
        return None
    import narwhals.stable.v1 as nw
    from narwhals.exceptions import DuplicateError

    try:
        wrapped = nw.from_native(X, pass_through=True)
    except DuplicateError:
        raise ValueError(f"column names repeat: {quote(_repeated(X.columns))}; rename the columns") from None
    if isinstance(wrapped, nw.LazyFrame):
        raise TypeError(f"{type(X).__name__} is a lazy table: collect it into memory first")
    return wrapped if isinstance(wrapped, nw.DataFrame) else None


def _repeated(names: Iterable[Any]) -> list[str]:
    seen: set[str] = set()
    return [name for name in map(str, names) if name in seen or seen.add(name)]  # type: ignore[func-returns-value]


def _need(frame: Any) -> "nw.DataFrame[Any]":
    wrapped = _wrap(frame)
    if wrapped is None:
        raise TypeError(f"expected a pandas, polars or Arrow table, got {type(frame).__name__}")
    return wrapped


def is_frame(X: Any) -> bool:
    """Whether something is a dataframe in memory.

    Examples
    --------
    >>> import pandas as pd
    >>> is_frame(pd.DataFrame({"a": [1]})), is_frame([[1]])
    (True, False)
    """
    return _wrap(X) is not None


def default_names(n_columns: int) -> tuple[str, ...]:
    """Name the columns of a table that has no names.

    Examples
    --------
    >>> default_names(2)
    ('x0', 'x1')
    """
    return tuple(f"x{j}" for j in range(n_columns))


def column_names(X: Any) -> tuple[str, ...]:
    """Give the names of the columns as strings; x0, x1, ... for an array.

    Examples
    --------
    >>> import polars as pl
    >>> column_names(pl.DataFrame({"a": [1], "b": [2]}))
    ('a', 'b')
    """
    frame = _wrap(X)
    if frame is None:
        return default_names(np.shape(X)[1])
    names = tuple(str(c) for c in frame.columns)
    if len(set(names)) < len(names):
        raise ValueError(f"column names repeat as text: {quote(_repeated(names))}; rename the columns")
    return names


def row_count(frame: Any) -> int:
    """Give the number of rows of a dataframe."""
    return len(_need(frame))


def row_slice(frame: Any, start: int, stop: int) -> Any:
    """Give the rows from `start` up to `stop` as a dataframe of the same kind.

    Examples
    --------
    >>> import pandas as pd
    >>> row_slice(pd.DataFrame({"a": [1, 2, 3]}), 1, 2)
       a
    1  2
    """
    return _need(frame)[start:stop].to_native()


def select(frame: Any, names: Sequence[str]) -> Any:
    """Give some columns, in the order asked for, as a dataframe of the same kind.

    Examples
    --------
    >>> import pandas as pd
    >>> list(select(pd.DataFrame({"a": [1], "b": [2]}), ["b"]))
    ['b']
    """
    wrapped = _need(frame)
    labels = dict(zip(column_names(frame), wrapped.columns, strict=True))
    absent = [name for name in names if name not in labels]
    if absent:
        raise ValueError(f"column {quote(absent)} is not in the table, which has {quote(labels, 10)}")
    picked = [labels[name] for name in names]
    # names that are not strings exist in pandas alone
    return frame[picked] if wrapped.implementation.is_pandas_like() else wrapped.select(picked).to_native()


def views(table: Any) -> dict[str, ColumnView]:
    """Look at each column of a dataframe or of a two-dimensional array, by name."""
    frame = _wrap(table)
    if frame is None:
        columns: Iterable[Any] = np.asarray(table).T
        return {n: _array_view(n, c) for n, c in zip(column_names(table), columns, strict=True)}
    columns = (frame.get_column(label) for label in frame.columns)
    return {n: _series_view(n, c) for n, c in zip(column_names(table), columns, strict=True)}


def _array_view(name: str, data: NDArray[Any]) -> ColumnView:
    kinds = {"f": "float", "i": "integer", "u": "integer", "b": "boolean", "U": "text", "T": "text"}
    kinds |= {"M": "date", "m": "date"}
    return ColumnView(name, kinds.get(data.dtype.kind, "object"), data, (), str(data.dtype))


def _series_view(name: str, data: "nw.Series[Any]") -> ColumnView:
    import narwhals.stable.v1 as nw

    dtype, native = data.dtype, data.to_native()
    type_name = str(native.dtype if hasattr(native, "dtype") else dtype)
    if dtype in (nw.Categorical, nw.Enum):
        if data.implementation.is_polars():
            # its Categorical has a growing pool of strings, not levels of its own
            levels = tuple(native.dtype.categories) if dtype == nw.Enum else ()
            return ColumnView(name, "ordered" if levels else "levels", data, levels, type_name)
        levels = tuple(data.cat.get_categories().to_list())
        return ColumnView(name, "ordered" if nw.is_ordered_categorical(data) else "levels", data, levels, type_name)
    return ColumnView(name, _simple_kind(dtype), data, (), type_name)


def _simple_kind(dtype: Any) -> str:
    if dtype.is_numeric():
        return "integer" if dtype.is_integer() else "float"
    if str(dtype).split("(")[0] in _DATES:
        return "date"
    return {"Boolean": "boolean", "String": "text"}.get(str(dtype), "object")


def to_array(frame: Any, name: str = "X") -> NDArray[np.floating[Any]]:
    """Give a dataframe of numbers as an array: float32 if all columns are, float64 otherwise.

    Null becomes NaN, true and false become 1 and 0. A pandas table of one float type is not copied.

    Examples
    --------
    >>> import polars as pl
    >>> to_array(pl.DataFrame({"a": [1, None], "b": [True, False]}))
    array([[ 1.,  1.], [nan,  0.]])
    """
    wrapped = _need(frame)
    types = {str(t) for t in wrapped.schema.values()}
    if types in ({"Float64"}, {"Float32"}) and wrapped.implementation.is_pandas_like():
        return np.asarray(wrapped.to_numpy())
    columns = views(frame)
    out = np.empty((len(wrapped), len(columns)), dtype=np.float32 if types == {"Float32"} else np.float64)
    for j, column in enumerate(columns.values()):
        out[:, j] = column.to_floats(f"column {column.name!r} of {name}")
    return out


def to_arrow(frame: Any) -> Any:
    """Give a dataframe as an Arrow table.

    Examples
    --------
    >>> import pandas as pd
    >>> to_arrow(pd.DataFrame({"a": [1, 2]})).column_names
    ['a']
    """
    return _need(frame).to_arrow()


def from_array(values: NDArray[Any], like: Any, names: Sequence[str] | None = None) -> Any:
    """Give an array as the kind of table that `like` is: a frame for a frame, the array for an array.

    Parameters
    ----------
    values
        Array, (rows, columns).
    like
        The table to resemble; a pandas index is taken over if the number of rows is the same.
    names
        Names of the columns; those of `like` if None.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from_array(np.array([[0.5, 2.5]]), pd.DataFrame({"a": [1], "b": [2]}, index=["r"]))
         a    b
    r  0.5  2.5
    """
    if not is_frame(like):
        return values
    labels = column_names(like) if names is None else tuple(names)
    if len(labels) != values.shape[1]:
        raise ValueError(f"{values.shape[1]} columns of values but {len(labels)} names: {quote(labels)}")
    return from_columns({name: values[:, j] for j, name in enumerate(labels)}, like)


def from_columns(columns: Mapping[str, Any], like: Any) -> Any:
    """Give columns by name as the kind of dataframe that `like` is, with its pandas index if that fits.

    A library that distinguishes null from NaN gets null for what is None.
    """
    wrapped = _need(like)
    if wrapped.implementation.is_pandas_like():
        same_rows = all(len(values) == len(like) for values in columns.values())
        return type(like)(dict(columns), index=like.index if same_rows else None)
    import narwhals.stable.v1 as nw

    return nw.from_dict(dict(columns), backend=wrapped.implementation).to_native()


def restore_types(frame: Any, like: Any) -> Any:
    """Give each column of `frame` the type it has in `like`, wherever that type can hold every value."""
    old, new = views(like), views(frame)
    wrapped = _need(frame)
    columns = {}
    for name, column in new.items():
        native = column.data.to_native()
        if name in old and old[name].holds(column.to_list()):
            target = old[name].data.to_native()
            if wrapped.implementation.is_pyarrow():
                native = native.cast(target.type)
            else:
                native = (native.cast if wrapped.implementation.is_polars() else native.astype)(target.dtype)
        columns[name] = native
    return from_columns(columns, like)
