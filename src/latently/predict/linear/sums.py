"""The sums that a linear regression learns from, and its targets."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from latently.distributions import covariance as cov
from latently.distributions.inputs import ColumnError
from latently.distributions.statistics import Additive, Moments, refuse_lost
from latently.predict.fingerprint import Fingerprint
from latently.predict.statistics import NEVER_LEARNT, uncertain_mean

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RegressionStatistics(Additive):
    """Moments of the columns and the target together, the target last.

    Attributes
    ----------
    moments
        Of all rows, with missing inputs as expected.
    lost
        What of them is only expected: the part that a row with missing inputs does not count for.
    values
        Which columns are constant.
    """

    moments: Moments
    lost: Moments
    values: Fingerprint

    @classmethod
    def of(cls, X: NDArray[Any], y: Array, weights: Array) -> Self:
        """Sums over rows without missing inputs."""
        table = joined(X, y)
        moments, zero = joint_moments(table, weights), np.zeros_like
        lost = Moments(np.asarray(0.0), moments.centre, zero(moments.first), zero(moments.second))
        return cls(moments, lost, Fingerprint.of(table, weights))

    def informative(self) -> Moments:
        """Moments of the rows that inform the coefficients."""
        return self.moments - self.lost if self.lost.second.any() else self.moments

    def settled(self, before: Self) -> Self:
        """Refuse what cannot be the sum over rows: less than no weight, less than no squares."""
        weight, known = float(self.moments.weight), float(before.moments.weight)
        squares, bound = np.diagonal(self.moments.scatter()), np.diagonal(before.moments.scatter())
        size = (1e-7 * before.moments.mean()) ** 2 * known
        if weight < -1e-9 * known or (squares < -1e-9 * (bound + size)).any():
            raise ValueError(NEVER_LEARNT)
        if weight <= 1e-12 * known:
            raise ValueError("no rows would be left: a regression on nothing has no weights")
        mean = self.moments.mean()
        had = np.diagonal(before.moments.about(mean).second)
        constant = self.values.is_constant(mean, uncertain_mean(had, np.asarray(weight)))
        refuse_lost(had, squares, np.where(constant, 0.0, weight))
        return self


def former_statistics(moments: Moments, lost: Moments) -> RegressionStatistics:
    """Statistics of a version that kept no fingerprint."""
    return RegressionStatistics(moments, lost, Fingerprint.unknown(len(moments.centre)))


def read_targets(y: Any) -> Array:
    """Give targets as a flat array of finite numbers; an error says where one is missing."""
    targets: NDArray[Any] = column_or_1d(y, warn=True)
    if targets.dtype.kind not in "biuf":
        try:
            targets = targets.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError("y must be numbers: Unknown label type for a regression") from None
    targets = targets.astype(np.float64, copy=False)
    if not np.isfinite(targets).all():
        row = int(np.argmin(np.isfinite(targets)))
        raise ValueError(f"y is NaN or infinity in row {row}: drop the rows without a target")
    return targets


def joined(X: NDArray[Any], y: Array) -> Array:
    """Complete inputs and targets in one table, the targets last."""
    if np.isnan(X).any():
        raise ValueError("partial_fit and forget need complete rows: fit marginalises missing inputs over all rows")
    table = np.empty((len(X), X.shape[1] + 1))
    table[:, :-1], table[:, -1] = X, y
    return table


def joint_moments(table: Array, weights: Array) -> Moments:
    """Moments of the columns and the target about their mean."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = cov.joint_moments(table, weights if len(weights) else None)
    squares = np.diagonal(found.second)
    if not np.isfinite(squares).all():
        j = int(np.argmin(np.isfinite(squares)))
        raise ColumnError(f"x{j}" if j < len(squares) - 1 else "y", "has values too large to be squared: rescale it")
    return found
