"""Cycles that come again without keeping to a calendar: a peak of the spectrum above what lies beside it."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from latently.report.series.rising import memory

Values = NDArray[np.float64]
_LEAST_CYCLES: Final = 5
_LEAST_STEPS: Final = 4  # of a cycle
_LEAST_BESIDE: Final = 6  # waves that a peak is compared with


@dataclass(frozen=True)
class Cycle:
    """The clearest cycle of a series.

    Attributes
    ----------
    length
        Steps from one high to the next, on average.
    strength
        Share of the variance about the line, 0 to 1.
    p
        Chance of as clear a peak in the spectrum of a series with memory alone, over all lengths.
    """

    length: float
    strength: float
    p: float


def clearest_cycle(y: Values) -> Cycle | None:
    """Find the clearest cycle of a series; None if it is too short for one.

    Parameters
    ----------
    y
        (n,) values at even steps, none of them missing.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> phase = np.cumsum(2 * np.pi / 9.5 + 0.15 * rng.normal(size=150))
    >>> found = clearest_cycle(np.sin(phase) + 0.3 * rng.normal(size=150))
    >>> round(found.length, 1), found.p < 1e-6
    (9.4, True)
    """
    x = np.arange(len(y)) - (len(y) - 1) / 2
    left = y - y.mean() - float(x @ y / (x @ x)) * x
    power = np.abs(np.fft.rfft(left))[: (len(y) + 1) // 2] ** 2
    if not power.any():
        return None
    even = power * _inverse_of_memory(left, len(power))
    waves = np.arange(_LEAST_CYCLES, len(y) // _LEAST_STEPS)
    waves = waves[even[waves] >= np.maximum(even[waves - 1], even[waves + 1])]
    p = np.array([_p(even, int(k)) for k in waves])
    if not len(p):
        return None
    tested = len(y) // _LEAST_STEPS - _LEAST_CYCLES
    near = np.arange(-1, 2) + int(waves[p.argmin()])
    length = len(y) * float(power[near].sum()) / float(power[near] @ near)
    return Cycle(length, float(power[near].sum() / power.sum()), min(1.0, tested * float(p.min())))


def _inverse_of_memory(left: Values, n: int) -> Values:
    """What makes the spectrum of a series even in which each value follows from the one before."""
    r = memory(left)
    return np.asarray(1 - 2 * r * np.cos(2 * np.pi * np.arange(n) / len(left)) + r * r)


def _p(even: Values, k: int) -> float:
    """How often three waves would rise as far above those of half to twice their frequency."""
    beside = np.r_[even[max(k // 2, 1) : k - 2], even[k + 3 : 2 * k + 5]]
    if len(beside) < _LEAST_BESIDE or not beside.mean() > 0:
        return 1.0
    return float(stats.f.sf(even[k - 1 : k + 2].mean() / beside.mean(), 6, 2 * len(beside)))
