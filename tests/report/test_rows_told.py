"""Which rows are told, and what they are called: those that dwarf all others, copies and empty rows, slips."""

import numpy as np
import pandas as pd
import pytest

from latently.report import explore
from latently.report.findings.rows.dominant import dominant
from latently.report.findings.rows.gap import gap, have_normal_tails
from latently.report.findings.rows.row_numbers import RowNumbers
from latently.report.reading.table import read_columns
from latently.report.study.columns import judge


def insights(table, **how):
    return explore(pd.DataFrame(table), **how).to_dict()["insights"]


def of_kind(found, kind):
    return [each for each in found if each["finding"] == kind]


def far_ahead(table):
    columns = tuple(map(judge, read_columns(pd.DataFrame(table))))
    return dominant(columns, np.arange(len(columns[0].raw)), RowNumbers())


def villages(n=60):
    rng = np.random.default_rng(0)
    people = np.round(np.exp(rng.normal(8, 0.7, n)))
    return {"place": [f"Place{k}" for k in range(n)], "people": people, "area": rng.gamma(4, 10, n)}


def test_a_metropolis_among_villages_is_told_by_its_name():
    table = villages()
    table["people"][17] = 2_000_000
    (found,) = of_kind(insights(table), "anomaly")
    assert found["rows"] == [17]
    assert found["columns"] == ["people"]
    assert found["text"].startswith("In row 17 (Place17) people is 2000000, ")
    assert found["effect"] == pytest.approx(2_000_000 / np.sort(table["people"])[-2])


def test_two_rows_far_ahead_in_two_columns_are_one_finding():
    rng = np.random.default_rng(1)
    people, votes = np.exp(rng.normal(8, 0.6, 60)), np.exp(rng.normal(5, 0.6, 60))
    people[[5, 40]], votes[[5, 40]] = (9e6, 4e6), (8e4, 5e4)
    (found,) = far_ahead({"people": people, "votes": votes, "noise": rng.uniform(1, 2, 60)})
    assert set(found.rows) == {5, 40}
    assert set(found.columns) == {"people", "votes"}
    assert "they are far ahead in" in found.text


@pytest.mark.parametrize("seed", range(10))
def test_the_largest_of_a_power_law_is_not_far_ahead(seed):
    x = np.random.default_rng([seed, 8]).pareto(1.0, size=(200, 4)) + 1
    assert far_ahead({f"c{j}": column for j, column in enumerate(x.T)}) == []


def test_equal_numbers_are_said_once():
    x = np.r_[np.random.default_rng(0).gamma(4, 10, 60), [9e5] * 3]
    (found,) = far_ahead({"x": x})
    assert set(found.rows) == {60, 61, 62}
    assert " x is 900000, at least " in found.text


@pytest.mark.parametrize("seed", range(10))
def test_the_ends_of_skewed_columns_are_not_far_ahead(seed):
    rng = np.random.default_rng([seed, 5])
    columns = (
        rng.lognormal(size=200),
        rng.exponential(size=200),
        rng.chisquare(1, 200),
        np.abs(rng.standard_t(3, 200)),
    )
    assert far_ahead({f"c{j}": x for j, x in enumerate(columns)}) == []


def test_a_column_with_a_sign_has_no_row_that_dwarfs_the_others():
    x = np.random.default_rng(0).normal(size=100)
    x[3] = 500
    assert far_ahead({"x": x}) == []


def test_copies_that_differ_in_an_identifier_are_not_called_exact():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    frame.loc[[150, 160, 170], :] = frame.loc[[15, 16, 17], :].to_numpy()
    (found,) = of_kind(insights(frame.assign(patient_id=np.arange(200))), "duplicates")
    assert "3 rows repeat another row in all but patient_id" in found["text"]
    (found,) = of_kind(insights(frame), "duplicates")
    assert "3 rows repeat another row exactly" in found["text"]


def test_rows_that_are_nearly_empty_are_no_copies():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 6)), columns=list("abcdef"))
    frame.loc[[3, 70, 90, 130], list("abcdef")] = np.nan
    frame.loc[[70, 90], "a"] = [1.0, 2.0]
    assert of_kind(insights(frame), "duplicates") == []


def test_a_gap_is_measured_from_the_furthest_of_the_others():
    size = np.array([[1.0, 6.0, 2.0], [1.0, 6.0, 2.0]])
    inner = np.array([[True, False, True], [True, False, False]])
    np.testing.assert_allclose(gap(size, inner), [3.0, 2.0])


def test_long_tails_and_skewed_rows_are_not_normal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    assert have_normal_tails(X, 3.0, 3.0)
    assert not have_normal_tails(np.column_stack([X, rng.standard_t(2, 100)]), 3.0, 9.0)
    assert not have_normal_tails(np.column_stack([X, rng.exponential(size=100)]), 30.0, 3.0)


def test_the_end_of_a_long_tail_is_no_slip_of_the_point():
    """Ten times the middle is a slip only if nothing lies between."""
    rng = np.random.default_rng(3)
    x = 10 ** (2 + 0.1 * rng.normal(size=400))
    x[7] *= 10
    slipped = [each for each in insights({"x": x, "y": rng.normal(size=400)}) if "decimal point" in each["text"]]
    assert [each["rows"] for each in slipped] == [[7]]
    x[20:26] = 10 ** np.linspace(2.5, 2.95, 6)
    between = [each for each in insights({"x": x, "y": rng.normal(size=400)}) if "decimal point" in each["text"]]
    assert between == []
