import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latently.data import Sequences, SequenceSource, as_sequences, as_source, infer_schema

LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=20)


def make(lengths):
    return Sequences(np.arange(2.0 * sum(lengths)).reshape(-1, 2), np.array(lengths))


@settings(deadline=None)
@given(LENGTHS)
def test_a_list_of_arrays_and_lengths_are_the_same(lengths):
    sequences = make(lengths)
    again = as_sequences(list(sequences))
    assert again.lengths.tolist() == lengths
    np.testing.assert_array_equal(again.values, sequences.values)
    assert len(sequences) == len(lengths)
    np.testing.assert_array_equal(np.diff(sequences.offsets), lengths)


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 30))
def test_chunks_hold_whole_sequences(lengths, chunk_rows):
    sequences = make(lengths)
    weights = np.arange(1.0, len(lengths) + 1)
    chunks = list(SequenceSource(sequences, weights, chunk_rows))
    assert [n for c in chunks for n in c.lengths] == lengths
    assert all(c.lengths.sum() == c.n_rows for c in chunks)
    assert all(c.n_rows <= chunk_rows or len(c.lengths) == 1 for c in chunks)
    # no two neighbours would have fitted into one chunk
    assert all(a.n_rows + b.lengths[0] > chunk_rows for a, b in itertools.pairwise(chunks))
    assert [c.start for c in chunks] == np.cumsum([0, *(c.n_rows for c in chunks[:-1])]).tolist()
    assert all(np.shares_memory(c.X, sequences.values) for c in chunks)
    np.testing.assert_array_equal(np.concatenate([c.weights for c in chunks]), np.repeat(weights, lengths))


def test_memos_are_kept_and_fresh_ones_are_empty():
    source = as_source(make([2, 3]), chunk_rows=3)
    next(iter(source)).memo["a"] = 1
    assert [c.memo for c in source] == [{"a": 1}, {}]
    assert [c.memo for c in source.fresh()] == [{}, {}]
    assert (source.n_rows, source.column_names, len(source)) == (5, ("x0", "x1"), 2)


def test_picking():
    sequences = make([2, 3, 1])
    assert sequences[1].tolist() == [[4, 5], [6, 7], [8, 9]]
    np.testing.assert_array_equal(sequences[-1], sequences[2])
    assert np.shares_memory(sequences[1:].values, sequences.values)
    assert sequences[1:].lengths.tolist() == [3, 1]
    with pytest.raises(IndexError):
        sequences[3]
    for part in (slice(0, 0), slice(None, None, 2)):
        with pytest.raises(ValueError, match="at least one, one after the other"):
            sequences[part]


def test_no_lengths_is_one_sequence():
    X = np.zeros((4, 2))
    assert as_sequences(X).lengths.tolist() == [4]
    assert as_sequences(X).values is X
    assert as_sequences([[1.0], [2.0]]).lengths.tolist() == [2]
    assert as_sequences([np.zeros(3), np.zeros(2)], None).lengths.tolist() == [3, 2]


def test_one_dimensional_sequences_in_a_list():
    sequences = Sequences.from_list([np.array([1.0, 2.0]), np.array([3.0])])
    assert sequences.values.tolist() == [[1], [2], [3]]


def test_nan_is_allowed():
    assert np.isnan(as_sequences([[np.nan], [1.0]]).values[0, 0])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_groups_of_a_frame(frame):
    table = frame({"x": [1, 2, 3], "who": ["b", "b", "a"], "y": [0.5, 1.5, 2.5]})
    sequences = as_sequences(table, group="who")
    assert sequences.lengths.tolist() == [2, 1]
    assert sequences.values.tolist() == [[1, 0.5], [2, 1.5], [3, 2.5]]


def test_groups_must_be_together_and_known():
    with pytest.raises(ValueError, match="column 'who': 'a' comes back at row 2: sort by it first"):
        Sequences.from_frame(pd.DataFrame({"x": [1, 2, 3], "who": ["a", "b", "a"]}), "who")
    with pytest.raises(ValueError, match="column 'who' is missing at row 1"):
        Sequences.from_frame(pd.DataFrame({"x": [1, 2], "who": ["a", None]}), "who")
    with pytest.raises(ValueError, match="column 'w' is not in the table, which has 'x', 'who'"):
        Sequences.from_frame(pd.DataFrame({"x": [1], "who": ["a"]}), "w")
    with pytest.raises(ValueError, match="column 's' of X holds strings"):
        Sequences.from_frame(pd.DataFrame({"s": ["u"], "who": ["a"]}), "who")


@pytest.mark.parametrize(
    ("X", "lengths", "message"),
    [
        (np.zeros((5, 1)), [2, 2], "lengths sum to 4 but there are 5 rows"),
        (np.zeros((2, 1)), [2, 0], "sequence 1 has length 0: every sequence needs at least one row"),
        (np.zeros((2, 1)), [3, -1], "sequence 1 has length -1"),
        (np.zeros((2, 1)), [1.0, 1.0], "lengths must be a list of whole numbers"),
        (np.zeros((2, 1)), 2, "lengths must be a list of whole numbers"),
        (np.zeros((2, 1)), [], "lengths must be a list of whole numbers"),
        ([np.zeros((2, 1)), np.zeros((2, 3))], None, "sequence 1 has 3 columns but sequence 0 has 1"),
        ([np.zeros((2, 1)), np.zeros((0, 1))], None, r"sequence 1 has 0 sample\(s\)"),
        ([np.zeros((2, 1)), np.full((1, 1), np.inf)], None, "column 'x0' of sequence 1 contains inf"),
        ([], None, "the list of sequences is empty"),
        ([np.zeros((2, 1))], [2], "X is made of sequences already"),
        (np.zeros(3), None, "Reshape your data"),
    ],
)
def test_bad_sequences_are_refused(X, lengths, message):
    with pytest.raises(ValueError, match=message):
        as_sequences(X, lengths)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="give one of them"):
        as_sequences(pd.DataFrame({"x": [1], "g": [1]}), [1], group="g")
    with pytest.raises(ValueError, match=r"shape \(1,\), expected \(2,\): one for each sequence"):
        as_source(make([1, 2]), weights=[1.0])
    with pytest.raises(ValueError, match="Sequences holds numbers already"):
        as_source(make([1, 2]), schema=infer_schema([[1.0, 2.0]]))
