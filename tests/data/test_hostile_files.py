"""Files made to do harm: each ends in one sentence that names it, in bounded memory, and never in a crash."""

import datetime
import random
import resource
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from tests.data.workbooks import BROKEN, one_cell, workbook

from latently.cli import main
from latently.data.files import excel as files_excel
from latently.data.files import read as files
from latently.data.files.read import Unreadable, read_table

MEMORY = 3 * 2**30  # address space of a process that reads hostile files


def _refusal(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence about the file with which the command line ends, with exit code 2."""
    assert main(["explore", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert path.name in said
    assert "fault of latently" not in said
    return said


# Excel


def test_a_workbook_put_together_by_hand_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(workbook())
    table, rows = read_table(tmp_path / "t.xlsx")
    assert rows == 2
    assert table["a"].tolist() == [1, 3]
    assert table["b"][0] == 2.5


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_workbook(tmp_path: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    content, words = BROKEN[case]
    path = tmp_path / "bad.xlsx"
    path.write_bytes(content)
    assert words in _refusal(path, capsys)


def test_blank_cells_far_away_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(workbook(sheet=one_cell("XFD2", 2).replace("<v>1</v></c></row></s", "</c><c/></row></s")))
    with pytest.raises(Unreadable, match="no rows"):  # only the header holds something
        read_table(path)
    sheet = one_cell("A2", 2).replace("</sheetData>", '<row r="9000"><c r="XFD9000" s="0"/></row></sheetData>')
    path.write_bytes(workbook(sheet=sheet))
    assert read_table(path)[1] == 1


def test_the_extent_is_that_of_cells_with_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(workbook(sheet=one_cell("C5", 5).replace('<c r="C5">', '<c r="B5"/><c>')))
    monkeypatch.setattr(files_excel, "MAX_SHEET", 14)
    with pytest.raises(Unreadable, match="row 5 and one in column 3, which makes a table of 15 cells"):
        read_table(path)
    monkeypatch.setattr(files_excel, "MAX_SHEET", 15)
    assert read_table(workbook_named(path))[1] == 4


def workbook_named(path: Path) -> Path:
    """The same sheet with names for all three columns."""
    sheet = one_cell("C5", 5).replace(
        "</c></row><row", '</c><c r="B1" t="s"><v>1</v></c><c r="C1"><v>7</v></c></row><row'
    )
    path.write_bytes(workbook(sheet=sheet))
    return path


# Arrow and Parquet: flipped bits, and more declared than there is


def _table() -> pa.Table:
    n, rng = 60, np.random.default_rng(0)
    day = datetime.datetime(2020, 1, 1)
    return pa.table(
        {
            "x": rng.normal(size=n),
            "i": pa.array([None if k % 7 == 0 else k for k in range(n)], pa.int32()),
            "s": [None if k % 5 == 0 else f"word{k % 9}" for k in range(n)],
            "ls": pa.array(["a" * k for k in range(n)], pa.large_string()),
            "d": pa.array(["u", "v", "w", None] * (n // 4)).dictionary_encode(),
            "b": pa.array([True, False] * (n // 2)),
            "t": pa.array([day + datetime.timedelta(k) for k in range(n)]),
            "l": pa.array([[k] * (k % 4) for k in range(n)]),
            "st": pa.array([{"p": k, "q": str(k)} for k in range(n)]),
        }
    )


def _flipped(content: bytes, seed: int) -> bytes:
    draw, data = random.Random(seed), bytearray(content)
    first, last = draw.choice([(0, len(data)), (max(0, len(data) - 1500), len(data)), (8, min(2500, len(data)))])
    for _ in range(draw.choice([1, 1, 2, 4, 16])):
        place = draw.randrange(first, last)
        if seed % 2:
            data[place] ^= 1 << draw.randrange(8)
        else:
            data[place] = draw.choice([0, 0x7F, 0x80, 0xFF])
    return bytes(data)


_WRITERS: dict[str, Callable[[Path], None]] = {
    "plain.feather": lambda path: feather.write_feather(_table(), path, compression="uncompressed", chunksize=25),
    "lz4.arrow": lambda path: feather.write_feather(_table(), path, compression="lz4", chunksize=25),
    "zstd.feather": lambda path: feather.write_feather(_table(), path, compression="zstd", chunksize=25),
    "plain.parquet": lambda path: pq.write_table(_table(), path, compression="none", row_group_size=25),
    "zstd.parquet": lambda path: pq.write_table(_table(), path, compression="zstd", row_group_size=25),
}

_READING = textwrap.dedent(
    """
    import resource, sys
    from pathlib import Path
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]),) * 2)
    from latently.data.tables import frames
    from latently.data.files.read import Unreadable, read_table

    for path in sorted(Path(sys.argv[1]).iterdir()):
        print("reading", path.name, flush=True)
        try:
            for view in frames.views(read_table(path, max_rows=40)[0]).values():
                view.to_list()
            print("read", flush=True)
        except Unreadable as problem:
            assert path.name in str(problem) and chr(10) not in str(problem), problem
            print("refused", flush=True)
    """
)


def _read_all(folder: Path) -> list[str]:
    """What becomes of each file of a folder, in a process of its own that may die."""
    command = [sys.executable, "-c", _READING, str(folder), str(MEMORY)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (done.returncode, lines[-1:], done.stderr[-500:])
    return lines[1::2]


@pytest.mark.parametrize("name", _WRITERS)
def test_flipped_bits_never_end_the_process(tmp_path: Path, name: str) -> None:
    whole = tmp_path / name
    _WRITERS[name](whole)
    folder = tmp_path / "flipped"
    folder.mkdir()
    for seed in range(120):
        (folder / f"{seed}{whole.suffix}").write_bytes(_flipped(whole.read_bytes(), seed))
    found = _read_all(folder)
    assert len(found) == 120
    assert found.count("refused") > 60


def _declared(content: bytes, n_bytes: int) -> bytes:
    """A Feather file whose compressed dictionary declares that it unpacks to so many bytes."""
    size = 8 * 3000  # of the dictionary's values, as they were written
    prefix = size.to_bytes(8, "little")
    assert content.count(prefix) == 1
    return content.replace(prefix, n_bytes.to_bytes(8, "little"))


def test_a_dictionary_of_twenty_gigabytes_in_feather(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bomb.feather"
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2999], pa.int16()), pa.array(np.zeros(3000)))
    feather.write_feather(pa.table({"d": values}), path, compression="zstd")
    assert read_table(path)[1] == 3
    path.write_bytes(_declared(path.read_bytes(), 20 * 2**30))
    assert "unpacks to 20.0 GiB at a time" in _refusal(path, capsys)


def test_parts_that_lie_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "t.feather"
    feather.write_feather(pa.table({"x": np.zeros(3001), "y": np.arange(3001)}), path, compression="uncompressed")
    content = path.read_bytes()
    # bytes of one column, and of both together
    for size, words in ((24008, "a buffer lies outside of its batch"), (48016, "lies outside of the file")):
        declared = size.to_bytes(8, "little")
        assert declared in content
        path.write_bytes(content.replace(declared, (size + 2**30).to_bytes(8, "little")))
        with pytest.raises(Unreadable, match=words):
            read_table(path)


def test_a_long_value_that_a_parquet_file_repeats(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    path = folder / "bomb.parquet"
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000), pa.int32()), pa.array(["x" * 10**6]))
    pq.write_table(pa.table({"x": np.arange(20_000.0), "note": text}), path, store_schema=False)
    assert path.stat().st_size < 2**20  # 20 GB when decoded
    with pytest.raises(Unreadable, match="column 'note' of .* repeats long values"):
        read_table(path, max_rows=1000)
    assert _read_all(folder) == ["refused"]


def test_row_groups_that_unpack_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"x": np.zeros(500_000)}), path, compression="zstd", use_dictionary=False)
    assert read_table(path, max_rows=10)[1] == 500_000
    monkeypatch.setattr(files, "MAX_AT_ONCE", 1_000_000)
    with pytest.raises(Unreadable, match="in one row group: write it with smaller row groups"):
        read_table(path, max_rows=10)


def test_rows_that_take_too_much_memory_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wide.feather"
    feather.write_feather(pa.table({"s": ["x" * 1000] * 5000}), path, compression="uncompressed", chunksize=100)
    monkeypatch.setattr(files, "MAX_AT_ONCE", 1_000_000)
    with pytest.raises(Unreadable, match="too much memory: read fewer of its rows"):
        read_table(path, max_rows=2000)
    assert read_table(path, max_rows=500)[0].num_rows == 500


def test_rows_that_are_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "nothing.feather"
    feather.write_feather(pa.table({"n": pa.nulls(2**22)}), path, compression="uncompressed", chunksize=2**22)
    with pytest.raises(Unreadable, match="declares 4194304 rows and has no room for them"):
        read_table(path)


def test_dictionaries_and_text_are_read_as_they_were_written(tmp_path: Path) -> None:
    for name, write in _WRITERS.items():
        write(tmp_path / name)
        read, _ = read_table(tmp_path / name)
        assert read.to_pydict() == _table().to_pydict()
        assert read.schema.types == _table().schema.types


# times


def _whole(kind: pa.DataType) -> pa.DataType:
    """The whole numbers that times of some kind are kept as."""
    return pa.int32() if kind.bit_width == 32 else pa.int64()


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize(
    ("kind", "value"),
    [(pa.timestamp("s"), 2**40), (pa.timestamp("us"), -(2**62)), (pa.date32(), 2**31 - 1), (pa.duration("s"), 2**50)],
)
def test_times_out_of_range_name_the_column(
    tmp_path: Path, suffix: str, kind: pa.DataType, value: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"t{suffix}"
    table = pa.table({"x": [1.0, 2.0], "when": pa.array([0, value], _whole(kind)).cast(kind)})
    {".parquet": pq.write_table, ".feather": feather.write_feather}[suffix](table, path)
    assert "column 'when' of " in _refusal(path, capsys)


def test_times_within_range_are_read(tmp_path: Path) -> None:
    kinds = [
        *map(pa.timestamp, ("s", "ms", "us", "ns")),
        *map(pa.duration, ("s", "us")),
        *(pa.date32(), pa.date64(), pa.time32("s"), pa.time64("us"), pa.timestamp("us", "UTC")),
    ]
    columns = {str(kind): pa.array([0, None], _whole(kind)).cast(kind) for kind in kinds}
    table = pa.table(columns | {"interval": pa.nulls(2, pa.month_day_nano_interval())})
    feather.write_feather(table, tmp_path / "t.feather")
    assert read_table(tmp_path / "t.feather")[0].equals(table)


# text


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\r1,x\r2,y\r",
        b"a,b\r1,x\r2,y",
        b"a,b\r\n1,x\r2,y\n",
        b"a,b\n1,x\r\n2,y\r",
        b"a,b\r\r\n1,x\r\r\n2,y\r\r\n",
        b"\xef\xbb\xbfa,b\r1,x\n\r2,y",
    ],
)
def test_lines_may_end_in_any_way(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    table, rows = read_table(path)
    assert rows == 2
    assert table.to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


def test_errors_count_lines_of_any_kind(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\r1\r2\r\n3\ncaf\xe9\r")
    with pytest.raises(Unreadable, match="on line 5"):
        read_table(path)
    path.write_bytes(b"a\r1\r2\r\n3\n\x00\r")
    with pytest.raises(Unreadable, match="NUL byte on line 5"):
        read_table(path)


BINARY = {
    "array": b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'shape': (3,), }\n" + np.arange(3.0).tobytes(),
    "pickle": b"\x80\x04\x95\x1b\x00\x00\x00\x00\x00\x00\x00]\x94(K\x01K\x02e.",
    "program": b"\x7fELF\x02\x01\x01\x00\x00\x00\x00",
    "noise": np.random.default_rng(0).bytes(5000),
    "noise without NUL": np.random.default_rng(1).bytes(5000).replace(b"\x00", b"\x01"),
    "noise without line ends": np.random.default_rng(2).bytes(500).translate(None, b"\x00\r\n"),
    "a name without an end": b"x" * 200_000 + b"\n1\n",
}


@pytest.mark.parametrize("case", BINARY)
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt"])
def test_binary_content_is_no_text(tmp_path: Path, case: str, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(BINARY[case])
    assert path.name in _refusal(path, capsys)


def test_hostile_files_took_little_memory() -> None:
    """Of this process, which has read most of the above."""
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < MEMORY // 1024
