"""Time that nobody named: which column is taken for it, and what that tells."""

import numpy as np
import pytest

from latently.cli import main
from latently.report import explore
from latently.report.reading.table import column_views, read_column
from latently.report.series.cycle import clearest_cycle
from latently.report.series.decompose import ALARM
from latently.report.series.evident import evident_time
from latently.report.study.columns import judge

# Canadian lynx trapped, 1821 to 1934 (Elton and Nicholson, 1942)
LYNX = """
269 321 585 871 1475 2821 3928 5943 4950 2577 523 98 184 279 409 2285 2685 3409 1824 409 151 45 68 213 546
1033 2129 2536 957 361 377 225 360 731 1638 2725 2871 2119 684 299 236 245 552 1623 3311 6721 4254 687 255 473
358 784 1594 1676 2251 1426 756 299 201 229 469 736 2042 2811 4431 2511 389 73 39 49 59 188 377 1292 4031 3495
587 105 153 387 758 1307 3465 6991 6313 3794 1836 345 382 808 1388 2713 3800 3091 2985 3790 374 81 80 108 229
399 1132 2432 3574 2935 1537 529 485 662 1000 1590 2657 3396
"""


def judged(table):
    return [judge(read_column(view, None), "apply") for view in column_views(table)]


@pytest.mark.parametrize(
    ("times", "name"),
    [
        (np.arange(1900, 1960), "when"),
        (1949 + np.arange(60) / 12, "when"),
        (np.arange("2000-01", "2005-01", dtype="datetime64[M]").astype(str).tolist(), "when"),
        (np.arange(60) * 5.0, "day"),
    ],
)
def test_what_rises_in_even_steps_is_time(times, name):
    table = {name: times, "y": np.random.default_rng(0).normal(size=60)}
    assert evident_time(judged(table), None) == name
    assert evident_time(judged(table), name) is None
    assert evident_time(judged({name: times, "word": ["a", "b"] * 30}), None) is None
    assert evident_time(judged({name: list(times)[::-1][1:] + list(times)[-1:], "y": table["y"]}), None) is None


def test_numbers_of_rows_and_uneven_steps_are_no_time():
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    assert evident_time(judged({"id": np.arange(1, 61), "y": y}), None) is None
    assert evident_time(judged({"dose": np.arange(60) * 5.0, "y": y}), None) is None
    assert evident_time(judged({"time": np.cumsum(rng.exponential(size=60)), "y": y}), None) is None
    assert evident_time(judged({"year": np.repeat(np.arange(1900, 1930), 2), "y": y}), None) is None


def test_a_trend_is_found_without_asking_and_told_where_from():
    rng = np.random.default_rng(0)
    table = {"year": np.arange(1900, 1960), "y": 0.1 * np.arange(60) + rng.normal(size=60)}
    found = explore(table).to_dict()
    assert found["insights"][0]["finding"] == "trend"
    assert any("is taken as time" in sentence for sentence in found["warnings"])
    apart = explore(table, time=False).to_dict()
    assert apart["time"] is None
    assert not any(each["finding"] == "trend" for each in apart["insights"])


def test_time_and_no_time_contradict_each_other(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("t,y\n1,2\n")
    assert main(["explore", str(path), "--time", "t", "--no-time"]) == 2
    assert "--no-time" in capsys.readouterr().err


def test_the_lynx_has_a_cycle_of_nine_to_ten_years():
    values = np.array(LYNX.split(), dtype=float)
    found = explore({"year": np.arange(1821, 1935), "lynx": values}).to_dict()["insights"][0]
    assert found["finding"] == "season"
    assert "about 9.5 years" in found["text"]


@pytest.mark.parametrize("r", [0.0, 0.7, 1.0])
def test_memory_alone_is_no_cycle(r):
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(200):
        y = rng.normal(size=120)
        for t in range(1, 120):
            y[t] += r * y[t - 1]
        alarms += clearest_cycle(y).p < ALARM
    assert alarms <= 2


def test_ten_censuses_that_all_rise_are_a_trend_and_a_short_walk_is_none():
    people = [
        3.93,
        5.31,
        7.24,
        9.64,
        12.9,
        17.1,
        23.2,
        31.4,
        39.8,
        50.2,
        62.9,
        76.0,
        92.0,
        105.7,
        122.8,
    ]
    found = explore({"year": 1790 + 10 * np.arange(15), "people": people}).to_dict()["insights"][0]
    assert found["finding"] == "trend"
    assert "a year" in found["text"]
    rng = np.random.default_rng(0)
    walks = [explore({"year": 1900 + np.arange(15), "y": np.cumsum(rng.normal(size=15))}) for _ in range(10)]
    assert not any(each["finding"] == "trend" for walk in walks for each in walk.to_dict()["insights"])
