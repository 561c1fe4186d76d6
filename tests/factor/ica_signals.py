"""Mixtures of known sources, for tests of separation."""

import numpy as np
from scipy import signal

MIXING = np.array([[1.0, 1.0, 1.0], [0.5, 2.0, 1.0], [1.5, 1.0, 2.0]])
_SHAPES = (np.sin, signal.square, signal.sawtooth)


def waves(n=20_000):
    """Sine, square and sawtooth, of periods without a common multiple."""
    t = np.arange(n)
    periods = 50 * np.sqrt([2.0, 3.0, 5.0])
    return np.column_stack([f(2 * np.pi * t / p) for f, p in zip(_SHAPES, periods, strict=True)])


def coloured(n, coefficients, seed=0):
    """Gaussian series, each with the coefficient of its autoregression."""
    noise = np.random.default_rng(seed).normal(size=(len(coefficients), n))
    return np.column_stack([signal.lfilter([1], [1, -a], e) for a, e in zip(coefficients, noise, strict=True)])


def heavy_and_light(n, k, seed=0):
    """Laplace and uniform sources in turn, mixed, and how they were mixed."""
    rng = np.random.default_rng(seed)
    S = np.column_stack([rng.laplace(size=n) if j % 2 else rng.uniform(-1, 1, size=n) for j in range(k)])
    A = rng.normal(size=(k, k))
    return S @ A.T, A
