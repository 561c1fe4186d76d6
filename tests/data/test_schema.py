import json
import string

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latently.data import Column, Schema, infer_schema

FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]
CITY = Schema((Column("city", "categorical", ("Oslo", "Rome")),))

WORDS = st.none() | st.text(string.ascii_letters + " 0?é", max_size=4)
NUMBERS = st.none() | st.floats(allow_nan=True, allow_infinity=False, width=64)
TRUTHS = st.none() | st.booleans()
LABELS = st.none() | st.integers(-3, 3)


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 12))
    column = lambda values: draw(st.lists(values, min_size=rows, max_size=rows))  # noqa: E731
    return {"word": column(WORDS), "x": column(NUMBERS), "flag": column(TRUTHS), "label": column(LABELS)}


def polars_table(columns):
    types = {"word": pl.String, "x": pl.Float64, "flag": pl.Boolean, "label": pl.Int64}
    return pl.DataFrame(columns, schema=types, strict=False)


def same(a, b):
    return all(p == q or (p != p and q is None) or (p is None and q != q) for p, q in zip(a, b, strict=True))


@settings(max_examples=60, deadline=None)
@given(tables())
def test_polars_and_arrow_tables_survive_encode_and_decode(columns):
    for table in (polars_table(columns), polars_table(columns).to_arrow()):
        schema = infer_schema(table, categorical=["label", "word", "flag"])
        codes = schema.encode(table, unseen="error")
        back = schema.decode(codes, like=table)
        assert type(back) is type(table)
        assert back.schema == table.schema
        for name, values in columns.items():
            got = back[name].to_pylist() if isinstance(back, pa.Table) else back[name].to_list()
            assert same(values, got)
        np.testing.assert_array_equal(schema.encode(back), codes)
        assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


@settings(max_examples=60, deadline=None)
@given(tables())
def test_pandas_tables_survive_encode_and_decode(columns):
    rows = pd.Index(range(10, 10 + len(columns["x"])))
    table = pd.DataFrame(columns, index=rows).astype({"word": "str", "x": float, "label": "Int64", "flag": "boolean"})
    schema = infer_schema(table, categorical=["label"])
    assert schema.kinds == ("categorical", "numeric", "categorical", "categorical")
    pd.testing.assert_frame_equal(schema.decode(schema.encode(table), like=table), table)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_arrays_survive_encode_and_decode(columns):
    table = np.array(list(columns.values()), dtype=object).T
    schema = infer_schema(table, categorical=["x0", "x2", "x3"], numeric=["x1"])
    back = schema.decode(schema.encode(table))
    assert back.shape == table.shape
    assert all(same(a, b) for a, b in zip(table.T, back.T, strict=True))


def test_codes_are_places_and_missing_is_nan():
    schema = Schema((Column("size", "ordinal", ("S", "M", "L"), ("?",)), Column("cm", "numeric", (), (-999, "NA"))))
    expected = [[2, 1.5], [np.nan, np.nan], [0, np.nan]]
    columns = {"cm": [1.5, -999, None], "size": ["L", "?", "S"]}
    tables = [make(columns) for make in FRAMES]
    tables += [[["L", 1.5], ["?", "NA"], ["S", None]], np.array([["L", "1.5"], ["?", "NA"], ["S", "nan"]])]
    for table in tables:
        np.testing.assert_array_equal(schema.encode(table), expected)


def test_other_columns_are_ignored_and_order_does_not_matter():
    table = pd.DataFrame({"z": [object()], "city": ["Rome"]})
    assert CITY.encode(table).tolist() == [[1.0]]


@pytest.mark.parametrize("make", FRAMES)
def test_unseen_categories(make):
    table = make({"city": ["Rome", "Bonn", None, "Kyiv", "Bonn"]})
    np.testing.assert_array_equal(CITY.encode(table).ravel(), [1, np.nan, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(CITY.encode(table, unseen="code").ravel(), [1, 2, np.nan, 2, 2])
    with pytest.raises(ValueError, match="column 'city' has values that are not among its categories: 'Bonn', 'Kyiv'"):
        CITY.encode(table, unseen="error")
    with pytest.raises(ValueError, match="unseen must be one of 'missing', 'error', 'code', got 'drop'"):
        CITY.encode(table, unseen="drop")


def test_the_unseen_code_decodes_to_missing():
    assert CITY.decode([[2.0], [0.0], [np.nan]]).ravel().tolist() == [None, "Oslo", None]


def test_types_come_back_only_where_they_fit():
    table = pd.DataFrame({"n": [1, 2, 3], "c": pd.Categorical(["a", "b", "a"], ["b", "a"]), "b": [True, False, True]})
    schema = infer_schema(table)
    pd.testing.assert_frame_equal(schema.decode(schema.encode(table), like=table), table)
    filled = schema.encode(table)
    filled[0] = [2.5, 1, np.nan]
    back = schema.decode(filled, like=table)
    assert back["n"].tolist() == [2.5, 2.0, 3.0]
    assert back["b"].tolist() == [None, False, True]
    small = pl.DataFrame({"n": [1]}, schema={"n": pl.Int8})
    assert infer_schema(small).decode([[300.0]], like=small)["n"].to_list() == [300.0]
    assert infer_schema(small).decode([[30.0]], like=small)["n"].dtype == pl.Int8
    assert infer_schema(small).decode([[np.nan]], like=small)["n"].to_list() == [None]


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"c": ["v", None]}, schema={"c": pl.Enum(["u", "v"])}),
        pl.DataFrame({"c": ["v", None]}, schema={"c": pl.Categorical}),
        pa.table({"c": pa.array(["v", None]).dictionary_encode()}),
        pa.table({"c": pa.array([True, None])}),
        pl.DataFrame({"c": [3, None]}, schema={"c": pl.UInt8}),
    ],
)
def test_declared_types_come_back(table):
    schema = infer_schema(table)
    back = schema.decode(schema.encode(table), like=table)
    assert back.schema == table.schema
    assert back.equals(table)


