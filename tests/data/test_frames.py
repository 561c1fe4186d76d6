import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from latently.data.tables import frames

MAKERS = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.mark.parametrize("make", MAKERS)
def test_the_same_kind_of_frame_comes_back(make):
    frame = make({"a": [1, 2, 3], "b": [0.5, None, 1.5]})
    back = frames.from_array(frames.to_array(frame), frame)
    assert type(back) is type(frame)
    assert frames.column_names(back) == ("a", "b")
    np.testing.assert_array_equal(frames.to_array(back), [[1, 0.5], [2, np.nan], [3, 1.5]])
    renamed = frames.from_array(np.ones((2, 1)), frame, ["z"])
    assert (type(renamed), frames.column_names(renamed)) == (type(frame), ("z",))
    assert frames.row_count(renamed) == 2


@pytest.mark.parametrize("make", MAKERS)
def test_columns_and_rows_are_picked(make):
    frame = make({"a": [1, 2, 3], "b": [4, 5, 6]})
    part = frames.select(frames.row_slice(frame, 1, 3), ["b", "a"])
    assert type(part) is type(frame)
    assert frames.to_array(part).tolist() == [[5, 2], [6, 3]]
    with pytest.raises(ValueError, match="column 'c' is not in the table, which has 'a', 'b'"):
        frames.select(frame, ["c"])


def test_the_pandas_index_is_kept():
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=pd.Index(["r", "s"], name="row"))
    pd.testing.assert_frame_equal(frames.from_array(np.array([[1.0], [2.0]]), frame), frame)
    assert frames.from_array(np.ones((3, 1)), frame).index.tolist() == [0, 1, 2]
    assert frames.row_slice(frame, 1, 2).index.tolist() == ["s"]


def test_names_that_are_not_strings():
    frame = pd.DataFrame({0: [1], 1: [2]})
    assert frames.column_names(frame) == ("0", "1")
    assert frames.select(frame, ["1"]).to_numpy().tolist() == [[2]]


def test_an_array_stays_an_array():
    values = np.ones((2, 2))
    assert frames.from_array(values, np.zeros((2, 2))) is values
    assert frames.column_names(values) == ("x0", "x1")


def test_wrong_number_of_names():
    with pytest.raises(ValueError, match="2 columns of values but 1 names: 'a'"):
        frames.from_array(np.ones((1, 2)), pd.DataFrame({"a": [1]}))


ARRAYS = (
    "import numpy as np, latently.data as d; d.as_matrix(np.ones((2, 2))); list(d.as_source([[1.0]]));"
    "d.infer_schema([[1.0, 'a']]).encode([[2.0, 'a']])"
)
POLARS = (
    "import polars as pl, latently.data as d; t = pl.DataFrame({'a': [1, 2], 'b': ['x', 'y']});"
    "s = d.infer_schema(t); s.decode(s.encode(t), like=t)"
)


@pytest.mark.parametrize(
    ("code", "spared"),
    [
        (ARRAYS, {"narwhals", "pandas", "polars", "pyarrow", "scipy", "sklearn", "numba"}),
        (POLARS, {"pandas", "pyarrow", "scipy", "sklearn", "numba"}),
    ],
)
def test_nothing_is_loaded_that_is_not_needed(code, spared):
    code += f"; import sys; print(sorted({spared} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
