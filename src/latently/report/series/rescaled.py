"""A stretch of a series that was written in another unit: it leaps by a factor, and leaps back."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

Values = NDArray[np.float64]
_LEAST, _LEAST_STRETCH, _SHARE = 15, 2, 1 / 3  # moments; of a stretch; of the series
_TIMES, _FAR = 3.0, 6.0  # factor of each leap; standard deviations of the other steps


def rescaled(y: Values) -> tuple[slice, float, float] | None:
    """Find the moments that are too large, or too small, by a factor; the factor, and the p-value of such a leap.

    Parameters
    ----------
    y
        (n,) values in the order of time, NaN where missing.

    Examples
    --------
    >>> y = 2.0 * 1.1 ** np.arange(20)
    >>> y[8:12] *= 12
    >>> found = rescaled(y)
    >>> found[0], round(found[1])
    (slice(8, 12, None), 12)
    """
    if len(y) < _LEAST or np.isnan(y).any() or not y.min() > 0:
        return None
    steps = np.diff(np.log(y))
    begin, end = sorted(int(at) + 1 for at in (steps.argmin(), steps.argmax()))
    if not _LEAST_STRETCH <= end - begin <= _SHARE * len(y):
        return None
    usual = float(np.median(steps))
    leaps = steps[[begin - 1, end - 1]] - usual
    spread = 1.4826 * float(np.median(np.abs(steps - usual)))
    if np.abs(leaps).min() < max(np.log(_TIMES), _FAR * spread):
        return None
    size = float(np.abs(leaps).min()) / max(spread, 1e-9)
    return slice(begin, end), float(np.exp((leaps[0] - leaps[1]) / 2)), float(2 * len(y) * norm.sf(size))
