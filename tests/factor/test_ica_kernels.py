"""Kernels of contrasts against numpy."""

import numpy as np
import pytest

from latently.factor.ica.ascent.contrast import Contrast, likelihood_means, padded_rows
from latently.factor.ica.white_data import Blocks


class Held:
    """White rows in one piece."""

    def __init__(self, Z):
        self.Z, self.n_rows = Z, len(Z)

    def sum_blocks(self, f):
        return f(Blocks.of(self.Z))


@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 2), (256, 4), (257, 5), (1000, 7)])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_contrasts(n, k, fun):
    rng = np.random.default_rng(0)
    Z, W = 2 * rng.normal(size=(n, k)), rng.normal(size=(k, k))
    Y = Z @ W.T
    g, derivative = {
        "logcosh": (np.tanh(1.5 * Y), 1.5 / np.cosh(1.5 * Y) ** 2),
        "exp": (Y * np.exp(-(Y**2) / 2), (1 - Y**2) * np.exp(-(Y**2) / 2)),
        "cube": (Y**3, 3 * Y**2),
    }[fun]
    found = Contrast(fun, 1.5).means(Held(Z), W)
    np.testing.assert_allclose(found[0], g.T @ Z / n, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found[1], derivative.mean(axis=0), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1.0, 30.0, 1e4])
def test_likelihood_at_every_scale(scale):
    y = np.random.default_rng(0).normal(size=(700, 3)) * scale
    cross, columns = likelihood_means(Held(y), np.eye(3))
    a = np.abs(y)
    np.testing.assert_allclose(
        columns[:, 0], (a + np.log1p(np.exp(-2 * a)) - np.log(2)).mean(axis=0), atol=1e-14, rtol=1e-12
    )
    derivative = 1 - np.tanh(y) ** 2
    np.testing.assert_allclose(columns[:, 1], derivative.mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(columns[:, 2], (derivative * y**2).mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(cross, np.tanh(y).T @ y / 700, rtol=1e-12, atol=1e-14 * scale)


def test_padding():
    assert padded_rows(np.ones((1, 5))).shape == (4, 8)
    blocks = Blocks.of(np.ones((300, 3)))
    assert blocks.values.shape == (2, 4, 256)
    assert blocks.values.sum() == 900
