"""Numbers and dates as people write them."""

from datetime import UTC, datetime

import numpy as np
import pytest

from latently.report import explore
from latently.report.reading.dates import read_dates
from latently.report.reading.numerals import read_numerals
from latently.report.reading.table import read_columns


def day(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$1,200.50", 1200.5),
        ("-$3", -3.0),
        ("$-3.10", -3.1),
        ("(1,000)", -1000.0),
        ("€ 12", 12.0),
        ("12 €", 12.0),
        ("USD 7.25", 7.25),
        ("1 234 567", 1234567.0),
        ("1'000.5", 1000.5),
        ("12.5%", 12.5),
        ("1.5e3", 1500.0),
        (" 42 ", 42.0),
        ("+7", 7.0),
    ],
)
def test_a_number_as_people_write_it(text, value):
    assert read_numerals([text]).values[text] == value


@pytest.mark.parametrize("texts", [["1.234,5", "7"], ["0,5", "1,25"], ["€ 1.000,00", "€ 2,5"]])
def test_decimal_commas_are_found_from_the_column(texts):
    found = read_numerals(texts)
    assert "the comma is the decimal sign" in found.notes
    assert all(v == float(t.replace("€", "").replace(".", "").replace(",", ".")) for t, v in found.values.items())


@pytest.mark.parametrize(
    "texts",
    [["02134", "90210"], ["5 %", "5"], ["12", "twelve"], ["1,23,4"], ["1_000"], ["10.0.0.1"], ["3-4"], [""], []],
)
def test_what_is_no_column_of_numbers(texts):
    assert read_numerals(texts) is None


@pytest.mark.parametrize(
    "text",
    [
        "2012-01-05",
        "2012/01/05",
        "2012.01.05",
        "20120105",
        "Jan 5 2012",
        "January 5, 2012",
        "5 Jan 2012",
        "05-JAN-2012",
        "5th January 2012",
        "Thu, 5 Jan 2012",
        "13/01/2012",
        "01/13/2012",
        "05.01.2012",
        "05.01.12",
    ],
)
def test_a_date_as_people_write_it(text):
    found = read_dates([text]).values[text]
    assert found == (day("2012-01-13") if "13" in text else day("2012-01-05"))


def test_times_of_day():
    found = read_dates(["1/31/2020 2:05 PM", "2/1/2020 12:00 AM", "2/1/2020 11:59:30 am"]).values
    assert list(found.values()) == [day("2020-01-31T14:05"), day("2020-02-01"), day("2020-02-01T11:59:30")]


def test_months_and_quarters():
    assert read_dates(["2020-02", "2021-11"]).values["2020-02"] == day("2020-02-01")
    assert read_dates(["Feb 2020"]).values["Feb 2020"] == day("2020-02-01")
    assert read_dates(["2020Q3"]).values["2020Q3"] == day("2020-07-01")


def test_the_column_tells_whether_the_day_comes_first():
    assert read_dates(["03/04/2020", "31/12/2020"]).values["03/04/2020"] == day("2020-04-03")
    assert read_dates(["03/04/2020", "12/31/2020"]).values["03/04/2020"] == day("2020-03-04")
    assert any("cannot be distinguished" in note for note in read_dates(["03/04/2020", "05/06/2020"]).notes)


def test_several_formats_are_named():
    assert any("several formats" in note for note in read_dates(["2020-01-02", "3 Jan 2020", "2020-01-04"]).notes)


def test_impossible_dates_are_named_with_their_rows():
    days = [f"2023-02-{d:02d}" for d in range(1, 29)] + ["2023-02-30"]
    column = read_columns({"when": days})[0]
    assert column.kind == "date"
    assert np.isnan(column.values[-1])
    assert np.isfinite(column.values[:-1]).all()
    assert any("2023-02-30" in note and "row 28" in note for note in column.notes)


@pytest.mark.parametrize("texts", [["a", "b"], ["2020-01-01", "soon"], ["Foo 5 2012"], ["99/99/9999"] * 3, [""]])
def test_what_is_no_column_of_dates(texts):
    assert read_dates(texts) is None


def test_time_zones_count():
    assert read_dates(["2020-01-01T00:00:00+02:00"]).values["2020-01-01T00:00:00+02:00"] == day("2019-12-31T22:00")


def test_columns_of_a_table():
    table = {
        "price": ["$1,000", "$20", "n/a"],
        "zip": ["02134", "90210", "10001"],
        "date": [20200131, 20200201, 20200229],
        "share": ["5%", "7.5%", ""],
    }
    kinds = {column.name: column.kind for column in read_columns(table)}
    assert kinds == {"price": "number", "zip": "text", "date": "date", "share": "number"}
    values = read_columns(table)[0].values
    assert values[:2].tolist() == [1000.0, 20.0]
    assert np.isnan(values[2])


