"""Reasons: the smallest set of numbers to blame, intervals that are possible, one sentence for a row."""

import re

import numpy as np
import pytest

from latently.report import explore


def stones(n=400):
    """Positive columns that hang together, whole counts among them; three rows have slips."""
    rng = np.random.default_rng(0)
    size = rng.lognormal(1.5, 0.4, n)
    table = {
        "length": size * rng.normal(1, 0.02, n),
        "width": 0.6 * size * rng.normal(1, 0.02, n),
        "weight": 0.01 * size**3 * rng.normal(1, 0.05, n),
        "grains": np.round(300 * size * rng.normal(1, 0.03, n)),
    }
    table["width"][7] *= 10  # a decimal slip
    table["grains"][50] = round(table["grains"][50] * 7)
    table["length"][90], table["weight"][90] = table["length"][90] * 8, table["weight"][90] * 60
    return table


@pytest.fixture(scope="module")
def listed():
    return {entry["row"]: entry for entry in explore(stones()).to_dict()["anomalies"]["rows"]}


def ends(reason):
    return [float(number) for number in re.findall(r"[\d.e+-]+", reason["expected"].replace("about", ""))]


def test_the_cells_that_slipped_are_blamed_and_no_others(listed):
    assert {7, 50, 90} <= set(listed)
    assert [reason["column"] for reason in listed[7]["reasons"]] == ["width"]
    assert [reason["column"] for reason in listed[50]["reasons"]] == ["grains"]
    assert {reason["column"] for reason in listed[90]["reasons"]} == {"length", "weight"}


def test_what_was_expected_holds_the_true_value(listed):
    low, high = ends(listed[7]["reasons"][0])
    assert 0.8 * low <= stones()["width"][7] / 10 <= 1.2 * high


def test_intervals_are_within_the_range_and_whole_where_the_column_is(listed):
    table = stones()
    for entry in listed.values():
        for reason in entry["reasons"]:
            others = np.delete(table[reason["column"]], entry["row"])
            assert all(others.min() * 0.99 <= end <= others.max() * 1.01 for end in ends(reason))
            if reason["column"] == "grains":
                assert all(end == round(end) for end in ends(reason))


def test_one_sentence_for_a_row(listed):
    assert listed[7]["text"].startswith("given the rest of the row, width is ")
    assert listed[7]["text"].count("given") == 1
    assert " and " in listed[90]["text"]
