import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from latently.data import as_matrix, check_weights


def test_float_arrays_are_not_copied():
    for dtype in (np.float64, np.float32):
        X = np.ones((3, 2), dtype=dtype)
        assert as_matrix(X) is X
    view = np.ones((6, 4))[::2, 1:3]
    assert np.shares_memory(as_matrix(view), view)
    assert not np.shares_memory(as_matrix(view, order="C"), view)
    assert as_matrix(view, order="C").flags.c_contiguous


def test_a_pandas_table_of_floats_is_not_copied():
    table = pd.DataFrame(np.arange(6.0).reshape(3, 2))
    assert np.shares_memory(as_matrix(table), table.to_numpy())


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.bool_, np.float16, object])
def test_other_numbers_become_float64(dtype):
    X = as_matrix(np.array([[1, 0]], dtype=dtype))
    assert X.dtype == np.float64
    assert X.tolist() == [[1.0, 0.0]]
    assert as_matrix(np.ones((1, 1), dtype=dtype), dtype=np.float32).dtype == np.float32


def test_missing_becomes_nan():
    expected = np.array([[1.0, np.nan], [np.nan, 2.0]])
    masked = np.ma.masked_array([[1, 9], [9, 2]], mask=[[0, 1], [1, 0]])
    columns = {"a": [1, None], "b": [None, 2]}
    tables = [
        [[1, None], [None, 2]],
        masked,
        masked.astype(object),
        np.array([[1, pd.NA], [pd.NA, 2]], dtype=object),
        pd.DataFrame(columns),
        pd.DataFrame(columns, dtype="Int64"),
        pd.DataFrame(columns, dtype="Float64"),
        pd.DataFrame(columns, dtype="int64[pyarrow]"),
        pl.DataFrame(columns),
        pl.DataFrame(columns, schema={"a": pl.Float64, "b": pl.Float64}),
        pa.table(columns),
    ]
    for table in tables:
        np.testing.assert_array_equal(as_matrix(table, allow_nan=True), expected)
        with pytest.raises(ValueError, match=r"column '.*' of X contains NaN, which is not allowed"):
            as_matrix(table)


def test_float32_frames_stay_float32():
    for table in (
        pd.DataFrame({"a": [0.5], "b": [1.5]}, dtype="float32"),
        pl.DataFrame({"a": [0.5], "b": [1.5]}, schema={"a": pl.Float32, "b": pl.Float32}),
    ):
        assert as_matrix(table).dtype == np.float32
        assert as_matrix(table).tolist() == [[0.5, 1.5]]


def test_truth_values_and_sparse_pandas_columns_are_numbers():
    table = pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 2.0]), "b": [True, False]})
    assert as_matrix(table).tolist() == [[0.0, 1.0], [2.0, 0.0]]
    assert as_matrix(pa.table({"a": [True, None]}), allow_nan=True)[0, 0] == 1.0


@pytest.mark.parametrize("rows", [10, 70_000])
def test_inf_is_found_beside_nan(rows):
    X = np.zeros((rows, 3))
    X[:, 0] = np.nan
    X[-1, 2] = -np.inf
    with pytest.raises(ValueError, match="column 'x2' of X contains inf: replace it"):
        as_matrix(X, allow_nan=True)
    with pytest.raises(ValueError, match="column 'c' of X contains inf"):
        as_matrix(pd.DataFrame(X, columns=list("abc")), allow_nan=True)


def test_a_sum_that_overflows_is_not_inf():
    X = np.full((4, 1), 1e308)
    with pytest.raises(ValueError, match="column 'x0' of X has values of extreme size .*: rescale it"):
        as_matrix(X)
    X = np.full((4, 1), 3e38, dtype=np.float32)  # their squares are numbers as float64
    assert as_matrix(X) is X


