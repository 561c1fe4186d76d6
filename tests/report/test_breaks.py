"""Breaks of level, trend and variance: found where they are, not in noise, memory or random walks."""

import numpy as np
import pytest

from latently.report import explore
from latently.report.series.breaks import breaks

# Cobb (1978), Biometrika 65: flow of the Nile at Aswan, 1871 to 1970; its level fell in 1899
NILE = np.fromstring(
    """
    1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140 1100 1210 1150 1250
    1260 1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969 831 726 456 824 702 1120 1100 832 764 821
    768 845 864 862 698 845 744 796 1040 759 781 865 845 944 984 897 822 1010 771 676 649 846 812 742 801 1040 860
    874 848 890 744 749 838 1050 918 986 797 923 975 815 1020 906 901 1170 912 746 919 718 714 740
    """,
    sep=" ",
)


def test_the_level_of_the_nile_falls_in_1899():
    (found,) = breaks(NILE, rises=False).found
    assert (found.kind, 1871 + found.at) == ("level", 1899)
    assert (found.before, found.after) == pytest.approx((NILE[:28].mean(), NILE[28:].mean()))


def test_breaks_of_trend_and_variance():
    rng, t = np.random.default_rng(0), np.arange(200)
    (bend,) = breaks(0.05 * t + 0.1 * np.maximum(t - 110, 0) + rng.normal(size=200), rises=True).found
    assert bend.kind == "trend"
    assert abs(bend.at - 110) < 20
    assert (bend.before, bend.after) == pytest.approx((0.05, 0.15), abs=0.03)
    (wide,) = breaks(np.where(t < 120, 1, 3) * rng.normal(size=200), rises=False).found
    assert wide.kind == "variance"
    assert abs(wide.at - 120) < 15
    assert 2 < wide.after / wide.before < 4


@pytest.mark.parametrize("r", [0.0, 0.7, 1.0], ids=["noise", "memory", "random walk"])
def test_at_most_one_alarm_in_a_hundred_series_without_a_break(r):
    from scipy.signal import lfilter

    series = lfilter([1.0], [1.0, -r], np.random.default_rng(1).normal(size=(200, 150)), axis=1)
    assert sum(bool(breaks(y, rises=k % 2 == 0).found) for k, y in enumerate(series)) <= 2


def test_a_report_tells_the_break():
    years = [f"{1871 + i}-01-01" for i in range(100)]
    found = explore({"year": years, "flow": NILE}, time="year").to_dict()
    (entry,) = found["time"]["trend"]["breaks"]
    assert (entry["kind"], entry["at"], entry["row"]) == ("level", "1899-01-01", 28)
    text = "At 1899-01-01 the level of flow falls from 1098 to 850."
    assert text in [insight["text"] for insight in found["insights"] if insight["finding"] == "change"]
    assert text in found["time"]["text"]


def test_times_that_repeat_without_a_column_that_tells_rows_apart_are_said():
    rng = np.random.default_rng(0)
    found = explore({"t": np.repeat(np.arange(60), 2), "x": rng.normal(size=120)}, time="t").to_dict()["time"]
    assert found["trend"]["n"] == 0
    assert "Several rows share a time" in found["text"]


def test_the_order_of_the_file_does_not_matter():
    years, order = 1871 + np.arange(100), np.random.default_rng(0).permutation(100)
    found = explore({"year": years[order], "flow": NILE[order]}, time="year").to_dict()
    (entry,) = found["time"]["trend"]["breaks"]
    assert (entry["kind"], entry["at"]) == ("level", "1899")
    assert order[entry["row"]] == 28
