"""Pairs of canonical scores."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from latently.plot.axes import Array, Display


@dataclass(eq=False)
class CanonicalPairsDisplay(Display):
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
