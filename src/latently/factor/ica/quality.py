"""How well known sources were separated."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment


def amari_error(components: ArrayLike, mixing: ArrayLike) -> float:
    """Amari's error of a separation: 0 if components @ mixing is a permutation with scales, at most 1.

    Parameters
    ----------
    components
        (k, d) what was found.
    mixing
        (d, k) how the sources were mixed.

    Examples
    --------
    >>> amari_error([[0.0, 2.0], [-1.0, 0.0]], np.eye(2))
    0.0
    """
    P = np.abs(np.asarray(components) @ np.asarray(mixing))
    k = len(P)
    if k == 1:
        return 0.0
    rows = (P / P.max(axis=1, keepdims=True)).sum() - k
    columns = (P / P.max(axis=0, keepdims=True)).sum() - k
    return float((rows + columns) / (2 * k * (k - 1)))


def minimum_distance(components: ArrayLike, mixing: ArrayLike) -> float:
    """Minimum distance index of a separation: how far components @ mixing is from the nearest perfect one, 0 to 1.

    Parameters
    ----------
    components
        (k, d) what was found.
    mixing
        (d, k) how the sources were mixed.

    References
    ----------
    Ilmonen, Nordhausen, Oja and Ollila (2010), A new performance index for ICA.

    Examples
    --------
    >>> minimum_distance([[0.0, 2.0], [-1.0, 0.0]], np.eye(2))
    0.0
    """
    G = np.asarray(components) @ np.asarray(mixing)
    k = len(G)
    if k == 1:
        return 0.0
    shares = G**2 / (G**2).sum(axis=1, keepdims=True)
    rows, columns = linear_sum_assignment(shares, maximize=True)
    return float(np.sqrt(max(k - shares[rows, columns].sum(), 0.0) / (k - 1)))
