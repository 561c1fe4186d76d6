"""How much each component explains."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from latently.plot.axes import Array, Display


@dataclass(eq=False)
class ScreeDisplay(Display):
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
