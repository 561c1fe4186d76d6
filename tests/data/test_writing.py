"""Answers written next to the data: whole or not at all, also when the disk is full."""

import errno
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from latently.cluster import GaussianMixture, KMeans
from latently.data.files.write import ParquetSink
from latently.data.sources.paths import FileError
from latently.predict import BayesianLinearRegression, GaussianNB


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(20_000, 2)) + 4 * rng.integers(2, size=(20_000, 1)), columns=["a", "b"])
    table["label"] = np.where(table["a"] > 2, "high", "low")
    table["id"] = np.arange(len(table))
    (tmp_path / "data").mkdir()
    for i in range(3):
        table.iloc[7000 * i : 7000 * (i + 1)].to_parquet(tmp_path / "data" / f"{i}.parquet")
    return table


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def test_verbs_write_what_they_say(rows, tmp_path):
    model = GaussianMixture(2, random_state=0).fit(tmp_path / "data", columns=["a", "b"])
    X, to = rows[["a", "b"]], tmp_path / "out.parquet"
    assert model.predict(tmp_path / "data", to=to, keep=["id", "label"]) == to
    found = pd.read_parquet(to)
    assert list(found) == ["prediction", "id", "label"]
    np.testing.assert_array_equal(found["prediction"], model.predict(X))
    np.testing.assert_array_equal(found["id"], rows["id"])
    model.predict_proba(str(tmp_path / "data" / "*.parquet"), to=str(to))
    np.testing.assert_array_equal(pd.read_parquet(to), model.predict_proba(X))
    assert list(pd.read_parquet(to)) == ["p_0", "p_1"]
    model.score_samples(tmp_path / "data", to=to, filters=[("id", "<", 100)])
    np.testing.assert_array_equal(pd.read_parquet(to)["log_density"], model.score_samples(X[:100]))
    assert leftovers(tmp_path) == ["out.parquet"]


def test_classes_and_distances_have_names(rows, tmp_path):
    to = tmp_path / "out.parquet"
    bayes = GaussianNB().fit(tmp_path / "data", "label", columns=["a", "b"])
    bayes.predict(tmp_path / "data", to=to)
    np.testing.assert_array_equal(pd.read_parquet(to)["prediction"], bayes.predict(rows[["a", "b"]]))
    bayes.predict_proba(tmp_path / "data", to=to)
    assert list(pd.read_parquet(to)) == ["p_high", "p_low"]
    clusters = KMeans(3, random_state=0).fit(tmp_path / "data", columns=["a", "b"])
    clusters.transform(tmp_path / "data", to=to)
    assert list(pd.read_parquet(to)) == ["kmeans0", "kmeans1", "kmeans2"]
    line = BayesianLinearRegression().fit(tmp_path / "data", "b", columns=["a"])
    line.predict(tmp_path / "data", return_std=True, to=to)
    mean, std = line.predict(rows[["a"]], return_std=True)
    np.testing.assert_array_equal(pd.read_parquet(to), np.column_stack([mean, std]))


def test_a_model_fitted_in_memory_answers_about_files(rows, tmp_path):
    model = KMeans(2, random_state=0).fit(rows[["a", "b"]].to_numpy())
    model.predict(tmp_path / "data", columns=["a", "b"], to=tmp_path / "out.parquet")
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "out.parquet")["prediction"], model.labels_)


def test_mistakes_are_told_before_anything_is_written(rows, tmp_path):
    model = KMeans(2, random_state=0).fit(rows[["a", "b"]])
    with pytest.raises(ValueError, match="to='out.parquet'"):
        model.predict(tmp_path / "data")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        model.predict(tmp_path / "data", to=tmp_path / "gone" / "out.parquet")
    with pytest.raises(IsADirectoryError):
        model.predict(tmp_path / "data", to=tmp_path / "data")
    with pytest.raises(ValueError, match="one of the files that are read"):
        model.predict(tmp_path / "data", to=tmp_path / "data" / "1.parquet")
    assert leftovers(tmp_path) == []


def test_a_broken_input_leaves_the_old_output(rows, tmp_path):
    model = KMeans(2, random_state=0).fit(rows[["a", "b"]])
    to = model.predict(tmp_path / "data", to=tmp_path / "out.parquet")
    before = to.read_bytes()
    last = tmp_path / "data" / "2.parquet"
    damaged = bytearray(last.read_bytes())
    offset = pq.read_metadata(last).row_group(0).column(0).data_page_offset
    damaged[offset : offset + 64] = b"\xff" * 64
    last.write_bytes(damaged)
    with pytest.raises(FileError, match="2.parquet"):
        model.predict(tmp_path / "data", to=to)
    assert to.read_bytes() == before
    assert leftovers(tmp_path) == ["out.parquet"]


def test_a_flipped_bit_is_found_by_checksum(rows, tmp_path):
    model = KMeans(2, random_state=0).fit(rows[["a", "b"]])
    to = model.transform(tmp_path / "data", to=tmp_path / "out.parquet")
    written = bytearray(to.read_bytes())
    written[len(written) // 3] ^= 1
    to.write_bytes(written)
    with pytest.raises(FileError, match=r"out.parquet: cannot be read \(.*(CRC|checksum)"):
        KMeans(2).fit(to)


def test_chunks_of_another_type_are_refused(tmp_path):
    def write(chunks):
        with ParquetSink(tmp_path / "out.parquet") as sink:
            for chunk in chunks:
                sink.write({"a": chunk})

    with pytest.raises(FileError, match="cannot hold these rows"):
        write([[1, 2], ["x"]])
    assert leftovers(tmp_path) == []
    with pytest.raises(ValueError, match="no rows to write"):
        write([])


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a quarter of a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a file system is not permitted here")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk(rows, tmp_path, small_disk):
    model = GaussianMixture(2, random_state=0).fit(rows[["a", "b"]])
    to = small_disk / "out.parquet"
    model.predict(tmp_path / "data" / "0.parquet", to=to)  # labels of one file fit
    before = to.read_bytes()
    with pytest.raises(OSError, match="out.parquet could not be written .*No space left.*removed.*unchanged") as found:
        model.predict_proba(tmp_path / "data", to=to)
    assert found.value.errno == errno.ENOSPC
    assert to.read_bytes() == before
    assert leftovers(small_disk) == ["out.parquet"]
    assert pq.read_table(to).num_rows == 7000


def test_a_limit_on_the_size_of_files(rows, tmp_path):
    """Works without the right to mount: the system refuses to let a file grow."""
    code = """
        import resource, signal, sys
        from pathlib import Path
        from latently.cluster import KMeans
        folder = Path(sys.argv[1])
        model = KMeans(2, random_state=0).fit(folder / "data", columns=["a", "b"])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
        try:
            model.transform(folder / "data", to=folder / "out.parquet")
        except OSError as problem:
            print(problem)
        print(sorted(path.name for path in folder.iterdir()))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "out.parquet could not be written (File too large)" in done.stdout
    assert done.stdout.splitlines()[-1] == "['data']"
