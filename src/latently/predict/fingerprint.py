"""Whether a column is constant, exactly, whatever was added to it and taken away again."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from latently import compiled
from latently.distributions.inputs import Array
from latently.distributions.statistics import TOLERABLE, Additive

PRIME = 2**31 - 1
UNKNOWN = -1
SIDE_BY_SIDE = 8  # rows of few columns that are summed as one of many


@dataclass(frozen=True, eq=False)
class Fingerprint(Additive):
    """Sums of w, w b and w b^2 of each column, b the bits of a value, modulo a prime: no outlier rounds them away.

    A column is constant if (sum w)(sum w b^2) = (sum w b)^2. Values that differ satisfy this by accident alone, of
    probability 2^-31, while moments cannot tell a constant column from one whose digits were lost.

    Parameters
    ----------
    sums : (3, d) whole numbers from 0 to 2^31 - 2; -1 where they were not kept

    Examples
    --------
    >>> import numpy as np
    >>> whole = Fingerprint.of(np.array([[0.1, 7.0], [0.2, 7.0], [1e30, 7.0]]), np.empty(0))
    >>> outlier = Fingerprint.of(np.array([[1e30, 7.0]]), np.empty(0))
    >>> (whole - outlier).constant()
    array([False,  True])
    """

    sums: NDArray[np.int64]

    @classmethod
    def of(cls, X: NDArray[Any], weights: NDArray[Any]) -> Self:
        """Sum up rows (n, d); an empty `weights` means that every row counts once. Missing entries have no weight."""
        bits, shares = np.asarray(X, dtype=np.float64, order="C").view(np.uint64), residues(weights)
        even = 0 if len(weights) else len(X) - len(X) % SIDE_BY_SIDE
        wide = _sums(bits[:even].reshape(-1, SIDE_BY_SIDE * X.shape[1]), shares)
        return cls((wide.reshape(3, SIDE_BY_SIDE, -1).sum(axis=1) + _sums(bits[even:], shares)) % PRIME)

    @classmethod
    def unknown(cls, columns: int) -> Self:
        """Of columns that were summed up without it."""
        return cls(np.full((3, columns), UNKNOWN, np.int64))

    def constant(self) -> NDArray[np.bool_]:
        """(d,) whether all values of a column are the same; false where that is not known."""
        weight, first, second = self.sums
        return np.asarray((weight * second % PRIME == first * first % PRIME) & (weight != UNKNOWN))

    def is_constant(self, value: Array, uncertain: Array) -> NDArray[np.bool_]:
        """(..., d) whether columns are constant, and this is their value: to the bit, or as far as it is known.

        Without sums a column is constant if it never varied: its mean is uncertain by the square of epsilon only.
        """
        weight, first, _ = self.sums
        bits = (np.ascontiguousarray(value) + 0.0).view(np.uint64) % np.uint64(PRIME)
        exact = weight * bits.astype(np.int64) % PRIME == first
        never = (weight == UNKNOWN) & (uncertain <= 8 * np.finfo(float).eps ** 2 * np.abs(value))
        return np.asarray(self.constant() & (exact | (uncertain <= TOLERABLE * np.abs(value))) | never)

    def _combine(self, other: Self, sign: int) -> Self:
        unknown = (self.sums == UNKNOWN) | (other.sums == UNKNOWN)
        return type(self)(np.where(unknown, UNKNOWN, (self.sums + sign * other.sums) % PRIME))


def _sums(bits: NDArray[np.uint64], weights: NDArray[np.uint64]) -> NDArray[np.int64]:
    found = np.zeros((3, bits.shape[1]), np.uint64)
    compiled.predict.fingerprint.bit_sums(bits, weights, *found)
    return (found % np.uint64(PRIME)).astype(np.int64)


def residues(weights: NDArray[Any]) -> NDArray[np.uint64]:
    """Give weights modulo the prime, exactly: they are m 2^e, and 2^31 is 1.

    Examples
    --------
    >>> import numpy as np
    >>> residues(np.array([3.0, 0.5])).tolist()  # a half is 2^30: twice that is 2^31
    [3, 1073741824]
    """
    share, exponent = np.frexp(np.asarray(weights, dtype=np.float64))
    whole, turns = (share * 2.0**53).astype(np.int64) % PRIME, (exponent.astype(np.int64) - 53) % 31
    return np.asarray((whole << turns) % PRIME).astype(np.uint64)
