"""What would have been found: the size of an effect that a test shows in nine tables of ten."""

from typing import Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, stdtrit, xlogy
from scipy.stats import chi2, ncx2

OFTEN: Final = 0.9
_GAP: Final = 4.8  # distance of peak and valley, in standard deviations, that is seen in 9 of 10; by simulation
_WIDTHS: Final = (0.3, 0.5, 0.75, 1.0)


def correlation(rows: float, p: float) -> float | None:
    """The correlation of two columns that a test at level p finds in nine tables of ten; None if there is none.

    Parameters
    ----------
    rows
        Independent rows.
    p
        Level of the two-sided test of the correlation.

    Examples
    --------
    >>> round(correlation(100, 0.05), 2), correlation(4, 1e-4)
    (0.32, None)
    """
    if rows < 8:
        return None
    t = -float(stdtrit(rows - 2, p / 2))
    needed = np.arctanh(t / np.sqrt(rows - 2 + t**2)) + ndtri(OFTEN) / np.sqrt(rows - 3)
    found = float(np.tanh(needed))
    found = float(np.tanh(needed - found / (2 * (rows - 1))))  # Fisher's z is biased upwards by this
    return found if found < 0.995 else None


def association(rows: float, p: float, freedom: int) -> float | None:
    """Cohen's w (phi, for two classes each) that Pearson's test finds in nine tables of ten; None if there is none.

    Parameters
    ----------
    rows
        Independent rows.
    p
        Level of the test.
    freedom
        Its degrees of freedom.
    """
    limit = chi2.isf(p, freedom)
    far = brentq(lambda size: ncx2.sf(limit, freedom, size) - OFTEN, 1e-6, 10 * (limit + freedom + 10))
    found = float(np.sqrt(far / max(rows, 1.0)))
    return found if found < 0.995 else None


def gap(rows: float) -> float | None:
    """How far apart two clusters of equal size must be, in standard deviations within them; None if too few rows.

    Two normal clouds: where rows in stretches at both peaks outnumber those in one between clearly enough.

    Parameters
    ----------
    rows
        Independent rows.
    """
    if rows < 40 or _clear(12.0, rows) < _GAP:
        return None
    return float(brentq(lambda apart: _clear(apart, rows) - _GAP, 2.0, 12.0))


def _clear(apart: float, rows: float) -> float:
    """How clearly a peak has more rows than the valley (signed root of the deviance), at the best of several widths."""
    half = np.array(_WIDTHS) * apart / 4
    peak, valley = (rows * _mass(at, apart, half) for at in (0.0, apart / 2))
    even = (peak + valley) / 2
    deviance = 2 * (peak * np.log(peak / even) + xlogy(valley, valley / even))
    return float((np.sign(peak - valley) * np.sqrt(np.maximum(deviance, 0.0))).max())


def _mass(at: float, apart: float, half: np.ndarray) -> np.ndarray:
    each = [ndtr(at - middle + half) - ndtr(at - middle - half) for middle in (0.0, apart)]
    return np.asarray(0.5 * (each[0] + each[1]))
