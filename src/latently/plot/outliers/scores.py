"""Scores of rows with their threshold."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from latently.plot.axes import Array, Display
from latently.plot.outliers.shades import OUTLIER, USUAL, shade

_BINS = 40


@dataclass(eq=False)
class OutlierScoresDisplay(Display):
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
        ax = self._on(ax)
        finite = self.scores[np.isfinite(self.scores)]
        edges = np.histogram_bin_edges(np.append(finite, self.threshold), _BINS)
        below = finite < self.threshold
        kinds = {"usual": (finite[~below], USUAL), "called outliers": (finite[below], OUTLIER)}
        if self.outliers is not None:
            known = np.asarray(self.outliers)[np.isfinite(self.scores)]
            kinds = {"others": (finite[~known], USUAL), "known outliers": (finite[known], OUTLIER)}
        self.bars_ = [
            ax.hist(values, edges, color=shade(place), alpha=0.75, label=f"{label} ({len(values)})")
            for label, (values, place) in kinds.items()
        ]
        self.threshold_ = ax.axvline(self.threshold, color="black", linestyle="--", label="threshold")
        ax.set(xlabel=self.name, ylabel="rows")
        ax.legend(fontsize="small")
        return self
