"""Rows and columns in one picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from latently.plot.axes import Array, Display, column_names


def apart(tips: Array, side: int, gap: float) -> Array:
    """(d,) heights of labels at the tips (d, 2) of arrows to one side (1 right, -1 left): no two overlap.

    Examples
    --------
    >>> apart(np.array([[1.0, 0.0], [2.0, 0.1], [-1.0, 0.1]]), 1, 0.5)
    array([-0.2,  0.3,  0.1])
    """
    heights = np.array(tips[:, 1], dtype=np.float64)
    own = np.flatnonzero((tips[:, 0] >= 0) == (side > 0))
    order = own[np.argsort(heights[own], kind="stable")]
    spread = heights[order]
    for _ in range(100):  # two labels that are too near push each other away
        short = np.maximum(gap - np.diff(spread), 0.0)
        if short.max(initial=0.0) < 1e-3 * gap:
            break
        spread[:-1] -= short / 2
        spread[1:] += short / 2
    heights[order] = spread
    return heights


@dataclass(eq=False)
class BiplotDisplay(Display):
    """Rows by their scores on two components, and the columns as arrows.

    Parameters
    ----------
    scores
        (n, 2) scores of the rows.
    arrows
        (d, 2) loadings of the columns.
    names
        Names of the columns.
    labels
        Names of the axes.

    Attributes
    ----------
    ax_, figure_, points_
        Where it was drawn, and the points.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.factor import PCA
    >>> X = load_iris().data
    >>> display = BiplotDisplay.from_estimator(PCA(2).fit(X), X)
    >>> display.scores.shape, display.arrows.shape
    ((150, 2), (4, 2))
    """

    scores: Array
    arrows: Array
    names: Sequence[str]
    labels: tuple[str, str] = ("component 1", "component 2")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, components: tuple[int, int] = (0, 1), names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw rows and columns of a fitted PCA or factor analysis.

        Parameters
        ----------
        estimator
            Anything with `components_` and `transform`.
        X
            Rows.
        components
            Which two components, counted from 0.
        names
            Names of the columns; those of the fit if None.
        ax
            Axes to draw on; new ones if None.
        """
        if len(estimator.components_) < 2:
            raise ValueError("a biplot shows two components, but the model has one: fit it with n_components=2")
        chosen = list(components)
        labels = (f"component {chosen[0] + 1}", f"component {chosen[1] + 1}")
        scores = np.asarray(estimator.transform(X))[:, chosen]
        arrows = np.asarray(estimator.components_)[chosen].T
        return cls(scores, arrows, column_names(estimator) if names is None else names, labels).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones; arrows are as long as the scores reach."""
        ax = self._on(ax)
        (self.points_,) = ax.plot(*self.scores.T, ".", color="0.75")
        longest = float(np.abs(self.arrows).max()) or 1.0
        reach = (float(np.abs(self.scores).max()) or 1.0) / longest
        tips = 0.9 * reach * self.arrows
        ax.axis((-1.6 * reach * longest, 1.6 * reach * longest, -1.1 * reach * longest, 1.1 * reach * longest))
        heights = np.where(tips[:, 0] >= 0, *(apart(tips, side, 0.1 * reach * longest) for side in (1, -1)))
        for name, (x, y), height in zip(self.names, tips, heights, strict=True):
            ax.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": "C3"})
            ax.annotate(f" {name} ", (x, height), color="C3", ha="left" if x >= 0 else "right", va="center")
        ax.set(xlabel=self.labels[0], ylabel=self.labels[1])
        return self
