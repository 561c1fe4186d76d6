"""Statistics add and subtract, moments about any centre."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from latently.distributions import Bernoulli, Categorical, Gaussian, Moments, Parts, Poisson, Sums

rows = arrays(
    np.float64,
    st.tuples(st.integers(2, 12), st.just(2)),
    elements=st.floats(-100, 100).map(lambda x: round(x, 3)),
)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_moments_of_the_whole_are_those_of_its_parts(kind):
    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(rows, st.integers(1, 11), st.sampled_from([0.0, 1e4, -1e8]))
    def law(X, cut, offset):
        X = X + offset
        template = Gaussian(kind=kind)
        whole, left, right = (template.statistics(part) for part in (X, X[:cut], X[cut:]))
        for merged in (left + right, right + left):
            assert np.all(merged.weight == whole.weight)
            np.testing.assert_allclose(merged.mean(), whole.mean(), rtol=1e-12, atol=1e-10)
            np.testing.assert_allclose(merged.scatter(), whole.scatter(), rtol=1e-9, atol=1e-9)
        undone = (left + right) - right
        np.testing.assert_allclose(undone.mean(), left.mean(), rtol=1e-12, atol=1e-6)

    law()


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_scatter_does_not_depend_on_the_centre(kind):
    X = np.random.default_rng(0).normal(size=(50, 3))
    moments = Gaussian(kind=kind).statistics(X)
    moved = moments.about(np.array([5.0, -3.0, 100.0]))
    np.testing.assert_allclose(moved.mean(), X.mean(axis=0), atol=1e-12)
    expected = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))
    np.testing.assert_allclose(moved.scatter(), expected if kind == "full" else np.diag(expected), rtol=1e-9, atol=1e-9)


def test_different_records_do_not_mix():
    one, other = Bernoulli().statistics([1, 0]), Gaussian().statistics([1.0, 0.0])
    with pytest.raises(TypeError):
        one + other
    with pytest.raises(ValueError, match="n_categories"):
        Categorical().statistics([0, 1]) + Categorical().statistics([0, 1, 2])
    with pytest.raises(ValueError, match="do not add"):
        Gaussian().statistics([1.0]) + Gaussian().statistics([[1.0, 2.0]])
    with pytest.raises(ValueError, match="parts"):
        Parts((one,)) + Parts((one, one))


def test_taking_away_more_than_was_added():
    for family in (Bernoulli(), Poisson(), Categorical(n_categories=2)):
        with pytest.raises(ValueError, match="more rows were removed"):
            family.from_statistics(family.statistics([1, 0]) - family.statistics([1, 1, 0]))
    with pytest.raises(ValueError, match="more rows were removed"):
        Gaussian().from_statistics(Gaussian().statistics([1.0]) - Gaussian().statistics([1.0, 2.0]))


def test_nothing_left_is_no_weight():
    g = Gaussian(kind="diag")
    empty = g.statistics([[1.0, 2.0], [3.0, 1.0]]) - g.statistics([[1.0, 2.0], [3.0, 1.0]])
    assert (empty.weight == 0).all()
    assert np.isfinite(empty.mean()).all()
    again = empty + g.statistics([[7.0, 2.0], [9.0, 4.0]])
    np.testing.assert_allclose(g.from_statistics(again).mean, [8.0, 3.0])


def test_overflow_is_said():
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(ValueError, match=r"finite|rescale"):
        Gaussian().fit([1e200, -1e200])
    with pytest.raises(ValueError, match="rescale"):
        Poisson().from_statistics(Sums(np.array([np.inf, 1.0])))


def test_records_are_values():
    moments = Moments(np.array(2.0), np.zeros(1), np.zeros(1), np.eye(1))
    with pytest.raises(AttributeError):
        moments.weight = 3.0
