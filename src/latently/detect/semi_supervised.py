"""Semi-supervised data description: a boundary that follows what experts know of some rows."""

from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval

from latently.detect.ball import descend, most_weight
from latently.detect.read import in_memory
from latently.detect.support import EXPECTED_FAILURES, ORDER, BoundaryDetector, guessed_start
from latently.kernel.base import Array
from latently.learn.estimator.parameters import CHOICES, checked, stores_parameters
from latently.learn.estimator.unconverged import warn_unconverged
from latently.learn.qp import Solution

_HALVINGS = 40
_DESCENTS = 500  # iterations of the ball, unless max_iter says how many
_CLOSE = 1e-3  # of a margin: nearer than that is not sought


@stores_parameters
class SemiSupervisedSVDD(BoundaryDetector):
    """Anomaly detection with a few labels (Goernitz, Kloft, Rieck and Brefeld, 2013).

    Most rows are without a label and mostly belong. Labelled rows lie on their side of the boundary by a margin that is
    made as wide as it can be. Without labels this is `OneClassSVM`.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, max_iter
        As in `OneClassSVM`.
    nu
        Share of the unlabelled rows that may lie outside.
    kappa
        How much the margin counts, from 0 to below 1: labelled rows get this share of the most weight they can have.
    labelled_weight
        How much all labels together count, beside the unlabelled rows that may lie outside.
    method
        "convex" is the hyperplane of the paper, whose optimum is found; "ball" the ball, which is not convex: gradient
        descent from the centre of the data finds a local optimum.
    contamination
        Share of the rows of the fit that is to be called outliers; those outside the boundary, if None.

    Attributes
    ----------
    margin_
        Width of the margin between the labelled rows and the boundary.
    offset_
        Score at the boundary, unless contamination is given.
    support_, support_vectors_, dual_coef_
        Numbers, rows and weights of the rows that the boundary is made of.
    converged_, reason_
        Whether the fit converged, and how it ended: "converged", "max_iter" or (of the ball) "stalled".

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (90, 2)), rng.normal(3, 0.3, (10, 2))])
    >>> y = np.zeros(100)
    >>> y[90:93] = -1  # three of the ten are known
    >>> model = SemiSupervisedSVDD(nu=0.1).fit(X, y)
    >>> model.predict(X[93:])
    array([-1, -1, -1, -1, -1, -1, -1])
    """

    _: KW_ONLY
    kappa: Annotated[float, Interval(Real, 0.0, 1.0, closed="left")] = 0.5
    labelled_weight: Annotated[float, Interval(Real, 0.0, None, closed="neither")] = 10.0
    method: Annotated[Literal["convex", "ball"], CHOICES] = "convex"

    @checked
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the boundary.

        Parameters
        ----------
        X
            Rows, or what the kernel reads.
        y
            (n,) 1 for rows known to belong, -1 for known outliers, 0 for all others; no labels if None. A target of
            another kind, without -1, is not used.
        """
        X, y, _ = in_memory(self, X, y)
        things, values = self._begin(X)
        own = np.asarray(values.diagonal, dtype=float)
        labels = _labels(y, len(own))
        if self.method == "ball":
            self._fit_ball(things, values, labels, own)
        else:
            self._fit_plane(things, values, labels)
        return self

    def _fit_plane(self, things: Any, values: Any, labels: Array) -> None:
        signs = np.where(labels < 0, -1.0, 1.0)
        known = labels != 0
        total = self.nu * max(float((~known).sum()), 1.0)
        upper = np.where(known, self.labelled_weight * total / max(int(known.sum()), 1), 1.0)
        start = self._start(values, upper, total, signs)
        found, self.margin_ = self._with_margin(values, start, upper, signs, known)
        weights = signs * found.alpha
        self._remember(things, weights)
        self.n_iter_, self.objective_ = found.n_iter, found.objective
        scores = found.gradient + self.margin_ * np.where(known, signs, 0.0)  # without the linear term
        self._settle(scores, found.lowest)

    def _start(self, values: Any, upper: Array, total: float, signs: Array) -> Array:
        inside = signs > 0
        start = np.where(inside, guessed_start(values, np.where(inside, upper, 0.0), total), 0.0)
        if start.sum() < total * (1 - 1e-9):
            raise ValueError("there are too few rows beside the labelled outliers: lower nu or give more rows")
        return np.asarray(start)

    def _with_margin(
        self, values: Any, start: Array, upper: Array, signs: Array, known: npt.NDArray[np.bool_]
    ) -> tuple[Solution, float]:
        """The solution at the margin where labelled rows have the weight that kappa asks for.

        With a margin g, labelled rows have a linear term of -g. Their weight grows with g, so g is found by bisection;
        each solution starts from the one before.
        """
        wanted = self.kappa * most_weight(upper, signs, known, float(signs @ start))

        def solved(margin: float, begin: Array) -> tuple[Solution, float]:
            found = self._solved(values, begin, upper, p=np.where(known, -margin, 0.0), y=signs)
            return found, float(found.alpha[known].sum())

        found, weight = solved(0.0, start)
        if weight >= wanted:
            return found, 0.0
        low, high = 0.0, max(float(np.abs(found.gradient).max()), self.tol)
        found, weight = solved(high, found.alpha)
        while weight < wanted:
            low, high = high, 2.0 * high
            found, weight = solved(high, found.alpha)
        for _ in range(_HALVINGS):
            if high - low <= max(self.tol, _CLOSE * high) or weight == wanted:
                break
            middle = 0.5 * (low + high)
            found, weight = solved(middle, found.alpha)
            low, high = (middle, high) if weight < wanted else (low, middle)
        return found, 0.5 * (low + high)

    def _fit_ball(self, things: Any, values: Any, labels: Array, own: Array) -> None:
        every, most = np.arange(len(own)), _DESCENTS if self.max_iter < 0 else self.max_iter
        found = descend(
            values.block(every, every), labels, nu=self.nu, kappa=self.kappa, labelled_weight=self.labelled_weight,
            max_iter=most,
        )  # fmt: skip
        self.converged_, self.reason_ = found.reason == "converged", found.reason
        warn_unconverged(found.reason, "max_iter", most)
        self._remember(things, found.centre)
        self.margin_, self.n_iter_, self.objective_ = found.margin, found.n_iter, found.objective
        self._length = found.length
        self._settle(-found.squared, -found.squared_radius)

    def score_samples(self, X: Any) -> Array:
        """Score (n,) of each row: along the normal of the hyperplane, or minus the squared distance from the centre."""
        inner = self._inner(X)
        if self.method == "convex":
            return inner
        if self._kernel is None:
            raise ValueError("k(x, x) of new rows is not in a precomputed kernel matrix: use method='convex'")
        return np.asarray(2.0 * inner - self._kernel.diag(self._things(X, reset=False)) - self._length)

    def _expected_failed_checks(self) -> dict[str, str]:
        return EXPECTED_FAILURES | {"law_row_order_does_not_matter": ORDER}


def _labels(y: Any, n: int) -> Array:
    if y is None:
        return np.zeros(n)
    labels = np.asarray(y)
    if labels.dtype.kind not in "iufb" or not np.isin(labels, (-1, 0, 1)).all():
        if labels.dtype.kind in "iuf" and (labels == -1).any():
            raise ValueError("y has 1 for rows that belong, -1 for outliers and 0 for rows without a label")
        return np.zeros(n)  # classes or numbers: no labels of this kind
    if labels.shape != (n,):
        raise ValueError(f"y has shape {labels.shape} for {n} rows")
    if (labels < 0).all():
        raise ValueError("y calls every row an outlier: there is nothing to describe")
    return labels.astype(float)
