"""The reasons of a row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from latently.plot.axes import Array, Display
from latently.plot.outliers.shades import OUTLIER, USUAL, shade


@dataclass(eq=False)
class OutlierReasonsDisplay(Display):
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
        explained = estimator.explain(X)
        if not -len(explained) <= row < len(explained):
            raise ValueError(f"there is no row {row}: X has {len(explained)}, counted from 0")
        entries = explained[row]["columns"][:n_columns]
        verdict = "an outlier" if explained[row]["decision"] < 0 else "no outlier"
        title = f"{verdict}: {100 * explained[row]['tail_probability']:.2g} % of usual rows score as low"
        deviations = np.array([entry["deviation"] for entry in entries])
        return cls(deviations, [_label(entry) for entry in entries], title).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._on(ax)
        places = np.arange(len(self.deviations))
        far = np.abs(self.deviations) >= 2.0
        shades = [shade(OUTLIER if each else USUAL) for each in far]
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
