"""From a test to a probability."""

import numpy as np
from numpy.typing import ArrayLike

_MOST = 1 - 1e-9  # no test makes sure


def belief(p: float, tests: float = 1.0) -> float:
    """Probability that an effect is real, given the p-value of its test.

    By the bound of Sellke, Bayarri and Berger the odds against chance are at most 1 / (-e p log p); beforehand one
    effect is expected among all the tests.

    Parameters
    ----------
    p
        The p-value of this one test.
    tests
        How many tests were made.

    Examples
    --------
    >>> belief(0.05), belief(1e-6), belief(1e-6, 100), belief(0.5)
    (0.71, 1.0, 0.996, 0.5)
    """
    p = float(np.clip(p, 1e-300, 1.0))
    against = -np.e * p * np.log(p) if p < 1 / np.e else 1.0
    return float(min(1 / (1 + against * tests), _MOST))


def beliefs(log_p: ArrayLike, tests: float) -> np.ndarray:
    """`belief` of many p-values, given by their logarithms."""
    logs = np.minimum(np.asarray(log_p, dtype=np.float64), 0.0)
    against = np.where(logs < -1, 1 + logs + np.log(np.maximum(-logs, 1.0)), 0.0)
    return np.asarray(np.minimum(1 / (1 + np.exp(np.minimum(against + np.log(tests), 700.0))), _MOST))


def share_interval(share: float, rows: float) -> list[float]:
    """Wilson's interval (95 %) of a share among so many rows.

    Examples
    --------
    >>> share_interval(0.5, 100)
    [0.40, 0.60]
    """
    z2 = 1.959964**2
    rows = max(rows, 1.0)
    middle = (share + z2 / (2 * rows)) / (1 + z2 / rows)
    half = np.sqrt(z2 * (share * (1 - share) / rows + z2 / (4 * rows**2))) / (1 + z2 / rows)
    return [float(max(middle - half, 0.0)), float(min(middle + half, 1.0))]
