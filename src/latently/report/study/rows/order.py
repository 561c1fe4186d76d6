"""Rows that are not independent: how far each resembles the next, and how many independent rows that is worth.

The correlation of two series varies like that of n / (1 + 2 sum of r_x(k) r_y(k)) independent rows (Bartlett), with
r(k) their correlations with themselves k rows on. A series by itself is taken to be worth fewer rows only if the
correlations are clear.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import chdtrc

Values = NDArray[np.float64]
_CLEAR = 1e-3  # p-value below which rows count as dependent
_FIRST = 10  # lags that the test looks at
_MOST_LAGS, _ORDERS = 1000, 3
_CYCLES = (*range(2, 61), 168, 365)  # rows after which a series may repeat itself; it must do so eight times


def autocorrelation(x: Values, lags: int) -> Values:
    """Correlations of a series with itself 1, 2, ... rows on; NaN in the series is left out.

    Examples
    --------
    >>> autocorrelation(np.array([1.0, -1.0] * 50), 2)
    array([-1.,  1.])
    """
    there = ~np.isnan(x)
    z = np.where(there, x - x[there].mean(), 0.0)
    sums = _products(z, lags)
    pairs = len(x) - np.arange(lags + 1.0) if there.all() else _products(there.astype(float), lags)
    if not sums[0] > 0:
        return np.zeros(lags)
    means = np.where(pairs > 0.5, sums / np.maximum(pairs, 1.0), 0.0)
    return np.asarray(np.clip(means[1:] / means[0], -1.0, 1.0))


def _products(v: Values, lags: int) -> Values:
    """(lags + 1,) sums of a series times itself 0, 1, ... rows on: few of them one by one, many by its spectrum."""
    if lags <= _FIRST:
        return np.array([v[: len(v) - k] @ v[k:] for k in range(lags + 1)])
    size = next_fast_len(len(v) + lags, real=True)
    return np.asarray(irfft(np.abs(rfft(v, size)) ** 2, size)[: lags + 1])


def memory(x: Values) -> Values | None:
    """Autocorrelations that are clear, zero where they are not; None if rows look independent.

    Parameters
    ----------
    x
        (n,) series, NaN where missing.
    """
    n = int((~np.isnan(x)).sum())
    if n < 4 * _FIRST:
        return None
    first = autocorrelation(x, _FIRST)
    box = n * (n + 2) * (first**2 / (n - np.arange(1, _FIRST + 1))).sum()  # Ljung and Box
    if chdtrc(_FIRST, box) > _CLEAR:
        return None
    found = autocorrelation(x, min(len(x) // 3, _MOST_LAGS))
    return np.where(np.abs(found) > 2 / np.sqrt(n), found, 0.0)


def detrended(x: Values) -> Values:
    """A series less a cubic along the rows; NaN stays.

    Examples
    --------
    >>> bool(np.abs(detrended(np.arange(50.0) ** 2)).max() < 1e-9)
    True
    """
    there = np.flatnonzero(~np.isnan(x))
    if len(there) < 5:
        return x
    out = x.copy()
    out[there] -= np.polynomial.Polynomial.fit(there, x[there], 3)(there)
    return out


def inflation(a: Values | None, b: Values | None) -> float:
    """How many rows of two series are worth an independent one, for their correlation; at least 1."""
    if a is None or b is None:
        return 1.0
    n = min(len(a), len(b))
    return max(1.0 + 2 * float(a[:n] @ b[:n]), 1.0)


def inflation_of_mean(x: Values) -> float:
    """How many rows of a series are worth an independent one, for its mean; at least 1."""
    found = memory(x)
    if found is None:
        return 1.0
    stop = np.flatnonzero(found <= 0)
    return 1.0 + 2 * float(found[: stop[0] if len(stop) else None].sum())


def lagged(x: Values, order: int) -> Values:
    """(n, order) values 1, 2, ... rows before; zero before the start and where missing."""
    filled = np.nan_to_num(x)
    return np.column_stack([np.concatenate([np.zeros(k), filled[: len(x) - k]]) for k in range(1, order + 1)])


def innovations(x: Values) -> Values:
    """What is new in each row of a series, given the rows before it, by an autoregression; NaN where missing."""
    there = ~np.isnan(x)
    best, least = x, np.inf
    for order in range(1, _ORDERS + 1):
        before = lagged(x, order)
        rest = x - before @ np.linalg.lstsq(before[there], x[there], rcond=None)[0]
        price = there.sum() * np.log(max(float(np.nanvar(rest)), 1e-300)) + order * np.log(there.sum())
        if price < least:
            best, least = rest, price
    return best


def without_cycle(x: Values) -> Values:
    """Values less the mean of their phase, if the series repeats itself after a fixed number of rows; NaN stays.

    Examples
    --------
    >>> week = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 4.0], 20)
    >>> bool(np.abs(without_cycle(week + np.arange(140) % 2)).max() < 0.6)
    True
    """
    there = np.flatnonzero(~np.isnan(x))
    best, least = x, 0.0
    for cycle in (each for each in _CYCLES if 8 * each <= len(there)):
        rest = within(x, np.arange(len(x)) % cycle)
        share = float(rest[there] @ rest[there]) / max(float(((x[there] - x[there].mean()) ** 2).sum()), 1e-300)
        price = len(there) * np.log(max(share, 1e-300)) + cycle * np.log(len(there))
        if price < least:
            best, least = rest, price
    return best


def within(x: Values, stretches: NDArray[np.int64]) -> Values:
    """Values less the mean of their stretch."""
    there = ~np.isnan(x)
    sums = np.bincount(stretches[there], weights=x[there], minlength=int(stretches.max()) + 1)
    counts = np.bincount(stretches[there], minlength=int(stretches.max()) + 1)
    return np.asarray(x - (sums / np.maximum(counts, 1))[stretches])
