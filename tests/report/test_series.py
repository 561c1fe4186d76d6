"""Trend and season: found where they are, not where there are none."""

import numpy as np
import pandas as pd
import pytest

from latently.report import explore
from latently.report.series.decompose import ALARM, decompose
from latently.report.series.spacing import spacing

# Box, Jenkins and Reinsel, Time Series Analysis: passengers of airlines, thousands a month, 1949 to 1960
PASSENGERS = np.fromstring(
    """
    112 118 132 129 121 135 148 148 136 119 104 118 115 126 141 135 125 149 170 170 158 133 114 140 145
    150 178 163 172 178 199 199 184 162 146 166 171 180 193 181 183 218 230 242 209 191 172 194 196 196
    236 235 229 243 264 272 237 211 180 201 204 188 235 227 234 264 302 293 259 229 203 229 242 233 267
    269 270 315 364 347 312 274 237 278 284 277 317 313 318 374 413 405 355 306 271 306 315 301 356 348
    355 422 465 467 404 347 305 336 340 318 362 348 363 435 491 505 404 359 310 337 360 342 406 396 420
    472 548 559 463 407 362 405 417 391 419 461 472 535 622 606 508 461 390 432
    """,
    sep=" ",
)


def test_airline_passengers_grow_and_have_a_season_of_twelve_months():
    parts = decompose(PASSENGERS)
    assert parts.period == 12
    assert parts.multiplied
    assert parts.p_trend < 1e-6
    assert parts.season_strength > 0.9
    assert parts.trend_strength > 0.95
    assert set(np.argsort(-parts.cycle)[:2]) == {6, 7}  # July and August
    assert int(parts.cycle.argmin()) == 10  # November
    np.testing.assert_allclose(parts.trend + parts.season + parts.rest, np.log(PASSENGERS))


def autoregressive(rng, n, r):
    noise = rng.normal(size=n)
    for i in range(1, n):
        noise[i] += r * noise[i - 1]
    return noise


@pytest.mark.parametrize("r", [0.0, 0.7, 1.0], ids=["noise", "memory", "random walk"])
def test_no_trend_and_no_season_where_there_is_only_memory(r):
    found = [decompose(autoregressive(np.random.default_rng(seed), 300, r), (12, 7)) for seed in range(40)]
    assert sum(parts.period > 0 for parts in found) <= 2
    assert sum(parts.p_trend < ALARM for parts in found) <= 2


def test_a_change_of_level_is_no_trend():
    y = np.r_[np.zeros(100), np.full(100, 5.0)] + np.random.default_rng(0).normal(size=200)
    assert decompose(y).p_trend == 1.0


def test_a_season_of_any_length_is_found_from_the_series():
    t = np.arange(230)
    y = np.sin(2 * np.pi * t / 23) + 0.5 * np.random.default_rng(0).normal(size=230)
    parts = decompose(y)
    assert parts.period == 23
    assert not parts.multiplied
    assert parts.p_trend > ALARM


def test_missing_values_do_not_hide_it():
    gone = np.random.default_rng(0).random(144) < 0.15
    gone[[0, -1]] = False
    parts = decompose(np.where(gone, np.nan, PASSENGERS), (12,))
    assert parts.period == 12


def test_steps_of_calendars():
    day = 86400.0
    months = np.array(["1949-01", "1949-02", "1949-03", "1949-04", "1949-06"], dtype="datetime64[s]").astype(float)
    found = spacing(months, dates=True)
    assert (found.unit, found.periods, found.places.tolist()) == ("month", (12,), [0, 1, 2, 3, 5])
    assert spacing(np.arange(10) * day, dates=True).periods == (7, 365)
    assert spacing(np.arange(10) * 3600.0, dates=True).unit == "hour"
    assert spacing(1990 + np.arange(5.0), dates=False).unit == "year"
    assert spacing(np.arange(5.0), dates=False).unit == "step"
    assert spacing(np.cumsum(np.random.default_rng(0).exponential(size=50)), dates=False) is None
    assert spacing(np.array([0.0, 1.0]), dates=False) is None