def test_the_message_lists_a_few_columns():
    with pytest.raises(ValueError, match="column 'x0', 'x1', 'x2' and 2 more of X contains NaN"):
        as_matrix(np.full((2, 5), np.nan))


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros(3), ValueError, r"1-D array of shape \(3,\). Reshape your data: X.reshape\(-1, 1\)"),
        (5.0, ValueError, "0 dimension"),
        (np.zeros((2, 2, 2)), ValueError, "3 dimension"),
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        (pl.DataFrame({"a": []}), ValueError, r"0 sample\(s\)"),
        (pd.DataFrame(index=[0, 1]), ValueError, r"0 feature\(s\)"),
        (pd.Series([1.0]), ValueError, "Reshape your data"),
        ([[1], [2, 3]], ValueError, "rows of equal length"),
        (np.array([[1 + 1j]]), ValueError, "Complex data not supported"),
        (np.array([[1 + 1j]], dtype=object), ValueError, "Complex data not supported: column 'x0'"),
        (scipy.sparse.csr_matrix((2, 2)), TypeError, "sparse data is not supported"),
        (scipy.sparse.coo_array((2, 2)), TypeError, "sparse data is not supported"),
        ([[1.0, "a"]], ValueError, "column 'x1' of X holds strings such as 'a': pass a schema"),
        (np.array([[1, "a"]]), ValueError, "column 'x0' of X holds strings such as '1': pass a schema"),
        (np.array([[1, "a"]], dtype=object), ValueError, "column 'x1' of X holds strings such as 'a'"),
        (np.array([[1, {}]], dtype=object), TypeError, "column 'x1'.*argument must be .* string.* number"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), TypeError, "dtype datetime64.*pass a schema"),
        (np.array([(1, 2.0)], dtype="i4,f8"), TypeError, "fields 'f0', 'f1': make it a dataframe"),
        (pd.DataFrame({"n": [1], "s": ["a"]}), ValueError, "column 's' of X holds strings.*infer_schema"),
        (pd.DataFrame({"n": [1], "o": [[1]]}), TypeError, "column 'o' of X holds list objects"),
        (pl.DataFrame({"s": ["a"]}), ValueError, "column 's' of X holds strings"),
        (pa.table({"s": ["a"]}), ValueError, "column 's' of X holds strings"),
        (pd.DataFrame({"s": ["a"]}, dtype="category"), ValueError, "column 's' of X holds strings"),
        (pd.DataFrame({"d": pd.to_datetime(["2020"])}), ValueError, "column 'd' of X holds dates"),
        (pl.LazyFrame({"a": [1]}), TypeError, "lazy table: collect it"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "column names repeat: 'a'; rename"),
        (pd.DataFrame([[1, "b"]], columns=[1, "1"]), ValueError, "column names repeat as text: '1'"),
    ],
)
def test_what_is_not_a_table_of_numbers_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        as_matrix(X)


def test_min_rows_and_name():
    with pytest.raises(ValueError, match=r"Y has 1 sample\(s\) .* minimum of 2 is required"):
        as_matrix([[1.0]], min_rows=2, name="Y")


def test_weights_are_taken_from_anything():
    for weights in ([1, 2], np.array([1, 2]), pd.Series([1, 2]), pl.Series([1, 2])):
        checked = check_weights(weights, 2)
        assert checked.dtype == np.float64
        assert checked.tolist() == [1.0, 2.0]
    assert check_weights(3, 2).tolist() == [3.0, 3.0]
    assert check_weights(None, 2) is None


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"shape \(1,\), expected \(2,\): one for each row"),
        ([[1.0], [1.0]], r"shape \(2, 1\), expected \(2,\)"),
        ([1.0, np.nan], "NaN or inf at entry 1"),
        ([np.inf, 1.0], "NaN or inf at entry 0"),
        ([1.0, -0.5], "must not be negative: entry 1 is -0.5"),
        ([0.0, 0.0], "sample_weight is zero for every row"),
        (["a", "b"], "sample_weight must be numbers"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weights, 2)
