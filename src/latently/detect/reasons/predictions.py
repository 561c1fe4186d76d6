"""What the other values of a row predict for each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

from latently.detect.reasons.powers import Powers
from latently.kernel.base import Array

_RIDGE = 1e-9  # of the correlations, so that collinear columns have a prediction
_MANY = 500  # columns, beyond which predictions from all others take too long
_HUGE = 1e150  # deviations whose squares are still finite
_USUAL = 0.99  # share of rows, the nearest ones, that the second estimate is made of


@dataclass(frozen=True, eq=False)
class Reasons:
    """Linear predictions of every column from all others.

    Parameters
    ----------
    names
        Names of the columns.
    mean
        (d,) means.
    weights
        (d, d) x - prediction = weights @ (x - mean); ones in the diagonal. Empty for tables of more than 500 columns,
        of which each is compared with its own mean.
    sd
        (d,) standard deviations of the values about the predictions.
    powers
        What makes the columns normal.
    normal
        The same predictions for the columns made normal.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1))
    >>> table = np.hstack([x, 2 * x + 0.1 * rng.normal(size=(200, 1)), rng.normal(size=(200, 1))])
    >>> reasons = Reasons.of(table, ("a", "b", "c"))
    >>> reasons.expected(np.array([[1.0, 2.0, 9.0]])).round(1)
    array([[1. , 2. , 0.1]])
    >>> int(reasons.gains(np.array([[1.0, 2.0, 9.0]])).argmax())
    2
    """

    names: tuple[str, ...]
    mean: Array
    weights: Array
    sd: Array
    powers: Powers | None = None
    normal: "Reasons | None" = None

    @classmethod
    def of(cls, rows: Array, names: Any) -> "Reasons":
        """Predictions learnt from rows, those far from all others left out in a second look."""
        names = tuple(map(str, names))
        if rows.shape[1] > _MANY:
            mean, scale = _columns_alone(rows)
            return cls(names, mean, np.zeros((0, 0)), scale)
        powers = Powers.of(rows)
        return cls(names, *_predictions(rows), powers, cls(names, *_predictions(powers.apply(rows))))

    def expected(self, rows: Array) -> Array:
        """(n, d) what the others predict for each value."""
        if not len(self.weights):
            return np.broadcast_to(self.mean, rows.shape).copy()
        return np.asarray(rows - (rows - self.mean) @ self.weights.T)

    def gains(self, rows: Array) -> Array:
        """(n, d) gain in log density if one value were as expected, the others as they are.

        The mean over two Gaussian densities, of the columns as they are and of the columns made normal: in a skewed
        column the first finds the long tail unlikely, the second makes little of a value beyond it.
        """
        far = np.minimum(np.abs(rows - self.expected(rows)) / self.sd, _HUGE)
        own = 0.5 * far**2
        if self.powers is None or self.normal is None:
            return np.asarray(own)
        return np.asarray(0.5 * (own + self.normal.gains(self.powers.apply(rows))))


def _predictions(rows: Array) -> tuple[Array, Array, Array]:
    """Means, weights and standard deviations of `Reasons`."""
    mean, scale, precision = _moments(rows)
    if len(rows) > 4 * rows.shape[1]:
        z = (rows - mean) / scale
        far = np.einsum("ij,jk,ik->i", z, precision, z)
        usual = rows[far <= max(chi2.ppf(_USUAL, rows.shape[1]), np.quantile(far, 0.75))]
        mean, scale, precision = _moments(usual)
    own = np.diagonal(precision)
    return mean, precision / own[:, None] * scale[:, None] / scale, np.asarray(scale / np.sqrt(own))


def _columns_alone(rows: Array) -> tuple[Array, Array]:
    """Mean and scale of each column; a constant one has the scale of its rounding."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    floor = np.maximum(1e-9 * np.abs(mean), np.finfo(float).tiny ** 0.25)
    return mean, np.asarray(np.where(scale > floor, scale, floor))


def _moments(rows: Array) -> tuple[Array, Array, Array]:
    """Mean, scale and the inverse of the correlations."""
    n, d = rows.shape
    mean, scale = _columns_alone(rows)
    z = (rows - mean) / scale
    share = _RIDGE if n >= 5 * d else min(0.5, d / (10.0 * n))
    correlations = (z.T @ z) / max(n, 1)
    correlations = (1.0 - share) * correlations + share * np.eye(d)
    correlations[np.diag_indices(d)] = np.maximum(np.diagonal(correlations), 1.0)  # constant columns have no own spread
    return mean, scale, np.asarray(np.linalg.inv(correlations))
