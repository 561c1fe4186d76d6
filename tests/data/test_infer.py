import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from latently.data import infer_schema

FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.mark.parametrize("make", FRAMES)
def test_kinds_follow_the_types(make):
    table = make({"f": [0.5, None], "i": [3, 4], "b": [True, False], "s": ["v", "u"]})
    schema = infer_schema(table)
    assert schema.names == ("f", "i", "b", "s")
    assert schema.kinds == ("numeric", "numeric", "categorical", "categorical")
    assert schema["b"].categories == (False, True)
    assert schema["s"].categories == ("u", "v")


def test_arrays_and_lists():
    assert infer_schema(np.ones((2, 2), dtype=int)).names == ("x0", "x1")
    assert infer_schema(np.ones((2, 1), dtype=bool))["x0"].categories == (False, True)
    assert infer_schema(np.array([["b"], ["a"]]))["x0"].categories == ("a", "b")
    assert infer_schema([[1, "b", None], [2.5, "a", True]]).kinds == ("numeric", "categorical", "categorical")
    masked = np.ma.masked_array([[1.0, 2.0]], mask=[[True, False]])
    np.testing.assert_array_equal(infer_schema(masked).encode(masked), [[np.nan, 2.0]])


def test_ordered_types_are_ordinal_and_keep_their_levels():
    levels = ["low", "mid", "high"]
    ordered = pd.Categorical(["high", "low"], levels, ordered=True)
    arrow = pa.DictionaryArray.from_arrays(pa.array([2, 0]), pa.array(levels), ordered=True)
    for table in (
        pd.DataFrame({"c": ordered}),
        pl.DataFrame({"c": ["high", "low"]}, schema={"c": pl.Enum(levels)}),
        pa.table({"c": arrow}),
    ):
        assert infer_schema(table)["c"].kind == "ordinal"
        assert infer_schema(table)["c"].categories == tuple(levels)
        assert infer_schema(table, categorical=["c"])["c"].kind == "categorical"
        assert infer_schema(table, missing=["mid"])["c"].categories == ("low", "high")


def test_other_categorical_types():
    table = pd.DataFrame({"c": pd.Categorical(["u"], ["v", "u"])})
    assert (infer_schema(table)["c"].kind, infer_schema(table)["c"].categories) == ("categorical", ("v", "u"))
    table = pl.DataFrame({"c": ["v", "u"]}, schema={"c": pl.Categorical})
    assert (infer_schema(table)["c"].kind, infer_schema(table)["c"].categories) == ("categorical", ("u", "v"))
    numbers = pd.DataFrame({"c": pd.Categorical([2, 1])})
    assert infer_schema(numbers)["c"].categories == (1, 2)


def test_objects_are_judged_by_their_values():
    def kind(values, **options):
        return infer_schema(pd.DataFrame({"o": pd.Series(values, dtype=object)}), **options)["o"].kind

    assert kind([1, 2.5, None]) == "numeric"
    assert kind([Decimal("1.5")]) == "numeric"
    assert kind([1, "NA"], missing=["NA"]) == "numeric"
    assert kind([True, None]) == "categorical"
    assert kind([np.True_, None]) == "categorical"
    assert kind([1, "a"], categorical=["o"]) == "categorical"
    assert kind([None, None]) == "numeric"


def test_columns_with_nothing_in_them():
    assert infer_schema(pa.table({"n": pa.nulls(2)})).kinds == ("numeric",)
    assert infer_schema(pl.DataFrame({"n": [None]})).kinds == ("numeric",)
    strings = pl.DataFrame({"n": [None]}, schema={"n": pl.String})
    assert infer_schema(strings)["n"].categories == ()
    assert np.isnan(infer_schema(strings).encode(strings)).all()


@pytest.mark.parametrize("make", FRAMES)
def test_what_is_asked_for_wins(make):
    table = make({"size": ["S", "L"], "code": [10, 2], "text": ["1.5", "NA"], "rating": [1, 3], "flag": [True, False]})
    schema = infer_schema(
        table,
        ordinal={"size": ["S", "M", "L"], "rating": [1, 2, 3]},
        categorical=["code"],
        numeric=["text", "flag"],
        missing={"text": ["NA"]},
    )
    assert schema.kinds == ("ordinal", "categorical", "numeric", "ordinal", "numeric")
    assert schema["code"].categories == (2, 10)
    assert (schema["text"].missing, schema["code"].missing) == (("NA",), ())
    np.testing.assert_array_equal(schema.encode(table), [[0, 1, 1.5, 0, 1], [2, 0, np.nan, 2, 0]])


