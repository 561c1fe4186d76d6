"""Factors as pictures: how much each component explains, what columns go into it, and pairs of canonical scores."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from latently.plot.axes import Array, axes_of

MOST_NAMES = 25
"""Names of columns that can be read beside each other."""


def column_names(estimator: Any, names: Sequence[str] | None) -> list[str]:
    """Names of the columns that an estimator was fitted to; x0, x1, ... if it knows none."""
    known = getattr(estimator, "feature_names_in_", None) if names is None else names
    return [str(name) for name in known] if known is not None else [f"x{j}" for j in range(estimator.n_features_in_)]


@dataclass(eq=False)
class Drawn:
    """Where something was drawn."""

    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    def _on(self, ax: Any) -> Any:
        """The axes to draw on, remembered."""
        self.ax_, self.figure_ = axes_of(ax)
        return self.ax_


@dataclass(eq=False)
class ScreeDisplay(Drawn):
    """The variance that each component explains, and where the components end.

    Parameters
    ----------
    variances
        (k,) variance along each component, largest first.
    chosen
        How many components were kept.
    noise
        Mean variance of the directions left out.

    Attributes
    ----------
    ax_, figure_, line_
        Where it was drawn, and the line.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.factor import PCA
    >>> display = ScreeDisplay.from_estimator(PCA("mle").fit(load_iris().data), load_iris().data)
    >>> display.chosen, len(display.variances)
    (3, 4)
    """

    variances: Array
    chosen: int
    noise: float = 0.0

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, *, ax: Any = None) -> Self:
        """Draw what a fitted PCA explains.

        Parameters
        ----------
        estimator
            A fitted PCA.
        X
            Rows, for the variances of the components that it left out too; only those kept if None.
        ax
            Axes to draw on; new ones if None.
        """
        variances, k = np.asarray(estimator.explained_variance_), len(estimator.explained_variance_)
        if X is not None:
            params = estimator.get_params() | {"n_components": None, "svd_solver": "auto"}
            variances = np.asarray(type(estimator)(**params).fit(X).explained_variance_)
        return cls(variances, k, float(estimator.noise_variance_)).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._on(ax)
        places = np.arange(1, len(self.variances) + 1)
        (self.line_,) = ax.plot(places, self.variances, marker="o", label="variance")
        ax.axvspan(0.5, self.chosen + 0.5, color="C0", alpha=0.12, label=f"{self.chosen} kept")
        if self.noise > 0 and self.chosen < len(self.variances):
            ax.hlines(self.noise, self.chosen + 0.5, len(self.variances) + 0.5, color="C1", label="noise")
        ax.set(xlabel="component", ylabel="explained variance", xlim=(0.5, len(self.variances) + 0.5))
        ax.set_xticks(places[:: max(1, len(places) // 10)])
        ax.legend()
        return self


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
class BiplotDisplay(Drawn):
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
        return cls(scores, arrows, column_names(estimator, names), labels).plot(ax=ax)

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


@dataclass(eq=False)
class LoadingsDisplay(Drawn):
    """Loadings of the columns on the components, as a table of colours.

    Parameters
    ----------
    loadings
        (d, k) loadings.
    names
        Names of the columns.

    Attributes
    ----------
    ax_, figure_, image_
        Where it was drawn, and the image.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from latently.factor import FactorAnalysis
    >>> display = LoadingsDisplay.from_estimator(FactorAnalysis(2, rotation="varimax").fit(load_wine().data))
    >>> display.loadings.shape
    (13, 2)
    """

    loadings: Array
    names: Sequence[str]

    @classmethod
    def from_estimator(cls, estimator: Any, *, names: Sequence[str] | None = None, ax: Any = None) -> Self:
        """Draw the loadings of a fitted PCA, factor analysis, or of the first view of a CCA.

        Parameters
        ----------
        estimator
            Anything with `components_` or `x_loadings_`.
        names
            Names of the columns; those of the fit if None.
        ax
            Axes to draw on; new ones if None.
        """
        own = hasattr(estimator, "x_loadings_")
        loadings = np.asarray(estimator.x_loadings_ if own else estimator.components_.T)
        return cls(loadings, column_names(estimator, names)).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._on(ax)
        most = float(np.abs(self.loadings).max()) or 1.0
        self.image_ = ax.imshow(self.loadings, cmap="RdBu_r", vmin=-most, vmax=most, aspect="auto")
        step = -(-len(self.names) // MOST_NAMES)
        ax.set_yticks(range(0, len(self.names), step), self.names[::step])
        ax.set_xticks(range(self.loadings.shape[1]), range(1, self.loadings.shape[1] + 1))
        ax.set_xlabel("component")
        self.figure_.colorbar(self.image_, ax=ax, label="loading")
        return self


@dataclass(eq=False)
class CanonicalPairsDisplay(Drawn):
    """Scores of one view against those of another, for one pair of canonical directions.

    Parameters
    ----------
    x, y
        (n,) scores of the two views.
    pair
        Which pair, counted from 0.

    Attributes
    ----------
    correlation
        Correlation of the scores shown.
    ax_, figure_, points_
        Where it was drawn, and the points.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from latently.factor import CCA
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> display = CanonicalPairsDisplay.from_estimator(CCA(2).fit(X, Y), X, Y)
    >>> round(display.correlation, 4)
    0.7956
    """

    x: Array
    y: Array
    pair: int = 0

    @property
    def correlation(self) -> float:
        """Correlation of the scores."""
        return float(np.corrcoef(self.x, self.y)[0, 1])

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, Y: Any, *, pair: int = 0, ax: Any = None) -> Self:
        """Draw a pair of scores of a fitted CCA or KernelCCA.

        Parameters
        ----------
        estimator
            A fitted CCA or KernelCCA.
        X, Y
            Rows of the two views; new ones show what the correlation is worth.
        pair
            Which pair of directions, counted from 0.
        ax
            Axes to draw on; new ones if None.
        """
        if not 0 <= pair < len(estimator.canonical_correlations_):
            raise ValueError(f"there is no pair {pair}: the model has {len(estimator.canonical_correlations_)}")
        left, right = estimator.transform(X, Y)
        return cls(np.asarray(left)[:, pair], np.asarray(right)[:, pair], pair).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._on(ax)
        (self.points_,) = ax.plot(self.x, self.y, ".")
        ax.set(
            xlabel=f"score {self.pair + 1} of X",
            ylabel=f"score {self.pair + 1} of Y",
            title=f"correlation {self.correlation:.3f}",
        )
        return self
