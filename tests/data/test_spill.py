"""The decoded copy of a table: the same chunks, gone when nobody needs it, and never in the way."""

import contextlib
import gc
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from latently.cluster import GaussianMixture
from latently.data import open_source
from latently.data.sources.chunks import Chunk
from latently.data.stored.cache import Spill, has_disk_space


@pytest.fixture(autouse=True)
def large_tables(monkeypatch, tmp_path):
    """Every table counts as larger than memory, and temporary files have a folder of their own."""
    monkeypatch.setattr("latently.data.stored.source.KEEP_BYTES", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@pytest.fixture
def path(tmp_path):
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(3000, 3)), columns=["a", "b", "w"])
    rows["w"] = rows["w"].abs()
    rows.to_parquet(tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


def copied(path, **options):
    return open_source(path, chunk_rows=256, **options).for_many_passes()


def open_files(folder):
    """Files in a folder that are open without having a name."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the listing itself was open while it was made
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return [link for link in found if link.startswith(str(folder)) and link.endswith("(deleted)")]


def test_the_second_pass_is_the_first(path):
    for options in ({}, {"weights": "w"}, {"columns": ["b"]}):
        source = copied(path, **options)
        first = [(chunk.start, chunk.X.copy(), chunk.weights) for chunk in source]
        assert source._store.spill.is_whole
        path.rename(path.with_suffix(".gone"))  # the files are not needed any more
        for chunk, (start, X, weights) in zip(source, first, strict=True):
            assert chunk.start == start
            np.testing.assert_array_equal(chunk.X, X)
            np.testing.assert_array_equal(chunk.weights, weights)
        path.with_suffix(".gone").rename(path)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="asks Linux which files are open")
def test_nothing_is_left(path, tmp_path):
    source = copied(path)
    list(source)
    assert len(open_files(tmp_path)) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["rows.parquet"]  # it has no name: a crash leaves nothing
    del source
    gc.collect()
    assert open_files(tmp_path) == []
    model = GaussianMixture(2, random_state=0, max_iter=3, tol=0)
    with pytest.warns(UserWarning, match="did not converge"):
        model.fit(path, columns=["a", "b"])
    gc.collect()
    assert open_files(tmp_path) == []


def test_a_pass_that_is_given_up_makes_no_copy(path):
    source = copied(path)
    assert next(iter(source)).n_rows
    gc.collect()
    assert not source._store.spill.is_whole
    assert len(list(source)) == len(list(source))
    assert source._store.spill.is_whole


def test_a_full_disk_ends_the_copy_only(path, monkeypatch):
    whole, calls = os.pwrite, []

    def until_full(number, data, offset):
        calls.append(offset)
        if len(calls) > 3:
            raise OSError(28, "No space left on device")
        return whole(number, data, offset)

    monkeypatch.setattr("os.pwrite", until_full)
    source = copied(path)
    for _ in range(2):
        assert sum(chunk.n_rows for chunk in source) == 3000
    assert len(calls) > 4
    assert not source._store.spill.is_whole


def test_a_disk_that_takes_little_at_a_time(path, monkeypatch):
    whole = os.pwrite
    monkeypatch.setattr("os.pwrite", lambda number, data, offset: whole(number, data[:1000], offset))
    source = copied(path, weights="w")
    first, second = ([chunk.X.copy() for chunk in source] for _ in range(2))
    assert source._store.spill.is_whole
    np.testing.assert_array_equal(np.concatenate(first), np.concatenate(second))


def test_no_copy_without_ample_room(path, monkeypatch):
    assert has_disk_space(1)
    assert not has_disk_space(1 << 62)
    monkeypatch.setattr("latently.data.stored.cache._file_system", lambda folder: "tmpfs")
    assert not has_disk_space(1)  # that would be memory again
    source = copied(path)
    assert sum(chunk.n_rows for chunk in source) == 3000
    assert source._store.spill is None


def test_two_readers_at_a_time():
    spill = Spill(1, np.float64)
    chunks = [Chunk(np.full((2, 1), float(i)), start=2 * i) for i in range(5)]
    first, second = spill.writing(iter(chunks)), spill.writing(iter(chunks))
    assert [next(first)().start, next(second)().start] == [0, 0]
    assert [load().start for load in second] == [2, 4, 6, 8]
    assert not spill.is_whole
    assert [load().start for load in first] == [2, 4, 6, 8]
    assert [load().X[0, 0] for load in spill.loads()] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_threads_write_and_read_in_any_order():
    rng, spill = np.random.default_rng(0), Spill(3, np.float64)
    chunks = [Chunk(rng.normal(size=(50, 3)), rng.uniform(size=50), start=50 * i) for i in range(40)]
    late = list(spill.writing(iter(chunks)))
    assert not spill.is_whole
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda load: load(), reversed(late)))
        assert spill.is_whole
        total = sum(pool.map(lambda load: (load().X * load().weights[:, None]).sum(), spill.loads()))
    assert total == pytest.approx(sum((chunk.X * chunk.weights[:, None]).sum() for chunk in chunks), rel=1e-12)
