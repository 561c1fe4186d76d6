"""Several series in one table, what they share, moments that repeat, and dates in doubt."""

import numpy as np
import pytest

from latently.report import explore
from latently.report.reading.dates import read_dates

MONTHS = [f"{2000 + k // 12}-{k % 12 + 1:02d}-01" for k in range(120)]


def test_what_all_series_share_is_one_series_and_the_others_are_summed_up():
    rng, t = np.random.default_rng(0), np.arange(120)
    prices = np.round(100 + 0.5 * t + rng.normal(size=120), 2)
    table = {"month": MONTHS * 3, "prices": np.tile(prices, 3), "shop": np.repeat(["a", "b", "c"], 120)}
    table["sales"] = np.concatenate([10 + 0.2 * t, 50 - 0.2 * t, 30 + 0.1 * t]) + rng.normal(size=360)
    told = explore(table, time="month").to_dict()["insights"]
    (trend,) = [each for each in told if each["finding"] == "trend"]
    assert set(trend["columns"]) == {"prices", "sales"}
    assert "prices grows by" in trend["text"]
    assert "sales grows in 2 and falls in 1 of 3 series (shop)" in trend["text"]


def test_a_few_rows_that_repeat_a_moment_are_left_out_and_that_is_said():
    rng, t = np.random.default_rng(0), np.arange(120)
    y = 5 * np.sin(2 * np.pi * t / 12) + rng.normal(size=120)
    found = explore({"month": [*MONTHS, *MONTHS[5:7]], "y": [*y, 1.0, 2.0]}, time="month").to_dict()
    assert found["time"]["trend"]["left_out"] == 2
    assert "2 rows with a time that another row has already" in found["time"]["text"]
    assert "season of 12 months" in found["insights"][0]["text"]


def test_half_hours_have_a_season_of_a_day():
    rng, t = np.random.default_rng(0), np.arange(48 * 14)
    when = (np.datetime64("2020-01-01T00:00") + t * np.timedelta64(30, "m")).astype(str)
    found = explore({"when": when, "y": 3 * np.sin(2 * np.pi * t / 48) + rng.normal(size=len(t))}).to_dict()
    assert "season of 48 half-hours" in found["insights"][0]["text"]


@pytest.mark.parametrize(
    ("text", "day"),
    [("1939 Feb", "1939-02-01"), ("1998 W05", "1998-01-26"), ("Q3 1998", "1998-07-01")],
)
def test_years_with_the_name_of_a_month_a_week_or_a_quarter(text, day):
    assert read_dates([text]).values[text] == read_dates([day]).values[day]


def test_the_rows_tell_whether_the_day_comes_first():
    either = [f"01/{n:02d}/2020" for n in range(1, 9)]  # eight days of January, or eight months
    assert any("cannot be distinguished" in note for note in read_dates(either).notes)
    mixed = ["2020-01-01", "01/02/2020", "2020-03-01", "01/04/2020", "2020-05-01", "01/06/2020"]
    assert read_dates(mixed).values["01/02/2020"] == read_dates(["2020-02-01"]).values["2020-02-01"]
