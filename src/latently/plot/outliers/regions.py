"""The boundary of a detector over two columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from latently.data.tables import frames
from latently.data.tables.matrix import as_matrix
from latently.plot.axes import Array, Display, column_names, grid_over, one_row, pair
from latently.plot.outliers.shades import OUTLIER, USUAL, shade


@dataclass(eq=False)
class OutlierRegionsDisplay(Display):
    """What a detector says over two columns: the boundary between what belongs and what does not, and the rows.

    Parameters
    ----------
    x, y
        (m,) places along the two axes.
    decision
        (m, m) score less the threshold, y first.
    points
        (n, 2) rows to draw, or None.
    outliers
        (n,) which of them are drawn as outliers.
    names
        Names of the two columns.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    image_, boundary_, points_
        What was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.detect import SVDD
    >>> X = load_iris(as_frame=True).data
    >>> display = OutlierRegionsDisplay.from_estimator(SVDD(nu=0.1).fit(X), X, columns=(0, 2), n_points=30)
    >>> display.decision.shape, display.names
    ((30, 30), ('sepal length (cm)', 'petal length (cm)'))
    """

    x: Array
    y: Array
    decision: Array
    points: Array | None = None
    outliers: Any = None
    names: tuple[str, str] = ("x0", "x1")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        columns: Sequence[Any] = (0, 1),
        given: Any = None,
        n_points: int = 80,
        ax: Any = None,
    ) -> Self:
        """Draw the boundary of a fitted detector.

        Parameters
        ----------
        estimator
            A detector of `latently.detect` that was fitted to a table of numbers.
        X
            Table; the axes span it, and its rows are drawn.
        columns
            Two columns, by name or position.
        given
            A row with the values of the other columns; their medians if None.
        n_points
            Number of places along each axis.
        ax
            Axes to draw on; new ones if None.
        """
        check_is_fitted(estimator)
        rows = np.asarray(as_matrix(X, allow_nan=True), dtype=float)
        names = column_names(estimator)
        shown = pair(columns, names)
        points = rows[:, shown]
        x, up, places = grid_over(points, n_points)
        grid = np.tile(_others(rows, given), (n_points**2, 1))
        grid[:, shown] = places
        decision = np.asarray(estimator.decision_function(frames.from_array(grid, X))).reshape(n_points, n_points)
        odd = np.asarray(estimator.predict(X)) < 0
        return cls(x, up, decision, points, odd, (names[shown[0]], names[shown[1]])).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._on(ax)
        finite = self.decision[np.isfinite(self.decision)]
        most = float(np.quantile(np.abs(finite), 0.95)) if len(finite) else 1.0
        shown = np.nan_to_num(self.decision, neginf=-most)
        ends = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        look = {"cmap": "RdBu", "vmin": -(most or 1.0), "vmax": most or 1.0, "alpha": 0.6}
        self.image_ = ax.imshow(shown, extent=ends, origin="lower", aspect="auto", **look)
        crossed = shown.min() < 0 < shown.max()
        self.boundary_ = ax.contour(self.x, self.y, shown, levels=[0.0], colors="black") if crossed else None
        self.figure_.colorbar(self.image_, ax=ax, label="score less threshold")
        self._draw_points(ax)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], xlim=ends[:2], ylim=ends[2:])
        return self

    def _draw_points(self, ax: Any) -> None:
        self.points_ = []
        if self.points is None:
            return
        odd = np.zeros(len(self.points), dtype=bool) if self.outliers is None else np.asarray(self.outliers)
        for own, place, label in ((~odd, USUAL, "belong"), (odd, OUTLIER, "outliers")):
            style = {"s": 14, "edgecolors": "black", "linewidths": 0.4, "label": f"{label} ({own.sum()})"}
            self.points_.append(ax.scatter(*self.points[own].T, color=shade(place), **style))
        ax.legend(fontsize="small")


def _others(rows: Array, given: Any) -> Array:
    """(d,) values of the columns that are not drawn."""
    if given is None:
        return np.asarray(np.nanmedian(rows, axis=0))
    return one_row(np.asarray(as_matrix(given), dtype=float), rows.shape[1])
