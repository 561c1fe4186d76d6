"""Rows that were never learnt cannot be forgotten, whatever the family: the error names the column."""

import numpy as np
import pandas as pd
import pytest

from latently.cluster import Mixture

RNG = np.random.default_rng(0)
N = 60
# rows that were learnt, and a value that was not
LEARNT = {
    "gaussian": (RNG.normal(size=N), 500.0),
    "exponential": (RNG.exponential(size=N), 900.0),
    "gamma": (RNG.gamma(3.0, size=N), 900.0),
    "von_mises": (RNG.vonmises(0.0, 30.0, size=N), 3.0),
    "negative_binomial": (RNG.poisson(4.0, size=N), 77),
    "counts": (RNG.poisson(4.0, size=N), 900),
    "categorical": (np.repeat(["a", "b", "c"], [30, 28, 2]), "c"),
    "binary": (np.repeat([0, 1], [58, 2]), 1),
}


@pytest.mark.parametrize("family", LEARNT)
@pytest.mark.parametrize("k", [1, 2])
def test_strangers_are_refused_and_change_nothing(family, k):
    values, stranger = LEARNT[family]
    table = pd.DataFrame({"here": values, "beside": RNG.normal(size=N)})
    model = Mixture(k, families={"here": family}, random_state=0, max_iter=500).fit(table)
    before = model.predict_proba(table), model.score(table)
    strangers = pd.DataFrame({"here": [stranger] * 12, "beside": table["beside"][:12]})
    with pytest.raises(ValueError, match=r"column '?(here|beside)'? |would leave component"):
        model.forget(strangers)
    np.testing.assert_array_equal(model.predict_proba(table), before[0])
    assert model.score(table) == before[1]


@pytest.mark.parametrize("family", LEARNT)
def test_rows_that_were_learnt_are_forgotten(family):
    table = pd.DataFrame({"here": LEARNT[family][0]})
    model = Mixture(2, families={"here": family}, random_state=0, max_iter=500).fit(table)
    left = model.forget(table[::3])
    assert left.statistics_.rows == pytest.approx(40)
    assert np.isfinite(left.score(table))
