"""Columns made normal by powers."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from latently.kernel.base import Array
from latently.prepare.columns import middle

_EXPONENTS: Final = np.linspace(0.0, 2.0, 9)  # 0 the logarithm of what is above the middle, 2 of what is below
_ROWS: Final = 1000  # that exponents are chosen by
_HUGE: Final = 1e70  # units from the middle, at which values are held so that powers stay finite


@dataclass(frozen=True, eq=False)
class Powers:
    """The transformation of Yeo and Johnson (2000) of each column about its median, in robust standard deviations.

    Parameters
    ----------
    centre, unit
        (d,) medians and robust standard deviations.
    exponents
        (d,) exponents between 0 and 2; 1 leaves a column as it is.

    Examples
    --------
    >>> waits = np.random.default_rng(0).exponential(size=(500, 1))
    >>> Powers.of(waits).exponents
    array([0.])
    >>> Powers.of(np.random.default_rng(0).normal(size=(500, 1))).exponents
    array([1.])
    """

    centre: Array
    unit: Array
    exponents: Array

    @classmethod
    def of(cls, rows: Array) -> "Powers":
        """The most likely exponents, if the columns are normal after the transformation."""
        some = rows[:: max(1, len(rows) // _ROWS)]
        centre, unit = np.array([middle(column) for column in some.T]).T
        z = (some - centre) / unit
        likelihoods = np.array([_log_likelihood(z, exponent) for exponent in _EXPONENTS])
        return cls(centre, unit, np.asarray(_EXPONENTS[likelihoods.argmax(axis=0)]))

    def apply(self, rows: Array) -> Array:
        """(n, d) transformed values."""
        return _transformed((rows - self.centre) / self.unit, self.exponents)


def _transformed(z: Array, exponents: Array | float) -> Array:
    size = np.log1p(np.minimum(np.abs(z), _HUGE))
    power = np.where(z >= 0, exponents, 2.0 - np.asarray(exponents))
    grown = np.expm1(power * size) / np.where(power == 0, 1.0, power)
    return np.asarray(np.sign(z) * np.where(power == 0, size, grown))


def _log_likelihood(z: Array, exponent: float) -> Array:
    """(d,) log-likelihood of each column at its best mean and variance, up to a constant."""
    spread = np.maximum(_transformed(z, exponent).var(axis=0), np.finfo(float).tiny)
    jacobian = (np.sign(z) * np.log1p(np.abs(z))).mean(axis=0)
    return np.asarray((exponent - 1.0) * jacobian - 0.5 * np.log(spread))
