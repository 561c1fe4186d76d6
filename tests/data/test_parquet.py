"""Tables on disk: the same chunks as in memory, and only what was asked for."""

import itertools
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latently.data import as_source, infer_schema, open_source
from latently.data.files import read_table
from latently.data.sources.sequences import Sequences
from latently.data.stored.batches import cut_rows, cut_sequences
from latently.data.stored.parquet import FileReader
from latently.data.stored.prefetch import read_ahead

N = 5000


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=N),
            "b": rng.integers(10, size=N),
            "c": rng.random(N) < 0.5,
            "w": rng.random(N),
            "who": np.repeat(np.arange(N // 5), 5),
            "name": np.array(["x", "y", "zz"])[rng.integers(3, size=N)],
        }
    )
    frame.loc[rng.random(N) < 0.1, "a"] = np.nan
    return frame


def written(table, folder, cuts=(0, 1, 1, 700, 2400, 2401, 4999), row_group_size=300):
    """Seven files, one without rows."""
    folder.mkdir()
    edges = [*cuts, len(table)]
    for i, (start, stop) in enumerate(itertools.pairwise(edges)):
        table.iloc[start:stop].to_parquet(folder / f"part-{i + 8}.parquet", row_group_size=row_group_size)
    return folder


def assert_same_chunks(source, expected):
    for found, wanted in zip(source, expected, strict=True):
        assert found.start == wanted.start
        np.testing.assert_array_equal(found.X, wanted.X)
        np.testing.assert_array_equal(found.weights, wanted.weights)
        np.testing.assert_array_equal(found.lengths, wanted.lengths)


@pytest.mark.parametrize("chunk_rows", [None, 64, 999])
def test_chunks_are_those_of_the_same_rows_in_memory(table, tmp_path, chunk_rows):
    numbers = ["a", "b", "c"]
    table.to_parquet(tmp_path / "one.parquet", row_group_size=777)
    table.to_csv(tmp_path / "one.csv", index=False)
    places = {
        "file": tmp_path / "one.parquet",
        "text": str(tmp_path / "one.csv"),
        "folder": written(table, tmp_path / "seven"),
        "pattern": str(tmp_path / "seven" / "*.parquet"),
        "frames": lambda: (table.iloc[i : i + 37] for i in range(0, N, 37)),
        "polars": lambda: [pl.from_pandas(table)],
    }
    for place in places.values():
        source = open_source(place, columns=numbers, weights="w", chunk_rows=chunk_rows)
        memory = as_source(table[numbers], table["w"], chunk_rows)
        for _ in range(2):  # a second pass may come from memory
            assert_same_chunks(source, memory)
        assert source.n_rows == N
        assert source.column_names == tuple(numbers)


def test_files_come_in_natural_order(table, tmp_path):
    files = FileReader(written(table, tmp_path / "seven")).files
    assert [file.rsplit("-")[-1] for file in files] == [f"{i}.parquet" for i in range(8, 15)]


