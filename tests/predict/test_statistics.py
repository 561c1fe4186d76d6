"""Sums per class: the arithmetic against sums taken directly."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from latently.predict.statistics import GaussianStatistics


def of(X, codes, weights=None, n_classes=3):
    return GaussianStatistics.of(X, codes, np.empty(0) if weights is None else weights, n_classes)


def rows(n, seed, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(n, 2)) * [1.0, 50.0] + offset
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, rng.integers(3, size=n)


@settings(max_examples=25, deadline=None)
@given(n=st.integers(20, 700), seed=st.integers(0, 100), offset=st.sampled_from([0.0, -3.0, 1e6]))
def test_moments_and_powers_are_those_of_the_rows(n, seed, offset):
    X, codes = rows(n, seed, offset)
    whole = of(X, codes)
    cut = n // 3
    both = of(X[:cut], codes[:cut]) + of(X[cut:], codes[cut:])
    for found in (whole, both):
        for k in range(3):
            here = X[codes == k]
            np.testing.assert_array_equal(found.by_class.weight[k], (~np.isnan(here)).sum(axis=0))
            if (~np.isnan(here)).any(axis=0).all():
                np.testing.assert_allclose(found.by_class.mean()[k], np.nanmean(here, axis=0), rtol=1e-12)
                squares = np.nanvar(here, axis=0) * (~np.isnan(here)).sum(axis=0)
                np.testing.assert_allclose(found.by_class.scatter()[k], squares, rtol=1e-6, atol=1e-6)
        centred = found.powers.sums / found.powers.sums[0]
        for p in (2, 3, 4):
            direct = stats.moment(X, p, axis=0, nan_policy="omit")
            np.testing.assert_allclose(centred[p], direct, rtol=1e-5, atol=1e-7 * np.nanmax(np.abs(X - offset)) ** p)


def test_taking_rows_away_leaves_the_sums_of_the_rest():
    X, codes = rows(400, 0)
    rest = (of(X, codes) - of(X[:150], codes[:150])).settled(of(X, codes))
    direct = of(X[150:], codes[150:])
    np.testing.assert_allclose(rest.by_class.mean(), direct.by_class.mean(), rtol=1e-10)
    np.testing.assert_allclose(rest.by_class.scatter(), direct.by_class.scatter(), rtol=1e-8)
    np.testing.assert_allclose(rest.powers.unit(), direct.powers.unit(), rtol=1e-8)


def test_the_unit_is_the_variance_of_a_normal_column_and_the_size_of_rare_departures():
    normal = stats.norm(0, 3).ppf((np.arange(4000) + 0.5) / 4000)
    spikes = np.where(np.arange(4000) % 1000 == 0, 8.0, 0.0)
    unit = of(np.column_stack([normal, spikes]), np.zeros(4000, dtype=np.int64), n_classes=1).powers.unit()
    np.testing.assert_allclose(unit[0], 9.0, rtol=0.01)
    np.testing.assert_allclose(unit[1], 64 / 3, rtol=0.01)
