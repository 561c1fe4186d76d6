"""Several breaks of one series, breaks beside a season, and trends that steps explain; none in memory alone."""

import numpy as np
import pytest
from scipy.signal import lfilter

from latently.report import explore
from latently.report.series.breaks import breaks
from latently.report.series.chance import Sought, clearest
from latently.report.series.decompose import decompose
from latently.report.series.rising import TREND_ALARM, trend_p

# Harvey and Durbin (1986), as UKDriverDeaths of R's datasets: drivers killed or seriously injured in Great Britain by
# month, 1969 to 1984; oil became dear at the end of 1973, seat belts had to be worn from February 1983 on
DRIVERS = np.fromstring(
    """
    1687 1508 1507 1385 1632 1511 1559 1630 1579 1653 2152 2148 1752 1765 1717 1558 1575 1520 1805 1800
    1719 2008 2242 2478 2030 1655 1693 1623 1805 1746 1795 1926 1619 1992 2233 2192 2080 1768 1835 1569
    1976 1853 1965 1689 1778 1976 2397 2654 2097 1963 1677 1941 2003 1813 2012 1912 2084 2080 2118 2150
    1608 1503 1548 1382 1731 1798 1779 1887 2004 2077 2092 2051 1577 1356 1652 1382 1519 1421 1442 1543
    1656 1561 1905 2199 1473 1655 1407 1395 1530 1309 1526 1327 1627 1748 1958 2274 1648 1401 1411 1403
    1394 1520 1528 1643 1515 1685 2000 2215 1956 1462 1563 1459 1446 1622 1657 1638 1643 1683 2050 2262
    1813 1445 1762 1461 1556 1431 1427 1554 1645 1653 2016 2207 1665 1361 1506 1360 1453 1522 1460 1552
    1548 1827 1737 1941 1474 1458 1542 1404 1522 1385 1641 1510 1681 1938 1868 1726 1456 1445 1456 1365
    1487 1558 1488 1684 1594 1850 1998 2079 1494 1057 1218 1168 1236 1076 1174 1139 1427 1487 1483 1513
    1357 1165 1282 1110 1297 1185 1222 1284 1444 1575 1737 1763
    """,
    sep=" ",
)
MONTHS = [f"{1969 + k // 12}-{k % 12 + 1:02d}-01" for k in range(192)]


def test_oil_and_seat_belts_each_lowered_the_level_and_there_is_no_trend_beside():
    told = explore({"month": MONTHS, "drivers": DRIVERS}, time="month").to_dict()["insights"]
    (change,) = [each for each in told if each["finding"] == "change"]
    assert "At 1983-02-01 the level of drivers falls" in change["text"]
    assert "At 1974-12-01 the level of drivers falls" in change["text"]
    assert [MONTHS[row] for row in change["rows"]] == ["1974-12-01", "1983-02-01"]
    (season,) = [each for each in told if each["finding"] == "season"]
    assert "season of 12 months, highest in December" in season["text"]
    assert "falls by" not in season["text"]


def test_a_rise_and_a_fall_that_hide_each_other_are_found_together():
    rng, t = np.random.default_rng(0), np.arange(120)
    y = 3 * ((t >= 50) & (t < 80)) + rng.normal(size=120)
    assert clearest(y, Sought(120, "level", 2))[1] < 1e-4
    found = breaks(y, rises=False).found
    assert [each.kind for each in found] == ["level", "level"]
    assert np.abs(np.array([each.at for each in found]) - [50, 80]).max() <= 3
    assert found[0].after - found[0].before == pytest.approx(3, abs=0.7)
    assert found[1].before == pytest.approx(found[0].after)


def test_growth_that_stops_and_begins_again():
    """Employment before, in and after a recession: no trend as a whole, two bends of a line."""
    rng, t = np.random.default_rng(0), np.arange(120)
    y = 0.1 * t - 0.4 * np.clip(t - 40, 0, 30) + lfilter([1], [1, -0.5], 0.15 * rng.normal(size=120))
    found = breaks(y, rises=False).found
    assert [each.kind for each in found] == ["trend", "trend"]
    assert [each.at for each in found] == pytest.approx([40, 70], abs=4)
    assert [found[0].before, found[0].after, found[1].after] == pytest.approx([0.1, -0.3, 0.1], abs=0.05)


def test_a_line_stays_where_a_step_stands_beside_it():
    rng, t = np.random.default_rng(0), np.arange(150)
    found = breaks(0.05 * t + 3 * (t >= 60) + 0.5 * rng.normal(size=150), rises=True)
    assert found.rises
    assert [(each.kind, each.at) for each in found.found] == [("level", 60)]
    assert found.found[0].after - found.found[0].before == pytest.approx(3, abs=0.5)


@pytest.mark.parametrize("r", [0.0, 0.5, 0.9, 1.0])
def test_memory_alone_has_no_trend(r):
    """Random walks of 40 steps had one in 3 of 100 when a line was tested by how much memory it left."""
    series = lfilter([1.0], [1.0, -r], np.random.default_rng(3).normal(size=(300, 40)), axis=1)
    assert sum(trend_p(y) < TREND_ALARM for y in series) <= 4


def test_no_second_break_where_there_is_one():
    rng = np.random.default_rng(0)
    noise = lfilter([1.0], [1.0, -0.5], rng.normal(size=(100, 150)), axis=1)
    found = [breaks(y + 6.0 * (np.arange(150) >= 60), rises=False).found for y in noise]
    assert sum(len(each) > 1 for each in found) <= 2
    assert sum(len(each) == 0 for each in found) <= 2


def test_p_values_are_those_of_chance():
    """Of noise, one series in ten shows what chance brings in one of ten."""
    rng = np.random.default_rng(5)
    for sought in (Sought(100, "level"), Sought(100, "trend", 2, rises=True), Sought(100, "line")):
        p = np.array([clearest(y, sought)[1] for y in rng.normal(size=(300, 100))])
        assert 0.03 < (p < 0.1).mean() < 0.17


def test_a_season_that_is_strong_within_its_cycles():
    """A day's swing in weather that moves much more from day to day."""
    rng, hours = np.random.default_rng(0), np.arange(24 * 60)
    weather = np.repeat(10 * lfilter([1], [1, -0.8], rng.normal(size=60)), 24)
    parts = decompose(weather + 4 * np.sin(2 * np.pi * hours / 24) + 0.5 * rng.normal(size=len(hours)), (24, 168))
    assert parts.period == 24
    assert parts.season_strength > 0.5