def test_a_long_table_is_never_kept(table, tmp_path, monkeypatch):
    monkeypatch.setattr("latently.data.stored.source.KEEP_BYTES", 0)
    source = open_source(written(table, tmp_path / "seven"), columns=["a", "b"], chunk_rows=100)
    first = [chunk.X.copy() for chunk in source]
    for chunk, X in zip(source, first, strict=True):
        np.testing.assert_array_equal(chunk.X, X)
        chunk.memo["seen"] = True
    assert not any(chunk.memo for chunk in source)
    kept = source.keeping(2**28 // 1000)
    for chunk in kept:
        chunk.memo["seen"] = True
    assert [bool(chunk.memo) for chunk in kept] == [chunk.stop <= 1000 for chunk in source]
    assert not any(chunk.memo for chunk in kept.fresh())


def test_chunks_that_are_held_are_not_written_over(table, tmp_path, monkeypatch):
    monkeypatch.setattr("latently.data.stored.source.KEEP_BYTES", 0)
    source = open_source(written(table, tmp_path / "seven"), columns=["a", "b"], chunk_rows=100)
    held = list(source)
    np.testing.assert_array_equal(np.concatenate([chunk.X for chunk in held]), table[["a", "b"]].to_numpy(float))


def test_single_precision_stays(tmp_path):
    pd.DataFrame({"a": np.float32([1, 2]), "b": np.float32([3, 4])}).to_parquet(tmp_path / "t.parquet")
    source = open_source(tmp_path / "t.parquet")
    assert next(iter(source)).X.dtype == source.dtype == np.float32


def test_columns_and_filters_are_pushed_down(table, tmp_path, monkeypatch):
    path = written(table, tmp_path / "seven")
    asked = []
    scan = FileReader._scan
    monkeypatch.setattr(FileReader, "_scan", lambda self, *args: asked.append(args[-1]) or scan(self, *args))
    rows = table[(table["b"] > 3) & (table["name"] == "x")]
    for filters in ([("b", ">", 3), ("name", "==", "x")], (pc.field("b") > 3) & (pc.field("name") == "x")):
        source = open_source(path, columns=["a"], filters=filters)
        assert source.n_rows == len(rows)
        np.testing.assert_array_equal(np.concatenate([chunk.X for chunk in source]), rows[["a"]].to_numpy())
        frames = open_source(lambda: [table], columns=["a"], filters=filters)
        np.testing.assert_array_equal(np.concatenate([chunk.X for chunk in frames]), rows[["a"]].to_numpy())
    assert all(names == ["a"] for names in asked)


def test_row_groups_that_a_filter_rules_out_are_not_read(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": np.arange(1000.0)}), path, row_group_size=100)
    damaged = bytearray(path.read_bytes())
    start = pq.read_metadata(path).row_group(0).column(0).data_page_offset
    damaged[start : start + 40] = b"\xff" * 40
    path.write_bytes(damaged)
    source = open_source(path, filters=[("a", ">=", 100.0)])
    assert sum(chunk.X.sum() for chunk in source) == np.arange(100, 1000).sum()
    with pytest.raises(ValueError, match="t.parquet"):
        list(open_source(path))


def test_schema_encodes(table, tmp_path):
    path = written(table, tmp_path / "seven")
    mixed = table[["name", "a", "c"]]
    schema = infer_schema(mixed)
    source = open_source(path, schema=schema, chunk_rows=500)
    np.testing.assert_array_equal(np.concatenate([c.X for c in source]), schema.encode(mixed))


def test_digest_tells_the_schema_of_the_whole(table, tmp_path):
    table["level"] = pd.Categorical(table["name"], ["zz", "y", "x", "never"], ordered=True)
    path = written(table, tmp_path / "seven")
    mixed = ["name", "a", "b", "c", "level"]
    source = open_source(path, columns=mixed)
    whole = pq.read_table(tmp_path / "seven").select(mixed)
    assert infer_schema(source.digest()) == infer_schema(whole)
    assert infer_schema(source.digest(), categorical=["b"]) == infer_schema(whole, categorical=["b"])


def test_too_many_categories_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("latently.data.stored.digest.MOST_VALUES", 10)
    pd.DataFrame({"id": [f"row {i}" for i in range(11)]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="'id' has more than 10 distinct values"):
        open_source(tmp_path / "t.parquet").digest()


def test_targets_and_weights(table, tmp_path):
    source = open_source(written(table, tmp_path / "seven"), target="name", weights="w", columns=["a"], chunk_rows=300)
    np.testing.assert_array_equal(np.concatenate([chunk.y for chunk in source]), table["name"])
    weight, counted = source.totals()
    assert counted == N
    assert weight == pytest.approx(table["w"].sum())
    roles = source.only_roles()
    assert [chunk.X.shape[1] for chunk in roles] == [0] * len(list(roles))


def test_sequences_are_whole(table, tmp_path):
    table["who"] = np.sort(np.random.default_rng(1).integers(400, size=N))
    path = written(table, tmp_path / "seven")
    memory = as_source(Sequences.from_frame(table[["who", "a", "b"]], "who"), None, 256)
    source = open_source(path, columns=["a", "b"], sequences_by="who", chunk_rows=256)
    assert_same_chunks(source, memory)
    down = table.iloc[::-1]
    source = open_source(lambda: [down], columns=["a", "b"], sequences_by="who", chunk_rows=256)
    assert_same_chunks(source, as_source(Sequences.from_frame(down[["who", "a", "b"]], "who"), None, 256))


@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=20),
    cuts=st.lists(st.integers(0, 100), max_size=6),
    most=st.integers(1, 30),
)
def test_cutting_does_not_depend_on_batches(lengths, cuts, most):
    n = sum(lengths)
    whole = pa.table({"g": np.repeat(np.arange(len(lengths)), lengths), "x": np.arange(n)})
    edges = sorted({0, n, *(cut for cut in cuts if cut < n)})
    batches = [whole.slice(a, b - a).to_batches()[0] for a, b in itertools.pairwise(edges)]
    packed = list(cut_sequences((("here", batch) for batch in batches), "g", most))
    memory = as_source(Sequences(np.arange(n)[:, None], np.array(lengths)), None, most)
    assert [cut.lengths.tolist() for cut in packed] == [chunk.lengths.tolist() for chunk in memory]
    assert [cut.start for cut in packed] == [chunk.start for chunk in memory]
    bounds = [(chunk.start, chunk.stop) for chunk in as_source(np.zeros((n, 1)), None, most)]
    by_rows = list(cut_rows((("here", batch) for batch in batches), bounds))
    assert [cut.table()["x"].to_pylist() for cut in by_rows] == [list(range(a, b)) for a, b in bounds]


def test_reading_ahead_keeps_its_distance():
    made, gate = [], threading.Event()

    def numbers():
        for i in range(100):
            made.append(i)
            gate.set()
            yield i

    ahead = read_ahead(numbers, 3)
    assert next(ahead) == 0
    gate.wait()
    ahead.close()
    assert len(made) <= 6  # one given, three waiting, one in the maker's hand, and one to spare
    assert not any(thread.name == "latently-read-ahead" for thread in threading.enumerate())


def test_what_goes_wrong_ahead_is_raised_in_its_place():
    def broken():
        yield 1
        raise KeyError("lost")

    ahead = read_ahead(broken, 4)
    assert next(ahead) == 1
    with pytest.raises(KeyError, match="lost"):
        next(ahead)


def test_the_index_of_a_data_frame_is_no_column(table, tmp_path):
    """pandas writes an index that is no range as a column without a name."""
    rows = table[["a", "b"]].iloc[np.random.default_rng(1).permutation(N)[:100]]
    rows.to_parquet(tmp_path / "rows.parquet")
    assert pq.read_schema(tmp_path / "rows.parquet").names == ["a", "b", "__index_level_0__"]
    assert open_source(tmp_path / "rows.parquet").column_names == ("a", "b")
    read, n = read_table(tmp_path / "rows.parquet")
    assert read.column_names == ["a", "b"]
    assert n == 100
    chosen = open_source(tmp_path / "rows.parquet", columns=["__index_level_0__"])  # asked for, it is there
    assert chosen.column_names == ("__index_level_0__",)
