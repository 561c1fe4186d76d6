"""Pictures of hidden Markov models: the path with its doubt, the graph of transitions, durations."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from latently.plot.axes import Array, Display, colours


@dataclass(eq=False)
class StatePathDisplay(Display):
    """A series with the posterior probabilities of the states as bands below it, and the most probable path.

    Parameters
    ----------
    series
        Values (n,) to draw.
    posterior
        Probabilities (n, K) of the states.
    path
        States (n,).

    Examples
    --------
    >>> import numpy as np
    >>> display = StatePathDisplay.from_predictions([0.0, 5.0], [[0.9, 0.1], [0.2, 0.8]], [0, 1])
    >>> display.posterior.shape
    (2, 2)
    """

    series: Array
    posterior: Array
    path: Any

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, column: int = 0, ax: Any = None) -> Self:
        """Smooth and decode one sequence with a fitted model, and draw it."""
        rows = np.asarray(X, dtype=np.float64)
        display = cls(rows[:, column], estimator.predict_proba(rows), estimator.predict(rows))
        return display.plot(ax=ax)

    @classmethod
    def from_predictions(cls, series: Any, posterior: Any, path: Any, *, ax: Any = None) -> Self:
        """Draw posteriors and path as they are."""
        values = np.asarray(series, dtype=np.float64)
        bands = np.asarray(posterior, dtype=np.float64)
        if bands.ndim != 2 or len(bands) != len(values) or len(path) != len(values):
            raise ValueError("series, posterior and path must have the same number of rows")
        return cls(values, bands, np.asarray(path)).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        ax = self._on(ax)
        low, high = np.nanmin(self.series), np.nanmax(self.series)
        height = 0.25 * max(high - low, 1e-12)
        floor = low - 1.3 * height
        edges = floor + height * np.hstack([np.zeros((len(self.series), 1)), np.cumsum(self.posterior, axis=1)])
        steps = np.arange(len(self.series))
        shades = colours(self.posterior.shape[1])
        for k, colour in enumerate(shades):
            ax.fill_between(steps, edges[:, k], edges[:, k + 1], color=colour, alpha=0.6, lw=0, label=f"state {k}")
        ax.plot(steps, self.series, color="0.7", lw=0.8, zorder=1)
        ax.scatter(steps, self.series, c=shades[self.path], s=10, zorder=2)
        ax.set(xlabel="step", ylabel="value")
        ax.legend(loc="upper right", fontsize="small")
        return self


@dataclass(eq=False)
class TransitionGraphDisplay(Display):
    """States on a circle, with arrows as wide as the transitions are probable.

    Parameters
    ----------
    transmat
        Probabilities (K, K).
    least
        Arrows for smaller probabilities are left out.

    Examples
    --------
    >>> TransitionGraphDisplay.from_predictions([[0.9, 0.1], [0.5, 0.5]]).transmat.shape
    (2, 2)
    """

    transmat: Array
    least: float = 0.01

    @classmethod
    def from_estimator(cls, estimator: Any, *, least: float = 0.01, ax: Any = None) -> Self:
        """Draw the transitions of a fitted model."""
        return cls(np.asarray(estimator.transmat_, dtype=np.float64), least).plot(ax=ax)

    @classmethod
    def from_predictions(cls, transmat: Any, *, least: float = 0.01, ax: Any = None) -> Self:
        """Draw a matrix as it is."""
        matrix = np.asarray(transmat, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"transmat must be a square matrix, got shape {matrix.shape}")
        return cls(matrix, least).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        ax = self._on(ax)
        K = len(self.transmat)
        first = np.pi if K == 2 else np.pi / 2  # two states side by side, more from the top on
        angle = first - 2 * np.pi * np.arange(K) / K
        where = np.column_stack([np.cos(angle), np.sin(angle)])
        for i, j in np.argwhere(self.transmat >= self.least):
            if i != j:
                self._arrow(ax, where[i], where[j], self.transmat[i, j])
        ax.scatter(*where.T, s=1500, c=colours(K), zorder=3)
        for k, (x, y) in enumerate(where):
            ax.text(x, y, f"{k}\n{self.transmat[k, k]:.2f}", ha="center", va="center", zorder=4)
        ax.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal")
        ax.set_axis_off()
        return self

    def _arrow(self, ax: Any, a: Array, b: Array, p: float) -> None:
        style = {"arrowstyle": "-|>", "lw": 0.5 + 4 * p, "color": "0.4", "shrinkA": 20, "shrinkB": 20}
        ax.annotate("", xy=b, xytext=a, arrowprops={**style, "connectionstyle": "arc3,rad=0.15"})
        side = np.array([b[1] - a[1], a[0] - b[0]])
        x, y = (a + b) / 2 + 0.13 * side
        ax.text(x, y, f"{p:.2f}", ha="center", va="center", fontsize="small")


@dataclass(eq=False)
class DurationsDisplay(Display):
    """Expected number of steps in each state, as bars.

    Parameters
    ----------
    durations
        Expected steps (K,).

    Examples
    --------
    >>> DurationsDisplay.from_predictions([2.0, 5.0]).durations
    array([2., 5.])
    """

    durations: Array

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the expected durations of a fitted model."""
        return cls(np.asarray(estimator.expected_durations(), dtype=np.float64)).plot(ax=ax)

    @classmethod
    def from_predictions(cls, durations: Any, *, ax: Any = None) -> Self:
        """Draw durations as they are."""
        return cls(np.asarray(durations, dtype=np.float64)).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw; a state that is never left has no bar, and says so."""
        ax = self._on(ax)
        finite = np.isfinite(self.durations)
        places = np.arange(len(self.durations))
        ax.bar(places, np.where(finite, self.durations, 0.0), color=colours(len(places)))
        for k in places[~finite]:
            ax.text(k, 0, "never left", ha="center", va="bottom", rotation=90)
        ax.set(xlabel="state", ylabel="expected steps", xticks=places)
        return self
