"""Whether two groups of rows differ: by the differences that random names for the rows would bring."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Found:
    """P-values of each owner of features: alone, and allowing for the number of owners."""

    p: list[float]
    adjusted: list[float]


def permuted(
    features: Values, owners: NDArray[np.intp], first: int, permutations: int, rng: np.random.Generator
) -> Found:
    """Compare the means of features in the first rows and in the others with those under random names.

    An owner's statistic is the largest standardised difference of its features. What is adjusted allows for having
    looked at several owners, by the smallest p-value of each permutation; of equal ones the statistic that lies
    farther beyond the others of its owner is the smaller.

    Parameters
    ----------
    features
        (n, m) numbers.
    owners
        (m,) places 0, 1, ... of whom each feature belongs to.
    first
        How many rows are in the first group.
    permutations
        How many random names.
    rng
        Where they come from.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + [0, 2]])
    >>> found = permuted(X, np.array([0, 1]), 50, 199, rng)
    >>> found.p[0] > 0.05, found.adjusted[1] < 0.02
    (True, True)
    """
    n = len(features)
    spread = features.std(axis=0)
    unit = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    names = np.zeros((permutations + 1, n), dtype=np.float32)  # the first line has the names as they are
    names[0, first:] = 1.0
    for line in names[1:]:
        line[rng.permutation(n)[first:]] = 1.0
    sums = np.abs(names @ unit.astype(np.float32)) / np.sqrt(n)
    top = np.stack([sums[:, owners == owner].max(axis=1) for owner in range(owners.max() + 1)], axis=1)
    # share of lines that are at least as extreme, of every line: (permutations + 1, owners)
    shares = np.stack([_shares(column) for column in top.T], axis=1)
    ranks = shares - _beyond(top) / len(top)
    least = ranks.min(axis=1)
    equal = 1e-4 / len(top)  # rounding
    return Found(shares[0].tolist(), [float((least <= rank + equal).mean()) for rank in ranks[0]])


def _beyond(top: NDArray[np.float32]) -> Values:
    """How far each line lies beyond the others, 0 to 1: among many owners some permutation is first by chance.

    Smallest p-values of many owners would otherwise be equal in most permutations, and nothing could be found.
    """
    spread = top.std(axis=0)
    far = np.maximum(top - top.mean(axis=0), 0.0) / np.where(spread > 0, spread, 1.0)
    return np.asarray(far / (1 + far), dtype=np.float64)


def _shares(values: NDArray[np.float32]) -> Values:
    ordered = np.sort(values)
    # sums that differ by rounding alone are equal
    return 1 - np.searchsorted(ordered, values * (1 - 1e-5)) / len(values)
