"""What columns go into components."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from latently.plot.axes import Array, Display, column_names

MOST_NAMES = 25  # names of columns that can be read beside each other


@dataclass(eq=False)
class LoadingsDisplay(Display):
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
        return cls(loadings, column_names(estimator) if names is None else names).plot(ax=ax)

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
