"""Decision regions as a picture: which class where, and how sure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import get_tags

from latently.impute.tables import Table, for_model, read_table
from latently.plot.axes import Array, Display, colours, grid_over, one_row, pair


@dataclass(eq=False)
class DecisionRegionsDisplay(Display):
    """The most probable class over two columns, the paler the more in doubt.

    Colour is full where a class is certain, and white where all classes are equally probable.

    Parameters
    ----------
    x, y
        (m,) places along the two axes.
    proba
        (m, m, c) probabilities of the classes, y first.
    classes
        (c,) classes.
    points
        (n, 2) rows to draw, or None.
    labels
        (n,) class of each row, or None.
    names
        Names of the two columns.

    Attributes
    ----------
    strength
        (m, m) from 0, all classes equally probable, to 1, certain.
    ax_, figure_
        Where it was drawn.
    image_, boundaries_, points_
        What was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.predict import NaiveBayes
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = DecisionRegionsDisplay.from_estimator(NaiveBayes().fit(X, y), X, y, columns=(2, 3))
    >>> display.proba.shape, display.names
    ((100, 100, 3), ('petal length (cm)', 'petal width (cm)'))
    """

    x: Array
    y: Array
    proba: Array
    classes: Any
    points: Array | None = None
    labels: Any = None
    names: tuple[str, str] = ("x0", "x1")

    @property
    def strength(self) -> Array:
        """(m, m) how sure: 0 if all classes are equally probable, 1 if one is certain."""
        even = 1 / len(self.classes)
        return np.asarray(np.clip((self.proba.max(axis=-1) - even) / max(1 - even, 1e-12), 0.0, 1.0))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        columns: Sequence[Any] = (0, 1),
        given: Any = None,
        n_points: int = 100,
        ax: Any = None,
    ) -> Self:
        """Draw the regions of a fitted classifier or mixture.

        Parameters
        ----------
        estimator
            Anything with `predict_proba`.
        X
            Table; the axes span it, and its rows are drawn.
        y
            Classes of the rows, for their colours; what is predicted if None.
        columns
            Two numeric columns, by name or position.
        given
            A row with the values of the other columns (its values in the two columns do not matter). If None they
            are missing, which an estimator of many columns must take.
        n_points
            Number of places along each axis.
        ax
            Axes to draw on; new ones if None.
        """
        table = read_table(X, getattr(estimator, "schema_", None))
        shown = pair(columns, table.schema.names)
        coded = [table.schema.names[j] for j in shown if table.schema.kinds[j] != "numeric"]
        if coded:
            raise ValueError(f"column {coded[0]!r} holds categories, which cannot be drawn on a numeric axis")
        points = table.values[:, shown]
        x, up, grid = grid_over(points, n_points)
        rows = np.tile(_rest(estimator, table, given), (n_points**2, 1))
        rows[:, shown] = grid
        proba = np.asarray(estimator.predict_proba(for_model(estimator, table, rows)))
        classes = getattr(estimator, "classes_", np.arange(proba.shape[1]))
        labels = np.asarray(estimator.predict(X) if y is None else y)
        drawn = (table.schema.names[shown[0]], table.schema.names[shown[1]])
        return cls(x, up, proba.reshape(n_points, n_points, -1), classes, points, labels, drawn).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._on(ax)
        shades = colours(len(self.classes))[:, :3]
        best = self.proba.argmax(axis=-1)
        # white where in doubt; never so strong that the points are lost
        mixed = 1 - 0.7 * self.strength[..., None] * (1 - shades[best])
        ends = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        self.image_ = ax.imshow(mixed, extent=ends, origin="lower", aspect="auto", interpolation="nearest")
        self.boundaries_ = [
            ax.contour(self.x, self.y, _lead(self.proba, k), levels=[0.0], colors="0.3", linewidths=0.8)
            for k in range(len(self.classes))
            if (best == k).any() and not (best == k).all()
        ]
        self._draw_points(ax, shades)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], xlim=ends[:2], ylim=ends[2:])
        return self

    def _draw_points(self, ax: Any, shades: Any) -> None:
        self.points_ = []
        if self.points is None or self.labels is None:
            return
        style = {"s": 14, "edgecolors": "black", "linewidths": 0.4}
        for shade, name in zip(shades, self.classes, strict=True):
            own = self.labels == name
            self.points_.append(ax.scatter(*self.points[own].T, color=shade, label=str(name), **style))
        ax.legend(title="class", fontsize="small")


def _lead(proba: Array, k: int) -> Array:
    """By how much class k is more probable than the best other one."""
    return np.asarray(proba[..., k] - np.delete(proba, k, axis=-1).max(axis=-1))


def _rest(estimator: Any, table: Table, given: Any) -> Array:
    """(d,) values of the columns that are not drawn."""
    width = table.values.shape[1]
    if given is not None:
        return one_row(read_table(given, table.schema).values, width)
    if width > 2 and not get_tags(estimator).input_tags.allow_nan:
        raise ValueError(
            f"{type(estimator).__name__} has {width} columns and takes no missing values: give a row with the values "
            "of the columns that are not drawn, such as given=X[:1]"
        )
    return np.full(width, np.nan)
