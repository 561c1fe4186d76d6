"""Missing values in pictures."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from latently.plot import MissingnessDisplay

FRAME = pd.DataFrame({"cm": [1.0, -999, 3, 4, None, 6], "city": ["a", None, "b", None, None, "?"]})


def test_patterns_counts_and_shares_are_those_of_the_table():
    display = MissingnessDisplay.from_table(FRAME, missing=[-999, "?"])
    absent = FRAME.isna() | FRAME.isin([-999, "?"])
    assert_allclose(display.shares, absent.mean())
    counted = absent.value_counts()
    shown = {tuple(map(bool, p)): int(n) for p, n in zip(display.patterns, display.counts, strict=True)}
    assert shown == {tuple(map(bool, p)): int(n) for p, n in counted.items()}
    assert (np.diff(display.counts) <= 0).all()
    assert_allclose(display.image_.get_array(), display.patterns)
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["cm (33%)", "city (67%)"]


def test_polars_is_as_good():
    display = MissingnessDisplay.from_table(pl.DataFrame({"a": [1, None], "b": ["x", "y"]}))
    assert_allclose(display.shares, [0.5, 0.0])


def test_rare_patterns_are_counted_in_the_title():
    X = np.ones((9, 3))
    X[0, 0] = X[1, 1] = X[2, 2] = np.nan
    display = MissingnessDisplay.from_table(X, max_patterns=2)
    assert display.counts.tolist() == [6, 1]
    assert "2 rows have rarer patterns" in display.ax_.get_title()
    assert_allclose(display.shares, 1 / 9)


def test_bad_input():
    with pytest.raises(ValueError, match="max_patterns"):
        MissingnessDisplay.from_table([[1.0]], max_patterns=0)
    with pytest.raises(ValueError, match="0 sample"):
        MissingnessDisplay.from_table(np.empty((0, 2)))
