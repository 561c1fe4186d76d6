"""Sums modulo a prime, against whole numbers without bounds."""

import numpy as np
import pytest

from latently.predict.fingerprint import PRIME, Fingerprint


def by_hand(X, weights):
    """The three sums with Python's integers; weights are fractions m / 2^e, divided in the field."""
    found = []
    for column in X.T:
        seen = [(i, v) for i, v in enumerate(column.tolist()) if v == v]
        bits = {i: int(np.array(v + 0.0).view(np.uint64)) for i, v in seen}
        parts = {i: float(weights[i]).as_integer_ratio() for i, _ in seen}
        w = {i: m * pow(q, -1, PRIME) for i, (m, q) in parts.items()}
        found.append([sum(w[i] * bits[i] ** p for i, _ in seen) % PRIME for p in range(3)])
    return np.array(found).T


@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (16, 2), (37, 5)])
def test_sums_are_those_of_whole_numbers(n, d):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-200, 150, size=(n, d))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < 0.1] = -0.0
    weights = rng.choice([0.0, 0.3, 1.0, 2.5, 1e-9, 1e12], size=n)
    np.testing.assert_array_equal(Fingerprint.of(X, weights).sums, by_hand(X, weights))
    np.testing.assert_array_equal(Fingerprint.of(X, np.empty(0)).sums, by_hand(X, np.ones(n)))


def test_constant_means_that_all_values_are_one():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(2, 40))
        X = np.repeat(rng.integers(0, 3, size=(1, 4)).astype(float), n, axis=0)
        at = rng.integers(n), rng.integers(4)
        X[at] = rng.choice([X[at], 0.5, np.nan, np.nextafter(X[at], 9)])
        expected = [len(set(column[column == column].tolist())) <= 1 for column in X.T]
        assert Fingerprint.of(X, rng.random(n)).constant().tolist() == expected
