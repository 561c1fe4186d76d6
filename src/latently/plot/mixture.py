"""Mixtures as pictures: densities over two columns, with an ellipse for each component."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from latently.plot.axes import Array, Display, colours, column_names, extent, grid_between, pair
from latently.plot.densities import columns_of, density_of


@dataclass(eq=False)
class MixtureDisplay(Display):
    """Density of a mixture over two of its columns, with an ellipse for each component.

    An ellipse of level 0.9 holds nine in ten rows of its component. The other columns are marginalised out, or
    fixed at given values: a slice.

    Parameters
    ----------
    x, y
        (m,) places along the two axes.
    log_density
        (m, m) log density of the two columns, y first.
    weights, means, covariances
        (k,), (k, 2) and (k, 2, 2) of the components in the two columns.
    points
        (n, 2) rows to draw, or None.
    labels
        (n,) most probable component of each row, or None.
    names
        Names of the two columns.
    levels
        Probabilities of the ellipses.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    ellipses_, contours_, points_
        What was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.cluster import GaussianMixture
    >>> iris = load_iris(as_frame=True).data
    >>> mixture = GaussianMixture(2, random_state=0).fit(iris)
    >>> display = MixtureDisplay.from_estimator(mixture, iris, columns=("petal length (cm)", "petal width (cm)"))
    >>> display.means
    array([[4.906, 1.676], [1.462, 0.246]])
    >>> len(display.ellipses_)  # two levels for each of two components
    4
    """

    x: Array
    y: Array
    log_density: Array
    weights: Array
    means: Array
    covariances: Array
    points: Array | None = None
    labels: Any = None
    names: tuple[str, str] = ("x0", "x1")
    levels: Sequence[float] = (0.5, 0.9)

    @classmethod
    def from_estimator(
        cls,
        mixture: Any,
        X: Any = None,
        *,
        columns: Sequence[Any] = (0, 1),
        given: Mapping[Any, float] | None = None,
        levels: Sequence[float] = (0.5, 0.9),
        n_points: int = 100,
        ax: Any = None,
    ) -> Self:
        """Draw two columns of a fitted mixture.

        Parameters
        ----------
        mixture
            A fitted `GaussianMixture`, or a `Mixture` whose two columns are numeric.
        X
            Rows to draw; none if None.
        columns
            Two columns, by name or position.
        given
            Values of other columns, by name or position; those that are not given are summed out.
        levels
            Probabilities of the ellipses, between 0 and 1.
        n_points
            Number of places along each axis.
        ax
            Axes to draw on; new ones if None.
        """
        if any(not 0 < level < 1 for level in levels):
            raise ValueError(f"levels must lie between 0 and 1, got {list(levels)}")
        names = column_names(mixture)
        shown = pair(columns, names)
        density = density_of(mixture, shown, given)
        means = np.stack([part.mean for part in density.components])
        covariances = np.stack([_covariance(part) for part in density.components])
        points, labels = (None, None) if X is None else (columns_of(mixture, X, shown), mixture.predict(X))
        x, y, grid = grid_between([_range(means, covariances, points, j) for j in (0, 1)], n_points)
        log_density = density.log_prob(grid).reshape(n_points, n_points)
        drawn = (names[shown[0]], names[shown[1]])
        display = cls(x, y, log_density, density.weights, means, covariances, points, labels, drawn, levels)
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._on(ax)
        shades = colours(len(self.weights))
        steps = self.log_density.max() - np.array([12, 9, 6, 4.5, 3, 2, 1, 0.4])
        greys = [str(grey) for grey in np.linspace(0.96, 0.72, len(steps))]
        self.contours_ = ax.contourf(self.x, self.y, self.log_density, levels=steps, colors=greys, extend="max")
        self.points_ = None
        if self.points is not None:
            own = "0.2" if self.labels is None else shades[self.labels]
            self.points_ = ax.scatter(*self.points.T, c=own, s=12, linewidths=0)
        self.ellipses_ = [
            ax.add_patch(_ellipse(mean, covariance, level, shade))
            for mean, covariance, shade in zip(self.means, self.covariances, shades, strict=True)
            for level in self.levels
        ]
        for k, (mean, weight) in enumerate(zip(self.means, self.weights, strict=True)):
            ax.plot(*mean, "+", color=shades[k], markersize=10, label=f"{k}: weight {weight:.2f}")
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.legend(title="component", fontsize="small")
        return self


def _covariance(part: Any) -> Array:
    """(2, 2) covariance of a component; columns of a family without one are independent."""
    matrix = getattr(part, "covariance_matrix", None)
    return np.diag(part.variance) if matrix is None else np.asarray(matrix)


def _range(means: Array, covariances: Array, points: Array | None, j: int) -> tuple[float, float]:
    spread = 3 * np.sqrt(covariances[:, j, j])
    if points is None:
        return extent(np.r_[means[:, j] - spread, means[:, j] + spread], 0.0)
    return extent(points[:, j])


def _ellipse(mean: Array, covariance: Array, level: float, colour: Any) -> Any:
    from matplotlib.patches import Ellipse

    variances, axes = np.linalg.eigh(covariance)
    radius = np.sqrt(-2 * np.log1p(-level))  # of a circle that holds `level` of a bivariate standard normal
    width, height = 2 * radius * np.sqrt(np.maximum(variances[::-1], 0))
    angle = np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
    return Ellipse(tuple(mean), width, height, angle=angle, fill=False, edgecolor=colour, linewidth=1.5)
