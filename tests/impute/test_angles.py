"""Missing angles: their intervals are arcs, wherever the circle is cut open."""

import numpy as np
import pytest
from scipy import integrate, stats

from latently.cluster import Mixture
from latently.distributions import VonMises

TURN = 2 * np.pi


def rows_of(turned):
    """Two groups that a column of numbers tells apart, with angles about 0.5 and 1.5, turned."""
    rng = np.random.default_rng(0)
    angles = np.r_[rng.vonmises(0.5, 20.0, 100), rng.vonmises(1.5, 5.0, 100)] + turned
    return np.c_[(angles + np.pi) % TURN - np.pi, np.repeat([0.0, 9.0], 100) + rng.normal(size=200)]


def intervals(rows):
    """Imputed angles and the ends of their intervals, for rows in a group, in the other, and in between."""
    model = Mixture(2, families={"x0": "von_mises", "x1": "gaussian"}, prior="ml", random_state=0).fit(rows)
    question = [[np.nan, 0.0], [np.nan, 4.5], [np.nan, 9.0]]
    low, high = model.impute_interval(question)
    return model.impute_mean(question)[:, 0], low[:, 0], high[:, 0]


def test_an_interval_turns_with_the_angles():
    value, low, high = intervals(rows_of(0.0))
    assert (low < value).all()
    assert (value < high).all()
    for turned in (1.8, 3.0):
        moved, start, end = intervals(rows_of(turned))
        assert np.cos(moved - value - turned) == pytest.approx(1.0, abs=1e-6)
        assert start - moved == pytest.approx(low - value, abs=1e-4)
        assert end - moved == pytest.approx(high - value, abs=1e-4)


def test_an_interval_across_the_cut_is_that_of_scipy():
    low, high = VonMises.mixed_interval([VonMises(3.0, 4.0)], np.ones((1, 1)), 0.9)
    assert [low[0], high[0]] == pytest.approx(stats.vonmises(4.0, loc=3.0).ppf([0.05, 0.95]))


def test_an_interval_of_a_mixture_holds_its_share_of_the_circle():
    members, shares = [VonMises(3.0, 4.0), VonMises(-2.5, 9.0), VonMises(0.0, 1.0)], np.array([[0.3, 0.6, 0.1]])
    (low,), (high,) = VonMises.mixed_interval(members, shares, 0.8)
    (middle,) = VonMises.mixed_mean(members, shares)[0]

    def density(x):
        parts = [stats.vonmises.pdf(x - m.direction[0], m.concentration[0]) for m in members]
        return float(shares[0] @ parts)

    assert integrate.quad(density, low, high)[0] == pytest.approx(0.8, abs=1e-9)
    assert integrate.quad(density, middle - np.pi, low)[0] == pytest.approx(0.1, abs=1e-9)