def test_missing_marks_hold_for_every_column():
    schema = infer_schema(pd.DataFrame({"x": [1, -9], "c": ["a", "?"]}), missing=["?", -9])
    assert schema["c"].categories == ("a",)
    np.testing.assert_array_equal(schema.encode([[-9, "?"]]), [[np.nan, np.nan]])


def test_integer_labels_stay_integers_beside_missing_ones():
    big = 2**60 + 1
    schema = infer_schema(pl.DataFrame({"id": [big, None, 3]}), categorical=["id"])
    assert schema["id"].categories == (3, big)


TABLE = pd.DataFrame({"a": [1, 2], "s": ["u", "v"]})


@pytest.mark.parametrize(
    ("table", "options", "error", "message"),
    [
        (
            TABLE,
            {"categorical": ["z"]},
            ValueError,
            "categorical: column 'z' is not in the table, which has 'a'",
        ),
        (TABLE, {"missing": {"z": [1]}}, ValueError, "missing: column 'z' is not in the table"),
        (
            TABLE,
            {"categorical": ["a"], "numeric": ["a"]},
            ValueError,
            "'a' is asked to be both categorical and",
        ),
        (TABLE, {"categorical": "a"}, TypeError, "categorical takes a list of names, got the string 'a'"),
        (TABLE, {"missing": "NA"}, TypeError, "missing takes a list of values, got 'NA'"),
        (TABLE, {"missing": -9}, TypeError, "missing takes a list of values, got -9"),
        (TABLE, {"ordinal": {"s": ["u"]}}, ValueError, "column 's' has values that are not among .*: 'v'"),
        (TABLE, {"numeric": ["s"]}, ValueError, "column 's' is numeric but holds 'u'"),
        (
            pd.DataFrame({"m": [1, "a"]}, dtype=object),
            {},
            TypeError,
            "column 'm' mixes values of the types 'int', 's",
        ),
        (pd.DataFrame({"d": [datetime.date(2020, 1, 1)]}), {}, TypeError, "column 'd' holds date"),
        (
            pd.DataFrame({"d": pd.to_datetime(["2020"])}),
            {},
            TypeError,
            "'d' holds dates or times.*drop the column",
        ),
        (pl.DataFrame({"d": [datetime.timedelta(1)]}), {}, TypeError, "column 'd' holds dates or times"),
        (pa.table({"d": [datetime.date(2020, 1, 1)]}), {}, TypeError, "column 'd' holds dates or times"),
        (
            pl.DataFrame({"l": [[1]]}),
            {"categorical": ["l"]},
            TypeError,
            "'l' holds values that cannot be cat",
        ),
        (pl.DataFrame({"l": [[1]]}), {}, TypeError, "column 'l' holds list objects"),
        (pd.DataFrame({"x": [np.inf]}), {}, ValueError, "column 'x' contains inf"),
        (pd.DataFrame({"x": []}), {}, ValueError, r"0 sample\(s\) and 1 feature\(s\): nothing to infer from"),
        (pd.DataFrame(index=[0]), {}, ValueError, r"0 feature\(s\)"),
        (np.ones(3), {}, ValueError, "Reshape your data"),
        (scipy.sparse.csr_array(np.eye(2)), {}, TypeError, "sparse data is not supported"),
    ],
)
def test_bad_input_is_refused(table, options, error, message):
    with pytest.raises(error, match=message):
        infer_schema(table, **options)


def test_every_number_that_marks_a_missing_value_does_so():
    table = pd.DataFrame({"a": [1.0, -999.0, -1.0, 2.0]})
    encoded = infer_schema(table, missing=[-999, -1]).encode(table)
    np.testing.assert_array_equal(encoded[:, 0], [1.0, np.nan, np.nan, 2.0])
