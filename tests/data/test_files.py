"""Files to tables: every format, large files by a sample, and hostile files that end in one sentence."""

import resource
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from latently.data.files import read as files
from latently.data.files import text as files_text
from latently.data.files.read import read_table

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 2.5], "c": ["x", None, "z"]})


def _written(folder: Path, suffix: str) -> Path:
    path = folder / f"table{suffix}"
    write = {
        ".csv": lambda: FRAME.to_csv(path, index=False),
        ".tsv": lambda: FRAME.to_csv(path, index=False, sep="\t"),
        ".parquet": lambda: FRAME.to_parquet(path),
        ".feather": lambda: FRAME.to_feather(path),
        ".xlsx": lambda: FRAME.to_excel(path, index=False),
    }
    write[suffix]()
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".feather", ".xlsx"])
def test_every_format_gives_what_pandas_wrote(tmp_path: Path, suffix: str) -> None:
    table, rows = read_table(_written(tmp_path, suffix))
    frame = table if isinstance(table, pd.DataFrame) else table.to_pandas()
    assert rows == 3
    pd.testing.assert_frame_equal(frame.astype(object).where(frame.notna(), None), _objects(FRAME))


def _objects(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(object).where(frame.notna(), None)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather", ".xlsx"])
def test_a_sample_keeps_the_order_and_the_total_and_follows_the_seed(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"long{suffix}"
    frame = pd.DataFrame({"i": np.arange(500)})
    {".csv": frame.to_csv, ".parquet": frame.to_parquet, ".feather": frame.to_feather, ".xlsx": frame.to_excel}[suffix](
        path, **({} if suffix == ".feather" else {"index": False})
    )
    first, total = read_table(path, max_rows=60, seed=1)
    again, _ = read_table(path, max_rows=60, seed=1)
    other, _ = read_table(path, max_rows=60, seed=2)
    places = [_column(table) for table in (first, again, other)]
    assert total == 500
    assert len(places[0]) == 60
    assert places[0] == sorted(places[0]) == places[1] != places[2]


def _column(table: Any) -> list[int]:
    return table["i"].tolist() if isinstance(table, pd.DataFrame) else table.column("i").to_pylist()


def test_the_sample_is_uniform(tmp_path: Path) -> None:
    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"i": np.arange(1000)}), path, row_group_size=90)
    counts = np.zeros(1000)
    for seed in range(300):
        counts[read_table(path, max_rows=100, seed=seed)[0].column("i").to_numpy()] += 1
    # each row is drawn 30 times on average; chi-squared with 999 degrees of freedom is below 1143 in 999 of 1000 cases
    assert ((counts - 30) ** 2 / (30 * 0.9)).sum() < 1143


def test_large_text_is_streamed_with_types_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.csv"
    lines = [f'{i},{"late" if i == 1999 else i},"x, ""{i}"""' for i in range(2000)]
    path.write_text("number,mixed,quoted\n" + "\n".join(lines) + "\n")
    whole, _ = read_table(path)
    monkeypatch.setattr(files_text, "WHOLE", 1000)
    monkeypatch.setattr(files_text, "_BLOCK", 4096)
    streamed, total = read_table(path, max_rows=5000)
    assert total == 2000
    assert streamed.equals(whole)
    part, total = read_table(path, max_rows=50, seed=3)
    assert (part.num_rows, total) == (50, 2000)
    assert part.column("quoted")[0].as_py() == f'x, "{part.column("number")[0].as_py()}"'