def test_all_numeric_arrays_decode_to_floats():
    schema = infer_schema(np.array([[1, 2]]))
    back = schema.decode(np.array([[1.0, np.nan]]))
    assert back.dtype == np.float64
    np.testing.assert_array_equal(back, [[1, np.nan]])


def test_an_empty_table_encodes_to_nothing():
    assert CITY.encode(pd.DataFrame({"city": []}, dtype=str)).shape == (0, 1)
    assert CITY.decode(np.empty((0, 1))).shape == (0, 1)


def test_dict_round_trip_is_json():
    schema = Schema(
        (
            Column("a", "numeric", (), (-999, float("inf"), "NA", float("nan"), None)),
            Column("b", "categorical", (True, False), (np.int64(7),)),
            Column("c", "ordinal", (1, 2.5, "x")),
        )
    )
    text = json.dumps(schema.to_dict(), allow_nan=False)
    again = Schema.from_dict(json.loads(text))
    assert again == schema
    assert hash(again) == hash(schema)
    assert again["a"].missing == (-999, float("inf"), "NA")
    assert type(again["b"].categories[0]) is bool


def test_looking_things_up():
    schema = Schema((Column("a", "numeric"), Column("b", "ordinal", ("u",)), Column("c", "numeric")))
    assert schema.where("numeric").tolist() == [0, 2]
    assert schema.where("categorical").tolist() == []
    assert [column.name for column in schema] == ["a", "b", "c"]
    assert (len(schema), schema["b"].n_categories) == (3, 1)
    with pytest.raises(KeyError, match="no column 'd'; the schema has 'a', 'b', 'c'"):
        schema["d"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("a", "number"), ValueError, "column 'a': kind must be one of 'numeric', 'ordinal', 'categorical'"),
        (("a", "numeric", ("x",)), ValueError, "column 'a' is numeric and has no categories, got 'x'"),
        (("a", "ordinal", ("x", "y", "x")), ValueError, "column 'a': category 'x' is there more than once"),
        (("a", "ordinal", ("x",), ("x",)), ValueError, "column 'a': 'x' is both a category and a mark"),
        (("a", "ordinal", (float("nan"),)), ValueError, "column 'a': NaN is always missing"),
        (("a", "ordinal", ((1, 2),)), TypeError, r"column 'a': \(1, 2\) is a tuple"),
    ],
)
def test_bad_columns_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Column(*arguments)


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (pd.DataFrame({"town": ["Rome"]}), ValueError, "column 'city' is not in the table, which has 'town'"),
        ([["Rome", 1]], ValueError, "the table has 2 columns but the schema has 1"),
        (["Rome"], ValueError, "Reshape your data"),
        (
            pd.DataFrame({"city": [["Rome"]]}),
            TypeError,
            "column 'city' holds values that cannot be categories",
        ),
        (pd.DataFrame({"city": pd.to_datetime(["2020"])}), TypeError, "column 'city' holds dates or times"),
    ],
)
def test_tables_that_do_not_fit_are_refused(table, error, message):
    with pytest.raises(error, match=message):
        CITY.encode(table)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([1.0, np.inf], ValueError, "column 'x' contains inf: .*or count inf as missing"),
        (
            ["1", "two"],
            ValueError,
            "column 'x' is numeric but holds 'two': repair it, or count it as missing",
        ),
        (pd.to_datetime(["2020", "2021"]), TypeError, "column 'x' holds dates or times"),
        ([[1], [2]], TypeError, "column 'x' holds list objects"),
    ],
)
def test_numbers_that_are_none_are_refused(values, error, message):
    with pytest.raises(error, match=message):
        Schema((Column("x", "numeric"),)).encode(pd.DataFrame({"x": values}))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ([[0.5]], r"column 'city': 0\.5 is not the code of a category, 0 to 1"),
        ([[3.0]], r"column 'city': 3\.0 is not the code"),
        ([[-1.0]], r"column 'city': -1\.0 is not the code"),
        ([[np.inf]], "column 'city': inf is not the code"),
        ([[0.0, 1.0]], r"expected an array of shape \(rows, 1\), got \(1, 2\)"),
        ([0.0], r"expected an array of shape \(rows, 1\), got \(1,\)"),
    ],
)
def test_codes_that_mean_nothing_are_refused(array, message):
    with pytest.raises(ValueError, match=message):
        CITY.decode(array)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({}, "a schema is written as a record with the fields 'columns'; got"),
        ([], "a schema is written as .*; got list"),
        (
            {"columns": [{"name": "a"}]},
            "a column is written as .* 'kind', 'categories', 'missing'; got 'name'",
        ),
        (
            {"columns": [{"name": "a", "kind": "b", "categories": [], "missing": []}]},
            "column 'a': kind must be one of",
        ),
    ],
)
def test_bad_records_are_refused(record, message):
    with pytest.raises(ValueError, match=message):
        Schema.from_dict(record)


def test_names_must_differ():
    with pytest.raises(ValueError, match="names each column once, but 'a' repeats"):
        Schema((Column("a", "numeric"), Column("a", "numeric")))