def test_a_report_tells_growth_and_season_first():
    months = [f"{1949 + i // 12}-{i % 12 + 1:02d}-01" for i in range(144)]
    found = explore({"month": months, "passengers": PASSENGERS}, time="month").to_dict()
    first = found["insights"][0]["text"]
    assert "passengers grows by 13 % a year and has a season of 12 months" in first
    assert "; strength 0.9" in first
    assert ", of the trend 0.9" in first
    assert "highest in July and lowest in November" in first
    part = found["time"]["trend"]["parts"][0]
    assert (part["unit"], part["period"], part["scale"]) == ("month", 12, "multiplied")
    assert "month" not in found["clusters"].get("columns", [])


def test_series_of_one_table_are_told_apart():
    rng = np.random.default_rng(0)
    days = [f"2020-01-{d:02d}" for d in range(1, 32)] * 2
    level = np.repeat([10.0, 500.0], 31)
    rise = np.tile(np.arange(31.0), 2) * np.repeat([1.0, 0.0], 31)
    table = {"day": days, "symbol": ["a"] * 31 + ["b"] * 31, "price": level + rise + 0.1 * rng.normal(size=62)}
    found = explore(table, time="day").to_dict()["time"]["trend"]
    assert (found["by"], found["n"]) == ("symbol", 2)
    assert [(part["group"], part["trend"]["found"]) for part in found["parts"]] == [("a", True)]


def test_moments_keep_their_digits():
    times = 1949 + np.arange(144) / 12
    found = explore({"when": times, "passengers": PASSENGERS}, time="when").to_dict()["time"]
    assert found["series"]["at"][1] == "1949.083333"
    assert found["trend"]["parts"][0]["period"] == 12


def test_years_before_a_column_was_measured_do_not_stand_still():
    """A line from 1900 on in a table from 1800 on: it grows, and its variance does not change."""
    rng = np.random.default_rng(0)
    years = np.arange(1800, 2000)
    late = np.where(years < 1900, np.nan, 0.02 * (years - 1900) + 0.1 * rng.normal(size=200))
    table = {"year": years, "late": late, "other": 3 * years + rng.normal(size=200)}
    found = explore(table, time="year").to_dict()["insights"]
    trends = [each for each in found if each["finding"] == "trend"]
    assert "late grows by 0.0" in trends[0]["text"]
    assert not [each for each in found if each["finding"] == "change"]


def test_a_local_hour_that_all_series_share_has_no_trend():
    """Hours of a clock that was put forward once; two stations with noise."""
    moments = np.datetime64("2020-03-01") + np.arange(600) * np.timedelta64(1, "h")
    local = ((np.arange(600) + (np.arange(600) > 300) + 5) % 24).astype(float)
    rng = np.random.default_rng(0)
    table = {"at": np.tile(moments, 2), "station": np.repeat(["a", "b"], 600), "local": np.tile(local, 2)}
    table["heat"] = rng.normal(size=1200)
    parts = explore(table, time="at").to_dict()["time"]["trend"]["parts"]
    assert [entry for entry in parts if entry["column"] == "local"] == []


def test_years_in_another_unit_are_told_and_do_not_hide_the_growth():
    """Belgium's calls abroad, 1950 to 1973, tens of millions; from 1964 to 1969 minutes were written down.

    Rousseeuw and Leroy, Robust Regression and Outlier Detection.
    """
    calls = [0.44, 0.47, 0.47, 0.59, 0.66, 0.73, 0.81, 0.88, 1.06, 1.2, 1.35, 1.49, 1.61, 2.12]
    calls += [11.9, 12.4, 14.2, 15.9, 18.2, 21.2, 4.3, 2.4, 2.7, 2.9]
    table = {"year": np.arange(1950, 1974), "calls": calls}
    found = explore(table, time="year").to_dict()["insights"]
    assert any("calls grows by" in each["text"] for each in found)
    assert set(range(14, 20)) <= {row for each in found if each["finding"] == "change" for row in each["rows"]}


def test_columns_with_a_season_of_one_length_are_one_finding():
    days = pd.date_range("2022-01-03", periods=280)
    rng = np.random.default_rng(0)
    week = np.tile([0.0, 1.0, 3.0, 1.0, 0.0, -4.0, -5.0], 40)
    table = {"day": days} | {name: size * week + rng.normal(size=280) for name, size in (("a", 1.0), ("b", 2.0))}
    found = explore(pd.DataFrame(table), time="day").to_dict()["insights"]
    (season,) = [each for each in found if each["finding"] == "season"]
    assert season["columns"] == ["b", "a"]
    assert season["text"].endswith("a has a season of this length too.")
