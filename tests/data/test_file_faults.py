"""Files that are broken, empty, or do not go together: errors name the file, and nothing is lost."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from latently.cluster import GaussianMixture, KMeans
from latently.data import open_source
from latently.data.sources.paths import FileError
from latently.sequence import GaussianHMM, MarkovChain


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(4):
        frame = pd.DataFrame(rng.normal(size=(500, 2)) + 5 * (i % 2), columns=["a", "b"])
        frame.assign(id=i).to_parquet(tmp_path / f"{i}.parquet", row_group_size=100)
    return tmp_path


def fitted(folder):
    return GaussianMixture(2, random_state=0).fit(folder, columns=["a", "b"])


def cut_short(path):
    path.write_bytes(path.read_bytes()[:-100])


def damage_a_page(path):
    data = bytearray(path.read_bytes())
    offset = pq.read_metadata(path).row_group(2).column(0).data_page_offset
    data[offset : offset + 64] = b"\xff" * 64
    path.write_bytes(data)


def empty(path):
    path.write_bytes(b"")


def rename_a_column(path):
    pd.read_parquet(path).rename(columns={"b": "B"}).to_parquet(path)


def write_text(path):
    frame = pd.read_parquet(path)
    frame.assign(b=frame["b"].astype(str)).to_parquet(path)


def put_inf(path):
    frame = pd.read_parquet(path)
    frame.loc[7, "b"] = np.inf
    frame.to_parquet(path)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (cut_short, "2.parquet: cannot be read"),
        (damage_a_page, "2.parquet: cannot be read"),
        (empty, "2.parquet: cannot be read"),
        (rename_a_column, "2.parquet: has no column 'b', only 'a', 'B', 'id'"),
        (write_text, "column 'b' is .*string, but double in .*0.parquet"),
        (put_inf, r"column 'b' contains inf \(row 1007\)"),
    ],
)
def test_a_file_in_the_middle_is_at_fault(folder, damage, told):
    """The error names the file, and what was learnt before is as it was."""
    damage(folder / "2.parquet")
    model = GaussianMixture(2, random_state=0).fit(np.random.default_rng(0).normal(size=(50, 2)))
    before = model.means_.copy()
    with pytest.raises(FileError, match=told) as found:
        model.fit(folder, columns=["a", "b"])
    assert found.value.path == str(folder / "2.parquet")
    np.testing.assert_array_equal(model.means_, before)


def test_numbers_of_another_kind_are_fine(folder):
    path = folder / "2.parquet"
    frame = pd.read_parquet(path)
    rows = pd.concat([pd.read_parquet(folder / f"{i}.parquet") for i in range(4)], ignore_index=True)
    rows.loc[1000:1499, "b"] = np.round(rows.loc[1000:1499, "b"])
    frame.assign(b=np.round(frame["b"]).astype("int16")).to_parquet(path)
    expected = GaussianMixture(2, random_state=0).fit(rows[["a", "b"]])
    np.testing.assert_allclose(fitted(folder).means_, expected.means_, rtol=0, atol=1e-10)


def test_forbidden_nan_names_frame_and_column():
    source = open_source(lambda: [pd.DataFrame({"a": [1.0, np.nan]})]).checked(allow_nan=False)
    with pytest.raises(FileError, match="frame 0: column 'a' contains NaN"):
        list(source)


def test_bad_weights_name_the_row(folder):
    for i, bad in enumerate((1.0, 1.0, -2.0, 1.0)):
        frame = pd.read_parquet(folder / f"{i}.parquet").assign(w=1.0)
        frame.loc[3, "w"] = bad
        frame.to_parquet(folder / f"{i}.parquet")
    with pytest.raises(FileError, match="2.parquet: the weight 'w' of row 1003 is -2"):
        KMeans(2).fit(folder, sample_weight="w")


def test_text_is_not_a_number(tmp_path):
    pd.DataFrame({"a": ["x"], "t": pd.to_datetime(["2020-01-01"])}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(FileError, match="t.parquet: column 'a' holds no numbers"):
        KMeans(1).fit(tmp_path / "t.parquet", columns=["a"])
    with pytest.raises(FileError, match="t.parquet: column 't' holds dates"):
        KMeans(1).fit(tmp_path / "t.parquet", columns=["t"])


def test_text_that_comes_late_in_a_csv_file(tmp_path):
    lines = ["a,b", *(f"{i},{i + 1}" for i in range(300_000)), "oops,1"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(FileError, match="t.csv: cannot be read .*oops"):
        KMeans(1).fit(tmp_path / "t.csv")


def test_fractions_that_come_late_in_a_csv_file(tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(["a", *["1"] * 300_000, "2.5"]))
    assert sum(chunk.X.sum() for chunk in open_source(tmp_path / "t.csv")) == 300_002.5


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no Parquet or CSV"):
        KMeans().fit(tmp_path)
    with pytest.raises(FileNotFoundError, match="no file matches"):
        KMeans().fit(str(tmp_path / "*.parquet"))
    with pytest.raises(FileNotFoundError, match="there is no file"):
        KMeans().fit(tmp_path / "gone.parquet")


def test_no_rows_at_all(tmp_path):
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t.parquet has 0 sample\(s\)"):
        KMeans(1).fit(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        GaussianMixture(1).fit(tmp_path / "t.parquet")


def test_files_without_rows_do_not_matter(folder):
    expected = fitted(folder)
    empty = pd.read_parquet(folder / "0.parquet").iloc[:0]
    empty.to_parquet(folder / "00.parquet")
    empty.to_parquet(folder / "9.parquet")
    np.testing.assert_array_equal(fitted(folder).means_, expected.means_)


def test_two_kinds_of_files(folder):
    (folder / "more.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="both Parquet and CSV"):
        fitted(folder)


def test_unknown_columns_are_named(folder):
    with pytest.raises(ValueError, match=r"column 'z' is not in .*0.parquet and 3 more, which has 'a', 'b', 'id'"):
        KMeans().fit(folder, columns=["a", "z"])
    with pytest.raises(ValueError, match="column 'w' is not in"):
        KMeans().fit(folder, columns=["a"], sample_weight="w")
    with pytest.raises(TypeError, match="columns must be a list"):
        KMeans().fit(folder, columns="a")
    with pytest.raises(ValueError, match="filters must be"):
        KMeans().fit(folder, filters="a > 3")


def test_torn_sequences_say_how_to_mend_them(folder):
    table = pd.concat([pd.read_parquet(folder / f"{i}.parquet") for i in (0, 1, 0)])
    table.to_parquet(folder / "t.parquet")
    with pytest.raises(FileError, match=r"t.parquet: the rows are not sorted by 'id': 0 comes after 1.*sort the whole"):
        GaussianHMM(2).fit(folder / "t.parquet", columns=["a"], sequences_by="id")
    with pytest.raises(ValueError, match="sequences_by='id'"):
        GaussianHMM(2).fit(folder / "t.parquet", columns=["a"])
    with pytest.raises(ValueError, match="one column of symbols"):
        MarkovChain().fit(folder / "t.parquet", columns=["a", "b"], sequences_by="id")
    table.assign(id=None).to_parquet(folder / "t.parquet")
    with pytest.raises(FileError, match="'id' is missing in some rows"):
        MarkovChain().fit(folder / "t.parquet", columns=["a"], sequences_by="id")


def test_weights_that_change_within_a_sequence(folder):
    with pytest.raises(ValueError, match="'b' changes within a sequence|weight 'b'"):
        GaussianHMM(2).fit(folder, columns=["a"], sequences_by="id", sample_weight="b")


def test_data_that_changes_during_a_fit(folder, monkeypatch):
    monkeypatch.setattr("latently.data.stored.source.KEEP_BYTES", 0)
    source = open_source(folder, columns=["a"])
    assert source.n_rows == 2000
    frame = pd.read_parquet(folder / "1.parquet")
    for rows in (frame.iloc[:-1], pd.concat([frame, frame])):
        rows.to_parquet(folder / "1.parquet")
        with pytest.raises(ValueError, match="(fewer|more) rows than when it was counted"):
            list(source)


def test_an_iterator_that_is_used_up():
    frames = iter([pd.DataFrame({"a": [1.0, 2.0]})])
    with pytest.raises(ValueError, match="was it used up"):
        KMeans(1).fit(lambda: frames)
    with pytest.raises(TypeError, match="must return an iterable"):
        KMeans(1).fit(lambda: 3)
    with pytest.raises(TypeError, match="frame 0 is a str"):
        KMeans(1).fit(lambda: ["a"])
    with pytest.raises(FileError, match="frame 1: has no column 'a'"):
        KMeans(1).fit(lambda: [pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [1.0]})])


def test_options_of_files_are_refused_for_tables_in_memory():
    with pytest.raises(ValueError, match="columns is for tables that are not in memory"):
        KMeans(1).fit([[1.0]], columns=["a"])
    with pytest.raises(ValueError, match="to is for tables that are not in memory"):
        KMeans(1).fit([[1.0]]).predict([[1.0]], to="out.parquet")
    source = open_source(lambda: [pd.DataFrame({"a": [1.0]})])
    with pytest.raises(ValueError, match="give columns when making it"):
        KMeans(1).fit(source, columns=["a"])
