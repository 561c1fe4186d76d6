import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latently.data import CHUNK_ROWS, ArraySource, Chunk, FrameSource, as_source, infer_schema
from latently.data.sources.bounds import chunk_bounds

FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]


@settings(deadline=None)
@given(st.integers(0, 60_000), st.none() | st.integers(1, 50_000))
def test_bounds_cover_the_rows_in_balance(n_rows, chunk_rows):
    bounds = chunk_bounds(n_rows, chunk_rows)
    assert [b for _, b in bounds[:-1]] == [a for a, _ in bounds[1:]]
    assert (bounds[0][0], bounds[-1][1]) == (0, n_rows) if n_rows else bounds == []
    sizes = [b - a for a, b in bounds]
    assert max(sizes, default=0) <= (chunk_rows or CHUNK_ROWS)
    assert not sizes or max(sizes) - min(sizes) <= 1
    assert len(sizes) in (0, 1, n_rows) or len(sizes) % 2 == 0


@settings(deadline=None)
@given(st.integers(1, 1_000_000))
def test_default_chunks_are_one_or_of_middling_size(n_rows):
    sizes = [b - a for a, b in chunk_bounds(n_rows)]
    assert len(sizes) == 1 if n_rows <= 8192 else all(8192 <= size <= 16384 for size in sizes)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_chunks_of_an_array_are_views_and_are_kept(dtype):
    X = np.arange(20, dtype=dtype).reshape(10, 2)
    source = as_source(X, weights=np.arange(10), chunk_rows=4)
    first = list(source)
    first[1].memo["seen"] = True
    second = list(source)
    assert all(a is b for a, b in zip(first, second, strict=True))
    assert second[1].memo == {"seen": True}
    assert all(np.shares_memory(chunk.X, X) and chunk.X.dtype == dtype for chunk in second)
    assert [(c.start, c.stop) for c in second] == [(0, 2), (2, 5), (5, 7), (7, 10)]
    np.testing.assert_array_equal(np.concatenate([c.X for c in second]), X)
    np.testing.assert_array_equal(np.concatenate([c.weights for c in second]), np.arange(10))


def test_weights_of_float64_are_views():
    w = np.ones(4)
    assert all(np.shares_memory(c.weights, w) for c in as_source(np.zeros((4, 1)), w, chunk_rows=2))


@pytest.mark.parametrize("make", FRAMES)
def test_frames_come_in_the_same_chunks_as_arrays(make):
    X = np.arange(14.0).reshape(7, 2)
    X[3, 1] = np.nan
    frame = make({"a": X[:, 0], "b": X[:, 1]})
    weights = np.arange(1.0, 8.0)
    from_frame = as_source(frame, weights, chunk_rows=3)
    assert isinstance(from_frame, FrameSource)
    assert from_frame.column_names == ("a", "b")
    assert (from_frame.n_rows, from_frame.n_columns, len(from_frame)) == (7, 2, 4)
    for _ in range(2):
        for ours, theirs in zip(from_frame, as_source(X, weights, chunk_rows=3), strict=True):
            assert ours.start == theirs.start
            np.testing.assert_array_equal(ours.X, theirs.X)
            np.testing.assert_array_equal(ours.weights, theirs.weights)


def test_memo_of_a_frame_survives_between_passes():
    source = as_source(pd.DataFrame({"a": [1.0, 2.0]}), chunk_rows=1)
    next(iter(source)).memo["bound"] = 3
    assert [chunk.memo for chunk in source] == [{"bound": 3}, {}]


@pytest.mark.parametrize("data", [np.zeros((4, 1)), pd.DataFrame({"a": [1.0] * 4})])
def test_fresh_sources_share_rows_but_not_memos(data):
    source = as_source(data, chunk_rows=2)
    next(iter(source)).memo["a"] = 1
    other = source.fresh()
    assert [c.memo for c in other] == [{}, {}]
    next(iter(other)).memo["b"] = 2
    assert next(iter(source)).memo == {"a": 1}
    assert (other.n_rows, other.column_names) == (source.n_rows, source.column_names)
    assert [c.X.tolist() for c in other] == [c.X.tolist() for c in source]


def test_a_pickled_chunk_leaves_its_memo_behind():
    chunk = Chunk(np.ones((2, 1)), np.ones(2), 5, {"big": 1}, np.array([2]))
    back = pickle.loads(pickle.dumps(chunk))
    assert (back.start, back.memo, back.lengths.tolist()) == (5, {}, [2])
    np.testing.assert_array_equal(back.X, chunk.X)


@pytest.mark.parametrize("make", [*FRAMES, lambda columns: np.array(list(columns.values()), dtype=object).T])
def test_a_schema_encodes_chunk_by_chunk(make):
    table = make({"size": ["S", "L", "S"], "cm": [1.0, 2.0, 3.0]})
    schema = infer_schema(table)
    source = as_source(table, chunk_rows=2, schema=schema)
    assert source.column_names == schema.names
    np.testing.assert_array_equal(np.concatenate([c.X for c in source]), [[1, 1], [0, 2], [1, 3]])


def test_a_source_is_handed_back():
    source = ArraySource(np.zeros((2, 1)))
    assert as_source(source) is source
    with pytest.raises(ValueError, match="X is a ChunkSource already"):
        as_source(source, weights=[1, 2])


def test_bad_input_is_refused():
    with pytest.raises(TypeError, match="2-D float64 or float32 array: use as_source"):
        ArraySource(np.zeros((2, 1), dtype=int))
    with pytest.raises(ValueError, match="column 'x0' of X contains inf"):
        as_source([[np.inf]])
    with pytest.raises(ValueError, match="column 'a' of X contains inf"):
        list(as_source(pd.DataFrame({"a": [np.inf]})))
    with pytest.raises(ValueError, match="column 's' of X holds strings"):
        list(as_source(pl.DataFrame({"s": ["a"]})))
    with pytest.raises(ValueError, match="chunk_rows must be a positive integer or None, got 0"):
        as_source([[1.0]], chunk_rows=0)
    with pytest.raises(TypeError, match=r"chunk_rows must be a positive integer or None, got 1\.5"):
        as_source([[1.0]], chunk_rows=1.5)
    with pytest.raises(ValueError, match="zero for every row"):
        as_source([[1.0]], weights=[0.0])
    with pytest.raises(TypeError, match="expected a pandas, polars or Arrow table, got list"):
        FrameSource([[1.0]])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        as_source(pd.DataFrame({"a": []}, dtype=float))


def test_totals_count_the_rows_that_have_weight():
    assert as_source(np.ones((5, 1)), [1.0, 0.0, 2.5, 0.0, 1.0], chunk_rows=2).totals() == (4.5, 3)
    assert as_source(np.ones((5, 1)), chunk_rows=2).totals() == (5.0, 5)
