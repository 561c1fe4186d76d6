"""One column of a mixture as a picture: its density, and what each component has in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from latently.plot.axes import Array, Display, colours, column_names, extent, place
from latently.plot.densities import columns_of, density_of


@dataclass(eq=False)
class DensityDisplay(Display):
    """Density of one column of a mixture, and the share of each component in it.

    Parameters
    ----------
    x
        (m,) places: numbers, counts, or codes of categories.
    parts
        (k, m) weight times density of each component; they sum to the density of the column.
    values
        (n,) values to draw as a histogram, or None.
    name
        Name of the column.
    discrete
        Whether the places are counts or codes.
    categories
        Names of the codes, or None.

    Attributes
    ----------
    density
        (m,) the sum of the parts.
    ax_, figure_
        Where it was drawn.
    parts_, rows_
        What was drawn: a line or bars for each component; the histogram, or the marks, of the values.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.cluster import GaussianMixture
    >>> X = load_iris().data
    >>> display = DensityDisplay.from_estimator(GaussianMixture(2, random_state=0).fit(X), X, column=2)
    >>> display.parts.shape
    (2, 400)
    >>> float(display.density @ np.gradient(display.x))
    1.00
    """

    x: Array
    parts: Array
    values: Array | None = None
    name: str = "x0"
    discrete: bool = False
    categories: Sequence[str] | None = None

    @property
    def density(self) -> Array:
        """(m,) density of the column."""
        return np.asarray(self.parts.sum(axis=0))

    @classmethod
    def from_estimator(
        cls,
        mixture: Any,
        X: Any = None,
        *,
        column: Any = 0,
        given: Mapping[Any, float] | None = None,
        n_points: int = 400,
        ax: Any = None,
    ) -> Self:
        """Draw one column of a fitted mixture.

        Parameters
        ----------
        mixture
            A fitted mixture.
        X
            Rows whose values are drawn as a histogram; none if None.
        column
            The column, by name or position.
        given
            Values of other columns, by name or position (codes for categories); those that are not given are
            summed out.
        n_points
            Number of places, for numbers.
        ax
            Axes to draw on; new ones if None.
        """
        names = column_names(mixture)
        j = place(column, names)
        density = density_of(mixture, [j], given)
        low, high = density.quantile([1e-4, 1 - 1e-4]).ravel()
        discrete = bool(density.discrete[0])
        x = np.arange(low, high + 1) if discrete else np.linspace(*extent(np.array([low, high])), n_points)
        parts = np.stack([w * c.prob(x[:, None]) for w, c in zip(density.weights, density.components, strict=True)])
        values = None if X is None else columns_of(mixture, X, [j])[:, 0]
        return cls(x, parts, values, names[j], discrete, _categories(mixture, j)).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._on(ax)
        seen = None if self.values is None else self.values[np.isfinite(self.values)]
        self.parts_, self.rows_ = (self._bars if self.discrete else self._lines)(ax, seen)
        ax.set(xlabel=self.name, ylabel="probability" if self.discrete else "density", ylim=(0, None))
        if self.categories is not None:
            ax.set_xticks(self.x, [self.categories[int(code)] for code in self.x])
        ax.legend(fontsize="small")
        return self

    def _lines(self, ax: Any, seen: Array | None) -> tuple[list[Any], Any]:
        rows = None
        if seen is not None:
            rows = ax.hist(seen, bins="auto", density=True, color="0.85", label="rows")[2]
        ax.plot(self.x, self.density, color="black", lw=1, label="mixture")
        drawn = enumerate(zip(self.parts, colours(len(self.parts)), strict=True))
        return [ax.plot(self.x, part, color=c, lw=2, label=f"component {k}")[0] for k, (part, c) in drawn], rows

    def _bars(self, ax: Any, seen: Array | None) -> tuple[list[Any], Any]:
        below = np.cumsum(self.parts, axis=0) - self.parts
        drawn = enumerate(zip(self.parts, below, colours(len(self.parts)), strict=True))
        bars = [ax.bar(self.x, part, bottom=b, color=c, label=f"component {k}") for k, (part, b, c) in drawn]
        rows = None
        if seen is not None:
            shares = (seen == self.x[:, None]).mean(axis=1)
            (rows,) = ax.plot(self.x, shares, "_", color="black", ms=14, mew=2, label="rows")
        ax.margins(y=0.3)  # room for the legend
        return bars, rows


def _categories(mixture: Any, j: int) -> list[str] | None:
    """Names of the categories of a column, if it has any."""
    schema = getattr(mixture, "schema_", None)
    if schema is None or schema.kinds[j] == "numeric":
        return None
    return [str(category) for category in schema[schema.names[j]].categories]
