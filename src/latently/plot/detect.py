"""Detectors as pictures: scores with their threshold, the boundary over two columns, the reasons of a row."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from latently.data.tables import frames
from latently.data.tables.matrix import as_matrix
from latently.detect.read import column_names
from latently.plot.axes import Array, axes_of, colours, extent, pair

_BINS = 40
_USUAL, _OUTLIER = 0, 3  # places of blue and red among the colours of groups


def _shade(place: int) -> Any:
    return colours(10)[place]


@dataclass(eq=False)
class OutlierScoresDisplay:
    """Scores of rows as a histogram, and the threshold below which a row is called an outlier.

    Parameters
    ----------
    scores
        (n,) scores, the lower the less usual.
    threshold
        Score at the threshold.
    outliers
        (n,) which rows are known to be outliers, or None.
    name
        What the scores are called.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    bars_, threshold_
        What was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.detect import ModelDetector
    >>> X = load_iris().data
    >>> display = OutlierScoresDisplay.from_estimator(ModelDetector(contamination=0.1).fit(X), X)
    >>> int((display.scores < display.threshold).sum())
    15
    """

    scores: Array
    threshold: float
    outliers: Any = None
    name: str = "score"
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, *, ax: Any = None) -> Self:
        """Draw the scores that a fitted detector gives.

        Parameters
        ----------
        estimator
            A detector of `latently.detect`.
        X
            Rows.
        y
            Labels, -1 for known outliers, which are then drawn apart.
        ax
            Axes to draw on; new ones if None.
        """
        check_is_fitted(estimator)
        known = None if y is None else np.asarray(y) < 0
        name = f"score of {type(estimator).__name__}"
        return cls(np.asarray(estimator.score_samples(X)), float(estimator.offset_), known, name).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        self.ax_, self.figure_ = ax, _ = axes_of(ax)
        finite = self.scores[np.isfinite(self.scores)]
        edges = np.histogram_bin_edges(np.append(finite, self.threshold), _BINS)
        below = finite < self.threshold
        kinds = {"usual": (finite[~below], _USUAL), "called outliers": (finite[below], _OUTLIER)}
        if self.outliers is not None:
            known = np.asarray(self.outliers)[np.isfinite(self.scores)]
            kinds = {"others": (finite[~known], _USUAL), "known outliers": (finite[known], _OUTLIER)}
        self.bars_ = [
            ax.hist(values, edges, color=_shade(place), alpha=0.75, label=f"{label} ({len(values)})")
            for label, (values, place) in kinds.items()
        ]
        self.threshold_ = ax.axvline(self.threshold, color="black", linestyle="--", label="threshold")
        ax.set(xlabel=self.name, ylabel="rows")
        ax.legend(fontsize="small")
        return self


@dataclass(eq=False)
class OutlierRegionsDisplay:
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
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

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
        names = column_names(estimator, rows.shape[1])
        shown = pair(columns, names)
        points = rows[:, shown]
        x, up = (np.linspace(*extent(points[:, j]), n_points) for j in (0, 1))
        grid = np.tile(_others(rows, given), (n_points**2, 1))
        grid[:, shown] = np.stack(np.meshgrid(x, up), axis=-1).reshape(-1, 2)
        decision = np.asarray(estimator.decision_function(frames.from_array(grid, X))).reshape(n_points, n_points)
        odd = np.asarray(estimator.predict(X)) < 0
        return cls(x, up, decision, points, odd, (names[shown[0]], names[shown[1]])).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        self.ax_, self.figure_ = ax, figure = axes_of(ax)
        finite = self.decision[np.isfinite(self.decision)]
        most = float(np.quantile(np.abs(finite), 0.95)) if len(finite) else 1.0
        shown = np.nan_to_num(self.decision, neginf=-most)
        ends = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        look = {"cmap": "RdBu", "vmin": -(most or 1.0), "vmax": most or 1.0, "alpha": 0.6}
        self.image_ = ax.imshow(shown, extent=ends, origin="lower", aspect="auto", **look)
        crossed = shown.min() < 0 < shown.max()
        self.boundary_ = ax.contour(self.x, self.y, shown, levels=[0.0], colors="black") if crossed else None
        figure.colorbar(self.image_, ax=ax, label="score less threshold")
        self._draw_points(ax)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], xlim=ends[:2], ylim=ends[2:])
        return self

    def _draw_points(self, ax: Any) -> None:
        self.points_ = []
        if self.points is None:
            return
        odd = np.zeros(len(self.points), dtype=bool) if self.outliers is None else np.asarray(self.outliers)
        for own, place, label in ((~odd, _USUAL, "belong"), (odd, _OUTLIER, "outliers")):
            style = {"s": 14, "edgecolors": "black", "linewidths": 0.4, "label": f"{label} ({own.sum()})"}
            self.points_.append(ax.scatter(*self.points[own].T, color=_shade(place), **style))
        ax.legend(fontsize="small")


@dataclass(eq=False)
class OutlierReasonsDisplay:
    """Why a row is unusual: how far each value is from what the others predict.

    Parameters
    ----------
    deviations
        (m,) deviations in units of sd, the most telling first.
    labels
        A text for each: the column, its value, and what was expected.
    title
        What is said of the row.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    bars_
        What was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.detect import OneClassSVM
    >>> X = load_iris(as_frame=True).data
    >>> odd = X.iloc[[0]].assign(**{"petal width (cm)": 2.0})
    >>> display = OutlierReasonsDisplay.from_estimator(OneClassSVM(nu=0.1).fit(X), odd)
    >>> display.labels[0]
    'petal width (cm) = 2, expected 0.2'
    """

    deviations: Array
    labels: Sequence[str]
    title: str = ""
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, row: int = 0, n_columns: int = 8, ax: Any = None) -> Self:
        """Draw the reasons that a fitted detector gives.

        Parameters
        ----------
        estimator
            A detector of `latently.detect`.
        X
            Rows.
        row
            Which of them.
        n_columns
            How many columns are drawn at most.
        ax
            Axes to draw on; new ones if None.
        """
        told = estimator.explain(X)
        if not -len(told) <= row < len(told):
            raise ValueError(f"there is no row {row}: X has {len(told)}, counted from 0")
        entries = told[row]["columns"][:n_columns]
        verdict = "an outlier" if told[row]["decision"] < 0 else "no outlier"
        title = f"{verdict}: {100 * told[row]['tail_probability']:.2g} % of usual rows score as low"
        deviations = np.array([entry["deviation"] for entry in entries])
        return cls(deviations, [_label(entry) for entry in entries], title).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        self.ax_, self.figure_ = ax, _ = axes_of(ax)
        places = np.arange(len(self.deviations))
        far = np.abs(self.deviations) >= 2.0
        shades = [_shade(_OUTLIER if each else _USUAL) for each in far]
        self.bars_ = ax.barh(places, self.deviations, color=shades)
        ax.set_yticks(places, self.labels, fontsize="small")
        ax.invert_yaxis()
        ax.axvline(0.0, color="black", linewidth=0.8)
        for end in (-2.0, 2.0):
            ax.axvline(end, color="0.6", linewidth=0.8, linestyle=":")
        ax.set(xlabel="deviation from what the others predict, in sd")
        ax.set_title(self.title, fontsize="small")
        return self


def _label(entry: dict[str, Any]) -> str:
    value, expected = (f"{v:.4g}" if isinstance(v, float) else str(v) for v in (entry["value"], entry["expected"]))
    return f"{entry['column']} = {value}, expected {expected}"


def _others(rows: Array, given: Any) -> Array:
    """(d,) values of the columns that are not drawn."""
    if given is None:
        return np.asarray(np.nanmedian(rows, axis=0))
    row = np.asarray(as_matrix(given), dtype=float)
    if row.shape != (1, rows.shape[1]):
        raise ValueError(f"given must be one row of {rows.shape[1]} columns, got shape {row.shape}")
    return np.asarray(row[0])