def test_ten_million_rows_of_parquet_take_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.parquet"
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(path, pa.schema({"a": pa.float32(), "b": pa.int8()})) as writer:
        for _ in range(20):
            a = rng.normal(size=500_000).astype(np.float32)
            writer.write_table(pa.table({"a": a, "b": rng.integers(0, 5, 500_000).astype(np.int8)}))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    table, total = read_table(path, max_rows=10_000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (table.num_rows, total) == (10_000, 10_000_000)
    assert abs(np.mean(table.column("a").to_numpy())) < 0.05
    assert grown < 200_000  # kB


HOSTILE = {
    "ragged short": (".csv", b"a,b\n1,2\n3\n", "row 3 .* has 1 values, the header has 2"),
    "ragged long": (".csv", b"a,b\n1,2\n3,4,5\n", "row 3 .* has 3 values"),
    "wrong encoding": (".csv", b"a,b\n1,x\n2,caf\xe9\n", "not UTF-8 text .byte 0xE9 on line 3."),
    "utf-16": (".csv", "a,b\n1,2\n".encode("utf-16"), "UTF-16"),
    "cut in a character": (".csv", b"a\nx\xc3", "middle of a character"),
    "NUL": (".csv", b"a,b\n1,x\x00y\n", "NUL byte on line 2"),
    "a million columns": (".csv", b",".join(b"c%d" % i for i in range(10**6)) + b"\n", "1,000,000 columns"),
    "a long first line": (".csv", b"x" * (2**23 + 2), "first line .* longer than 8 MiB"),
    "empty": (".csv", b"", "is empty"),
    "only a header": (".csv", b"a,b\n", "no rows"),
    "a blank first line": (".csv", b"\na,b\n", "first line .* is blank"),
    "a web page": (".csv", b"<!DOCTYPE html><html></html>", "web page"),
    "Parquet called CSV": (".csv", b"PAR1....PAR1", "begins like Parquet"),
    "CSV called Parquet": (".parquet", b"a,b\n1,2\n", "begins like text"),
    "CSV called Excel": (".xlsx", b"a,b\n1,2\n", "begins like text"),
    "broken Parquet": (".parquet", b"PAR1" + b"\x00" * 60, "damaged or cut off"),
    "broken Feather": (".feather", b"ARROW1\x00\x00" + b"\x00" * 60, "damaged or cut off"),
    "broken Excel": (".xlsx", b"PK\x03\x04" + b"\x00" * 60, "damaged"),
    "repeated names": (".csv", b"a,a,b\n1,2,3\n", "several columns called 'a'"),
    "unknown kind": (".docx", b"hello", "not known"),
    "an open quote in the header": (".csv", b'"a,b\n1,2\n', "quoted name that does not end"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_ends_in_one_sentence(tmp_path: Path, case: str) -> None:
    suffix, content, words = HOSTILE[case]
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words) as told:
        read_table(path)
    assert "bad" in str(told.value)
    assert "\n" not in str(told.value)


def test_no_file_and_a_directory(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match="is a directory"):
        read_table(tmp_path)


def test_a_row_larger_than_a_block_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "unclosed.csv"
    path.write_text('a,b\n1,"never ends\n' + "2,3\n" * 5000)
    monkeypatch.setattr(files_text, "_BLOCK", 1024)
    with pytest.raises(ValueError, match="quoted value that does not end"):
        read_table(path)


def test_too_large_to_read_whole_is_told_before_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _written(tmp_path, ".parquet")
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    with pytest.raises(ValueError, match="max_rows"):
        read_table(path)
    assert read_table(path, max_rows=2)[1] == 3


def test_wide_tables_keep_fewer_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_CELLS", 6)
    table, total = read_table(_written(tmp_path, ".csv"), max_rows=100)
    assert (table.num_rows, total) == (2, 3)


def test_a_packed_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _written(tmp_path, ".xlsx")
    monkeypatch.setattr(files, "MAX_BYTES", 4000)
    with pytest.raises(ValueError, match="unpacks to"):
        read_table(path)


def test_odd_types_become_plain(tmp_path: Path) -> None:
    from decimal import Decimal

    path = tmp_path / "odd.parquet"
    table = pa.table(
        {"d": pa.array([Decimal("1.50"), None]), "n": pa.nulls(2), "c": pa.array(["x", "y"]).dictionary_encode()}
    )
    pq.write_table(table, path)
    read, _ = read_table(path)
    assert read.column("d").to_pylist() == [1.5, None]
    assert read.column("n").to_pylist() == [None, None]
    assert read.column("c").to_pylist() == ["x", "y"]


def test_semicolons_blank_names_and_missing_marks(tmp_path: Path) -> None:
    path = tmp_path / "german.csv"
    path.write_bytes(b"\xef\xbb\xbfa;;b\n1;2020-01-31;x\n;;NA\n")
    table, _ = read_table(path)
    assert table.column_names == ["a", "column 2", "b"]
    assert table.column("b").to_pylist() == ["x", None]


def test_max_rows_must_be_positive(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="max_rows"):
        read_table(_written(tmp_path, ".csv"), max_rows=0)
