"""Rows that are unlike the others: by robust distance, or by density."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtr, ndtri

from latently.prepare.columns import Values, middle

By: TypeAlias = Literal["distance", "density"]
_POINTS = 2000  # rows that a density is made of, at most


@dataclass(frozen=True, eq=False)
class RowJudge:
    """Tells inliers from outliers.

    Parameters
    ----------
    by : "distance" or "density"
    centre, unit : (d,) median and robust standard deviation of each column
    inverse : (d, d) inverse of the robust correlations
    points : (m, d) standardised rows that the density is made of
    bandwidth : width of the kernel on each of them
    cutoff : largest squared distance, or lowest log density, of an inlier
    """

    by: By
    centre: Values
    unit: Values
    inverse: Values
    points: Values
    bandwidth: float
    cutoff: float

    def inliers(self, X: Values) -> NDArray[np.bool_]:
        """Whether each row is like the others; a missing entry says nothing."""
        score = self.score(X)
        return np.asarray(score <= self.cutoff if self.by == "distance" else score >= self.cutoff)

    def score(self, X: Values) -> Values:
        """Squared robust distance, or log density up to a constant, of each row."""
        Z = standardised(X, self.centre, self.unit)
        if self.by == "distance":
            return np.asarray(np.einsum("ij,jk,ik->i", Z, self.inverse, Z))
        return np.concatenate([self._log_density(Z[i : i + 1000]) for i in range(0, len(Z), 1000)] or [np.empty(0)])

    def _log_density(self, Z: Values) -> Values:
        squares = (Z**2).sum(axis=1)[:, None] - 2 * Z @ self.points.T + (self.points**2).sum(axis=1)
        exponents = -0.5 * np.maximum(squares, 0.0) / self.bandwidth**2
        top = exponents.max(axis=1)
        return np.asarray(top + np.log(np.exp(exponents - top[:, None]).sum(axis=1)))


def standardised(X: Values, centre: Values, unit: Values) -> Values:
    """Rows in robust units, with missing entries at the centre."""
    return np.nan_to_num((X - centre) / unit, nan=0.0)


def fit_judge(X: Values, by: By, threshold: float, contamination: float) -> RowJudge:
    """Learn what rows are like.

    Parameters
    ----------
    X
        (n, d) rows.
    by
        What to judge by.
    threshold
        For "distance": how many standard deviations make an outlier of a single normal column; for more
        columns, the distance that is as rare.
    contamination
        For "density": the share of rows of lowest density that are outliers.
    """
    pairs = np.array([middle(column) for column in X.T]).reshape(-1, 2)
    centre, unit = pairs[:, 0], pairs[:, 1]
    Z = standardised(X, centre, unit)
    n, d = Z.shape
    points = Z[np.unique(np.linspace(0, n - 1, min(n, _POINTS)).round().astype(np.intp))]
    bandwidth = float(len(points) ** (-1.0 / (d + 4)))
    limit = float(chdtri(d, 2 * ndtr(-threshold)))
    judge = RowJudge(by, centre, unit, _inverse_correlation(Z), points, bandwidth, limit)
    if by == "distance":
        return judge
    cutoff = float(np.quantile(judge.score(X), contamination, method="higher"))
    return RowJudge(by, centre, unit, judge.inverse, points, bandwidth, cutoff)


def _inverse_correlation(Z: Values) -> Values:
    """Inverse of the correlations of normal scores, which no outlier can sway."""
    ranks = np.argsort(np.argsort(Z, axis=0, kind="stable"), axis=0) + 0.5
    scores = ndtri(ranks / len(Z))
    spread = np.sqrt((scores**2).mean(axis=0))
    scores = scores / np.where(spread > 0, spread, 1.0)
    correlation = scores.T @ scores / len(Z)
    return np.asarray(np.linalg.inv(0.999 * correlation + 0.001 * np.eye(len(correlation))))
