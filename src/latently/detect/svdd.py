"""Support vector data description: the smallest ball around the data."""

from typing import Any, Self

import numpy as np

from latently.detect.read import in_memory
from latently.detect.support import BoundaryDetector, checked_weights, guessed_start
from latently.kernel.base import Array
from latently.learn.estimator.parameters import checked
from latently.learn.qp import Solution


class SVDD(BoundaryDetector):
    """Support vector data description (Tax and Duin, 2004): the smallest ball in feature space with most rows inside.

    The score of a row is minus its squared distance from the centre. Labelled outliers, where there are any, are kept
    outside. Kernels whose values k(x, x) vary (linear, polynomial) are as good as the Gaussian.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, max_iter
        As in `OneClassSVM`.
    nu
        At most this share of the rows is outside.
    contamination
        Share of the rows of the fit that is to be called outliers; those outside the ball, if None.

    Attributes
    ----------
    radius_
        Radius of the ball.
    offset_
        Minus its square, to within tol so that rows on the boundary are inside; set by contamination if that is given.
    support_, support_vectors_, dual_coef_
        Numbers, rows and weights of the support vectors: the centre is their weighted mean.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5], [1.0, -0.2]])
    >>> ball = SVDD(kernel="linear", nu=0.01, tol=1e-6).fit(X)
    >>> (ball.dual_coef_ @ ball.support_vectors_).round(3) + 0.0, round(ball.radius_, 3)
    (array([[1., 0.]]), 1.0)
    >>> ball.predict([[1.0, 0.9], [1.0, 1.1]])
    array([ 1, -1])
    """

    @checked
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the ball.

        Parameters
        ----------
        X
            Rows, or what the kernel reads.
        y
            (n,) labels, if there are any: -1 for outliers, everything else for rows that belong.
        sample_weight
            (n,) weights of the rows.
        """
        X, y, sample_weight = in_memory(self, X, y, sample_weight)
        things, values = self._begin(X)
        own = np.asarray(values.diagonal, dtype=float)
        signs = _signs(y, len(own))
        upper = checked_weights(sample_weight, len(own))
        total = self.nu * float(upper[signs > 0].sum())
        start = np.zeros(len(own))
        inside = signs > 0
        start[inside] = guessed_start(values, np.where(inside, upper, 0.0), total)[inside]
        found = self._solved(values, start, upper, p=-0.5 * total * signs * own, y=signs)
        weights = signs * found.alpha / total
        self._remember(things, weights)
        self._set_ball(weights, found, total, own)
        return self

    def _set_ball(self, weights: Array, found: Solution, total: float, own: Array) -> None:
        inner = found.gradient / total + 0.5 * own  # (n,) inner products with the centre
        self._centre = float(weights @ inner)  # squared length of the centre
        squared = own - 2.0 * inner + self._centre
        self.radius_ = float(np.sqrt(max(self._centre - 2.0 * found.level / total, 0.0)))
        self.n_iter_ = found.n_iter
        self.objective_ = found.objective
        rounding = 16 * np.finfo(float).eps * float(own.max(initial=0.0))  # rows that are all the same are inside
        outside = max(self._centre - 2.0 * found.lowest / total, 0.0)  # rows on the boundary are inside
        self._settle(-squared, -outside - rounding)

    def score_samples(self, X: Any) -> Array:
        """Score (n,) of each row: minus its squared distance from the centre."""
        inner = self._inner(X)
        if self._kernel is None:
            raise ValueError("k(x, x) of new rows is not in a precomputed kernel matrix: use `distances(K, diagonal)`")
        return np.asarray(2.0 * inner - self._kernel.diag(self._things(X, reset=False)) - self._centre)

    def distances(self, K: Any, diagonal: Any) -> Array:
        """Distances (m,) from the centre, with kernel "precomputed": from values (m, n) and k(x, x) (m,)."""
        squared = np.asarray(diagonal, dtype=float) - 2.0 * self._inner(K) + self._centre
        return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def _signs(y: Any, n: int) -> Array:
    """-1 for labelled outliers, 1 for all others; a target that is no such label is not used."""
    labels = None if y is None else np.asarray(y)
    if labels is None or labels.dtype.kind not in "iuf" or not np.isin(labels, (-1, 0, 1)).all():
        return np.ones(n)
    if labels.shape != (n,):
        raise ValueError(f"y has shape {labels.shape} for {n} rows")
    signs = np.where(labels < 0, -1.0, 1.0)
    if (signs < 0).all():
        raise ValueError("y calls every row an outlier: there is nothing to put a ball around")
    return signs
