"""Sums of products of rows that are some steps apart, chunk by chunk."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from latently.distributions.statistics import Additive
from latently.learn.engine.protocol import Array

LONGEST = 500


@dataclass(frozen=True, eq=False)
class LaggedProducts(Additive):
    """sum_t z(t) z(t + lag)' for each lag, with the rows at both ends, which the chunks beside need.

    Sums are of neighbours: a + b is for the rows of a followed by those of b.

    Parameters
    ----------
    lags : steps
    head, tail : first and last rows, as many as the largest lag, or all
    products : (lags, k, k)
    """

    lags: tuple[int, ...]
    head: Array
    tail: Array
    products: Array

    @classmethod
    def of(cls, Z: Array, lags: tuple[int, ...]) -> Self:
        """Sum up a chunk of rows (n, k)."""
        reach, k = max(lags), Z.shape[1]
        products = np.zeros((len(lags), k, k))
        for i, lag in enumerate(lags):
            if lag < len(Z):
                products[i] = Z[:-lag].T @ Z[lag:]
        return cls(lags, Z[:reach], Z[-reach:], products)

    def _combine(self, other: Self, sign: int) -> Self:
        if sign < 0:
            raise TypeError("rows cannot be taken out of a series")
        reach = max(self.lags)
        across = np.stack([_across(self.tail, other.head, lag) for lag in self.lags])
        head = np.vstack([self.head, other.head])[:reach] if len(self.head) < reach else self.head
        tail = np.vstack([self.tail, other.tail])[-reach:] if len(other.tail) < reach else other.tail
        return type(self)(self.lags, head, tail, self.products + other.products + across)


def geometric_lags(n_rows: int) -> tuple[int, ...]:
    """Lags that grow by equal ratios, the longest 500 or a quarter of the rows.

    Examples
    --------
    >>> geometric_lags(40)
    (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    >>> geometric_lags(50_000)[-4:], len(geometric_lags(50_000))
    ((342, 388, 440, 500), 41)
    """
    longest = max(min(LONGEST, n_rows // 4), 1)
    return tuple(int(lag) for lag in np.unique(np.round(np.geomspace(1, longest, 50))))


def _across(tail: Array, head: Array, lag: int) -> Array:
    """Products of rows before a border with those `lag` steps later, behind it."""
    first, last = max(lag - len(tail), 0), min(lag, len(head))  # places behind the border
    if first >= last:
        return np.zeros((tail.shape[1], tail.shape[1]))
    begin = len(tail) - lag + first
    return np.asarray(tail[begin : begin + last - first].T @ head[first:last])


def spectral_distance(M: Array, n: float) -> Array:
    """(k,) how far the spectrum of each source is from that of the most similar other one, in units of the noise.

    Of two sources, the differences of their correlations at all lags are to be distinguished from noise, and the
    correlations between them, which ought to be zero, are noise.

    Parameters
    ----------
    M
        (k, k, lags) correlations, as diagonal as they could be made.
    n
        Number of products that each is the mean of.
    """
    k, _, m = M.shape
    own = M[np.arange(k), np.arange(k)]  # (k, lags)
    gaps = ((own[:, None] - own[None]) ** 2).sum(axis=2) / 4
    noise = np.maximum((M**2).sum(axis=2), m / (2 * n))
    np.fill_diagonal(gaps, np.inf)
    return np.asarray(np.sqrt(gaps / noise).min(axis=1))