def codes_of(values, **how):
    found = explore({"v": values, "x": np.arange(len(values)) % 7.0}, **how).to_dict()
    return found["columns"][0]["missing"], {code["value"]: code["applied"] for code in found["columns"][0]["codes"]}


@pytest.mark.parametrize(
    ("values", "codes", "missing"),
    [
        (np.r_[np.linspace(0, 50, 80), [-999.0] * 3], {-999: True}, 3),
        (np.r_[np.linspace(0, 50, 80), [9999.0] * 3], {9999: True}, 3),
        (np.r_[np.linspace(60, 120, 80), [0.0] * 5], {0: True}, 5),
        (np.r_[np.linspace(5, 80, 200), [512.3292] * 3], {512.3292: False}, 0),  # the dearest tickets of the Titanic
        (np.r_[np.tile([0.0, 1, 2, 3, 4, 5, 6], 20), [9.0] * 2], {9: False}, 0),
    ],
)
def test_only_conventional_codes_change_anything(values, codes, missing):
    assert codes_of(values) == (missing, codes)


def test_codes_are_suggested_or_not_looked_for():
    values = np.r_[np.linspace(0, 50, 80), [-999.0] * 3]
    assert codes_of(values, codes="suggest") == (0, {-999: False})
    assert codes_of(values, codes="none") == (0, {})
    with pytest.raises(ValueError, match="codes must be one of"):
        codes_of(values, codes="all")


def test_words_in_free_text_are_words():
    titles = [f"film {i}" for i in range(60)] + ["Missing", "Missing"]
    assert codes_of(titles) == (0, {})


def test_a_date_for_missing_is_a_code():
    days = ["1900-01-01"] * 3 + [f"2020-01-{d:02d}" for d in range(1, 31)]
    assert codes_of(days) == (3, {"1900-01-01": True})


def prices(odd, n=60):
    texts = [f"{value:.2f}" for value in np.random.default_rng(0).normal(50, 9, n - len(odd))]
    return [*texts[:7], *odd, *texts[7:]]


def test_a_few_words_in_a_column_of_numbers_are_missing_and_named():
    (column,) = read_columns({"price": prices(["see note", "<0.1"])})
    assert (column.kind, column.written.unread, column.written.places) == ("number", ("see note", "<0.1"), (7, 8))
    assert np.flatnonzero(np.isnan(column.values)).tolist() == [7, 8]
    assert any("'see note'" in note and "row 7, 8" in note for note in column.notes)


@pytest.mark.parametrize(
    "texts",
    [
        prices(["n", "o", "n", "e"]),  # more than 5 % of the rows
        [str(k) for k in range(100, 160)] + ["131b", "131c"],  # labels
        [f"{k}.1" for k in range(10, 70)] + ["01", "02"],  # labels of a tree of classes
        [str(k % 4) for k in range(60)] + ["many"],  # few different numbers
        [f"room {k}" for k in range(60)] + ["3.5", "4.5"],
    ],
)
def test_other_columns_with_words_stay_text(texts):
    assert read_columns({"a": texts})[0].kind == "text"


def test_a_long_remark_does_not_spoil_a_column_of_dates():
    days = [f"2023-01-{d:02d}" for d in range(1, 29)]
    (column,) = read_columns({"when": [*days, "not known, and nobody who was there at the time can be asked any more"]})
    assert (column.kind, column.written.places) == ("date", (28,))


def test_what_could_not_be_read_is_a_finding_with_its_rows_as_the_file_counts_them():
    days = [f"{d:02d}/03/2023" for d in range(1, 32)] + ["31/02/2023", "2023-04-01"]
    table = {"day": days, "price": prices(["see note"], len(days)), "x": np.arange(len(days)) ** 2 % 17}
    found = explore(table, row_numbers=np.arange(len(days)) + 1000).to_dict()["insights"]
    odd = {each["columns"][0]: each for each in found if each["finding"] == "missing_code"}
    assert (odd["day"]["rows"], odd["price"]["rows"]) == ([1031], [1007])
    assert "'31/02/2023' in row 1031" in odd["day"]["text"]
    assert odd["price"]["code"] == "df.iloc[[1007]]"
    (formats,) = [each for each in found if each["finding"] == "spelling"]
    assert "slashes (32 dates) and year first (1 date)" in formats["text"]


def test_the_script_leaves_out_what_the_report_could_not_read():
    texts = prices(["about 12"])
    made = explore({"price": texts, "x": np.arange(len(texts)) * 1.5}).fix()
    assert "df = numbers(df, 'price', '.', ['about 12'], rows=59)" in made
