"""What every search for rows asks of the others: a gap before the rows that are told, and tails near normal ones."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kurtosistest, skewtest

Values = NDArray[np.float64]


def gap(size: Values, inner: NDArray[np.bool_]) -> Values:
    """How many times as far the nearest of the rows that are told is as the furthest of the others.

    Parameters
    ----------
    size
        (..., n) how far each row is.
    inner
        (..., n) whether it is one of the others.

    Examples
    --------
    >>> far = np.array([1.0, 9.0, 2.0, 8.0])
    >>> float(gap(far, far < 5))
    4.0
    """
    nearest, furthest = np.where(inner, np.inf, size).min(axis=-1), np.where(inner, size, 0.0).max(axis=-1)
    return np.asarray(nearest / np.maximum(furthest, 1e-300))


def have_normal_tails(rest: Values, heavy: float, skewed: float) -> bool:
    """Whether rows have neither longer tails than normal ones nor are skewed, along any column.

    Parameters
    ----------
    rest
        (n, d) the rows that are not told.
    heavy, skewed
        Standard errors of kurtosis, and of skewness, up to which they look normal.
    """
    is_heavy, is_skewed = kurtosistest(rest).statistic > heavy, np.abs(skewtest(rest).statistic) > skewed
    return not (is_heavy.any() or is_skewed.any())
